#pragma once

#include "runtime/cli/output.hpp"
#include "runtime/compiler/compiler.hpp"

#include <memory>

namespace jitgemm::cli {

/// The same compiler, which shows as progress what it compiles. `output` must outlive it.
[[nodiscard]] std::shared_ptr<Compiler> announced(std::shared_ptr<Compiler> compiler, Output& output);

}  // namespace jitgemm::cli
