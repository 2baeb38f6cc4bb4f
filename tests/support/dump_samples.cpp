#include "tests/support/dump_samples.hpp"

#include "generator/families/kernel_name.hpp"
#include "generator/heuristics.hpp"
#include "tests/support/simt_variants.hpp"
#include "tests/support/sliced_k_checks.hpp"
#include "tests/support/wgmma_checks.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace jitgemm::testing {
namespace {

constexpr std::array kMmaParameters{"",
                                    "stages=2",
                                    "rasterization=zigzag",
                                    "shared=padding,rasterization=column",
                                    "ldsm_a=1,ldsm_b=2,rasterization=row,dependent_launch=1",
                                    "mma=16x8x8,stages=3",
                                    "split_k=3",
                                    "split_k=3,rasterization=row",
                                    "split_k=2,dependent_launch=1",
                                    "split_k=4,reduction=cluster",
                                    "split_k=2,reduction=cluster,dependent_launch=1",
                                    "pack=ab,rasterization=grouped_n",
                                    "pack=ab,dependent_launch=1",
                                    "pack=a,split_k=2",
                                    "pack=b,split_k=2"};
constexpr std::array kMmaOfBytesParameters{"",
                                           ",rasterization=row,dependent_launch=1",
                                           ",split_k=3",
                                           ",split_k=2,reduction=cluster",
                                           ",pack=a,rasterization=zigzag",
                                           ",pack=b,split_k=2",
                                           ",pack=ab"};
constexpr std::array kWmmaParameters{"",
                                     "stages=1",
                                     "stages=2,double_buffer=0",
                                     "async=0,padding=0,l2_prefetch=0",
                                     "stages=1,async=0,double_buffer=0,rasterization=row,cache=ca",
                                     "mma=32x8x16,cache=ca,l2_prefetch=256",
                                     "mma=8x32x16,rasterization=column"};
constexpr std::array kWgmmaParameters{"",
                                      "schedule=pingpong,cluster=2x1",
                                      "schedule=overlapped,rasterization=zigzag",
                                      "schedule=overlapped,cluster=1x2,rasterization=row",
                                      "schedule=cooperative,dependent_launch=1",
                                      "schedule=cooperative,block=128x104x64,warpgroup=64x104,slices=1",
                                      "block=64x8x64,warpgroup=64x8,schedule=cooperative,rasterization=row",
                                      "schedule=pingpong,stages=4,rasterization=grouped_n",
                                      "schedule=cooperative,store=smem,dependent_launch=0",
                                      "schedule=overlapped,store=smem,stream_k=132",
                                      "schedule=pingpong,stream_k=132,cluster=2x1",
                                      "swap_ab=1,dependent_launch=1",
                                      "persistent=0,store=smem",
                                      "persistent=0,dependent_launch=1",
                                      "persistent=0,warp_specialized=0",
                                      "persistent=0,warp_specialized=0,store=smem,dependent_launch=0",
                                      "persistent=0,warp_specialized=0,dependent_launch=1"};
/// Promoted sums with one set of partial sums and with two, one wave and several; fast ones.
constexpr std::array kPromotedParameters{"block=128x128x128,warpgroup=64x128,stages=3",
                                         "block=256x128x128,warpgroup=128x128,stages=3,cluster=2x1",
                                         "block=128x256x128,warpgroup=64x256,stages=3,stream_k=132",
                                         "block=64x64x256,warpgroup=64x64,stages=3,schedule=pingpong",
                                         "block=128x64x128,warpgroup=64x64,stages=4,swap_ab=1,dependent_launch=1",
                                         "block=64x48x128,warpgroup=64x48,stages=4,store=smem"};
constexpr std::array kFastParameters{"block=256x128x128,warpgroup=128x128,schedule=overlapped,stages=3",
                                     "block=128x176x128,warpgroup=128x176,schedule=pingpong,stages=3",
                                     "block=64x32x256,warpgroup=64x32,stages=3"};
constexpr std::array kIntegerParameters{"block=256x128x128,warpgroup=128x128,schedule=overlapped,stages=3",
                                        "block=128x176x128,warpgroup=128x176,schedule=pingpong,stages=3",
                                        "block=128x64x128,warpgroup=64x64,stages=4,stream_k=132",
                                        "block=64x48x128,warpgroup=64x48,stages=4,store=smem",
                                        "block=64x32x256,warpgroup=64x32,stages=3,swap_ab=1"};
constexpr std::array kHierarchicalParameters{"",
                                             "double_buffer=0,rasterization=row",
                                             "split_k=3,order=even",
                                             "split_k=2,dependent_launch=1",
                                             "copy=reg,stages=2",
                                             "store=smem",
                                             "store=smem,blocks_per_wave=10",
                                             "copy_slices=1,k_lanes=8,rasterization=zigzag,dependent_launch=1",
                                             "blocks_per_wave=10,order=right",
                                             "min_blocks_per_sm=2,rasterization=column"};
constexpr std::array kLongKParameters{"", "thread=10x8,split_k=100", "dependent_launch=1",
                                      "thread=8x5,lanes=1x1x32,block_k=1024,split_k=100"};

/// The samples so far, and the names of their kernels.
class Samples {
public:
    /// The heuristic's choice among the family's candidates with these parameters; nothing where the problem has none.
    void add_choice(const GemmSpec& spec, std::string_view family, std::string_view parameters) {
        const Selection asked{
            .kernel = {}, .family = std::string(family), .parameters = parse_parameters(std::string(parameters))};
        try {
            add({resolved(spec), choose_config(problem_of(spec), find_gpu("h200"), asked)});
        } catch (const ConfigError&) {
        }
    }
    /// The config itself; nothing where it breaks a rule.
    void add_config(const GemmSpec& spec, const KernelConfig& config) {
        const Problem problem = problem_of(spec);
        const Arch& arch = find_arch("sm_90a");
        const Family& family = family_of(config);
        if (family.unsupported(problem, arch).empty() && family.violations(problem, config, arch).empty())
            add({problem.asked, config});
    }
    [[nodiscard]] std::vector<DumpSample> take() { return std::move(samples_); }

private:
    void add(const DumpSample& sample) {
        if (names_.insert(kernel_name(problem_of(sample.spec), sample.config)).second) samples_.push_back(sample);
    }

    std::vector<DumpSample> samples_;
    std::set<std::string> names_;
};

GemmSpec problem(const std::string& line) { return parse_shape_line(line); }

GemmSpec with(GemmSpec spec, std::optional<DataType> c, DataType d) {
    spec.c = c;
    spec.d = d;
    return spec;
}

GemmSpec with_f16_sums(GemmSpec spec) {
    spec.a = spec.b = spec.d = spec.accumulator = DataType::f16;
    return spec;
}

GemmSpec with_constants(GemmSpec spec) {
    spec.constant_a = spec.constant_b = true;
    return spec;
}

/// Kinds of problems of 16-bit types, which differ in more than sizes.
std::vector<GemmSpec> kinds_of(const GemmSpec& spec) {
    GemmSpec columns = spec;
    columns.d_order = Order::column;
    return {spec, with(spec, DataType::f32, spec.d), with_f16_sums(spec), with(spec, std::nullopt, DataType::f32),
            columns};
}

void add_tensor_core_kernels(Samples& samples, const GemmSpec& spec) {
    for (const GemmSpec& kind : kinds_of(spec)) {
        for (const char* parameters : kMmaParameters) samples.add_choice(kind, "mma_multistage", parameters);
        for (const char* parameters : kWmmaParameters) samples.add_choice(kind, "wmma_multistage", parameters);
        for (const char* parameters : kWgmmaParameters) samples.add_choice(kind, "wgmma_warp_specialized", parameters);
        for (const std::span<const std::string_view> variants :
             {std::span<const std::string_view>(kWgmmaVariants),
              std::span<const std::string_view>(kWgmmaRegisterVariants),
              std::span<const std::string_view>(kWgmmaFillingVariants)})
            for (const std::string_view parameters : variants)
                samples.add_config(with_constants(kind), with_parameters({WgmmaWarpSpecializedConfig{}},
                                                                         parse_parameters(std::string(parameters))));
    }
}

void add_mma_of_bytes(Samples& samples, const GemmSpec& spec) {
    std::string tiles = "block=64x64x128,warp=32x32,stages=3,mma=16x8x32";
    if (has_promoted_sums(spec)) tiles += ",promote=128";
    for (const char* parameters : kMmaOfBytesParameters)
        samples.add_config(spec, with_parameters({MmaMultistageConfig{}}, parse_parameters(tiles + parameters)));
}

void add_float8_kernels(Samples& samples, int size) {
    using enum DataType;
    const GemmSpec plain = problem(fmt::format("e4m3 tn {} {} {}", size, size, size / 16 * 16));
    GemmSpec mixed = with(plain, std::nullopt, f32);
    mixed.b = e5m2;
    GemmSpec packed = plain;
    packed.k += 11;
    GemmSpec transposed = plain, realigned = packed;
    transposed.layout = GemmLayout::nt;
    realigned.layout = GemmLayout::tt;
    realigned.ldb = realigned.n + 1;
    for (const GemmSpec& kind :
         {plain, mixed, packed, transposed, realigned, with(plain, std::nullopt, e4m3), with(plain, bf16, e5m2)}) {
        const auto add = [&](const GemmSpec& spec, const std::string& parameters) {
            samples.add_config(spec, with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(parameters)));
        };
        GemmSpec fast = kind;
        fast.sums = Summation::fast;
        for (const char* parameters : kPromotedParameters) add(kind, std::string(parameters) + ",promote=128");
        for (const char* parameters : kFastParameters) add(fast, parameters);
        add_mma_of_bytes(samples, kind);
        add_mma_of_bytes(samples, fast);
    }
}

void add_int8_kernels(Samples& samples, int size) {
    using enum DataType;
    const GemmSpec plain = problem(fmt::format("s8 tn {} {} {}", size, size, size / 16 * 16));
    for (const GemmSpec& kind : {plain, with(plain, std::nullopt, s8), with(plain, bf16, f16)}) {
        for (const char* parameters : kIntegerParameters)
            samples.add_config(kind, with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(parameters)));
        add_mma_of_bytes(samples, kind);
    }
}

void add_kernels_of_parts(Samples& samples, const GemmSpec& f32) {
    for (const Math math : {Math::f16x3, Math::bf16x3}) {
        GemmSpec spec = f32;
        spec.math = math;
        for (const GemmSpec& kind : {spec, with(spec, DataType::f32, DataType::f32)})
            for (const char* parameters : {"block=128x128x32,warpgroup=64x128,stages=3,promote=32",
                                           "block=128x256x32,warpgroup=64x256,stages=3,cluster=2x1,promote=32",
                                           "block=128x64x64,warpgroup=128x64,schedule=pingpong,stages=3,promote=32",
                                           "block=128x64x32,warpgroup=64x64,stages=4,stream_k=7,promote=32"})
                samples.add_config(kind, with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(parameters)));
    }
}

/// Of three parts, and of parts of 32 bits.
void add_kernels_of_long_parts(Samples& samples, const GemmSpec& f32) {
    for (const Math math : {Math::bf16x6, Math::tf32x3}) {
        GemmSpec spec = f32;
        spec.math = math;
        for (const GemmSpec& kind : {spec, with(spec, DataType::f32, DataType::f32)})
            for (const char* parameters : {"block=128x128x32,warpgroup=64x128,stages=3,promote=32",
                                           "block=128x240x32,warpgroup=64x240,stages=2,cluster=2x1,promote=32",
                                           "block=128x64x32,warpgroup=64x64,stages=4,stream_k=7,promote=32"})
                samples.add_config(kind, with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(parameters)));
    }
}

void add_tf32_kernels(Samples& samples, const GemmSpec& f32) {
    GemmSpec spec = f32;
    spec.math = Math::tf32;
    for (const GemmSpec& kind : {spec, with(spec, DataType::f32, DataType::f32)})
        for (const char* parameters : {"block=128x256x32,warpgroup=64x256,stages=4,cluster=2x1,dependent_launch=1",
                                       "block=256x128x32,warpgroup=128x128,schedule=overlapped,stages=3,cluster=1x2",
                                       "block=128x64x64,warpgroup=128x64,schedule=pingpong,stages=3",
                                       "block=128x64x32,warpgroup=64x64,stages=4,stream_k=7"})
            samples.add_config(kind, with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(parameters)));
}

void add_mma_of_words(Samples& samples, const GemmSpec& f32) {
    for (const auto& [math, promoted] : {std::pair{Math::tf32, ""}, std::pair{Math::f16x3, ",promote=32"}}) {
        GemmSpec spec = f32;
        spec.math = math;
        for (const std::string parameters : {"", ",split_k=3", ",pack=b"})
            samples.add_config(spec, with_parameters({MmaMultistageConfig{}},
                                                     parse_parameters("block=64x64x32,warp=32x32,stages=3,mma=16x8x8" +
                                                                      (promoted + parameters))));
    }
}

/// A block loads the addresses of its problem.
void add_kernels_of_addresses(Samples& samples, GemmSpec half, GemmSpec f32) {
    half = with(half, half.d, half.d);
    half.pointers = f32.pointers = true;
    samples.add_choice(half, "mma_multistage", "dependent_launch=1");
    samples.add_choice(half, "wmma_multistage", "");
    samples.add_choice(f32, "simt_hierarchical", "");
}

/// Of every family that serves batches, with pointers and with maps of each kind of operand.
void add_batched_kernels(Samples& samples, GemmSpec half, GemmSpec f32) {
    half.batch = f32.batch = 3;
    for (const GemmSpec& kind : {half, with(half, half.d, half.d)}) {
        for (const char* parameters : {"", "split_k=4,reduction=cluster", "dependent_launch=1"})
            samples.add_choice(kind, "mma_multistage", parameters);
        samples.add_choice(kind, "wmma_multistage", "");
        for (const char* parameters : {"schedule=cooperative", "schedule=pingpong,cluster=2x1", "schedule=overlapped",
                                       "swap_ab=1,dependent_launch=1", "store=smem", "cluster=1x2"})
            samples.add_choice(kind, "wgmma_warp_specialized", parameters);
        samples.add_config(with_constants(kind),
                           with_parameters({WgmmaWarpSpecializedConfig{}},
                                           parse_parameters("block=64x64x64,warpgroup=64x64,stages=4,cluster=2x1,"
                                                            "dependent_launch=1,early=b")));
    }
    for (const char* parameters : {"", "dependent_launch=1"}) samples.add_choice(f32, "simt_hierarchical", parameters);
    add_kernels_of_addresses(samples, half, f32);
    for (const Math math : {Math::f16x3, Math::tf32, Math::bf16x6}) {
        f32.math = math;
        samples.add_choice(f32, "wgmma_warp_specialized", "");
    }
}

void add_sliced_k_kernels(Samples& samples, const GemmSpec& few_rows, const GemmSpec& few_columns) {
    for (const GemmSpec& few : {few_rows, few_columns})
        for (const GemmSpec& kind : kinds_of(few))
            for (const std::string_view parameters : kSlicedKVariants)
                samples.add_config(with_constants(kind),
                                   with_parameters({MmaSlicedKConfig{}}, parse_parameters(std::string(parameters))));
}

void add_simt_kernels(Samples& samples, const GemmSpec& f32, const GemmSpec& half) {
    const GemmSpec with_c = with(f32, DataType::bf16, DataType::bf16);
    for (const GemmSpec& spec : {f32, with_c, half}) {
        for (const char* parameters : kHierarchicalParameters)
            samples.add_choice(spec, "simt_hierarchical", parameters);
        for (const SimtVariant& variant : simt_variants()) samples.add_choice(spec, variant.family, variant.parameters);
    }
}

/// Where D is its own transpose: its order and its types by turns.
void add_symmetric_kernels(Samples& samples, GemmSpec spec) {
    if (spec.layout != GemmLayout::tn && spec.layout != GemmLayout::nt) return;
    spec.symmetric = true;
    spec.n = spec.m;
    for (const char* parameters :
         {"block=128x128x64,warpgroup=128x128,schedule=pingpong,stages=4",
          "block=128x256x64,warpgroup=64x256,stages=3,slices=1,cluster=2x1",
          "block=128x64x64,warpgroup=128x64,schedule=overlapped,stages=4", "block=64x32x64,warpgroup=64x32,stages=4"}) {
        samples.add_choice(spec, "wgmma_warp_specialized", parameters);
        spec.d = spec.d == DataType::f32 ? spec.a : DataType::f32;
    }
    spec.batch = 3;
    samples.add_choice(spec, "wgmma_warp_specialized", "");
}

void add_kernels(Samples& samples, std::string_view layout, int size) {
    const GemmSpec half =
        problem(fmt::format("{} {} {} {} {}", size == 510 ? "f16" : "bf16", layout, size, size, size + 4));
    add_tensor_core_kernels(samples, half);
    if (layout == "tn") add_float8_kernels(samples, size);
    if (layout == "tn") add_int8_kernels(samples, size);
    add_sliced_k_kernels(samples, problem(fmt::format("bf16 {} 8 {} {}", layout, size * 8, size * 8)),
                         problem(fmt::format("bf16 {} {} 8 {}", layout, size * 8, size * 8)));
    const GemmSpec f32 = problem(fmt::format("f32 {} {} {} {}", layout, size, size, size));
    add_kernels_of_parts(samples, f32);
    add_kernels_of_long_parts(samples, f32);
    add_tf32_kernels(samples, f32);
    add_mma_of_words(samples, f32);
    add_simt_kernels(samples, f32, half);
    add_batched_kernels(samples, half, f32);
    add_symmetric_kernels(samples, half);
    for (const char* parameters : kLongKParameters)
        samples.add_choice(problem(fmt::format("f32 {} 40 40 {}", layout, 100000 + size)), "simt_long_k", parameters);
}

}  // namespace

KernelSource DumpSample::source() const { return generate(problem_of(spec), config, find_arch("sm_90a")); }

std::vector<DumpSample> dump_samples(SampleExtent extent) {
    constexpr std::array kSizes{512, 510, 511};
    Samples samples;
    for (std::size_t i = 0; i < kLayouts.size(); ++i)
        for (std::size_t j = 0; j < kSizes.size(); ++j) {
            if (extent == SampleExtent::one_layout && (i != 0 || j != 0)) continue;
            if (extent == SampleExtent::alignments_by_turns && j != i % kSizes.size()) continue;
            add_kernels(samples, to_string(kLayouts.at(i)), kSizes.at(j));
        }
    return samples.take();
}

}  // namespace jitgemm::testing
