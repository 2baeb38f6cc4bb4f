#pragma once

#include "generator/draw/kernel_page.hpp"
#include "runtime/cli/output.hpp"

namespace jitgemm::cli {

/// The numbers of a kernel's page; docs/cli.md names the fields.
[[nodiscard]] Json to_json(const KernelPage& page);

}  // namespace jitgemm::cli
