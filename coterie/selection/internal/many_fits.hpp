#pragma once
// Internal: shared by searches that fit one problem many times.

#include <exception>
#include <string>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"
#include "coterie/metrics/metrics.hpp"

namespace coterie::selection::internal {

/// Copies some rows into memory; `points` may be read in blocks.
Points rows_in_memory(const Points& points, const std::vector<Index>& rows, const Run& run);

/// Throws BadArgument, beginning with `what`, unless the problem has only points and runs in one process.
void require_points_alone(const std::string& what, const Problem& problem, const Run& run);

/// Throws BadArgument unless the truth has a label for each of the rows.
void require_truth_per_row(Index rows, LabelSpan truth);

/// The run of one task among many: a child with one thread.
Run part_of(const Run& run, std::string_view purpose, Index index);

/// Calls act(). Returns its error if points, options or resources are unsuitable; nullptr if it succeeds. Other errors
/// (cancelled, internal errors) pass through.
template <class Act>
std::exception_ptr recorded(Act&& act) {
    try {
        act();
    } catch (const BadArgument&) {
        return std::current_exception();
    } catch (const BadData&) {
        return std::current_exception();
    } catch (const ResourceError&) {
        return std::current_exception();
    }
    return nullptr;
}

/// The message of a recorded error.
inline std::string message_of(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const Error& error) {
        return error.message();
    }
}

}  // namespace coterie::selection::internal
