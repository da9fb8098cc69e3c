// Stores and loads parts. Loaded parts are checked here for all models: extents must match earlier parts, and numbers
// must not overflow in later arithmetic. Models check other conditions, such as a positive kernel width.

#include "coterie/model/parts.hpp"

#include <algorithm>

#include "coterie/base/checks.hpp"
#include "coterie/base/error.hpp"
#include "coterie/io/formats.hpp"
#include "coterie/io/reader.hpp"
#include "coterie/model/model.hpp"

namespace coterie {
namespace {

// "k x d": {"k", "d"}
std::vector<std::string_view> words_of(std::string_view shape) {
    std::vector<std::string_view> out;
    while (true) {
        const std::size_t end = shape.find(" x ");
        out.push_back(shape.substr(0, end));
        if (end == std::string_view::npos) return out;
        shape.remove_prefix(end + 3);
    }
}

bool is_letter(std::string_view word) { return word.size() == 1 && word[0] >= 'a' && word[0] <= 'z'; }

void require_range(const std::string& name, double value, const OptionRange& range, const std::string& file) {
    if (!range.contains(value))
        throw BadData(Code::malformed,
                      "part '" + name + "' holds " + to_text(OptionValue(value)) + "; it must be " + range.text(), "",
                      {.value = to_text(OptionValue(value)), .accepted = range.text(), .file = file});
}

// Calls check(), which checks the numbers of a part. Adds the part's name to errors and removes remedies for data.
template <class Check>
void check_part(const std::string& name, Check&& check) {
    try {
        check();
    } catch (BadData& error) {
        error.amend([&](Message& message) {
            message.problem = "part '" + name + "': " + message.problem;
            message.remedy.clear();
        });
        throw;
    }
}

// Squares of parts must not overflow. Empty parts need no check.
void require_sound(const std::string& name, PointsView points, const std::string& file) {
    if (points.rows() > 0 && points.columns() > 0)
        check_part(name, [&] { check_points(points, {.file = file}, Run(0, 1)); });
}

}  // namespace

// The extents of a shape; -1 for a letter whose extent is not known yet.
std::vector<Index> Parts::shape_of(std::string_view shape) const {
    std::vector<Index> out;
    for (const std::string_view word : words_of(shape)) {
        if (!is_letter(word)) {
            out.push_back(std::stol(std::string(word)));
            continue;
        }
        const auto bound = extents_.find(word[0]);
        out.push_back(bound == extents_.end() ? -1 : bound->second);
    }
    return out;
}

void Parts::learn(std::string_view shape, const std::string& name, std::initializer_list<Index> found) {
    const auto words = words_of(shape);
    auto extent = found.begin();
    for (std::size_t i = 0; i < words.size() && extent != found.end(); ++i, ++extent) {
        if (!is_letter(words[i])) continue;
        if (*extent < 1) throw BadData(Code::empty, "part '" + name + "' is empty", "", {.file = source()});
        extents_.emplace(words[i][0], *extent);
    }
}

void Parts::describe(const std::string& name, std::string_view shape, std::string_view meaning) {
    descriptions_.push_back({name, std::string(shape), std::string(meaning)});
}

void Parts::add(const std::string& name, Points& value, std::string_view shape, std::string_view meaning) {
    describe(name, shape, meaning);
    if (into_ != nullptr) into_->set_points(name, value);
    if (checks_) require_sound(name, value, source());
    if (from_ == nullptr) return;
    const auto expected = shape_of(shape);
    value = from_->points(name, expected[0], expected[1]);
    learn(shape, name, {value.rows(), value.columns()});
    require_sound(name, value, source());
}

void Parts::add(const std::string& name, Matrix<double>& value, std::string_view shape, std::string_view meaning) {
    if (from_ == nullptr) {
        Points borrowed = Points::borrow(value);
        add(name, borrowed, shape, meaning);
        return;
    }
    Points read;
    add(name, read, shape, meaning);
    value = to_matrix<double>(read);
}

void Parts::add(const std::string& name, std::vector<double>& value, std::string_view shape, std::string_view meaning,
                const OptionRange& range) {
    describe(name, shape, meaning);
    if (into_ != nullptr) into_->set_vector(name, value);
    if (checks_ && !value.empty())
        check_part(name, [&] {
            require_finite(PointsView(value.data(), 1, static_cast<Index>(value.size())), {.file = source()});
        });
    if (from_ == nullptr) return;
    value = from_->vector(name, shape_of(shape)[0]);
    learn(shape, name, {static_cast<Index>(value.size())});
    for (const double number : value) require_range(name, number, range, source());
}

void Parts::add(const std::string& name, Vector<double>& value, std::string_view shape, std::string_view meaning) {
    std::vector<double> numbers(value.data(), value.data() + value.size());
    add(name, numbers, shape, meaning);
    if (from_ != nullptr)
        value = Eigen::Map<const eigen::Vector<double>>(numbers.data(), static_cast<Index>(numbers.size()));
}

void Parts::add(const std::string& name, std::vector<std::int32_t>& value, std::string_view shape,
                std::string_view meaning, const OptionRange& range) {
    describe(name, shape, meaning);
    if (into_ != nullptr) into_->set_labels(name, value);
    if (from_ == nullptr) return;
    value = from_->labels(name, shape_of(shape)[0]);
    learn(shape, name, {static_cast<Index>(value.size())});
    for (const auto number : value) require_range(name, number, range, source());
}

void Parts::add(const std::string& name, double& value, std::string_view meaning, const OptionRange& range) {
    std::vector<double> one = {value};
    add(name, one, "1", meaning, range);
    value = one.front();
}

void Parts::add(const std::string& name, std::int32_t& value, std::string_view meaning, const OptionRange& range) {
    std::vector<std::int32_t> one = {value};
    add(name, one, "1", meaning, range);
    value = one.front();
}

void Parts::add(const std::string& name, std::vector<float>& value, Index size, std::string_view meaning) {
    Points row = Points::borrow(PointsView(value.data(), 1, static_cast<Index>(value.size())));
    add(name, row, "1 x " + std::to_string(size), meaning);
    if (from_ == nullptr) return;
    const auto numbers = to_matrix<float>(row);
    value.assign(numbers.data(), numbers.data() + numbers.size());
}

void Parts::add_count(const std::string& name, Index& value) {
    if (into_ != nullptr) into_->set_text(name, std::to_string(value));
    if (from_ == nullptr) return;
    const std::string& text = from_->text(name);
    if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos ||
        std::stol(text) < 1)
        throw BadData(Code::malformed,
                      "text '" + name + "' is '" + formats::shown(text) + "', not a whole number from 1 to 999999999",
                      "", {.file = source()});
    value = std::stol(text);
}

}  // namespace coterie
