#pragma once

#include "generator/layout/bank_conflicts.hpp"
#include "runtime/emulator/counters.hpp"

#include <span>
#include <string>
#include <vector>

namespace jitgemm {

/// Compares the emulator's counters of shared memory with a kernel's layouts, and lists each excess. A swizzle that
/// doesn't fit its loads gives correct results, but slowly.
///
/// Each PTX instruction (ldmatrix, cp.async, st.shared, ld.shared) is compared with the accesses of its kind and width.
/// Its mean number of wavefronts per execution by a warp must not exceed the worst single execution expected. (Lanes
/// that are off at an edge use no bank, so one execution may take less.) Accesses that the layouts do not describe
/// (element-wise edge paths) are not checked. An access may name a type, "ld.shared.b32 of 4 bytes": then it says
/// nothing of other loads that are as wide.
[[nodiscard]] std::vector<std::string> excess_wavefronts(const emulator::Counters& counters,
                                                         std::span<const SharedAccess> expected);

}  // namespace jitgemm
