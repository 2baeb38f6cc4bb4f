#pragma once

#include "generator/base/problem.hpp"

namespace jitgemm {

/// What costs and candidates see of a problem with groups: a batch of as many problems, with as many rows (or as long a
/// K) each. There are no more of these problems than rows. Only the device knows the true sizes.
[[nodiscard]] Problem expected_problem(const Problem& problem);

/// Calls `function` with the expected problem.
template <typename Function>
[[nodiscard]] decltype(auto) with_expected(const Problem& problem, Function function) {
    return has_groups(problem.row_major()) ? function(expected_problem(problem)) : function(problem);
}

}  // namespace jitgemm
