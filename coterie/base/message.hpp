#pragma once
// Messages of errors and warnings. A message is a code and fields; only this module makes the text from them.
//
//   PLACE: PROBLEM. REMEDY     cars.csv: column 'price', line 7: '1.234,5' is not a number. Use `decimal=comma`.
//
// Each interface spells options differently: `max_iterations` is --max-iterations in the command and max_iter= in
// Python. Texts therefore mark a name by backquotes: `max_iterations`, or with a value `loss=renyi`. The Spelling of
// the interface replaces each mark. Names are those of described options (base/options.hpp), of fields of Problem, Run,
// ReadOptions and option searches, and `auto`. tests/marks_test.py checks them.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coterie/base/export.hpp"

namespace coterie {

/// The subject of a message. Programs may rely on name(code), which is in JSON and in Python's `code`. code_list()
/// explains it.
enum class Code : std::uint8_t {
    // What the caller gave
    not_accepted,
    unknown_name,
    missing_argument,
    conflict,
    without_effect,
    not_supported,
    wrong_shape,
    out_of_range,
    too_few_rows,
    infeasible,
    // What the data contain
    missing_value,
    not_finite,
    too_large,
    not_a_number,
    wrong_type,
    unknown_column,
    duplicate,
    empty,
    malformed,
    unsupported_format,
    limit_exceeded,
    model_mismatch,
    overflow,
    // What the machine refused
    not_found,
    cannot_read,
    cannot_write,
    already_exists,
    changed_file,
    out_of_memory,
    missing_library,
    library_failed,
    no_device,
    download_failed,
    processes_differ,
    // How the work ended
    cancelled,
    internal,
    // Warnings about the data
    rows_left_out,
    values_filled,
    unknown_category,
    no_vector,
    columns_by_order,
    header_guessed,
    constant_column,
    row_numbers,
    zero_row,
    scale_dominates,
    far_from_origin,
    far_from_training,
    // Warnings about the result
    unbalanced_clusters,
    split_duplicates,
    fewer_clusters,
    all_noise,
    not_converged,
    not_optimal,
    diverged,
    value_reduced,
    graph_disconnected,
    ill_conditioned,
    interrupted,
    checkpoint_failed,
    note
};
COTERIE_API std::string_view name(Code code);  // "not-accepted"

struct CodeMeaning {
    Code code;
    std::string_view name;
    std::string_view meaning;  // a sentence for docs/reference/messages.md
};
COTERIE_API std::span<const CodeMeaning> code_list();

/// How an interface writes what stands between backquotes. This base class is for C++: names as they are.
class COTERIE_API Spelling {
public:
    virtual ~Spelling() = default;
    /// An option or field: "max_iterations". Also the word "auto".
    virtual std::string option(std::string_view name) const { return std::string(name); }
    /// An option with a value: "loss", "renyi".
    virtual std::string setting(std::string_view name, std::string_view value) const {
        return std::string(name) + "=" + std::string(value);
    }
    /// The place of a row; rows count from 1.
    virtual std::string row(std::string_view row) const { return "row " + std::string(row); }
    /// `text` with its marks replaced.
    std::string operator()(std::string_view text) const;

    /// The spelling that all messages of this program use: that of C++, unless use() set another one.
    static const Spelling& current();
    /// For interfaces: sets the spelling once, before any other call. `spelling` must stay alive.
    static void use(const Spelling& spelling);
};

/// Fields that are unknown or do not apply are empty.
struct COTERIE_API Message {
    Code code = Code::note;
    std::string problem = {};               // what is wrong, or what was noticed; without the place and a full stop
    std::string remedy = {};                // what to do; one or more sentences, without the last full stop
    std::string option = {};                // its name without backquotes: "max_iterations"
    std::string value = {};                 // as given
    std::string accepted = {};              // in words
    std::string file = {};                  // its path
    std::optional<std::int64_t> line = {};  // of a text file, counted from 1
    std::optional<std::int64_t> row = {};   // counted from 1
    std::string column = {};                // its name, if it has one
    std::optional<std::int64_t> column_number = {};  // counted from 1
    std::string context = {};                        // origin, at the start of the text: "spectral", "process 2"

    friend bool operator==(const Message&, const Message&) = default;

    /// "PLACE: PROBLEM. REMEDY." with the marks in place. The place begins with the file or, without a file, with the
    /// option (unless the problem begins with it). Column and line or row follow.
    std::string marked() const;
    /// The same in this program's spelling.
    std::string text() const;

    /// Converts to bytes, for another process of the same build, and back; nothing if the bytes are not a message.
    std::string packed() const;
    static std::optional<Message> unpacked(std::string_view bytes);
};

}  // namespace coterie
