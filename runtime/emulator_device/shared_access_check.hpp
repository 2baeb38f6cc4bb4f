#pragma once

#include "generator/layout/bank_conflicts.hpp"
#include "runtime/emulator/counters.hpp"

#include <span>
#include <string>
#include <vector>

namespace jitgemm {

/// Compares what the emulator counted of shared memory with what a kernel's layouts give, and tells every excess: a
/// swizzle that no longer fits the loads through it still gives right results, only slower.
///
/// Each PTX instruction (ldmatrix, cp.async, st.shared, ld.shared) is held against the accesses of its kind and width: its
/// mean, wavefronts over executions by a warp, may not be more than the worst single execution expected. (One execution
/// may cost less: lanes that are off at an edge want no bank.) Of a kind or width that no layout names nothing is demanded:
/// edge paths go element by element, where vectors are cut, and cost what that costs.
[[nodiscard]] std::vector<std::string> excess_wavefronts(const emulator::Counters& counters,
                                                         std::span<const SharedAccess> expected);

}  // namespace jitgemm
