#pragma once
// Internal: charts of a page. Each is a list of numbers that uPlot draws if scripts run.

#include "coterie/report/document.hpp"

namespace coterie::report::internal {

using namespace coterie::internal;

/// A criterion over numbers of clusters; the chosen number is marked.
struct Curve {
    std::string name;
    std::vector<int> clusters;  // ascending
    std::vector<double> values;
    std::optional<int> chosen;
};
/// The curves of the criteria that were not left out.
std::vector<Curve> curves_of(const ClusterChoice& choice);
/// The charts of only these curves, as a separate section.
std::string curve_charts(const std::vector<Curve>& curves);

/// Charts of cluster sizes and silhouettes. For a fit also the objective per iteration, and each criterion for each
/// number of clusters. Returns a section with the numbers, hidden until it is drawn; empty if there is nothing to draw.
/// When the section is drawn, it hides elements of the class "charted".
std::string charts(const ClusteringResult& result, const FitReport* report, const ClusterChoice* choice);

/// The top of the tree of a fit by ward (WardMethod), down to its clusters. Empty for other methods.
std::string dendrogram(const FitReport& report);

/// uPlot and the script that draws with it. Include it once in a page with charts or a dendrogram.
std::string chart_scripts();

}  // namespace coterie::report::internal
