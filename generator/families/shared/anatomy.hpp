#pragma once

#include "generator/base/round_up.hpp"
#include "generator/base/tile_shape.hpp"
#include "generator/epilogue/graph.hpp"
#include "generator/families/shared/tensor_core_geometry.hpp"
#include "generator/families/shared/tile_schedule.hpp"
#include "generator/layout/bank_conflicts.hpp"
#include "generator/layout/copy_atom.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace jitgemm {

/// The place that computes an element of D. A mismatch is traced back to it.
struct ElementOwner {
    std::int64_t block = 0;  ///< blockIdx.x
    std::int64_t tile_m = 0;
    std::int64_t tile_n = 0;
    int warp = 0;
    int lane = 0;                  ///< kUnknown if only the hardware knows it
    int accumulator_register = 0;  ///< index into the thread's accumulator fragment, or kUnknown

    static constexpr int kUnknown = -1;
};

/// Columns of a tile with the sums of eight pairs, where a tile takes these from two halves: the eight first sums stand
/// before the eight second ones.
inline constexpr int kSumsOfEightPairs = 16;

/// Where the first sum of a column of D stands in a row of tiles.
[[nodiscard]] constexpr std::int64_t first_sum_of(EpiloguePairs pairs, std::int64_t column) {
    if (pairs == EpiloguePairs::none) return column;
    if (pairs == EpiloguePairs::neighbours) return 2 * column;
    return column / 8 * kSumsOfEightPairs + column % 8;
}

/// The tile, block and warp of an element, for block tiles in a raster order and warp tiles row by row in them. Lane
/// and register are 0.
[[nodiscard]] ElementOwner tile_owner(const RasterOrder& order, const TileShape& block, const TileShape& warp,
                                      const GemmSpec& spec, std::int64_t row, std::int64_t column);

/// The way of an operand from global memory into the registers of the tensor cores.
struct OperandPath {
    Operand operand = Operand::a;
    bool k_major = true;                     ///< in shared memory
    std::string copy;                        ///< "cp.async of 16 bytes"
    std::string place;                       ///< the place of its rows in shared memory, and the reason
    std::optional<LdmatrixChoice> ldmatrix;  ///< unset if fragments are loaded otherwise
    std::string width_reason;                ///< the reason for the number of elements that a fragment's load takes
    std::string trans_reason;                ///< the reason why it is or is not transposed on the way
};

/// For a kernel whose warps read A and B from global memory, without tiles in shared memory: the threads of a warp
/// along M and N, and the elements of D that each computes.
struct DirectReads {
    int warp_m = 0;
    int warp_n = 0;
    TileShape thread;
};

/// For a kernel whose warps load the operands of mma.sync by ldmatrix from a multistage pipeline. Its page draws this.
struct LdmatrixPipeline {
    const MmaAtom* atom;
    OperandGeometry a, b;
    SharedLayout shared_layout;
    TileSchedule schedule;
};

/// Warps of a block that run the same code. In most kernels these are all warps; a warp-specialized kernel has several
/// roles.
struct WarpRole {
    std::string name;   ///< "all"; "producer", "consumer"
    int warps = 0;      ///< per block
    int registers = 0;  ///< per thread, estimated
};

/// Reasons against a config whose accesses to shared memory have bank conflicts, each with its wavefronts.
[[nodiscard]] std::vector<std::string> conflict_reasons(const std::vector<SharedAccess>& accesses);

struct KernelAnatomy;
/// The text in place of an empty table of accesses.
[[nodiscard]] std::string no_accesses_text(const KernelAnatomy& anatomy);

/// The parts of a kernel for `explain`. Bytes are per block, registers per thread.
struct KernelAnatomy {
    TileShape block;
    TileShape warp;
    TileShape mma;
    std::string instruction;  ///< PTX name of the multiply-add: mma.sync... or fma.rn.f32
    std::vector<WarpRole> roles;
    int accumulator_registers = 0;
    int fragment_registers = 0;
    int stages = 0;
    int split_k = 1;
    int cluster = 1;          ///< blocks of a thread-block cluster; above 1, its splits add up in shared memory
    int blocks_per_wave = 0;  ///< tiles left over from whole waves of this many blocks are cut in two along K
    std::int64_t remainder_tiles = 0;  ///< number of these tiles
    int stream_k_blocks = 0;           ///< blocks that take equal shares of k-tiles
    std::int64_t streamed_tiles = 0;   ///< tiles whose k-tiles they share
    std::int64_t partial_tiles = 0;    ///< pieces of tiles whose sums go to the workspace
    int raster_group = 1;              ///< tiles of a group in the raster order
    bool needs_whole_tiles = false;    ///< the kernel does not check the bounds of the matrices
    std::optional<DirectReads> direct_reads;
    std::optional<LdmatrixPipeline> ldmatrix_pipeline;
    int k_run = 0;  ///< neighbours along K that a warp reads at once, of an operand with K contiguous; 0: a tile's row
    bool packs_a = false;  ///< copied into the workspace first
    bool packs_b = false;
    std::int64_t stage_bytes = 0;
    std::int64_t pipeline_bytes = 0;  ///< all stages
    std::int64_t epilogue_bytes = 0;
    std::int64_t shared_bytes = 0;  ///< in all: pipeline and epilogue may share
    std::int64_t pad_bytes = 0;     ///< unused part of shared_bytes, which spreads the blocks (spread_blocks.hpp)
    std::vector<OperandPath> operands;
    std::vector<SharedAccess> accesses;
    /// Further accesses of an instruction that leaves its addresses to the hardware, as measured in ptxas's code.
    std::vector<SharedAccess> assumed_accesses;

    [[nodiscard]] int warps() const;
    [[nodiscard]] int threads() const;
    /// The average of a thread, which decides how many blocks an SM holds.
    [[nodiscard]] int registers() const;
};

/// The anatomy of a kernel whose warps all do the same: its tiles, and its geometry's threads, registers and shared
/// memory.
template <typename Geometry>
[[nodiscard]] KernelAnatomy anatomy_of(const Geometry& g, const TileShape& block, const TileShape& warp,
                                       const TileShape& mma, std::string instruction) {
    KernelAnatomy anatomy;
    anatomy.block = block;
    anatomy.warp = warp;
    anatomy.mma = mma;
    anatomy.instruction = std::move(instruction);
    anatomy.roles = {{"all", ceil_div(g.threads, kWarpLanes), g.registers()}};
    anatomy.accumulator_registers = g.accumulator_registers;
    anatomy.fragment_registers = g.fragment_registers;
    anatomy.shared_bytes = g.shared_bytes;
    return anatomy;
}

}  // namespace jitgemm
