#pragma once

#include "runtime/context/context_state.hpp"

#include <initializer_list>
#include <string>
#include <string_view>

namespace jitgemm::testing {

/// Replaces `text` in the kernel's source. Returns the emulator's complaint, or "" if verification passes.
/// REQUIREs that the source holds the text. With a C, beta is 2.
[[nodiscard]] std::string complaint_about(Context& context, const GemmSpec& spec, const KernelConfig& config,
                                          std::string_view text, std::string_view instead);

/// The fault replaces `text` by `instead` in a kernel's source.
struct PlantedFault {
    std::string_view text, instead;
};
/// CHECKs that verify() accepts the unchanged kernel and finds each fault.
void check_faults(Context& context, const GemmSpec& spec, const KernelConfig& config,
                  std::initializer_list<PlantedFault> faults);

}  // namespace jitgemm::testing
