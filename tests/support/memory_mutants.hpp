#pragma once

#include "runtime/context/context_state.hpp"

namespace jitgemm::testing {

/// Every mutant of memory_mutations(), on the context's device: verify() and the tuner's verifier CHECK that it is
/// wrong, and that the kernel it was made of is right before and after.
void check_memory_mutants(Context& context);

}  // namespace jitgemm::testing
