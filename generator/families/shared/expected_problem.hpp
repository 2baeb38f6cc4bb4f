#pragma once

#include "generator/base/problem.hpp"

namespace jitgemm {

/// Whether costs and candidates see another problem: of groups only the device knows the sizes, and an empty D has no
/// tile.
[[nodiscard]] bool has_unknown_sizes(const Problem& problem);

/// The problem that costs and candidates see. Groups are a batch of as many problems, with as many rows (or as long a
/// K) each. There are no more of these problems than rows. In place of no row they see one,
/// and 16 columns in place of none.
[[nodiscard]] Problem expected_problem(const Problem& problem);

/// Calls `function` with the expected problem.
template <typename Function>
[[nodiscard]] decltype(auto) with_expected(const Problem& problem, Function function) {
    return has_unknown_sizes(problem) ? function(expected_problem(problem)) : function(problem);
}

}  // namespace jitgemm
