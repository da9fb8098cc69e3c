#pragma once
// The papers' tables, each described in a file of its own.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/methods.hpp"
#include "coterie/report/json.hpp"
#include "coterie/report/result_text.hpp"

namespace coterie::cli {

/// Images of the catalogue with grey values from 0 to 1.
struct ImageSet {
    Points pixels;  // n x d, float
    Labels truth;   // 0..classes-1
    int classes = 0;
};
ImageSet read_images(const std::string& name, const Run& run);
/// So many of them drawn without replacement, in their order. All, where there are no more.
ImageSet some_of(const ImageSet& set, Index count, RandomStream random);

/// A folder for the states of fits: that of --checkpoint, made where it is not there, or one that goes with this.
/// ResourceError where there can be none.
class WorkFolder {
public:
    explicit WorkFolder(const std::string& named);
    ~WorkFolder();
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;
    std::string operator/(const std::string& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
    bool kept_;
};

/// A run like it whose random numbers start at the seed so many after its own.
Run of_seed(const Run& run, std::uint64_t seed);

/// A fit that is cut off as soon as `cut` says so of its progress, and taken up again from the checkpoint that the
/// options name: it ends as if it had not been. after_piece sees every model, the last one, too. Both may be empty: a
/// fit in one piece. Cancelled when the run is stopped.
std::unique_ptr<Model> fit_in_pieces(const Method& method, PointsView points, const OptionValues& options,
                                     const Run& run, const std::function<bool(const Progress&)>& cut,
                                     const std::function<void(const Model&)>& after_piece);

/// Of a detail of a report; none where it has no such detail.
const std::vector<double>& numbers_of(const FitReport& report, const std::string& detail);

/// Of figures in per cent: 42.50 ± 1.20, or 42.50 of one number.
std::string summary_text(const SampleSummary& sample);
/// Their mean and deviation as shares.
Json summary_json(const SampleSummary& sample);

/// The program: a subcommand for every table.
Command reproduce_command();

Command reproduce_cpd_uml_command();
Command reproduce_dekm_coil_command();
Command reproduce_dekm_mnist_command();
Command reproduce_dekm_usps_command();
Command reproduce_entropy_em_command();
Command reproduce_entropy_linear_command();
Command reproduce_label_noise_command();
Command reproduce_max_margin_command();
Command reproduce_ner_transfer_command();
Command reproduce_trefoil_lambda_command();
Command reproduce_trefoil_n_command();
Command reproduce_two_moons_command();
Command reproduce_vgg4_mnist_command();
Command reproduce_wmc_cifar_command();

}  // namespace coterie::cli
