#pragma once

#include "runtime/emulator/global_order.hpp"
#include "runtime/emulator/instruction_decoder.hpp"

namespace jitgemm::emulator {

/// What ld, st, atom and red say before their type.
struct MemoryModifiers {
    ptx::StateSpace space = ptx::StateSpace::generic;
    bool strong = false;      ///< volatile, relaxed, acquire, release, acq_rel
    MemoryOrder order;        ///< of a strong one
    bool cache_hint = false;  ///< one operand more, a policy
};

/// Takes semantics, scope, state space, cache operators and prefetch sizes; none of the last changes what is computed.
[[nodiscard]] MemoryModifiers take_memory_modifiers(InstructionDecoder& decoder);

/// "v2", "v4", "v8" as a number; 1 where there is none.
[[nodiscard]] std::size_t take_vector(InstructionDecoder& decoder);

}  // namespace jitgemm::emulator
