#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm::testing {

/// A PTX instruction and the emulator's function for it.
struct ScalarInstruction {
    std::string_view text;  ///< $d the result, $a $b $c operands
    char result;  ///< a value's letter: f f32, d f64, h f16, b bf16, H f16x2, B bf16x2, e two fp8, r s w integers
    std::string_view operands;  ///< of 32, 64 and 16 bits
    std::uint64_t (*evaluate)(std::uint64_t a, std::uint64_t b, std::uint64_t c);
    int compute_capability;  ///< the first that has it
};

[[nodiscard]] std::span<const ScalarInstruction> scalar_instructions();

/// Words a, b, c of `count` threads, [3 · i], of values that fit the operands: 64 bits each.
[[nodiscard]] std::vector<std::uint64_t> scalar_operands(const ScalarInstruction& instruction, int count);

/// A PTX module with entry `scalar` (u64 operands, u64 results; 64 bits each), one thread per evaluation, blocks of
/// 128.
[[nodiscard]] std::string scalar_ptx(const ScalarInstruction& instruction, int compute_capability);

/// Whether results are the same in the bits of the result's type; where the ISA leaves a NaN's bits open, any NaN will
/// do.
[[nodiscard]] bool same_scalar(const ScalarInstruction& instruction, std::uint64_t left, std::uint64_t right);

}  // namespace jitgemm::testing
