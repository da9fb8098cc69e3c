#pragma once
// The parts of a fitted model (arrays and numbers), described once, next to the model. One function lists them with
// name, shape and meaning. Storing, loading and checking, `coterie info` and Python's attributes use this list.
//
//   void SubspaceModel::parts(Parts& parts) {
//       parts.add("prototypes", prototypes_, "k x d", "the centroid of each cluster");
//       parts.add("origin", origin_, "d", "the values subtracted from every row");
//   }
//
// A shape consists of letters and whole numbers. A letter stands for one extent in the whole model: k for the number of
// clusters. The first part that uses another letter sets its extent, which is at least 1.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/points.hpp"
#include "coterie/model/archive.hpp"

namespace coterie {

struct PartDescription {
    std::string name;
    std::string shape;  // "k x d"
    std::string meaning;
};

class COTERIE_API Parts {
public:
    /// Only lists the parts.
    Parts() = default;
    /// Writes the added parts into the archive. The parts themselves do not change.
    explicit Parts(Archive* into) : into_(into) {}
    /// Reads the added parts from the archive. Throws BadData if a part is missing, has another shape or type, is out
    /// of range or not finite, or is so large that squares overflow.
    explicit Parts(const Archive* from) : from_(from) {}
    /// Lists the parts and checks their numbers as if they were read. Throws BadData.
    static Parts checking() {
        Parts out;
        out.checks_ = true;
        return out;
    }

    bool reading() const { return from_ != nullptr; }
    bool storing() const { return into_ != nullptr; }
    /// The file that is read, for messages; empty if no file is read.
    std::string source() const { return from_ != nullptr ? from_->source() : std::string(); }
    /// Whether an optional part is present: in the archive if it is read, otherwise `has`.
    bool present(const std::string& name, bool has) const { return from_ != nullptr ? from_->has(name) : has; }
    void bind(char letter, Index extent) { extents_[letter] = extent; }
    /// The extent of a letter that is bound.
    Index extent(char letter) const { return extents_.at(letter); }

    void add(const std::string& name, Matrix<double>& value, std::string_view shape, std::string_view meaning);
    /// Keeps the scalar type of the points.
    void add(const std::string& name, Points& value, std::string_view shape, std::string_view meaning);
    void add(const std::string& name, Vector<double>& value, std::string_view shape, std::string_view meaning);
    void add(const std::string& name, std::vector<double>& value, std::string_view shape, std::string_view meaning,
             const OptionRange& range = any_number());
    void add(const std::string& name, std::vector<std::int32_t>& value, std::string_view shape,
             std::string_view meaning, const OptionRange& range);
    void add(const std::string& name, double& value, std::string_view meaning, const OptionRange& range);
    void add(const std::string& name, std::int32_t& value, std::string_view meaning, const OptionRange& range);
    /// A row of `size` numbers in single precision.
    void add(const std::string& name, std::vector<float>& value, Index size, std::string_view meaning);
    /// A number from 1 to 999,999,999 that is stored as text and that `coterie info` shows.
    void add_count(const std::string& name, Index& value);

    const std::vector<PartDescription>& descriptions() const { return descriptions_; }

    /// For writing a part that the model shares and must not change.
    template <class T>
    static T& only_read(const T& value) {
        return const_cast<T&>(value);
    }

private:
    std::vector<Index> shape_of(std::string_view shape) const;
    void learn(std::string_view shape, const std::string& name, std::initializer_list<Index> found);
    void describe(const std::string& name, std::string_view shape, std::string_view meaning);

    Archive* into_ = nullptr;
    const Archive* from_ = nullptr;
    bool checks_ = false;
    std::map<char, Index> extents_;
    std::vector<PartDescription> descriptions_;
};

}  // namespace coterie
