// Converts the arrays of files to points, labels and numbers. Floats in native byte order are used in place, mapped or
// read. Everything else is converted once, in blocks that fit into the cache. Numeric labels are numbered by value,
// words by appearance.

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <unordered_map>

#include "coterie/base/checks.hpp"
#include "coterie/base/memory.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/io/formats.hpp"

namespace coterie::formats {
namespace {

static_assert(std::endian::native == std::endian::little, "the binary formats are read as little-endian memory");

using Half = Eigen::half;

// Calls f with a value of the element's C++ type.
template <class F>
decltype(auto) visit_element(Element element, F&& f) {
    switch (element) {
        case Element::float16: return f(Half{});
        case Element::float32: return f(float{});
        case Element::float64: return f(double{});
        case Element::int8: return f(std::int8_t{});
        case Element::int16: return f(std::int16_t{});
        case Element::int32: return f(std::int32_t{});
        case Element::int64: return f(std::int64_t{});
        case Element::uint8: return f(std::uint8_t{});
        case Element::uint16: return f(std::uint16_t{});
        case Element::uint32: return f(std::uint32_t{});
        case Element::uint64: return f(std::uint64_t{});
        case Element::text8:
        case Element::text32: break;
    }
    throw InternalError("an array of text was read as numbers");
}

// Uses memcpy, because data in a file may not be aligned.
template <class T>
T load(const std::byte* p, bool swapped) {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), p, sizeof(T));
    if (swapped) std::reverse(bytes.begin(), bytes.end());
    T value;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
}

// For a value at a row and column, both counted from 0.
BadData bad_value(Code code, std::string problem, std::string remedy, std::string value, std::string_view source,
                  Index row, Index column) {
    return BadData(
        code, std::move(problem), std::move(remedy),
        {.value = std::move(value), .file = std::string(source), .row = row + 1, .column_number = column + 1});
}

void require_numbers(const Array& array, std::string_view source) {
    if (is_text(array.element)) refuse_file(source, Code::wrong_type, "the array holds text, but numbers are needed");
}

// How rows and columns are stored in the data, in items.
struct Layout {
    Index rows = 0;
    Index columns = 1;
    Index row_step = 1;
    std::vector<Index> column_offsets;  // empty: columns are adjacent
};

Layout layout_of(const Array& array, std::string_view source) {
    if (array.shape.empty())
        refuse_file(source, Code::wrong_shape, "the array is a single number, but rows of numbers are needed");
    Layout out;
    out.rows = static_cast<Index>(array.shape[0]);
    for (std::size_t k = 1; k < array.shape.size(); ++k) out.columns *= static_cast<Index>(array.shape[k]);
    if (out.rows == 0 || out.columns == 0)
        refuse_file(source, Code::empty, filled("the array is empty ({})", shape_text(array.shape)),
                    "Give at least one row and one column");
    if (!array.fortran || array.shape.size() == 1) {
        out.row_step = out.columns;
        return out;
    }
    // Fortran order: the flattened column (j1, j2, ...), with the last index fastest, starts at the sum of j_k times
    // the extents before k.
    require_memory_for(source, static_cast<double>(out.columns) * sizeof(Index), "the array");
    out.column_offsets.assign(static_cast<std::size_t>(out.columns), 0);
    for (Index column = 0; column < out.columns; ++column) {
        Index rest = column, step = out.rows * out.columns;
        for (std::size_t k = array.shape.size(); k-- > 1;) {
            step /= static_cast<Index>(array.shape[k]);
            out.column_offsets[static_cast<std::size_t>(column)] += rest % static_cast<Index>(array.shape[k]) * step;
            rest /= static_cast<Index>(array.shape[k]);
        }
    }
    return out;
}

template <class From, class To>
To converted(From value, std::string_view source, Index row, Index column) {
    const To out = static_cast<To>(value);
    if constexpr (std::is_same_v<From, double> && std::is_same_v<To, float>)
        if (std::isinf(out) && !std::isinf(value))
            throw bad_value(Code::too_large, to_text(OptionValue(value)) + " is too large for float32",
                            "Read the data as float64", to_text(static_cast<double>(value)), source, row, column);
    return out;
}

template <class From, class To>
Points convert(const Array& array, const Layout& layout, Index rows, std::string_view source, int threads) {
    require_memory_for(source, static_cast<double>(rows) * static_cast<double>(layout.columns) * sizeof(To),
                       "the array");
    Matrix<To> out(rows, layout.columns);
    const std::byte* base = array.data.data();
    // Blocks that fit into the cache, while a column-major source is read column by column.
    const RowBlocks blocks{rows, std::max<Index>(1, (Index{1} << 17) / layout.columns)};
    for_each_block(blocks.count(), threads, [&](Index block, int) {
        for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
            if (!layout.column_offsets.empty()) break;
            const std::byte* from = base + static_cast<std::size_t>(i * layout.row_step) * sizeof(From);
            To* to = out.data() + i * layout.columns;
            for (Index j = 0; j < layout.columns; ++j)
                to[j] = converted<From, To>(
                    load<From>(from + static_cast<std::size_t>(j) * sizeof(From), array.swapped), source, i, j);
        }
        if (layout.column_offsets.empty()) return;
        for (Index j = 0; j < layout.columns; ++j) {
            const std::byte* from =
                base + static_cast<std::size_t>(layout.column_offsets[static_cast<std::size_t>(j)]) * sizeof(From);
            for (Index i = blocks.begin(block); i < blocks.end(block); ++i)
                out.data()[i * layout.columns + j] = converted<From, To>(
                    load<From>(from + static_cast<std::size_t>(i) * sizeof(From), array.swapped), source, i, j);
        }
    });
    return Points(std::move(out));
}

ScalarType scalar_for(Element element, Precision precision) {
    if (precision == Precision::float32) return ScalarType::float32;
    if (precision == Precision::float64) return ScalarType::float64;
    switch (element) {
        case Element::float16:
        case Element::float32:
        case Element::int8:
        case Element::uint8:
        case Element::int16:
        case Element::uint16: return ScalarType::float32;
        default: return ScalarType::float64;
    }
}

// The number of values in an array that is a vector (at most one extent is not 1).
Index vector_length(const Array& array, std::string_view source, std::string_view wanted) {
    Index longest = 1;
    int extents = 0;
    for (const std::int64_t extent : array.shape) {
        if (extent == 1) continue;
        longest = static_cast<Index>(extent);
        ++extents;
    }
    if (extents > 1)
        refuse_file(source, Code::wrong_shape,
                    filled("the array is {}, but {} are one value per row", shape_text(array.shape), wanted),
                    "Give a single column");
    if (longest == 0) refuse_file(source, Code::empty, "the array is empty", "Give at least one value");
    return longest;
}

std::string integer_name(std::int64_t value) { return std::to_string(value); }
std::string integer_name(double value) {
    if (value == std::floor(value) && std::abs(value) < 0x1p63) return std::to_string(static_cast<std::int64_t>(value));
    char text[32];
    const auto result = std::to_chars(text, text + sizeof text, value);
    return {text, result.ptr};
}

// Distinct values, ascending, become labels 0, 1, ...; rows with `blank[i]` become -1.
template <class T>
LabelColumn labels_of_values(const std::vector<T>& values, const std::vector<bool>& blank) {
    std::vector<T> distinct;
    distinct.reserve(1024);
    // Removes duplicates whenever the list has grown, so that a million labels of ten classes need not be sorted.
    const auto tidy = [&] {
        std::sort(distinct.begin(), distinct.end());
        distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    };
    std::size_t next_tidy = 1024;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (blank[i]) continue;
        distinct.push_back(values[i]);
        if (distinct.size() >= next_tidy) {
            tidy();
            next_tidy = std::max<std::size_t>(1024, distinct.size() * 2);
        }
    }
    tidy();
    LabelColumn out;
    out.labels.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        out.labels[i] = blank[i]
                            ? -1
                            : static_cast<std::int32_t>(std::lower_bound(distinct.begin(), distinct.end(), values[i]) -
                                                        distinct.begin());
    for (const T value : distinct) out.names.push_back(integer_name(value));
    return out;
}

LabelColumn text_labels(const Array& array, Index n, bool allow_blank, std::string_view source) {
    std::vector<std::string> words(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) {
        const std::byte* item = array.data.data() + static_cast<std::size_t>(i) * array.item_bytes;
        std::string& word = words[static_cast<std::size_t>(i)];
        if (array.element == Element::text8) {
            word.assign(reinterpret_cast<const char*>(item), array.item_bytes);
            word.erase(word.find_last_not_of('\0') + 1);
        } else {
            for (std::size_t k = 0; k + 4 <= array.item_bytes; k += 4)
                if (const auto code = load<std::uint32_t>(item + k, array.swapped)) append_utf8(word, code);
        }
        if (trimmed(word).empty() && !allow_blank)
            throw bad_value(Code::missing_value, "the label is empty", "Give every row a label", {}, source, i, 0);
    }
    std::vector<std::string_view> views;
    for (const auto& word : words) views.push_back(trimmed(word));
    return labels_of_words(views);
}

}  // namespace

Points to_points(const Array& array, Precision precision, Index max_rows, std::string_view source, int threads) {
    require_numbers(array, source);
    const Layout layout = layout_of(array, source);
    const Index rows = max_rows >= 0 ? std::min(max_rows, layout.rows) : layout.rows;
    const ScalarType scalar = scalar_for(array.element, precision);
    const bool aligned = reinterpret_cast<std::uintptr_t>(array.data.data()) % size_of(scalar) == 0;
    if (has_scalar(array, scalar) && aligned && layout.column_offsets.empty() && array.owner) {
        const PointsView view =
            scalar == ScalarType::float32
                ? PointsView(reinterpret_cast<const float*>(array.data.data()), rows, layout.columns)
                : PointsView(reinterpret_cast<const double*>(array.data.data()), rows, layout.columns);
        return Points(view, array.owner);
    }
    return visit_element(array.element, [&](auto value) {
        using From = decltype(value);
        return scalar == ScalarType::float32 ? convert<From, float>(array, layout, rows, source, threads)
                                             : convert<From, double>(array, layout, rows, source, threads);
    });
}

LabelColumn to_labels(const Array& array, bool allow_blank, std::string_view source) {
    const Index n = vector_length(array, source, "labels");
    if (is_text(array.element)) return text_labels(array, n, allow_blank, source);
    return visit_element(array.element, [&](auto zero) {
        using From = decltype(zero);
        constexpr bool whole = std::is_integral_v<From>;
        std::vector<std::conditional_t<whole, std::int64_t, double>> values(static_cast<std::size_t>(n));
        std::vector<bool> blank(static_cast<std::size_t>(n));
        for (Index i = 0; i < n; ++i) {
            const auto at = static_cast<std::size_t>(i);
            const From value = load<From>(array.data.data() + at * sizeof(From), array.swapped);
            if constexpr (whole) {
                if constexpr (std::is_same_v<From, std::uint64_t>)
                    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
                        throw bad_value(Code::too_large, filled("{} is too large for a label", value),
                                        "Use labels up to 9223372036854775807", std::to_string(value), source, i, 0);
                values[at] = static_cast<std::int64_t>(value);
                blank[at] = allow_blank && values[at] == -1;
            } else {
                const auto number = static_cast<double>(value);
                if (!std::isfinite(number) && !(allow_blank && std::isnan(number)))
                    throw bad_value(std::isnan(number) ? Code::missing_value : Code::not_finite,
                                    to_text(OptionValue(number)) + " is not a label",
                                    "Give every row a finite number as label", to_text(number), source, i, 0);
                blank[at] = allow_blank && (std::isnan(number) || number == -1.0);
                values[at] = blank[at] ? 0.0 : number + 0.0;  // turns -0 into 0
            }
        }
        return labels_of_values(values, blank);
    });
}

std::vector<double> to_numbers(const Array& array, std::string_view source) {
    require_numbers(array, source);
    const Index n = vector_length(array, source, "numbers");
    std::vector<double> out(static_cast<std::size_t>(n));
    visit_element(array.element, [&](auto zero) {
        using From = decltype(zero);
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = static_cast<double>(load<From>(array.data.data() + i * sizeof(From), array.swapped));
    });
    if (!out.empty()) require_finite(PointsView(out.data(), n, 1), {.file = std::string(source)});
    return out;
}

LabelColumn labels_of_words(const std::vector<std::string_view>& words) {
    LabelColumn out;
    out.labels.resize(words.size());
    std::vector<std::string_view> distinct;
    {
        std::unordered_map<std::string_view, std::int32_t> numbers;
        std::string_view last;
        std::int32_t last_number = -1;
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (words[i].empty()) {
                out.labels[i] = -1;
                continue;
            }
            if (words[i] != last) {  // rows of the same class are often adjacent
                last = words[i];
                const auto [found, added] = numbers.emplace(last, static_cast<std::int32_t>(distinct.size()));
                if (added) distinct.push_back(last);
                last_number = found->second;
            }
            out.labels[i] = last_number;
        }
    }
    bool numeric = true, whole = true;
    std::vector<double> reals(distinct.size());
    std::vector<std::int64_t> integers(distinct.size());
    for (std::size_t k = 0; k < distinct.size() && numeric; ++k) {
        bool overflow = false;
        numeric = parse_field(distinct[k], reals[k], overflow);
        std::string_view digits = distinct[k];
        if (digits.starts_with('+')) digits.remove_prefix(1);
        // 007 is a code, not a number.
        if (digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9') numeric = false;
        const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), integers[k]);
        whole = whole && result.ec == std::errc() && result.ptr == digits.data() + digits.size();
        reals[k] += 0.0;  // turns -0 into 0
    }
    if (!numeric) {
        for (const std::string_view word : distinct) out.names.emplace_back(word);
        return out;
    }
    const std::vector<bool> none(distinct.size());
    LabelColumn order = whole ? labels_of_values(integers, none) : labels_of_values(reals, none);
    for (std::int32_t& label : out.labels)
        if (label >= 0) label = order.labels[static_cast<std::size_t>(label)];
    out.names = std::move(order.names);
    return out;
}

LabelColumn joined_labels(std::span<const LabelColumn> parts) {
    Labels all;
    std::vector<std::string_view> names;
    std::unordered_map<std::string_view, std::int32_t> numbers;
    for (const LabelColumn& part : parts) {
        std::vector<std::int32_t> number_of;
        for (const std::string& name : part.names) {
            const auto [found, added] = numbers.emplace(name, static_cast<std::int32_t>(names.size()));
            if (added) names.push_back(name);
            number_of.push_back(found->second);
        }
        for (const auto label : part.labels)
            all.push_back(label < 0 ? label : number_of.at(static_cast<std::size_t>(label)));
    }
    LabelColumn out = labels_of_words(names);
    for (auto& label : all)
        if (label >= 0) label = out.labels[static_cast<std::size_t>(label)];
    out.labels = std::move(all);
    return out;
}

}  // namespace coterie::formats
