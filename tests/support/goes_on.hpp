#pragma once
// For tests of fits with checkpoints. A fit that is stopped again and again gives the same bits as one without a stop.

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"
#include "coterie/model/archive.hpp"
#include "coterie/model/model.hpp"
#include "tests/support/processes_in_threads.hpp"
#include "tests/support/read_rows.hpp"
#include "tests/support/test_files.hpp"

namespace coterie::test {

/// The results of a fit that must not depend on stops.
struct Outcome {
    Labels labels;
    std::vector<double> numbers;
    bool operator==(const Outcome&) const = default;
};

/// The labels, the saved parts, and the report of the fit except its measures of work.
inline Outcome outcome_of(const Model& model, Communicator& communicator) {
    Outcome out{internal::gather(communicator, model.labels()), {}};
    Archive archive{std::string(model.method())};
    model.store(archive);
    const FitReport& report = model.fit_report();
    for (const auto& [name, tensor] : archive.tensors())
        for (const std::byte each : tensor.bytes) out.numbers.push_back(std::to_integer<int>(each));
    out.numbers.insert(out.numbers.end(), report.objective_per_iteration.begin(), report.objective_per_iteration.end());
    for (const auto& [name, value] : report.details) {
        if (name == "distance_share") continue;
        if (const auto* count = std::get_if<std::int64_t>(&value)) out.numbers.push_back(static_cast<double>(*count));
        if (const auto* number = std::get_if<double>(&value)) out.numbers.push_back(*number);
        if (const auto* many = std::get_if<std::vector<double>>(&value))
            out.numbers.insert(out.numbers.end(), many->begin(), many->end());
    }
    for (const double figure :
         {report.objective, static_cast<double>(report.iterations), static_cast<double>(report.empty_clusters_repaired),
          static_cast<double>(report.stopped), static_cast<double>(report.warnings.size())})
        out.numbers.push_back(figure);
    return out;
}

/// Stops the fit again and again, each time from its checkpoint, until it completes. It stops at a later question or
/// read every four attempts. Attempts alternate between points in memory and read points, with one and two threads, and
/// with one and three processes.
/// Returns the number of attempts that started from a checkpoint.
template <class Fitting, class Options>
int goes_on(const Fitting& fit, const Options& options, const Problem& problem) {
    Communicator alone;
    const Outcome whole = outcome_of(fit(problem, options, Run(7, 1)), alone);
    const coterie::testing::Folder folder;
    const std::string path = folder / "fit.checkpoint";
    int gone_on = 0;
    for (int attempt = 0; attempt < 1000; ++attempt) {
        const bool found = std::filesystem::exists(path);
        const int processes = attempt % 5 == 3 ? 3 : 1;
        const int patience = 14 + attempt / 4;
        bool through = false;
        bool says_kept = false;
        on_processes(processes, [&](std::shared_ptr<Communicator> communicator) {
            bool stop = false;
            int events = 0;
            Problem mine = problem;
            if (attempt % 2 == 1)
                mine.points = read_rows(problem.points, [&](Index) {
                    if (stop || ++events <= patience) return;
                    stop = true;
                    std::this_thread::sleep_for(std::chrono::milliseconds(60));  // a loop asks every 50 ms
                });
            Run run(7, attempt % 2 == 1 ? 1 : 1 + attempt / 2 % 2);
            run.checkpoint = path;
            if (communicator->rank() == 0) run.should_stop = [&] { return stop = stop || ++events > patience; };
            run.set_communicator(communicator);
            try {
                const auto model = fit(mine, options, run);
                if (model.fit_report().stopped == StopReason::interrupted) return;
                const Outcome found_out = outcome_of(model, *communicator);
                EXPECT_TRUE(found_out == whole) << "attempt " << attempt << ", " << processes << " processes";
                if (communicator->rank() == 0) through = true;
            } catch (const Cancelled& stopped) {
                if (communicator->rank() == 0)
                    says_kept = std::string(stopped.what()).find("holds the state") != std::string::npos;
            }
        });
        if (says_kept) {
            EXPECT_GT(folder.entries(), 0U) << "attempt " << attempt;
        }
        if (found) ++gone_on;
        if (through) return gone_on;
    }
    ADD_FAILURE() << "never through";
    return gone_on;
}

}  // namespace coterie::test
