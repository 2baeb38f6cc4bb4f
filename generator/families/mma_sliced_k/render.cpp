#include "generator/families/mma_sliced_k/family.hpp"
#include "generator/families/mma_sliced_k/geometry.hpp"
#include "generator/families/shared/epilogue_expression.hpp"
#include "generator/families/shared/gemm_arguments.hpp"
#include "generator/families/shared/params_text.hpp"
#include "generator/families/shared/tma_text.hpp"
#include "generator/families/shared/wrapper_text.hpp"
#include "generator/layout/mma_atom.hpp"

#include <fmt/format.h>

#include <utility>

namespace jitgemm {
namespace {

using Config = MmaSlicedKConfig;

constexpr int kLdmatrix = 4;

TensorMapSwizzle swizzle_of(const SlicedPanel& panel) {
    switch (panel.line_bytes) {
        case 32: return TensorMapSwizzle::span32;
        case 64: return TensorMapSwizzle::span64;
        case 128: return TensorMapSwizzle::span128;
        default: return TensorMapSwizzle::none;
    }
}

std::string bool_line(std::string_view name, bool value, std::string_view comment) {
    return fmt::format("constexpr bool {} = {};  // {}\n", name, value, comment);
}

std::string params_text(const GemmSignature& s, const Config& c, const SlicedKGeometry& g) {
    const char of_long = c.swap_ab ? 'B' : 'A';
    const char of_few = c.swap_ab ? 'A' : 'B';
    std::string text =
        constant_line("kBlockM", c.block.m, "block tile: rows of the long operand that a block multiplies at a time") +
        constant_line("kBlockN", c.block.n, "all rows of the other operand fit") +
        constant_line("kBlockK", c.block.k, "K that all warps multiply at a time") +
        constant_line("kStages", c.stages,
                      "panels of each operand in a warp's ring: one in use, the others in flight") +
        constant_line("kVectorD", g.vector_d, "elements of D that a thread stores at once") +
        constant_line("kElementBytes", bytes(s.a), "of an element of A and B") +
        bool_line("kLongKMajor", g.of_long.k_major, fmt::format("K is contiguous in {}", of_long)) +
        bool_line("kFewKMajor", g.of_few.k_major, fmt::format("and in {}", of_few)) + "\n";
    if (s.d != DataType::f32 || (s.c && *s.c != DataType::f32))
        text += alias_line("Bits", "unsigned short", "a 16-bit element in memory");
    const bool f16_sums = s.accumulator == DataType::f16;
    text += alias_line("Accumulator", f16_sums ? "unsigned" : "float", f16_sums ? "two f16 sums" : "one f32 sum");
    if (s.c) text += alias_line("ElementC", element_type(*s.c), fmt::format("{} in memory", to_string(*s.c)));
    return text + alias_line("ElementD", element_type(s.d), fmt::format("{} in memory", to_string(s.d))) +
           alias_line("ElementOut", "ElementD", "the element that the epilogue stores");
}

std::string derived_lines(const GemmSignature& s, const Config& c, const SlicedKGeometry& g) {
    const int rows = c.swap_ab ? c.block.n : c.block.m;
    const int columns = c.swap_ab ? c.block.m : c.block.n;
    const int pitch = sums_pitch(c);
    return constant_line("kPanelK", g.panel_k, "each warp's part of a k-tile: rows of 128 bytes, which TMA swizzles") +
           constant_line("kMmaK", g.mma.k, "k of an mma") + constant_line("kSlices", g.warps, "warps of a block") +
           constant_line("kThreads", g.threads, "") + constant_line("kTilesM", c.block.m / g.mma.m, "mmas of a warp") +
           constant_line("kTilesN", c.block.n / g.mma.n, "") +
           constant_line("kRegistersC", s.accumulator == DataType::f16 ? 2 : 4,
                         "registers of a thread for an mma's sums") +
           "// sP: each warp's sums of a tile (kRowsP, kColumnsP) of D. The row pitch kPitchP puts the lanes of a warp "
           "into\n// different banks.\n" +
           constant_line("kRowsP", rows, "") + constant_line("kColumnsP", columns, "") +
           constant_line("kPitchP", pitch, "") + constant_line("kSumsOfAWarp", rows * pitch, "");
}

/// The list depends on which operand is the long one.
std::vector<KernelArgument> arguments(const GemmSignature& s, const Config& c, const SlicedKGeometry& g) {
    using Role = ArgumentRole;
    const auto map = [](Role role, const SlicedPanel& panel) {
        return TensorMapArgument{role, box_of_matrix(panel.box), swizzle_of(panel), L2Promotion::bytes128};
    };
    std::vector<KernelArgument> list{map(Role::a, c.swap_ab ? g.of_few : g.of_long),
                                     map(Role::b, c.swap_ab ? g.of_long : g.of_few)};
    add_epilogue_pointers(list, s);
    list.emplace_back(PointerArgument{Role::d});
    for (const Role role : {Role::m, Role::n, Role::k}) list.emplace_back(ExtentArgument{role});
    add_epilogue_pitches(list, s);
    list.emplace_back(ExtentArgument{Role::ldd, 8});
    add_epilogue_scalars(list, s);
    return list;
}

}  // namespace

RenderInput MmaSlicedK::render_input(const GemmSignature& signature, const Config& c) {
    const SlicedKGeometry g = geometry(signature, c);
    RenderInput input;
    input.macros = {{"GEMM_TENSOR_MAPS", 1},
                    {"GEMM_LONG_B", c.swap_ab},
                    {"GEMM_EARLY", c.early},
                    {"GEMM_DEPENDENT_LAUNCH", c.dependent_launch},
                    {"GEMM_A_K_MAJOR", g.of_long.k_major},
                    {"GEMM_B_K_MAJOR", g.of_few.k_major},
                    {"GEMM_BLOCK_M", c.block.m},
                    {"GEMM_BLOCK_N", c.block.n},
                    {"GEMM_BLOCK_K", c.block.k},
                    {"GEMM_STAGES", c.stages},
                    {"GEMM_VECTOR_D", g.vector_d}};
    input.macros.merge(type_macros(signature));
    input.generated["sliced_k_params.cuh"] = params_text(signature, c, g) + "\n" + derived_lines(signature, c, g);
    input.generated["epilogue_expression.cuh"] = epilogue_expression(signature, FinishUnit::element);
    input.generated["tma_copies.inl"] = tma_wrappers(tensor_map_ranks(arguments(signature, c, g)), {});
    const MmaAtom& atom = *find_mma_atom(g.mma, signature.a, signature.b, signature.accumulator);
    input.generated["mma_atom.cuh"] = mma_wrapper(atom) + "\n" +
                                      ldmatrix_wrapper(Operand::a, kLdmatrix, !g.of_long.k_major) + "\n" +
                                      ldmatrix_wrapper(Operand::b, kLdmatrix, !g.of_few.k_major);
    return input;
}

std::vector<KernelEntry> MmaSlicedK::entries(const GemmSignature& signature, const Config& c) {
    const SlicedKGeometry g = geometry(signature, c);
    KernelEntry gemm;
    gemm.function = kMultiplyingFunction;
    gemm.threads = g.threads;
    gemm.shared_bytes = static_cast<int>(g.shared_bytes);
    gemm.grid = {.tile_m = c.block.m, .tile_n = c.block.n, .blocks = PersistentBlocks{}};
    if (c.swap_ab) std::swap(gemm.grid.tile_m, gemm.grid.tile_n);
    gemm.arguments = arguments(signature, c, g);
    gemm.programmatic_launch = c.dependent_launch;
    return {gemm};
}

}  // namespace jitgemm
