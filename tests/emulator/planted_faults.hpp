#pragma once

#include "runtime/context/context_state.hpp"

#include <string>
#include <string_view>

namespace jitgemm::testing {

/// What verification on the emulator says of the kernel when `text` in its source is replaced; empty: that it is right.
/// REQUIREs that the source holds the text. With a C, beta is 2.
[[nodiscard]] std::string complaint_about(Context& context, const GemmSpec& spec, const KernelConfig& config,
                                          std::string_view text, std::string_view instead);

}  // namespace jitgemm::testing
