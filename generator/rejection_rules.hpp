#pragma once

#include "generator/heuristics.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// The wording of a reason: each number in it is one '#'. Reasons of one wording are one rule that was broken.
[[nodiscard]] std::string rule_of(std::string_view reason);

/// Why nothing is left: one reason per rule, with its first example's numbers. What all candidates have in common comes
/// first, of that what is the same for each (a parameter that was asked for) before what varies; then rules in falling
/// order of the candidates that break them, each with its share.
[[nodiscard]] std::vector<std::string> reasons_in_common(std::span<const RejectedCandidate> rejected);

}  // namespace jitgemm
