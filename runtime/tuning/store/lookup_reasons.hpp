#pragma once

#include "runtime/tuning/store/records.hpp"

#include <cstddef>
#include <string>
#include <string_view>

/// \file Why existing records do not serve a request, for the people who made them.

namespace jitgemm::tuning {

/// Continues "this problem was tuned" with the way in which this winner was searched, and with the reason why it does
/// not serve. `obstacle` is the flaw of its kernel ("does not fit ..."). `rival` is the heuristic's current kernel.
[[nodiscard]] std::string why_unserving(const Winner& own, std::string_view obstacle, std::string_view rival);

/// Whether sizes, types of A and B, and layout are the same.
[[nodiscard]] bool is_same_product(const GemmSpec& left, const GemmSpec& right);
[[nodiscard]] std::size_t count_differing_fields(const GemmSpec& left, const GemmSpec& right);
/// "with constant-b=no in place of constant-b=yes".
[[nodiscard]] std::string differing_fields(const GemmSpec& tuned, const GemmSpec& asked);

}  // namespace jitgemm::tuning
