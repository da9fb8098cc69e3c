#include <iostream>

#include <coterie/data/read.hpp>
#include <coterie/kmeans/kmeans.hpp>
#include <coterie/selection/choose_clusters.hpp>
#include <coterie/selection/compare_methods.hpp>
#include <coterie/selection/consensus.hpp>

// How many species of iris do the measurements show, do two methods agree, and how certain are the clusters?
int main() {
    const auto iris = coterie::read_points("data:iris");
    const coterie::Problem problem{.points = iris.points};
    const coterie::Run run(0);

    const auto choice = coterie::choose_clusters(problem, coterie::KMeansOptions(), {}, {}, run);
    std::cout << choice.recommended << " clusters, " << name(choice.sureness) << "; " << votes_text(choice) << "\n";

    const auto compared =
        coterie::compare_methods(problem, {.clusters = 3, .methods = {"kmeans", "ward"}}, {}, run, iris.labels->labels);
    std::cout << "k-means and ward agree by " << compared.agreement(0, 1) << "\n";

    const auto sure = coterie::consensus(problem, {.clusters = 3}, {}, run);
    for (std::size_t c = 0; c < sure.sizes.size(); ++c)
        std::cout << sure.sizes[c] << " flowers, confidence " << sure.confidence_of_cluster[c] << "\n";
}
