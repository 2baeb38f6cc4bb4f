#pragma once

#include "generator/families/family.hpp"
#include "jitgemm/context.hpp"
#include "jitgemm/gemm_spec.hpp"

namespace jitgemm::testing {

/// CHECKs that verify() finds the kernel right; that 50 launches on each of two streams at once, to two D, leave the
/// same right bits; and that 30 replays of a graph of three launches do, too. `spec` is resolved, and D has no room
/// between rows or matrices.
void check_streams_and_replays(Context& context, const GemmSpec& spec, const KernelConfig& config);

}  // namespace jitgemm::testing
