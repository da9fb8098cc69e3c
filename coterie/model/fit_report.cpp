// Each process counts the cluster sizes in its rows. Sizes are integers, so their sums are exact in any order.

#include "coterie/model/fit_report.hpp"

#include <algorithm>

#include "coterie/base/parallel/collective.hpp"

namespace coterie {

using internal::at;

std::string_view name(StopReason reason) {
    switch (reason) {
        case StopReason::converged: return "converged";
        case StopReason::iteration_limit: return "iteration-limit";
        case StopReason::completed: return "completed";
        case StopReason::interrupted: return "interrupted";
        case StopReason::collapsed: return "collapsed";
        case StopReason::exact: return "exact";
    }
    throw InternalError("unknown stop reason");
}

void count_clusters(FitReport& report, const Labels& labels, int clusters, const Run& run) {
    report.clusters_requested = clusters;
    report.sizes.assign(at(clusters), 0);
    for (const auto label : labels)
        if (label >= 0) ++report.sizes.at(at(label));
    report.sizes = internal::add_up(run.communicator(), report.sizes);
    report.clusters_found =
        static_cast<int>(std::count_if(report.sizes.begin(), report.sizes.end(), [](Index size) { return size > 0; }));
}

}  // namespace coterie
