#include "generator/families/wgmma_warp_specialized/orientation.hpp"

#include "generator/families/shared/transposed_problem.hpp"

namespace jitgemm {

GemmSpec as_multiplied(const GemmSpec& row_major, const WgmmaWarpSpecializedConfig& config) {
    return config.swap_ab ? transposed_problem(row_major) : row_major;
}

GemmSignature as_multiplied(const GemmSignature& signature, const WgmmaWarpSpecializedConfig& config) {
    return config.swap_ab ? transposed_problem(signature) : signature;
}

}  // namespace jitgemm
