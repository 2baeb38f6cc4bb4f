#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/base/kernel_entry.hpp"
#include "generator/base/packed_operand.hpp"
#include "generator/families/shared/pipeline_choices.hpp"
#include "generator/families/shared/rasterization.hpp"
#include "generator/layout/copy_atom.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace jitgemm {

/// \file Operands that are copied into the workspace before the main entry, with padded rows
/// (templates/common/pack.cuh), some of them transposed (templates/common/transpose_bytes.cuh, transpose_words.cuh).

inline constexpr int kPackThreads = 256;

/// The entry that packs; none if nothing is packed. It takes the arguments of the kernel that reads the copies. If an
/// operand is transposed, whose elements have `transposed_bytes`, blocks take more of it.
[[nodiscard]] std::vector<KernelEntry> pack_entries(Pack pack, const std::vector<KernelArgument>& arguments,
                                                    int transposed_bytes = 0);

/// The entry that writes A and B in parts, or one of them; none if nothing is split.
[[nodiscard]] std::vector<KernelEntry> split_entries(Pack split, const std::vector<KernelArgument>& arguments);

[[nodiscard]] PackedOperand packed_operand(Operand operand, const GemmSpec& spec);

/// The operands that a launch copies: those that TMA cannot address, and those that tensor cores cannot read as they
/// lie, if the caller has not prepared them. `of` is a GemmSpec or a GemmSignature.
[[nodiscard]] Pack pack_for_tma(const auto& of) { return pack_of(makes_copy_a(of), makes_copy_b(of)); }

/// Whether a kernel transposes an operand whose lines are not aligned to words (templates/common/transpose_bytes.cuh).
[[nodiscard]] bool realigns_transposed(const GemmSignature& signature);

/// The bytes at the beginning of the workspace that the copies take.
[[nodiscard]] std::int64_t packed_workspace_bytes(const GemmSpec& spec, Pack pack);

/// Adds the reasons why these operands cannot be packed.
void check_vectors(std::vector<std::string>& reasons, const GemmSpec& spec, Pack pack);

/// Bytes that packing reads and writes.
[[nodiscard]] double packing_traffic(const GemmSpec& spec, Pack pack);

/// Reasons not to propose this packing: rows of a few elements padded to eight multiply the size of a large matrix.
[[nodiscard]] std::vector<std::string> wasteful_packing(const GemmSpec& spec, Pack pack);

}  // namespace jitgemm
