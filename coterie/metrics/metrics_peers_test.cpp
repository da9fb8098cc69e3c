// Compares with scikit-learn and SciPy, if they are installed for COTERIE_PYTHON, else /usr/bin/python3, else python3.

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iomanip>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "coterie/base/random.hpp"
#include "coterie/metrics/criteria.hpp"
#include "coterie/metrics/metrics.hpp"

namespace coterie {
namespace {
namespace fs = std::filesystem;

std::string python_with_peers() {
    std::vector<std::string> candidates = {"/usr/bin/python3", "python3"};
    if (const char* chosen = std::getenv("COTERIE_PYTHON")) candidates = {chosen};
    for (const auto& python : candidates)
        if (std::system(("'" + python + "' -c 'import sklearn.metrics, scipy.stats' 2>/dev/null").c_str()) == 0)
            return python;
    return {};
}

fs::path script() {
    const char* const root = std::getenv("COTERIE_SOURCE");
    const fs::path beside = fs::path(__FILE__).parent_path() / "metrics_peers.py";
    return root != nullptr ? fs::path(root) / "coterie" / "metrics" / "metrics_peers.py" : beside;
}

// Writes cases to a file, and stores for each case the check of the peers' answer.
class Peers {
public:
    Peers() { cases_ << std::setprecision(17); }
    std::ostream& next(std::function<void(const std::vector<double>&)> check) {
        if (!checks_.empty()) cases_ << '\n';
        checks_.push_back(std::move(check));
        return cases_;
    }
    void compare(const std::string& python) {
        const fs::path folder = fs::temp_directory_path() / ("coterie_peers_" + std::to_string(getpid()));
        fs::create_directories(folder);
        std::ofstream(folder / "cases.txt") << cases_.str() << '\n';
        const std::string command = "'" + python + "' -W ignore '" + script().string() + "' '" +
                                    (folder / "cases.txt").string() + "' '" + (folder / "answers.txt").string() + "'";
        const int status = std::system(command.c_str());
        std::ifstream answers(folder / "answers.txt");
        std::size_t answered = 0;
        for (std::string line; std::getline(answers, line); ++answered) {
            ASSERT_LT(answered, checks_.size());
            std::vector<double> values;
            std::istringstream words(line);
            for (std::string word; words >> word;) values.push_back(std::strtod(word.c_str(), nullptr));
            SCOPED_TRACE("case " + std::to_string(answered));
            checks_[answered](values);
        }
        fs::remove_all(folder);
        EXPECT_EQ(status, 0) << command;
        EXPECT_EQ(answered, checks_.size());
    }

private:
    std::ostringstream cases_;
    std::vector<std::function<void(const std::vector<double>&)>> checks_;
};

void add_labels(Peers& peers, const Labels& labels, const Labels& truth) {
    auto& out = peers.next([labels, truth](const std::vector<double>& theirs) {
        ASSERT_EQ(theirs.size(), 7u);
        EXPECT_NEAR(homogeneity(labels, truth), theirs[0], 1e-12);
        EXPECT_NEAR(completeness(labels, truth), theirs[1], 1e-12);
        EXPECT_NEAR(adjusted_rand_index(labels, truth), theirs[2], 1e-12);
        EXPECT_NEAR(normalized_mutual_information(labels, truth, Normalization::arithmetic), theirs[3], 1e-12);
        EXPECT_NEAR(normalized_mutual_information(labels, truth, Normalization::geometric), theirs[4], 1e-12);
        EXPECT_NEAR(normalized_mutual_information(labels, truth, Normalization::minimum), theirs[5], 1e-12);
        EXPECT_NEAR(normalized_mutual_information(labels, truth, Normalization::maximum), theirs[6], 1e-12);
    });
    out << "labels " << labels.size();
    for (const auto label : labels) out << ' ' << label;
    for (const auto label : truth) out << ' ' << label;
}

TEST(Peers, ScoresAgreeWithScikitLearnAndSciPy) {
    const std::string python = python_with_peers();
    if (python.empty()) GTEST_SKIP() << "no Python with scikit-learn and SciPy was found (COTERIE_PYTHON names one)";
    Peers peers;

    const Labels one = {2, 2, 2, 2, 2, 2};
    const Labels each = {0, 1, 2, 3, 4, 5};
    const Labels halves = {0, 0, 0, 1, 1, 1};
    const Labels parity = {0, 1, 0, 1, 0, 1};
    const Labels uneven = {-1, -1, -1, -1, -1, 7};
    for (const auto& labels : {one, each, halves, parity, uneven})
        for (const auto& truth : {one, each, halves, parity, uneven}) add_labels(peers, labels, truth);
    add_labels(peers, Labels{3}, Labels{9});
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        RandomStream random(seed, "peers.labels");
        const std::uint64_t n = 1 + random.below(seed < 100 ? 30 : 600);
        const std::uint64_t clusters = 1 + random.below(12);
        const std::uint64_t classes = 1 + random.below(12);
        const double kept = random.uniform();
        Labels labels;
        Labels truth;
        for (std::uint64_t i = 0; i < n; ++i) {
            truth.push_back(static_cast<std::int32_t>(random.below(classes)) - 3);
            labels.push_back(random.uniform() < kept ? truth.back()
                                                     : static_cast<std::int32_t>(random.below(clusters)));
        }
        add_labels(peers, labels, truth);
    }

    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        RandomStream random(seed, "peers.silhouette");
        const auto n = static_cast<Index>(10 + random.below(300));
        const auto d = static_cast<Index>(1 + random.below(6));
        const std::uint64_t clusters = 2 + random.below(7);
        Matrix<double> points(n, d);
        Labels labels;
        for (Index i = 0; i < n; ++i) {
            labels.push_back(static_cast<std::int32_t>(i < 2 ? static_cast<std::uint64_t>(i) : random.below(clusters)));
            for (Index p = 0; p < d; ++p) points(i, p) = random.normal() + 2.0 * labels.back();
        }
        auto& out = peers.next([points, labels](const std::vector<double>& theirs) {
            EXPECT_NEAR(silhouette(points, labels, coterie::Run(0, 2)), theirs.at(0), 1e-12);
        });
        out << "silhouette " << n << ' ' << d;
        for (Index i = 0; i < n * d; ++i) out << ' ' << points.data()[i];
        for (const auto label : labels) out << ' ' << label;
        auto& next = peers.next([points, labels](const std::vector<double>& theirs) {
            const coterie::Run run(0, 2);
            ASSERT_EQ(theirs.size(), 3u);
            EXPECT_NEAR(calinski_harabasz(points, labels, run), theirs[0], 1e-10 * std::abs(theirs[0]));
            EXPECT_NEAR(davies_bouldin(points, labels, run), theirs[1], 1e-10 * std::abs(theirs[1]));
            EXPECT_NEAR(spherical_mixture_bic(points, labels, run), theirs[2], 1e-10 * std::abs(theirs[2]));
        });
        next << "partition " << n << ' ' << d;
        for (Index i = 0; i < n * d; ++i) next << ' ' << points.data()[i];
        for (const auto label : labels) next << ' ' << label;
    }

    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        RandomStream random(seed, "peers.assignment");
        Matrix<double> cost(static_cast<Index>(1 + random.below(60)), static_cast<Index>(1 + random.below(60)));
        for (Index i = 0; i < cost.size(); ++i)
            cost.data()[i] = seed % 2 == 0 ? random.normal() : static_cast<double>(random.below(6));
        auto& out = peers.next([cost](const std::vector<double>& theirs) {
            const std::vector<Index> assigned = minimum_cost_assignment(cost);
            double sum = 0;
            for (Index i = 0; i < cost.rows(); ++i)
                if (assigned[static_cast<std::size_t>(i)] >= 0) sum += cost(i, assigned[static_cast<std::size_t>(i)]);
            EXPECT_NEAR(sum, theirs.at(0), 1e-11);
        });
        out << "assignment " << cost.rows() << ' ' << cost.cols();
        for (Index i = 0; i < cost.size(); ++i) out << ' ' << cost.data()[i];
    }

    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        RandomStream random(seed, "peers.paired");
        const std::size_t n = seed < 190 ? 2 + random.below(60) : 5000;
        const double effect = std::pow(10.0, -3.0 + 4.5 * random.uniform());
        std::vector<double> a;
        std::vector<double> b;
        for (std::size_t i = 0; i < n; ++i) {
            a.push_back(random.normal());
            b.push_back(a.back() + 0.5 * random.normal() + (n < 100 ? effect : 0.01));
        }
        auto& out = peers.next([a, b](const std::vector<double>& theirs) {
            const PairedTest test = paired_t_test(a, b);
            EXPECT_NEAR(test.statistic, theirs.at(0), 1e-10 * std::abs(theirs.at(0)));
            EXPECT_NEAR(test.p_value, theirs.at(1), 1e-10 * theirs.at(1));
        });
        out << "paired " << n;
        for (const double value : a) out << ' ' << value;
        for (const double value : b) out << ' ' << value;
    }
    peers.compare(python);
}

}  // namespace
}  // namespace coterie
