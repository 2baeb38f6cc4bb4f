#pragma once

#include "runtime/tuning/store/records.hpp"

#include <cstddef>
#include <string>
#include <string_view>

/// \file Why records that are there serve no request, for those who made them.

namespace jitgemm::tuning {

/// Goes on from "this problem was tuned": how this winner of the very problem was searched, and what keeps it from
/// serving. `obstacle` says what is wrong with its kernel ("does not fit ..."). `rival` is the kernel that the
/// heuristic chooses today.
[[nodiscard]] std::string why_unserving(const Winner& own, std::string_view obstacle, std::string_view rival);

/// Same sizes, types of A and B, and layout.
[[nodiscard]] bool is_same_product(const GemmSpec& left, const GemmSpec& right);
[[nodiscard]] std::size_t count_differing_fields(const GemmSpec& left, const GemmSpec& right);
/// "with constant-b=no in place of constant-b=yes".
[[nodiscard]] std::string differing_fields(const GemmSpec& tuned, const GemmSpec& asked);

}  // namespace jitgemm::tuning
