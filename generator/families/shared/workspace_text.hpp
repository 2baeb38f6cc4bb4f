#pragma once

#include "generator/base/operand_parts.hpp"
#include "generator/base/renderer.hpp"
#include "generator/families/shared/pipeline_choices.hpp"

#include <cstdint>
#include <optional>

namespace jitgemm {

/// The contents of a kernel's workspace after packed operands.
enum class WorkspaceSums : std::uint8_t { none, of_splits, of_pieces };

/// What an entry takes: the arguments of the only problem, which it may move to a problem of the batch, or those of the
/// batch.
enum class EntryArguments : std::uint8_t { of_problem, moved, of_batch };

struct WorkspaceContents {
    Pack pack = Pack::none;  ///< operands that are copied
    int element_bytes = 0;   ///< of a packed operand
    bool a_k_major = true;   ///< in the copy
    bool b_k_major = true;
    bool transposes_a = false;  ///< its copy is K-major, in contrast to A
    bool transposes_b = false;
    std::optional<OperandParts> parts = {};  ///< of the elements of the copies (templates/common/split.cuh)
    bool takes_a = false;                    ///< in parts, from the caller, who has prepared it
    bool takes_b = false;
    bool swaps_mn = false;      ///< the kernel computes D^T: its m is the problem's n. A and B are the problem's
    bool has_s32_sums = false;  ///< partial sums are s32, not f32
    WorkspaceSums sums = WorkspaceSums::none;
    EntryArguments arguments = EntryArguments::of_problem;  ///< of the entry that packs or splits
};

/// The generated includes: workspace.cuh holds the place of each part (it is empty if there is none); packings.inl and
/// move_vector.inl name the operands that gemm_pack moves.
void add_workspace(RenderInput& input, const WorkspaceContents& contents);

}  // namespace jitgemm
