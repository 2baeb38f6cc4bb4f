#include "generator/families/gemm_arguments.hpp"
#include "generator/families/params_text.hpp"
#include "generator/families/simt_hierarchical_family.hpp"
#include "generator/families/simt_hierarchical_geometry.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

using Config = SimtHierarchicalConfig;

constexpr int kReduceThreads = 256;
constexpr int kReduceColumns = 1024;  // of D a reduction block takes at a time: four a thread

const Config& config_of(const KernelConfig& config) { return std::get<Config>(config.family); }

bool has_strips(const Config& c) {
    return c.rasterization != Rasterization::row && c.rasterization != Rasterization::column;
}

std::string sizes_text(const Config& c, const SimtHierarchicalGeometry& g) {
    std::string text;
    text += constant_line("kBlockM", c.block.m,
                          "block tile: the part of D a thread block computes, and of K it loads at a time");
    text += constant_line("kBlockN", c.block.n, "");
    text += constant_line("kBlockK", c.block.k, "");
    text += constant_line("kWarpM", c.warp.m, "warp tile: the part of the block tile a warp computes");
    text += constant_line("kWarpN", c.warp.n, "");
    text += constant_line("kThreadM", c.thread.m,
                          "thread tile: the part of the warp tile a thread computes, in 4x4 pieces");
    text += constant_line("kThreadN", c.thread.n, "");
    text += constant_line("kStages", c.stages, "k-blocks in shared memory: one in use, the others on their way");
    text += constant_line("kSlices", c.slices, "values of k over which the copies of a k-block are spread");
    if (g.a.transposed || g.b.transposed)
        text += constant_line("kKLanes", c.k_lanes, "values of k that a warp copies at once when it transposes");
    if (!g.a.transposed) text += constant_line("kVectorA", g.a.vector, "elements of A a thread copies at once");
    if (!g.b.transposed) text += constant_line("kVectorB", g.b.vector, "elements of B a thread copies at once");
    text += constant_line("kVectorD", g.vector_d, "elements of D a thread stores at once");
    if (has_strips(c))
        text += constant_line("kGroup", c.group, "tiles in a strip that blocks walk one after the other");
    text +=
        constant_line("kResidentBlocks", c.resident, "blocks an SM shall hold at once: bounds a thread's registers");
    if (c.split_k > 1) {
        text += constant_line("kSplitK", c.split_k, "blocks that share the K of one tile");
        text += constant_line("kReduceThreads", kReduceThreads, "threads of a block that adds partial sums");
    }
    return text;
}

std::string params_text(const GemmSignature& s, const Config& c, const SimtHierarchicalGeometry& g) {
    const auto is_bits = [](DataType type) { return type != DataType::f32; };
    std::string text = sizes_text(c, g) + "\n";
    if (is_bits(s.a) || is_bits(s.d) || (s.c && is_bits(*s.c)))
        text += alias_line("Bits", "unsigned short", "a 16-bit element as stored");
    text += alias_line("Element", element_type(s.a), fmt::format("{} of A and B as stored", to_string(s.a)));
    if (s.c) text += alias_line("ElementC", element_type(*s.c), fmt::format("{} as stored", to_string(*s.c)));
    text += alias_line("ElementD", element_type(s.d), fmt::format("{} as stored", to_string(s.d)));
    const std::string_view out = c.split_k > 1 ? "float" : "ElementD";
    return text + alias_line("ElementOut", out, "what the epilogue stores");
}

}  // namespace

RenderInput simt_hierarchical_render_input(const GemmSignature& s, const KernelConfig& config) {
    const Config& c = config_of(config);
    const SimtHierarchicalGeometry g = geometry(s, c);
    const bool split = c.split_k > 1;
    RenderInput input;
    input.macros = {{"GEMM_BLOCK_M", c.block.m},
                    {"GEMM_BLOCK_N", c.block.n},
                    {"GEMM_BLOCK_K", c.block.k},
                    {"GEMM_WARP_M", c.warp.m},
                    {"GEMM_WARP_N", c.warp.n},
                    {"GEMM_THREAD_M", c.thread.m},
                    {"GEMM_THREAD_N", c.thread.n},
                    {"GEMM_STAGES", c.stages},
                    {"GEMM_SLICES", c.slices},
                    {"GEMM_K_LANES", c.k_lanes},
                    {"GEMM_RESIDENT_BLOCKS", c.resident},
                    {"GEMM_COPY_ASYNC", c.copy == CopyPath::async},
                    {"GEMM_DOUBLE_BUFFER", c.double_buffer},
                    {"GEMM_RASTERIZATION", static_cast<int>(c.rasterization)},
                    {"GEMM_GROUP", c.group},
                    {"GEMM_SPLIT_K", c.split_k},
                    {"GEMM_WORKSPACE", split},
                    {"GEMM_PACK_A", 0},
                    {"GEMM_PACK_B", 0},
                    {"GEMM_A_K_MAJOR", g.a.transposed},
                    {"GEMM_B_K_MAJOR", g.b.transposed},
                    {"GEMM_COPY_TRANSPOSED", g.a.transposed || g.b.transposed},
                    {"GEMM_COPY_STRAIGHT", !g.a.transposed || !g.b.transposed},
                    {"GEMM_VECTOR_A", g.a.vector},
                    {"GEMM_VECTOR_B", g.b.vector},
                    {"GEMM_VECTOR_D", g.vector_d},
                    {"GEMM_TYPE_AB", type_code(s.a)},
                    {"GEMM_TYPE_C", type_code(s.c)},
                    {"GEMM_TYPE_D", type_code(s.d)},
                    {"GEMM_ACCUMULATOR_F16", 0},
                    {"GEMM_MMA_K", 0},
                    {"GEMM_WMMA", 0},
                    {"GEMM_ALIGN_A", 0},
                    {"GEMM_HAS_C", s.c.has_value()},
                    {"GEMM_READ_C", s.c.has_value() && !split},
                    {"GEMM_STORE_BITS", s.d != DataType::f32},
                    {"GEMM_STORE_FLOAT", s.d == DataType::f32 || split}};
    input.generated["params.cuh"] = params_text(s, c, g);
    return input;
}

std::vector<KernelEntry> simt_hierarchical_entries(const GemmSignature& s, const KernelConfig& config) {
    const Config& c = config_of(config);
    const SimtHierarchicalGeometry g = geometry(s, c);
    KernelEntry gemm;
    gemm.function = "gemm";
    gemm.threads = g.threads;
    gemm.shared_bytes = static_cast<int>(g.shared_bytes);
    gemm.grid = {c.block.m, c.block.n, c.split_k};
    gemm.arguments = gemm_arguments(s.c.has_value(), c.split_k > 1);
    if (c.split_k == 1) return {gemm};
    KernelEntry reduce = gemm;
    reduce.function = "gemm_reduce";
    reduce.threads = kReduceThreads;
    reduce.shared_bytes = 0;
    reduce.grid = {1, kReduceColumns, 1};
    return {gemm, reduce};
}

std::int64_t simt_hierarchical_workspace_bytes(const GemmSpec& spec, const KernelConfig& config) {
    const int splits = config_of(config).split_k;
    return splits > 1 ? splits * spec.m * ((spec.n + 3) / 4 * 4) * 4 : 0;
}

}  // namespace jitgemm
