#pragma once

#include "runtime/emulator/global_order.hpp"
#include "runtime/emulator/instruction_decoder.hpp"

namespace jitgemm::emulator {

/// The modifiers of ld, st, atom and red before their type.
struct MemoryModifiers {
    ptx::StateSpace space = ptx::StateSpace::generic;
    bool strong = false;      ///< volatile, relaxed, acquire, release, acq_rel
    MemoryOrder order;        ///< of a strong one
    bool cache_hint = false;  ///< there is a further operand, a policy
};

/// Takes semantics, scope, state space, cache operators and prefetch sizes. The last two do not change the result.
[[nodiscard]] MemoryModifiers take_memory_modifiers(InstructionDecoder& decoder);

/// "v2", "v4", "v8" as a number; 1 if there is none.
[[nodiscard]] std::size_t take_vector(InstructionDecoder& decoder);

}  // namespace jitgemm::emulator
