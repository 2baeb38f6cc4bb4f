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

/// Who uses which bytes, in the mainloop and, over again, in the epilogue.
struct KernelSharedMap {
    std::vector<SharedRegion> mainloop;
    std::vector<SharedRegion> epilogue;  ///< empty where the epilogue stores from registers
    std::int64_t total_bytes = 0;
    std::int64_t block_limit = 0;  ///< most that a block may ask for
    std::int64_t sm_bytes = 0;
    int reserved_bytes = 0;  ///< what the driver takes of each block's share
    int blocks_per_sm = 0;   ///< resident, whatever limits them
};

/// Stages and the epilogue's tiles; each operand and warp by itself where ldmatrix reads them, else together.
[[nodiscard]] KernelSharedMap kernel_shared_map(const KernelAnatomy& anatomy, const Arch& arch, int blocks_per_sm);

[[nodiscard]] std::string shared_map_html(const KernelSharedMap& map);

}  // namespace jitgemm
