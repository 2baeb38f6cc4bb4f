#include "runtime/cli/ladder/rungs.hpp"

#include "generator/generate.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace jitgemm {
namespace {

// Lowest first. The twins of simt_naive have one block tile, so that nothing but the order of threads differs; so have
// all kernels on tensor cores up to mma_multistage, and the three of wgmma.
constexpr std::array kRungs{
    Rung{.name = "cpu loop",
         .kind = RungKind::cpu,
         .sentence = "Three loops on one CPU thread, in f32: one multiply-add after the other."},
    Rung{.name = "naive, uncoalesced",
         .family = "simt_naive",
         .parameters = "block=32x32,coalesced=false",
         .sentence =
             "One GPU thread per element of D, with neighbouring threads along a column: a warp's 32 elements lie "
             "in 32 rows, and every access to a row-major matrix touches 32 cache lines."},
    Rung{.name = "naive",
         .family = "simt_naive",
         .parameters = "block=32x32,coalesced=true",
         .sentence = "Neighbouring threads along a row: the 32 elements of a row-major B and D that a warp wants at "
                     "once lie side by side in a cache line, and all its threads share one element of A."},
    Rung{.name = "2-D tiles",
         .family = "simt_tile2d",
         .parameters = "block=32x128,tile=4x4",
         .sentence = "A thread computes a tile of D in registers, so that each element it loads serves several "
                     "multiply-adds; a fixed grid walks any matrix."},
    Rung{.name = "2-D tiles, shared memory",
         .family = "simt_tile2d_shared",
         .sentence = "The block copies its whole rows of A and columns of B to shared memory once and multiplies from "
                     "there: all of K has to fit."},
    Rung{.name = "outer product",
         .family = "simt_outer_product",
         .parameters = "block=32x32x32",
         .sentence = "K comes in chunks: partial sums stay in registers while the panels in shared memory are "
                     "replaced, so that any K fits. A thread computes one element still."},
    Rung{.name = "outer product, 2-D tiles",
         .family = "simt_outer_product_tile2d",
         .parameters = "block=64x128x32,tile=8x4",
         .sentence = "Both at once: chunks of K in shared memory, and a tile of D in each thread's registers that uses "
                     "every value loaded from there several times."},
    Rung{.name = "hierarchical",
         .family = "simt_hierarchical",
         .sentence = "Block, warp and thread tiles: loads of 16 bytes, larger thread tiles, and the next chunk of K on "
                     "its way while the current one is multiplied."},
    Rung{.name = "wmma",
         .family = "wmma_multistage",
         .parameters =
             "block=256x128x32,warp=64x64,mma=16x16x16,cache=ca,stages=1,async=false,padding=0,double_buffer=false,"
             "rasterization=row",
         .sentence = "Tensor cores: a warp multiplies fragments of 16x16x16 with one wmma.mma, from a single buffer in "
                     "shared memory.",
         .halves_only = true},
    Rung{.name = "wmma + padding",
         .family = "wmma_multistage",
         .parameters =
             "block=256x128x32,warp=64x64,mma=16x16x16,cache=ca,stages=1,async=false,padding=8,double_buffer=false,"
             "rasterization=row",
         .sentence = "Each row in shared memory is 16 bytes longer than its data, so that rows read at once begin in "
                     "different banks.",
         .halves_only = true},
    Rung{.name = "wmma + cp.async",
         .family = "wmma_multistage",
         .parameters =
             "block=256x128x32,warp=64x64,mma=16x16x16,cache=ca,stages=1,async=true,padding=8,double_buffer=false,"
             "rasterization=row",
         .sentence = "Copies go from global to shared memory past the registers, in one instruction.",
         .halves_only = true},
    Rung{.name = "wmma + two stages",
         .family = "wmma_multistage",
         .parameters =
             "block=256x128x32,warp=64x64,mma=16x16x16,cache=ca,stages=2,async=true,padding=8,double_buffer=false,"
             "rasterization=row",
         .sentence = "Two buffers: the next chunk of K is copied while the current one is multiplied.",
         .halves_only = true},
    Rung{.name = "wmma + double buffer",
         .family = "wmma_multistage",
         .parameters =
             "block=256x128x32,warp=64x64,mma=16x16x16,cache=ca,stages=2,async=true,padding=8,double_buffer=true,"
             "rasterization=row",
         .sentence = "The same one level down: fragments of the next k-block are loaded into registers before the mma "
                     "of the current one.",
         .halves_only = true},
    Rung{.name = "wmma + zig-zag",
         .family = "wmma_multistage",
         .parameters =
             "block=256x128x32,warp=64x64,mma=16x16x16,cache=ca,stages=2,async=true,padding=8,double_buffer=true,"
             "rasterization=zigzag,group=16",
         .sentence = "Blocks walk D in groups of 16 tiles, forth and back, so that those that run at once share rows "
                     "of A and columns of B in L2.",
         .halves_only = true},
    Rung{.name = "wmma + three stages",
         .family = "wmma_multistage",
         .parameters =
             "block=256x128x32,warp=64x64,mma=16x16x16,cache=ca,stages=3,async=true,padding=8,double_buffer=true,"
             "rasterization=zigzag,group=16",
         .sentence = "A third buffer: two chunks of K are in flight at any time, which hides more of the latency.",
         .halves_only = true},
    Rung{.name = "mma_multistage",
         .family = "mma_multistage",
         .parameters = "block=256x128x32,warp=64x64,stages=3",
         .sentence = "mma.sync in place of wmma, same tiles: ldmatrix reads fragments from a swizzled tile, without "
                     "padding and without conflicts, and D leaves through shared memory once.",
         .halves_only = true},
    Rung{.name = "wgmma, no producer",
         .family = "wgmma_warp_specialized",
         .parameters = "block=128x256x64,warpgroup=64x256,stages=4,cluster=1x1,swap_ab=false,group=16,slices=2,"
                       "stream_k=0,persistent=false,warp_specialized=false",
         .sentence = "Hopper's way: four warps multiply 64 rows by 256 columns with one wgmma straight from shared "
                     "memory, and between two k-tiles one of their threads has TMA copy whole boxes.",
         .halves_only = true},
    Rung{.name = "wgmma, a block per tile",
         .family = "wgmma_warp_specialized",
         .parameters = "block=128x256x64,warpgroup=64x256,stages=4,cluster=1x1,swap_ab=false,group=16,slices=2,"
                       "stream_k=0,persistent=false,warp_specialized=true",
         .sentence = "Warps are specialised: one does nothing but copy, and those that multiply wait for k-tiles "
                     "alone, not for each other.",
         .halves_only = true},
    Rung{.name = "wgmma, persistent blocks",
         .family = "wgmma_warp_specialized",
         .parameters = "block=128x256x64,warpgroup=64x256,stages=4,cluster=1x1,swap_ab=false,group=16,slices=2,"
                       "stream_k=0,persistent=true,warp_specialized=true",
         .sentence = "Blocks stay for tile after tile: while one is stored, the first k-tiles of the next one are on "
                     "their way.",
         .halves_only = true},
    Rung{.name = "fastest",
         .kind = RungKind::fastest,
         .sentence = "The heuristic's choice for this problem on this device, tile sizes and all."},
};

}  // namespace

std::vector<Rung> ladder_rungs(DataType type) {
    if (!is_half(type) && type != DataType::f32) {
        throw SpecError("ladder", {fmt::format("its rungs multiply f32, f16 and bf16, not {}: name one with --type",
                                               to_string(type))});
    }
    std::vector<Rung> rungs;
    std::ranges::copy_if(kRungs, std::back_inserter(rungs),
                         [&](const Rung& rung) { return is_half(type) || !rung.halves_only; });
    return rungs;
}

Selection selection_of(const Rung& rung) {
    Selection selection;
    if (rung.kind == RungKind::family) selection.family = std::string(rung.family);
    if (!rung.parameters.empty()) selection.parameters = parse_parameters(rung.parameters);
    return selection;
}

std::string dump_command(const Rung& rung, const Problem& problem, const Arch& arch) {
    if (rung.kind == RungKind::cpu) return {};
    std::string command = fmt::format("jitgemm dump{} --arch {}", command_line_options(problem), arch.name);
    if (rung.kind == RungKind::family) command += fmt::format(" --family {}", rung.family);
    if (!rung.parameters.empty()) command += fmt::format(" --param {}", rung.parameters);
    return command;
}

}  // namespace jitgemm
