#pragma once

#include "generator/draw/kernel_shared_tile.hpp"

#include <string>

namespace jitgemm {

/// The tile as the banks see it: lines of 128 bytes, one per 32 banks, with the chunks that the first ldmatrix reads.
[[nodiscard]] std::string bank_view_html(const KernelSharedTile& tile);

}  // namespace jitgemm
