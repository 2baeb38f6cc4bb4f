#pragma once

#include "generator/heuristics.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// The wording of a reason, with '#' for each number. Reasons with the same wording broke the same rule.
[[nodiscard]] std::string rule_of(std::string_view reason);

/// The reasons why no candidate is left: one per rule, with its first example's numbers. Rules that all candidates
/// break come first; among them, reasons with equal numbers (a parameter that the user fixed) come before the others.
/// The other rules follow in falling order of the candidates that break them, each with its share.
[[nodiscard]] std::vector<std::string> reasons_in_common(std::span<const RejectedCandidate> rejected);

/// Why a list has no candidate: reasons_in_common() of those that families propose, then why other families propose
/// none. There are at most ten lines.
[[nodiscard]] std::vector<std::string> reasons_for_none(const CandidateList& list);

}  // namespace jitgemm
