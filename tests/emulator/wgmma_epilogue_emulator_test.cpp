/// Epilogues in words in wgmma_warp_specialized, on the emulator: every way of an operand, in every variant.

#include "runtime/emulator_device/emulator_device.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/planted_faults.hpp"
#include "tests/support/wgmma_checks.hpp"

#include <array>
#include <string>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

/// Vectors, single elements, one matrix and more of them, of all types, with guards and without.
constexpr std::array<std::string_view, 7> kTexts{
    "bias: bf16[n]; d = silu(alpha * acc + bias[n]) * up[m,n]",
    "d = relu(alpha * acc + beta * up[m,n])",
    "bias: f32[n]; scale: f32[m]; s: f32[0]; res: f32[m,n]; "
    "d = (alpha * acc * scale[m] + s[0] * bias[n]) * up[m,n] + beta * res[m,n]",
    "d = acc * up[m,n] + beta * res[m,n]",
    "bias: f16[n]; scale: bf16[m]; d = acc * scale[m] + bias[n]",
    "d = relu(alpha * acc)",
    "s: f16[0]; scale: f16[m]; up: f16[m,n]; d = max(acc, s[0]) + beta * scale[m] * up[m,n]"};

GemmSpec with_text(GemmSpec spec, std::string_view text) {
    spec.epilogue = text;
    return spec;
}

/// Each variant with a text, C's types and D's order from one to the next.
void check_texts(const Sizes& size, std::size_t first_text) {
    using enum DataType;
    std::size_t i = first_text;
    for (const std::string_view variant : kWgmmaVariants) {
        GemmSpec spec = spec_of(kLayouts[i % kLayouts.size()], size[0], size[1], size[2], i % 3 == 0 ? f16 : bf16);
        if (i % 5 == 4) spec.d = f32;
        if (i % 4 == 3) spec.d_order = Order::column;
        const std::string_view text = kTexts.at(i++ % kTexts.size());
        INFO(text);
        check_wgmma(on_hopper(), with_text(with_tma_pitches(spec), text), variant, {.alpha = 0.5F, .beta = 2.0F});
    }
}

}  // namespace

TEST_CASE("emulated wgmma: epilogues in words, whole vectors") {
    for (std::size_t first = 0; first < 3; ++first) check_texts({136, 200, 136}, first);
}
TEST_CASE("emulated wgmma: epilogues in words, rows of any pitch") { check_texts({67, 75, 129}, 0); }

TEST_CASE("emulated wgmma: an operand whose scalar is 0 is not read") {
    for (const std::string_view variant : kWgmmaVariants)
        for (const std::string_view text : {kTexts[1], kTexts[2], kTexts[6]})
            check_wgmma(on_hopper(), with_text(spec_of(GemmLayout::nt, 72, 72, 64), text), variant,
                        {.alpha = 0.5F, .beta = 0.0F});
}

TEST_CASE("emulated wgmma: an epilogue in words where K is 0") {
    for (const std::string_view variant : kWgmmaVariants)
        check_wgmma(on_hopper(), with_text(spec_of(GemmLayout::tn, 136, 72, 0), kTexts[0]), variant);
}

namespace {

struct SpoiltText {
    const char* name;
    const char* parameters;
    const char* text;
    const char* instead;
};
constexpr const char* kElementwise = "block=64x64x64,warpgroup=64x64,stages=3,store=smem";
constexpr const char* kTurned = "block=64x72x64,warpgroup=64x72,swap_ab=1,stages=4";

/// Readers that go wrong, in kernels of the third text.
constexpr SpoiltText kSpoilt[] = {
    {"a row vector is read from the tile's second column on", kElementwise, "args.bias, column,",
     "args.bias, column + 1,"},
    {"a column vector is read of the other rows", kElementwise, "scale_part.row(i)", "scale_part.row(1 - i)"},
    {"a matrix is read of the row above", kElementwise, "pair * 8 * pitch", "(pair * 8 - 1) * pitch"},
    {"rows below the first 64 have the first ones' scale", "block=128x64x64,warpgroup=128x64,stages=3",
     "there.scale_part = scale_part.below(rows);", ""},
    {"a matrix is read transposed", kTurned, "(j * 8 + i) * pitch + pair * 8", "(j * 8 + i) + pair * 8 * pitch"},
    {"the second of a pair is the first", kTurned, "up_here.y", "up_here.x"},
};

}  // namespace

TEST_CASE("emulated wgmma: planted faults of readers are found") {
    for (const SpoiltText& fault : kSpoilt) {
        INFO(fault.name);
        const GemmSpec spec = resolved(with_text(spec_of(GemmLayout::tn, 200, 136, 136), kTexts[2]));
        const KernelConfig config = with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(fault.parameters));
        CHECK_FALSE(complaint_about(on_hopper(), spec, config, fault.text, fault.instead).empty());
    }
}
