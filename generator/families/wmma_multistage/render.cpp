#include "generator/families/wmma_multistage/family.hpp"

#include "generator/families/shared/epilogue_expression.hpp"
#include "generator/families/shared/gemm_arguments.hpp"
#include "generator/families/shared/params_text.hpp"
#include "generator/families/shared/rasterization.hpp"
#include "generator/families/shared/tensor_core_render.hpp"
#include "generator/families/shared/wrapper_text.hpp"
#include "generator/families/wmma_multistage/geometry.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

Macros macros(const GemmSignature& s, const WmmaMultistageConfig& c, const TensorCoreGeometry& g) {
    Macros macros{{"GEMM_BLOCK_M", c.block.m},
                  {"GEMM_BLOCK_N", c.block.n},
                  {"GEMM_BLOCK_K", c.block.k},
                  {"GEMM_WARP_M", c.warp.m},
                  {"GEMM_WARP_N", c.warp.n},
                  {"GEMM_MMA_M", c.mma.m},
                  {"GEMM_MMA_N", c.mma.n},
                  {"GEMM_MMA_K", c.mma.k},
                  {"GEMM_STAGES", c.stages},
                  {"GEMM_SWIZZLE", 0},
                  {"GEMM_CACHE_ALL", c.cache == CopyCache::ca},
                  {"GEMM_L2_PREFETCH", c.l2_prefetch},
                  {"GEMM_DOUBLE_BUFFER", c.double_buffer},
                  {"GEMM_RASTERIZATION", static_cast<int>(c.rasterization)},
                  {"GEMM_GROUP", c.group},
                  {"GEMM_STAGED_SUMS", 1},
                  {"GEMM_STAGED_F32", s.accumulator == DataType::f32},
                  {"GEMM_ALIGN_A", s.align_a},
                  {"GEMM_ALIGN_B", s.align_b},
                  {"GEMM_VECTOR_D", g.vector_d}};
    macros.merge(type_macros(s));
    return macros;
}

std::string pipeline_lines(const WmmaMultistageConfig& c) {
    std::string text = tile_lines(c.block, c.warp);
    text += constant_line("kMmaM", c.mma.m, "mma shape: the tile of one wmma.mma");
    text += constant_line("kMmaN", c.mma.n, "");
    text += constant_line("kMmaK", c.mma.k, "");
    text += constant_line("kStages", c.stages,
                          c.stages == 1 ? "one tile in shared memory: filled, used, filled again"
                                        : "k-tiles in shared memory: one in use, the others in flight");
    return text + group_line(c.rasterization, c.group);
}

std::string copy_lines(const TensorCoreGeometry& g) {
    std::string text;
    if (g.a.async)
        text += constant_line("kAlignA", g.a.vector_bytes,
                              "bytes to which A is aligned, and which a thread copies at once");
    if (g.b.async) text += constant_line("kAlignB", g.b.vector_bytes, "bytes to which B is aligned");
    return text + constant_line("kVectorD", g.vector_d, "elements of D that a thread stores at once");
}

std::string type_lines(const GemmSignature& s) {
    const bool f16_sums = s.accumulator == DataType::f16;
    std::string text = alias_line("Bits", word_of(s.a), fmt::format("{} in memory", to_string(s.a)));
    text += alias_line("Accumulator", f16_sums ? "unsigned" : "float", f16_sums ? "two f16 sums" : "one f32 sum");
    if (s.c) text += alias_line("ElementC", element_type(*s.c), fmt::format("{} in memory", to_string(*s.c)));
    text += alias_line("ElementD", element_type(s.d), fmt::format("{} in memory", to_string(s.d)));
    text += alias_line("Staged", f16_sums ? "Bits" : "float", "a sum in the epilogue's shared memory");
    if (f16_sums == (s.d == DataType::f32))
        text += alias_line("ElementOut", "ElementD", "the element that the epilogue stores");
    return text;
}

}  // namespace

RenderInput WmmaMultistage::render_input(const GemmSignature& signature, const WmmaMultistageConfig& c) {
    const TensorCoreGeometry g = geometry(signature, c);
    const WmmaAtom* atom = find_wmma_atom(c.mma, signature.a, signature.b, signature.accumulator);
    RenderInput input;
    input.macros = macros(signature, c, g);
    input.generated["params.cuh"] =
        pipeline_lines(c) + copy_lines(g) + "\n" + type_lines(signature) + "\n" + tiling_lines(g, {c.stages, c.warp.n});
    input.generated["epilogue_expression.cuh"] = epilogue_expression(signature, FinishUnit::element);
    input.pieces["wmma_params.cuh"] = "params.cuh";
    input.generated["wmma_atom.cuh"] = wmma_wrappers(*atom, g.a.k_major, g.b.k_major);
    add_copies(input, g, {c.cache == CopyCache::ca, c.l2_prefetch});
    return input;
}

std::vector<KernelEntry> WmmaMultistage::entries(const GemmSignature& signature, const WmmaMultistageConfig& c) {
    const GridRule grid{c.block.m, c.block.n};
    return {gemm_entry(geometry(signature, c), grid, gemm_arguments(signature, false))};
}

std::int64_t WmmaMultistage::workspace_bytes(const Problem&, const WmmaMultistageConfig&) { return 0; }

ElementOwner WmmaMultistage::owner(const Problem& problem, const WmmaMultistageConfig& c, std::int64_t row,
                                   std::int64_t column) {
    ElementOwner owner = tile_owner(c, c.block, c.warp, problem.row_major(), row, column);
    owner.lane = ElementOwner::kUnknown;
    owner.accumulator_register = ElementOwner::kUnknown;
    return owner;
}

}  // namespace jitgemm
