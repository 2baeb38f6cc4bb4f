#pragma once

#include "tests/support/tool.hpp"

#include <string>

namespace jitgemm::testing {

/// Constants keep NVRTC's front end busy and come to nothing behind it.
[[nodiscard]] std::string many_constants(int count);

/// A dump of a small bf16 kernel, in a file of the tool's folder, whose compile takes longer the more constants follow.
[[nodiscard]] std::string slow_dump(const Tool& tool, int constants);

/// A folder of the tool's with all templates, whose mma_multistage compiles as slowly.
[[nodiscard]] std::string slow_templates(const Tool& tool, int constants);

}  // namespace jitgemm::testing
