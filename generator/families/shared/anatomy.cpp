#include "generator/families/shared/anatomy.hpp"

#include <fmt/format.h>

namespace jitgemm {

ElementOwner tile_owner(const RasterOrder& order, const TileShape& block, const TileShape& warp, const GemmSpec& spec,
                        std::int64_t row, std::int64_t column) {
    ElementOwner owner;
    owner.tile_m = row / block.m;
    owner.tile_n = column / block.n;
    owner.block = block_of_tile(order, {owner.tile_m, owner.tile_n}, tiles_of(block, spec.m, spec.n));
    owner.warp = static_cast<int>(row % block.m / warp.m * (block.n / warp.n) + column % block.n / warp.n);
    return owner;
}

std::vector<std::string> conflict_reasons(const std::vector<SharedAccess>& accesses) {
    std::vector<std::string> reasons;
    for (const SharedAccess& access : accesses)
        if (access.wavefronts > access.ideal)
            reasons.push_back(fmt::format("bank conflicts: {} ({}) takes {} wavefronts per k-tile where {} would do",
                                          access.what, access.instruction, access.wavefronts, access.ideal));
    return reasons;
}

std::string no_accesses_text(const KernelAnatomy& anatomy) {
    return anatomy.shared_bytes == 0
               ? "None: the kernel uses no shared memory."
               : "None counted: TMA writes the tiles swizzled, and they are read by the same swizzle.";
}

int KernelAnatomy::warps() const {
    int count = 0;
    for (const WarpRole& role : roles) count += role.warps;
    return count;
}

int KernelAnatomy::threads() const { return warps() * kWarpLanes; }

int KernelAnatomy::registers() const {
    int count = 0;
    for (const WarpRole& role : roles) count += role.warps * role.registers;
    return ceil_div(count, warps());
}

}  // namespace jitgemm
