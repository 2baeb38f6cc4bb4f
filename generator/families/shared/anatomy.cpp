#include "generator/families/shared/anatomy.hpp"

#include "generator/base/round_up.hpp"

namespace jitgemm {

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
