#pragma once
// Flags and operands that several subcommands have, and the list of flags of a subcommand.

#include "command_line.hpp"
#include "coterie/base/run.hpp"
#include "coterie/io/read_request.hpp"

namespace coterie::cli {

/// Options for how a computation runs.
struct RunRequest {
    std::int64_t seed = 0;
    std::optional<int> threads;  // automatic: all available threads
    std::string memory;          // empty: the available memory
    std::string device = "cpu";
    std::string checkpoint;
    bool quiet = false;
    bool json = false;

    static const OptionSet& described();
    /// For commands that need one process. Throws BadArgument if mpirun started several.
    Run run() const;
    /// For commands that work in several processes. From now on, only rank 0 prints.
    Run run_in_processes() const;

private:
    Run as_told() const;
};
/// The flags of RunRequest with these names.
std::vector<Flag> run_flags(std::shared_ptr<RunRequest> request, const std::vector<std::string>& names);

/// A flag that stores its text (a file, a column, a list) in `target`, which `owner` keeps alive.
Flag text_flag(const std::string& name, const std::string& value, const std::string& meaning, const std::string& group,
               std::string& target, std::shared_ptr<void> owner, Completion completion = Completion::nothing);
/// A required operand.
Operand text_operand(const std::string& name, const std::string& meaning, std::string& target,
                     std::shared_ptr<void> owner, Completion completion = Completion::file);
/// The operand POINTS, for all commands that read points.
Operand points_operand(std::string& target, std::shared_ptr<void> owner);

/// The meaning of --truth for commands whose data file or data set may contain the truth.
extern const char* const truth_meaning;

/// The flags of a command, in the order of its help. `owner` keeps the targets alive.
class FlagList {
public:
    explicit FlagList(std::shared_ptr<void> owner) : owner_(std::move(owner)) {}

    FlagList& text(const std::string& name, const std::string& value, const std::string& meaning,
                   const std::string& group, std::string& target, Completion completion = Completion::nothing) {
        return add(text_flag(name, value, meaning, group, target, owner_, completion));
    }
    FlagList& file(const std::string& name, const std::string& value, const std::string& meaning,
                   const std::string& group, std::string& target) {
        return text(name, value, meaning, group, target, Completion::file);
    }
    /// All options of a described struct.
    template <class Options>
    FlagList& options(const std::string& group, Options& target) {
        return add(flags_of(Options::described(), group, std::shared_ptr<void>(owner_, &target)));
    }
    /// All options of a set; only the given ones are stored.
    FlagList& options(const std::string& group, const OptionSet& set, OptionValues& target) {
        return add(flags_of(set, group, std::shared_ptr<OptionValues>(owner_, &target)));
    }
    FlagList& add(std::vector<Flag> more);
    FlagList& add(Flag flag) { return add(std::vector<Flag>{std::move(flag)}); }

    FlagList& reading(ReadRequest& request);
    FlagList& truth(const char* meaning, std::string& file, std::string& column);
    FlagList& weights(const char* meaning, std::string& file, std::string& column);
    FlagList& labels_out(std::string& target);
    FlagList& table_out(std::string& target);
    FlagList& report(std::string& target, const char* meaning = "write a report as one self-contained HTML page");
    /// As run_flags.
    FlagList& running(RunRequest& request, const std::vector<std::string>& names);

    operator std::vector<Flag>() const { return flags_; }

private:
    std::shared_ptr<void> owner_;
    std::vector<Flag> flags_;
};

/// A command that calls act(*request).
template <class Request, class Act>
Command command_of(std::shared_ptr<Request> request, std::string name, std::string summary, std::string details,
                   Act act) {
    Command command;
    command.name = std::move(name);
    command.summary = std::move(summary);
    command.details = std::move(details);
    command.act = [request, act] { return act(*request); };
    return command;
}

}  // namespace coterie::cli
