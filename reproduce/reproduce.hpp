#pragma once
// The tables of the papers. Each has its own source file.

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
/// `count` images drawn without replacement, in their original order; all images if there are not more.
ImageSet some_of(const ImageSet& set, Index count, RandomStream random);

/// A folder for the states of fits: the folder of --checkpoint, created if missing. If `named` is empty, a temporary
/// folder, which the destructor removes. Throws ResourceError if the folder cannot be created.
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

/// A copy of the run whose seed is larger by `seed`.
Run of_seed(const Run& run, std::uint64_t seed);

/// A fit that stops whenever `cut` returns true for its progress, and continues from the run's checkpoint. The result
/// is the same as without stops. `after_piece` gets the model after each piece, including the last. Both may be empty;
/// then the fit is not cut. Throws Cancelled if the run is stopped.
std::unique_ptr<Model> fit_in_pieces(const Method& method, PointsView points, const OptionValues& options,
                                     const Run& run, const std::function<bool(const Progress&)>& cut,
                                     const std::function<void(const Model&)>& after_piece);

/// The numbers of a detail of the report; empty if the report does not have it.
const std::vector<double>& numbers_of(const FitReport& report, const std::string& detail);

/// Formats figures in per cent: "42.50 ± 1.20", or "42.50" if there is only one.
std::string summary_text(const SampleSummary& sample);
/// Mean and standard deviation, from 0 to 1.
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
