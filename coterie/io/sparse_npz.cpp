// Sparse points in the format of SciPy's save_npz: compressed rows. Arrays with the types of SparsePoints are used
// without a copy of the inflated file; others are converted once.

#include <cmath>
#include <memory>
#include <tuple>

#include "coterie/base/options.hpp"
#include "coterie/base/sparse_points.hpp"
#include "coterie/base/text.hpp"
#include "coterie/io/formats.hpp"

namespace coterie::formats {
namespace {

template <class Number>
bool lies_as(const Array& array, Element element) {
    return array.element == element && !array.swapped &&
           reinterpret_cast<std::uintptr_t>(array.data.data()) % alignof(Number) == 0;
}

template <class T>
std::span<const T> numbers_in(const Array& array) {
    return {reinterpret_cast<const T*>(array.data.data()), array.data.size() / sizeof(T)};
}

bool is_empty(const Array& array) { return array.shape.size() == 1 && array.shape.front() == 0; }

std::vector<std::int64_t> whole_numbers(const Array& array, const std::string& source) {
    std::vector<std::int64_t> out;
    if (is_empty(array)) return out;
    for (const double value : to_numbers(array, source)) {
        if (value != std::floor(value) || std::abs(value) > 9e15)
            refuse_file(
                source, Code::wrong_type,
                filled("entry {} is {}, but whole numbers are needed", out.size() + 1, to_text(OptionValue(value))));
        out.push_back(static_cast<std::int64_t>(value));
    }
    return out;
}

}  // namespace

Points parse_sparse_points(const Bytes& bytes, Precision precision, Index max_rows, const std::string& source,
                           int threads) {
    const auto array = [&](const char* key) { return parse_npz(bytes, key, Purpose::points, source); };
    const std::string format = sparse_format(array("format"));
    if (format != "csr")
        throw BadData(Code::unsupported_format, "the sparse format '" + shown(format) + "' is not supported for rows",
                      "Convert the matrix to csr with SciPy's tocsr()",
                      {.value = shown(format), .accepted = "csr", .file = source});
    const std::vector<std::int64_t> shape = whole_numbers(array("shape"), source + ":shape");
    if (shape.size() != 2)
        refuse_file(source, Code::malformed, "the array 'shape' does not hold two numbers, rows and columns");
    const Array starts = array("indptr");
    const Array columns = array("indices");
    const Array data = array("data");
    // The values, as points with one column; no rows if there are no entries.
    const Points values =
        is_empty(data) ? Points(Matrix<double>(0, 1)) : to_points(data, precision, -1, source + ":data", threads);
    const bool narrow = lies_as<std::int32_t>(starts, Element::int32) && lies_as<std::int32_t>(columns, Element::int32);
    using Own = std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>;
    const auto own = narrow ? nullptr
                            : std::make_shared<const Own>(whole_numbers(starts, source + ":indptr"),
                                                          whole_numbers(columns, source + ":indices"));
    const auto storage = std::make_shared<const std::tuple<Points, Array, Array, std::shared_ptr<const Own>>>(
        values, starts, columns, own);
    try {
        const SparsePoints all = values.view().visit([&]<class Scalar>(const Rows<Scalar>& rows) {
            const std::span<const Scalar> numbers(rows.data, static_cast<std::size_t>(rows.rows));
            if (narrow)
                return SparsePoints(shape[0], shape[1], numbers_in<std::int32_t>(starts),
                                    numbers_in<std::int32_t>(columns), numbers, storage);
            return SparsePoints(shape[0], shape[1], std::span<const std::int64_t>(own->first),
                                std::span<const std::int64_t>(own->second), numbers, storage);
        });
        const Index rows = max_rows >= 0 ? std::min(max_rows, all.rows()) : all.rows();
        return Points(std::make_shared<const SparsePoints>(all.slice(0, rows)));
    } catch (BadData& error) {
        error.amend([&](Message& message) {
            message.file = source;
            message.remedy = "SciPy's sum_duplicates() puts the entries of rows in order";
        });
        throw;
    }
}

}  // namespace coterie::formats
