#pragma once
// A search for the options of a method (selection/tune.hpp), and the fit that it chose.

#include "coterie/report/document.hpp"
#include "coterie/selection/tune.hpp"

namespace coterie {

struct TunedFit : Origin {
    const Method* method = nullptr;
    TuneOptions asked;
    TuneResult found;
    std::string source;  // source of the points
    Index points = 0;    // without those left out
    Index rows_left_out = 0;
    Seconds seconds;
    std::int64_t seed = 0;
    int threads = 1;
    std::optional<FitResult> fit;  // of the best cell on all rows; none after an interrupt
};

/// At most 20 cells, the best ones, with the chosen one and the reason of the first failure.
std::string text_document(const TunedFit& tuned);
/// All cells.
std::string json_document(const TunedFit& tuned);

}  // namespace coterie
