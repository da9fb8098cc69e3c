#pragma once
// Internal: charts of a page. Each is a list of numbers that uPlot draws where scripts run.

#include <string>

#include "coterie/pipeline/document.hpp"

namespace coterie::internal {

/// Sizes and silhouettes of clusters and, of a fit, the objective per iteration and what each criterion says of each
/// number of clusters: the section with its numbers, hidden until it is drawn. Empty where there is nothing to draw.
/// What has the class "charted" gives way to it.
std::string charts(const ClusteringResult& result, const FitReport* report, const ClusterChoice* choice);

/// The top of the tree of a fit by ward (WardMethod), cut where its clusters are; empty for others.
std::string dendrogram(const FitReport& report);

/// uPlot and what draws with it; once on a page that has one of the two.
std::string chart_scripts();

}  // namespace coterie::internal
