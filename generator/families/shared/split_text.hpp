#pragma once

#include "generator/families/shared/workspace_text.hpp"

#include <string>

namespace jitgemm {

/// The generated workspace.cuh of operands in parts: where each part lies, and the includes of the entry that splits
/// operands (templates/common/split*.cuh), if it splits any.
[[nodiscard]] std::string parts_text(const WorkspaceContents& contents);

/// The statements of split.cuh, and the file for the include name split_pair.cuh.
void add_split(RenderInput& input, const WorkspaceContents& contents);

}  // namespace jitgemm
