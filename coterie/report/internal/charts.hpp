#pragma once
// Internal: charts of a page. Each is a list of numbers that uPlot draws where scripts run.

#include <optional>
#include <string>
#include <vector>

#include "coterie/report/document.hpp"

namespace coterie::internal {

/// A criterion over numbers of clusters; the chosen one is marked.
struct Curve {
    std::string name;
    std::vector<int> clusters;  // ascending
    std::vector<double> values;
    std::optional<int> chosen;
};
/// Those of the criteria that were not left out.
std::vector<Curve> curves_of(const ClusterChoice& choice);
/// They alone, as a section of its own.
std::string curve_charts(const std::vector<Curve>& curves);

/// Sizes and silhouettes of clusters and, of a fit, the objective per iteration and what each criterion says of each
/// number of clusters: the section with its numbers, hidden until it is drawn. Empty where there is nothing to draw.
/// What has the class "charted" gives way to it.
std::string charts(const ClusteringResult& result, const FitReport* report, const ClusterChoice* choice);

/// The top of the tree of a fit by ward (WardMethod), cut where its clusters are; empty for others.
std::string dendrogram(const FitReport& report);

/// uPlot and what draws with it; once on a page that has one of the two.
std::string chart_scripts();

}  // namespace coterie::internal
