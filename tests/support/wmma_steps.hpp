#pragma once

#include <array>
#include <string>
#include <string_view>

namespace jitgemm::testing {

/// One more ingredient of wmma_multistage than the step before.
struct WmmaStep {
    std::string_view name;
    std::string_view parameters;  ///< all but the tiles
};

inline constexpr std::array kWmmaSteps{
    WmmaStep{"base", "stages=1,async=false,padding=0,double_buffer=false,rasterization=row"},
    WmmaStep{"padding", "stages=1,async=false,padding=8,double_buffer=false,rasterization=row"},
    WmmaStep{"cp.async", "stages=1,async=true,padding=8,double_buffer=false,rasterization=row"},
    WmmaStep{"two stages", "stages=2,async=true,padding=8,double_buffer=false,rasterization=row"},
    WmmaStep{"double buffer", "stages=2,async=true,padding=8,double_buffer=true,rasterization=row"},
    WmmaStep{"zig-zag", "stages=2,async=true,padding=8,double_buffer=true,rasterization=zigzag,group=16"},
    WmmaStep{"three stages", "stages=3,async=true,padding=8,double_buffer=true,rasterization=zigzag,group=16"},
};

/// Switches that the steps leave as they are, with tiles that a small problem fills.
inline constexpr std::array kWmmaVariants{
    "block=64x32x32,warp=32x16,stages=2,async=false,double_buffer=true,rasterization=zigzag,group=2",
    "block=64x32x32,warp=32x16,stages=3,async=false,double_buffer=false,padding=0,rasterization=column",
    "block=64x32x64,warp=32x32,stages=1,async=true,double_buffer=true,rasterization=grouped_n,group=2",
    "block=64x32x64,warp=32x16,stages=4,double_buffer=false,padding=24,rasterization=grouped_m,group=3",
    "block=32x64x32,warp=32x16,mma=32x8x16,stages=3,cache=ca,l2_prefetch=0",
    "block=32x64x32,warp=16x32,mma=8x32x16,stages=2,cache=ca,l2_prefetch=64",
    "block=32x64x32,warp=16x32,mma=16x16x16,stages=5,cache=cg,l2_prefetch=256"};

/// The step with tiles of that size.
[[nodiscard]] inline std::string with_tiles(std::string_view tiles, const WmmaStep& step) {
    return std::string(tiles) + ',' + std::string(step.parameters);
}

}  // namespace jitgemm::testing
