#pragma once

#include <string>
#include <string_view>

namespace jitgemm {

/// Whether the language gives this name a meaning: acc, m, silu, bf16 …
[[nodiscard]] bool is_language_name(std::string_view name);

/// Why a text can't give this name to a value, an operand or an output; "" if it can.
[[nodiscard]] std::string wrong_name(std::string_view name);

/// "sum", "max" or "min"; of two values, max and min are functions.
[[nodiscard]] bool is_reduction_name(std::string_view name);

/// The end of a message on a reduction that may have been meant as a function: ". Of two values …", or "".
[[nodiscard]] std::string hint_at_two_values(std::string_view reduction);

/// "alpha" or "beta": a text need not declare them.
[[nodiscard]] bool is_launch_scalar(std::string_view name);

}  // namespace jitgemm
