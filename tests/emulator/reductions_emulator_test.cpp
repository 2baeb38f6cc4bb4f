/// Reductions of epilogues on the emulator: in every family, of pairs, and with faults.

#include "generator/families/family.hpp"
#include "generator/heuristics.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/planted_faults.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/one_in.hpp"
#include "tests/support/wgmma_checks.hpp"

#include <array>
#include <set>
#include <string>
#include <string_view>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

/// Elements beyond D's edges would change the results: exp(0) is 1.
constexpr std::array<std::string_view, 3> kTexts{
    "pre: f32[m,n]; t = acc + bias[n]; pre[m,n] = t; d = relu(t); sums[n] = sum(t); high[m] = max(t); low[0] = min(t) "
    "* 2",
    "ones[n] = sum(exp(acc * 0)); more[m] = sum(exp(acc * 0)); all[0] = sum(exp(acc * 0)) / 4; d = acc * row[m]",
    "t = alpha * acc; d = t + x[m,n]; squares[m] = sum(t * t); greatest[n] = max(abs(t)); least[m] = min(t)"};

constexpr std::array<std::string_view, 2> kPairTexts{
    "t = silu(left(acc)) * right(acc); d[m,h] = t; sums[h] = sum(t); ones[m] = sum(exp(t * 0)); high[0] = max(abs(t))",
    "bias: bf16[n]; t = acc + bias[n]; p = even(t) * odd(t); d[m,h] = p; ones[h] = sum(exp(p * 0)); low[m] = min(p)"};

GemmSpec with_text(GemmSpec spec, std::string_view text) {
    spec.epilogue = text;
    return spec;
}

}  // namespace

TEST_CASE("emulated reductions: every family serves them") {
    std::set<std::string_view> served;
    std::size_t next = 0;
    OneIn tried(2);
    for (const bool is_hopper : {false, true})
        for (const DataType type : {DataType::bf16, DataType::f32})
            for (const Sizes& size : {Sizes{67, 75, 129}, Sizes{24, 200, 64}, Sizes{40, 1, 72}})
                for (const Family& family : family_table()) {
                    const GemmSpec spec =
                        resolved(with_text(spec_of(kLayouts[next % kLayouts.size()], size[0], size[1], size[2], type),
                                           kTexts.at(next % 3)));
                    const Problem problem = problem_of(spec);
                    const GpuModel& gpu = find_gpu(is_hopper ? "h200" : "a100");
                    if (!family.unsupported(problem, *gpu.arch).empty()) continue;
                    ++next;
                    served.insert(family.name);
                    if (!tried.next()) continue;
                    INFO(family.name << " " << spec.epilogue.text());
                    const KernelConfig config = choose_config(
                        problem, gpu, {.kernel = {}, .family = std::string(family.name), .parameters = {}});
                    check_kernel(is_hopper ? on_hopper() : on_emulator(), spec, config, {.alpha = 0.5F, .beta = 2.0F});
                }
    CHECK(served.size() == family_table().size());
}

TEST_CASE("emulated reductions: of pairs of columns") {
    OneIn tried(2);
    for (const Sizes& size : {Sizes{67, 144, 72}, Sizes{136, 208, 136}})
        for (const std::string_view text : kPairTexts) {
            if (!tried.next()) continue;
            const GemmSpec spec = with_text(spec_of(GemmLayout::tn, size[0], size[1], size[2], DataType::bf16), text);
            INFO(text);
            check_with(on_emulator(), spec, "block=64x64x32,warp=32x32,stages=3");
            check_with(on_emulator(), spec, "block=32x32x32,warp=16x16,stages=3,split_k=3");
            for (const char* const variant :
                 {"block=128x128x64,warpgroup=64x128,stages=3",
                  "block=128x176x64,warpgroup=128x176,schedule=pingpong,stages=4",
                  "block=256x48x64,warpgroup=128x48,schedule=overlapped,stages=3,store=smem"})
                check_wgmma(on_hopper(), spec, variant);
        }
}

TEST_CASE("emulated reductions: planted faults of values in the workspace are found") {
    struct Fault {
        const char* name;
        const char* text;
        const char* instead;
    };
    constexpr Fault kFaults[] = {
        {"rows beyond the edge count", "is_column && row + i < rows", "is_column"},
        {"columns beyond the edge count", "column + lane() < columns;", "true;"},
        {"a row is left out", "int i = 1; i < 32; ++i) value", "int i = 2; i < 32; ++i) value"},
        {"rows change places", "half > 0; half /= 2", "half > 1; half /= 2"},
        {"a tile is left out", "tile < tiles; tile +=", "tile + 1 < tiles; tile +="},
        {"a value lies in the row below", "values_of_ones(args)[row *", "values_of_ones(args)[(row + 1) *"},
    };
    for (const Fault& fault : kFaults) {
        INFO(fault.name);
        const GemmSpec spec = resolved(with_text(spec_of(GemmLayout::tn, 70, 75, 40, DataType::bf16), kTexts[1]));
        CHECK_FALSE(complaint_about(on_emulator(), spec, {MmaMultistageConfig{}}, fault.text, fault.instead).empty());
    }
}
