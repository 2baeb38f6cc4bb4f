#pragma once

#include "generator/base/kernel_entry.hpp"
#include "generator/base/packed_operand.hpp"
#include "generator/families/shared/pipeline_choices.hpp"
#include "generator/families/shared/rasterization.hpp"
#include "generator/layout/copy_atom.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace jitgemm {

/// \file Operands copied into the workspace before the main entry, their rows padded (templates/common/pack.cuh).

inline constexpr int kPackThreads = 256;

/// The entry that packs, none where nothing is; with the arguments of the kernel that reads it.
[[nodiscard]] std::vector<KernelEntry> pack_entries(Pack pack, const std::vector<KernelArgument>& arguments);

[[nodiscard]] PackedOperand packed_operand(Operand operand, const GemmSpec& spec);

/// What TMA can't address.
[[nodiscard]] Pack pack_for_tma(int align_a, int align_b);

/// The bytes of the workspace that the copies take, at its beginning.
[[nodiscard]] std::int64_t packed_workspace_bytes(const GemmSpec& spec, Pack pack);

/// Why they can't be packed.
void check_vectors(std::vector<std::string>& reasons, const GemmSpec& spec, Pack pack);

/// What packing reads and writes, bytes.
[[nodiscard]] double packing_traffic(const GemmSpec& spec, Pack pack);

/// Why nobody wants these operands packed unasked: rows of a few elements padded to eight multiply a large matrix.
[[nodiscard]] std::vector<std::string> wasteful_packing(const GemmSpec& spec, Pack pack);

}  // namespace jitgemm
