// If processes get different work, every method reports an error on all processes, and no process waits forever.

#include <gtest/gtest.h>

#include "coterie/deep/network.hpp"
#include "coterie/methods.hpp"
#include "coterie/pipeline/pipeline.hpp"
#include "tests/support/processes_in_threads.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::with;

Matrix<double> rows_of(Index n, Index d) {
    RandomStream random(1, "test.processes");
    Matrix<double> out(n, d);
    for (Index i = 0; i < out.size(); ++i) out.data()[i] = random.normal();
    return out;
}

struct Given {
    Index rows = 60, columns = 3;
    std::int64_t clusters = 2;
    std::uint64_t seed = 0;
    bool in_float = false;
    bool scaled = false;
};

// The error of each of three processes if the last process gets `other`; empty without an error.
std::vector<std::string> messages(const Method& method, const Given& other, bool by_pipeline) {
    std::vector<std::string> out;
    for (const auto& error : test::run_processes(3, [&](std::shared_ptr<Communicator> communicator) {
             const Given given = communicator->rank() == 2 ? other : Given{};
             coterie::Run run(given.seed, 1);
             run.set_communicator(communicator);
             const Matrix<double> points = rows_of(given.rows, given.columns);
             const Matrix<float> small = points.cast<float>();
             const Problem problem = given.in_float ? with(small) : with(points);
             const OptionValues options{{"clusters", given.clusters}};
             if (!by_pipeline) {
                 method.fit(problem, options, run);
                 return;
             }
             PreparationOptions preparation;
             if (given.scaled) preparation.scale = Scale::zscore;
             Pipeline::fit(problem, {method, options}, {.preparation = preparation}, run);
         })) {
        try {
            if (error) std::rethrow_exception(error);
            out.emplace_back();
        } catch (const BadData& refused) {
            out.emplace_back(refused.message());
        } catch (const std::exception& other_error) {
            out.push_back("not BadData: " + std::string(other_error.what()));
        }
    }
    return out;
}

TEST(Processes, EveryMethodRejectsDifferentInputs) {
    const std::pair<Given, std::string> differences[] = {
        {{.rows = 50}, "rows: 60 on processes 0, 1; 50 on process 2"},
        {{.columns = 4}, "columns: 3 on processes 0, 1; 4 on process 2"},
        {{.clusters = 3}, "clusters: 2 on processes 0, 1; 3 on process 2"},
        {{.clusters = 0}, "clusters: 2 on processes 0, 1; 0 on process 2"},
        {{.seed = 7}, "seed: 0 on processes 0, 1; 7 on process 2"},
        {{.in_float = true}, "type: float64 on processes 0, 1; float32 on process 2"}};
    for (const Method& method : methods()) {
        if (!method.takes.blocks || method.takes.device) continue;
        for (const auto& [other, text] : differences) {
            for (const bool by_pipeline : {false, true}) {
                const std::vector<std::string> all = messages(method, other, by_pipeline);
                for (const std::string& each : all) EXPECT_NE(each.find(text), std::string::npos) << each;
                EXPECT_EQ(all, std::vector<std::string>(3, all[0])) << method.name;
            }
        }
        EXPECT_NE(messages(method, {.scaled = true}, true)[1].find("scale: none on processes 0, 1; zscore"),
                  std::string::npos);
    }
}

TEST(Processes, PredictRejectsDifferentModelsAndRows) {
    const Matrix<double> points = rows_of(60, 3);
    const Method& method = find_method("kmeans");
    const auto fit = [&](std::int64_t clusters) {
        return Pipeline::fit(with(points), {method, {{"clusters", clusters}}}, {}, coterie::Run(0, 1));
    };
    const Pipeline two = fit(2), three = fit(3);
    const Matrix<double> fewer = points.topRows(40);
    for (const bool other_rows : {false, true}) {
        const auto errors = test::run_processes(2, [&](std::shared_ptr<Communicator> communicator) {
            coterie::Run run(0, 1);
            run.set_communicator(communicator);
            const bool first = communicator->rank() == 0;
            const Pipeline& pipeline = first || other_rows ? two : three;
            const Points rows = Points::borrow(first || !other_rows ? PointsView(points) : PointsView(fewer));
            pipeline.predict(pipeline.prepare(rows, {}, run), run);
        });
        for (const auto& error : errors) {
            ASSERT_TRUE(error);
            EXPECT_THROW(std::rethrow_exception(error), BadData);
        }
    }
}

}  // namespace
}  // namespace coterie
