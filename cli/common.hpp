#pragma once
// What several subcommands share: how points and truth are read, how a Run is made, where results may go, how labels
// are scored.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command_line.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/run.hpp"
#include "coterie/data/read.hpp"
#include "coterie/metrics/metrics.hpp"
#include "coterie/model/model.hpp"
#include "coterie/pipeline/preparation.hpp"

namespace coterie::cli {

/// How the points' file is read.
struct ReadRequest {
    std::string label_column;
    std::string columns;
    Header header = Header::automatic;
    Precision precision = Precision::automatic;

    static const OptionSet& described();
    ReadOptions options() const;
};
std::vector<Flag> read_flags(std::shared_ptr<ReadRequest> request);

/// How a computation runs.
struct RunRequest {
    std::int64_t seed = 0;
    int threads = 0;  // 0: all there are
    bool quiet = false;
    bool json = false;

    static const OptionSet& described();
    Run run() const;
};
/// The flags among --seed, --threads, --quiet and --json that are named.
std::vector<Flag> run_flags(std::shared_ptr<RunRequest> request, const std::vector<std::string>& names);

/// A flag that names a file, or a column in one.
Flag text_flag(std::string name, std::string value, std::string meaning, std::string group, std::string& target,
               std::shared_ptr<void> owner, Completion completion = Completion::nothing);

extern const char* const points_meaning;
extern const char* const labels_out_meaning;

using Seconds = std::vector<std::pair<std::string, double>>;

/// Points with "did you mean" on a data set's name.
PointsFile points_from(const std::string& path, const ReadOptions& options, const Run& run);

/// What f() gives; of data that it refuses as "points: ..." the message names `source` instead.
template <class F>
auto naming_points(const std::string& source, F&& f) {
    try {
        return f();
    } catch (const BadData& error) {
        const std::string text = error.message();
        if (!text.starts_with("points: ")) throw;
        throw BadData(source + text.substr(6));
    }
}

/// A model's file: the model, and what its fit did to the points first. Errors name the file.
struct SavedModel {
    std::unique_ptr<Model> model;
    Preprocessing preprocessing;
};
SavedModel read_model(const std::string& path);
/// The warning about so many rows that --scale unit left as they are.
std::string zero_rows_warning(Index zero_rows);

/// One label a row, and what to call them. -1: not known.
struct Truth {
    LabelColumn column;
    std::string source;
};
/// From a labels file, or the truth that comes with data:NAME.
Truth read_truth(const std::string& path, const std::string& column, const Run& run);

/// Rows: classes. Columns: the cluster matched to each class, in the classes' order, then the clusters that no class is
/// left for.
struct Confusion {
    std::vector<std::string> classes;
    std::vector<std::string> clusters;
    std::vector<std::string> matched;  // class of each column; empty: none
    std::vector<std::vector<std::int64_t>> counts;
};

/// How labels agree with a truth, over the rows whose truth is known and was not given to the fit.
struct Agreement {
    Scores scores;
    /// Of these rows, the share whose label has the truth's name; none where labels and truth have no name in common.
    std::optional<double> label_accuracy;
    Confusion confusion;
    Index scored = 0;
    Index given = 0;    // rows left out because partial labels told the fit about them
    Index unknown = 0;  // rows left out because they have no truth
};
/// BadData when labels and truth differ in length, naming both, and when no row is left to score. `partial_labels`:
/// what the fit was given; rows it was told about are left out.
Agreement compare(const LabelColumn& labels, const std::string& labels_source, const Truth& truth,
                  LabelSpan partial_labels = {});
/// The warning where label_accuracy is none though labels have names.
std::string no_name_in_common(const std::string& truth_source);
/// BadData unless there is a label for each of the rows, naming both.
void require_rows(const Labels& labels, const std::string& what, Index rows, const std::string& source);

/// Labels as files and scores show them: the clusters of a label are one, under its name and its number; free clusters
/// come after the labels, in their order. Where clusters have no labels, the clusters themselves, without names.
LabelColumn merged_by_label(const Labels& clusters, const ClusterLabels& of_clusters);

/// What a label came to. Counts are there where points are.
struct LabelGroup {
    std::string name;
    std::vector<int> clusters;
    Index points = 0;
    Index labelled = 0;  // of the partial labels
    double share = 0;    // points over all points
};
/// One a label, in their order. `sizes`: points a cluster, or empty.
std::vector<LabelGroup> label_groups(const ClusterLabels& of_clusters, const std::vector<Index>& sizes,
                                     LabelSpan partial_labels = {});

/// Output files are tried before the work starts, so that a typing mistake costs no fit.
class Outputs {
public:
    /// An empty path is no output. `extensions`: those that are accepted; empty: any.
    void add(const std::string& flag, const std::string& path, const std::vector<std::string>& extensions = {});
    /// An input that must not be written over.
    void keep(const std::string& path);
    /// BadArgument or ResourceError when an output cannot be what is asked for.
    void check(bool json) const;
    /// One of them is standard output, so that the table must go elsewhere.
    bool uses_standard_output() const;

private:
    struct Output {
        std::string flag;
        std::string path;
        std::vector<std::string> extensions;
    };
    std::vector<Output> outputs_;
    std::vector<std::string> inputs_;
};

const std::vector<std::string>& label_extensions();

std::vector<Index> cluster_sizes(const Labels& labels, int clusters);
/// Positions among `known` of the names in `text`, which commas separate. BadArgument names the option and the names.
std::vector<std::size_t> positions_of(const std::string& option, const std::string& text,
                                      const std::vector<std::string>& known);
std::string join(const std::vector<std::string>& words, const std::string& between = ", ");

}  // namespace coterie::cli
