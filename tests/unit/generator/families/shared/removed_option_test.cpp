#include "generator/families/kernel_name.hpp"
#include "jitgemm/error.hpp"
#include "runtime/tuning/store/record_json.hpp"
#include "runtime/tuning/store/wisdom.hpp"
#include "tests/catch.hpp"
#include "tests/support/tuning_records.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <string>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A kernel of an earlier version, and its option that this version doesn't have.
struct OldKernel {
    KernelConfig of_family;
    std::string name, parameter, value;
    [[nodiscard]] std::string option() const { return fmt::format("{}={}", parameter, value); }
};

const OldKernel kOldKernels[] = {
    {{MmaMultistageConfig{}},
     "mma_multistage_bf16_tn_128x128x32_warp64x64_stages4_raster-hilbert_group1",
     "rasterization",
     "hilbert"},
    {{WmmaMultistageConfig{}},
     "wmma_multistage_f16_tn_128x128x32_warp64x64_stages3_pad8_raster-hilbert_group1",
     "rasterization",
     "hilbert"},
    {{SimtHierarchicalConfig{}},
     "simt_hierarchical_f32_nn_128x128x16_64x32_8x8_stages3_raster-hilbert_group1",
     "rasterization",
     "hilbert"},
    {{WgmmaWarpSpecializedConfig{}},
     "wgmma_bf16_tn_128x256x64_2x1_stages4_raster-hilbert_group1",
     "rasterization",
     "hilbert"},
    {{WgmmaWarpSpecializedConfig{}}, "wgmma_bf16_tn_c_128x256x64_stages4_reg_pdl0", "store", "reg"},
    {{WgmmaWarpSpecializedConfig{}}, "wgmma_bf16_tn_64x24x32_wg64x24_stages8_swizzle64_align8", "swizzle", "64"},
    {{MmaMultistageConfig{}}, "mma_multistage_bf16_tn_128x256x32_warp64x64_stages4_streamk108", "stream_k", "108"},
    {{MmaMultistageConfig{}}, "mma_multistage_bf16_tn_128x128x32_warp64x64_stages4_store-reg", "store", "reg"},
    {{MmaMultistageConfig{}}, "mma_multistage_bf16_tn_128x128x32_warp64x64_stages4_db0", "double_buffer", "0"},
};

}  // namespace

TEST_CASE("a kernel's name with an option of an earlier version is refused with the option") {
    for (const OldKernel& old : kOldKernels) {
        INFO(old.name);
        CHECK_THROWS_WITH(parse_kernel_name(old.name),
                          ContainsSubstring(old.name) && ContainsSubstring(old.option() + " is gone"));
    }
}

TEST_CASE("a parameter of an earlier version is refused with its value") {
    for (const OldKernel& old : kOldKernels) {
        INFO(old.name);
        CHECK_THROWS_WITH(with_parameters(old.of_family, {{old.parameter, old.value}}),
                          ContainsSubstring(old.option() + " is gone"));
    }
}

TEST_CASE("wisdom names the lines of an earlier version's kernels and keeps the others") {
    std::string text = tuning::to_wisdom({winner_for(kTunedSpec)});
    for (const OldKernel& old : kOldKernels) {
        tuning::Json line = winner_for(kOtherSpec);
        line["kernel"] = old.name;
        text += line.dump() + "\n";
    }
    const tuning::Wisdom wisdom = tuning::parse_wisdom(text, "file");
    CHECK(wisdom.winners.size() == 1);
    REQUIRE(wisdom.problems.size() == std::size(kOldKernels));
    for (std::size_t i = 0; i < wisdom.problems.size(); ++i)
        CHECK_THAT(wisdom.problems[i],
                   ContainsSubstring(kOldKernels[i].name) && ContainsSubstring(kOldKernels[i].option() + " is gone"));
}
