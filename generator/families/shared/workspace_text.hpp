#pragma once

#include "generator/base/renderer.hpp"
#include "generator/families/shared/pipeline_choices.hpp"

#include <cstdint>

namespace jitgemm {

/// The contents of a kernel's workspace after packed operands.
enum class WorkspaceSums : std::uint8_t { none, of_splits, of_pieces };

struct WorkspaceContents {
    Pack pack = Pack::none;
    int element_bytes = 0;  ///< of a packed operand
    bool a_k_major = true;
    bool b_k_major = true;
    WorkspaceSums sums = WorkspaceSums::none;
};

/// The generated includes: workspace.cuh holds the place of each part (it is empty if there is none); packings.inl and
/// move_vector.inl name the operands that gemm_pack moves.
void add_workspace(RenderInput& input, const WorkspaceContents& contents);

}  // namespace jitgemm
