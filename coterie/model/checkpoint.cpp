// A checkpoint is an archive that names its fit: method, options, seed, and SHA-256 of the points and the other data.
// The checkpoint of another fit is an error and is never overwritten. A new file replaces the old file only when it is
// complete and on disk, so after a crash the file holds the last state or the one before. Points are hashed block by
// block, so the hash does not depend on where they are stored or how many processes share them.

#include "coterie/model/checkpoint.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>
#include <vector>

#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/sparse_points.hpp"
#include "coterie/base/text.hpp"
#include "coterie/io/output_file.hpp"
#include "coterie/io/sha256.hpp"

namespace coterie::internal {
namespace {

// The version of the checkpoint's layout. Every change of its content needs a new version.
constexpr const char* layout = "4";

std::string shape_of(PointsView points) {
    return filled("{} x {} {}", points.rows(), points.columns(), name(points.scalar()));
}

std::string fingerprint_of_entries(const SparsePoints& points) {
    Sha256 sum;
    PointsView(points).with_scalar([&]<class Scalar>() {
        std::vector<Index> columns;
        for (Index i = 0; i < points.rows(); ++i) {
            const SparseRow<Scalar> row = points.row<Scalar>(i);
            columns.assign(1, row.count);
            for (Index e = 0; e < row.count; ++e) columns.push_back(row.column(e));
            sum.update(columns.data(), sizeof(Index) * columns.size());
            sum.update(row.values, sizeof(Scalar) * at(row.count));
        }
    });
    return sum.hex() + " " + shape_of(PointsView(points)) + " sparse";
}

}  // namespace

std::string fingerprint_of(PointsView points, const Run& run) {
    if (const SparsePoints* sparse = as_sparse(points)) return fingerprint_of_entries(*sparse);
    using Digest = std::array<char, 64>;
    const Range own = own_blocks(grid_of(points), run.communicator());
    std::vector<Digest> digests(at(own.count()));
    points.with_scalar([&]<class Scalar>() {
        BlockReader reader(points, run);
        for_each_own_block(reader.grid(), run, {.name = "reading"}, [&](Index number, int worker) {
            const auto rows = reader.template block<Scalar>(number, worker).rows;
            Sha256 sum;
            for (Index i = 0; i < rows.rows; ++i) sum.update(rows.row(i), sizeof(Scalar) * at(rows.columns));
            const std::string hex = sum.hex();
            std::copy(hex.begin(), hex.end(), digests[at(number - own.begin)].begin());
        });
    });
    digests = gather(run.communicator(), digests);
    Sha256 sum;
    sum.update(digests.data(), sizeof(Digest) * digests.size());
    return sum.hex() + " " + shape_of(points);
}

std::string fingerprint_of(const Problem& problem, const Run& run) {
    if (run.checkpoint.empty()) return {};
    std::string out = fingerprint_of(problem.points.view(), run);
    const Run own = run.alone().unstopped();  // every process has all of these rows
    if (!problem.weights.empty())
        out += ", weights " +
               fingerprint_of(PointsView(problem.weights.data(), static_cast<Index>(problem.weights.size()), 1), own);
    if (!problem.initial_centroids.empty())
        out += ", centroids " + fingerprint_of(problem.initial_centroids.view(), own);
    Sha256 sum;
    const auto add = [&](const auto& number) { sum.update(&number, sizeof(number)); };
    const auto add_word = [&](const std::string& word) { sum.update(word.c_str(), word.size() + 1); };
    sum.update(problem.partial_labels.data(), sizeof(std::int32_t) * problem.partial_labels.size());
    for (const std::string& name : problem.label_names) add_word(name);
    for (const ClustersOfLabel& each : problem.clusters_per_label) {
        add_word(each.label);
        add(each.clusters);
    }
    for (const LabelShare& share : problem.label_shares) {
        add_word(share.label);
        add(share.low);
        add(share.high);
    }
    if (problem.sizes) {
        add(problem.sizes->low);
        add(problem.sizes->high);
    }
    for (const auto* pairs : {&problem.must_links, &problem.cannot_links}) {
        add(pairs->size());
        sum.update(pairs->data(), sizeof(RowPair) * pairs->size());
    }
    if (!problem.partial_labels.empty() || !problem.label_shares.empty() || problem.sizes ||
        !problem.must_links.empty() || !problem.cannot_links.empty())
        out += ", known " + sum.hex();
    return out;
}

void store_labels(Archive* archive, const std::string& name, const Labels& own, Communicator& communicator) {
    const Labels all = gather_at_first(communicator, own);
    if (archive != nullptr) archive->set_labels(name, all);
}

Labels own_labels(const Archive& archive, const std::string& name, Index rows, Range own) {
    const Labels all = archive.labels(name, rows);
    return Labels(all.begin() + own.begin, all.begin() + own.end);
}

Checkpoint::Checkpoint(const Run& run, std::string method, const OptionValues& options, std::string points)
    : communicator_(run.communicator()),
      path_(run.checkpoint),
      method_(std::move(method)),
      points_(std::move(points)),
      options_(options),
      seed_(run.seed) {
    options_["device"] = run.device;  // other devices round differently
    if (path_.empty()) return;
    if (path_ == "-")
        throw BadArgument(Code::not_accepted, "- is not accepted", "Use the name of a file",
                          {.option = "checkpoint", .value = "-", .accepted = "the name of a file"});
    together(communicator_, [&] {
        if (!wanted()) return;
        try {
            const OutputFile attempt(path_);
        } catch (ResourceError& error) {
            error.amend([&](Message& message) {
                message.option = "checkpoint";
                message.file = path_;
                message.remedy = "Give `checkpoint` a file that can be written";
            });
            throw;
        }
    });
}

bool Checkpoint::wanted() const { return !path_.empty() && communicator_.rank() == 0; }

bool Checkpoint::due() const { return wanted() && since_.seconds() >= pause_; }

Archive Checkpoint::begin() const {
    Archive out("checkpoint");
    out.set_text("layout", layout);
    out.set_options(options_);
    out.set_text("fit", method_);
    out.set_text("points", points_);
    out.set_text("seed", std::to_string(seed_));
    return out;
}

std::optional<Archive> Checkpoint::found() const {
    if (path_.empty()) return std::nullopt;
    std::optional<Archive> out;
    std::string bytes;
    together(communicator_, [&] {
        std::error_code none;
        if (!wanted() || !std::filesystem::exists(path_, none)) return;
        out = read();
        if (communicator_.size() > 1) bytes = out->to_bytes();
    });
    if (communicator_.size() == 1) return out;
    bytes.resize(from_process(communicator_, 0, bytes.size()));
    if (bytes.empty()) return std::nullopt;
    communicator_.broadcast(std::as_writable_bytes(std::span(bytes)), 0);
    return Archive::from_bytes(std::as_bytes(std::span(bytes)), path_);
}

Archive Checkpoint::read() const {
    Archive archive = Archive::load(path_);
    const auto refuse = [&](std::string problem, std::string remedy = "Use another file, or remove this one") {
        throw BadData(Code::model_mismatch, std::move(problem), std::move(remedy),
                      {.option = "checkpoint", .file = path_});
    };
    const auto refuse_fit = [&](const std::string& what) { refuse("the checkpoint is from a fit with " + what); };
    if (archive.method() != "checkpoint")
        refuse("the file is a model of " + archive.method() + ", not a checkpoint", "Use another file");
    if (!archive.texts().contains("layout") || archive.text("layout") != layout)
        refuse("the checkpoint is from another version of coterie");
    if (archive.text("fit") != method_) refuse_fit("another method (" + archive.text("fit") + ")");
    if (archive.text("points") != points_)
        refuse_fit("other data: rows, weights, centroids, labels, shares or `pretrained`");
    if (archive.text("seed") != std::to_string(seed_)) refuse_fit("another `seed`");
    std::string differing;
    for (const auto& [name, value] : options_) {
        const auto stored = archive.options().find(name);
        if (stored == archive.options().end())
            differing += " `" + name + "`";
        else if (stored->second != value)
            differing += " `" + name + "=" + to_text(stored->second) + "`";
    }
    if (!differing.empty() || archive.options().size() != options_.size())
        refuse_fit("other options (" + differing.erase(0, 1) + ")");
    return archive;
}

void Checkpoint::write(const Archive& archive) {
    if (!wanted()) return;
    Stopwatch writing;
    try {
        OutputFile file(path_);
        file.write(archive.to_bytes());
        file.commit(OutputFile::Durability::on_disk);
        trouble_.reset();
    } catch (const ResourceError& error) {
        trouble_ = error.fields();
    }
    pause_ = std::max(5.0, 20 * writing.seconds());  // writing takes at most 1/20 of the time
    since_.restart();
}

bool Checkpoint::write_parts(bool now, FunctionRef<void(Archive*)> store) {
    if (path_.empty() || !from_process(communicator_, 0, now || due())) return false;
    Archive archive = begin();
    store(wanted() ? &archive : nullptr);
    write(archive);
    return true;
}

std::string Checkpoint::what_is_left() const {
    if (path_.empty()) return ", before there was a result";
    if (trouble_)
        return ", before there was a result, and the checkpoint could not be written (" + trouble_->problem + ")";
    return "; checkpoint " + path_ + " holds the state: repeat the same fit to continue from it";
}

void Checkpoint::warn(FitReport& report) const {
    if (!trouble_) return;
    Message warning = *trouble_;
    warning.code = Code::checkpoint_failed;
    warning.problem = "the last checkpoint could not be written: " + warning.problem;
    report.warnings.push_back(std::move(warning));
}

}  // namespace coterie::internal
