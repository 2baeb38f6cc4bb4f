#pragma once

#include "runtime/verify/guarded_problem.hpp"

#include <string>
#include <vector>

namespace jitgemm {

/// Sets whether the verdict is good, and its text. `complaints` are faults other than wrong elements of D, one per
/// line.
void describe(Verification& verdict, const GemmSpec& spec, bool exact, std::vector<std::string> complaints);

/// "computed by block 3 (tile 0, 1), warp 2, lane 5".
[[nodiscard]] std::string owner_text(const ElementOwner& owner);

}  // namespace jitgemm
