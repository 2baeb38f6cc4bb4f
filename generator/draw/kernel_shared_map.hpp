#pragma once

#include "generator/base/arch.hpp"
#include "generator/families/shared/anatomy.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace jitgemm {

/// A range of a block's shared memory.
struct SharedRegion {
    std::string name;  ///< "A, stage 0", "epilogue, warp 3"
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
};

/// The use of each byte in the mainloop, and again in the epilogue.
struct KernelSharedMap {
    std::vector<SharedRegion> mainloop;
    std::vector<SharedRegion> epilogue;  ///< empty if the epilogue stores from registers
    std::int64_t total_bytes = 0;
    std::int64_t block_limit = 0;  ///< most bytes that a block may use
    std::int64_t sm_bytes = 0;
    int reserved_bytes = 0;  ///< bytes that the driver takes of each block's share
    int blocks_per_sm = 0;   ///< resident blocks, whatever limits them
};

/// The regions of the stages and of the epilogue's tiles. Each operand and warp has its own region if ldmatrix reads
/// it; else they are one region.
[[nodiscard]] KernelSharedMap kernel_shared_map(const KernelAnatomy& anatomy, const Arch& arch, int blocks_per_sm);

[[nodiscard]] std::string shared_map_html(const KernelSharedMap& map);

}  // namespace jitgemm
