#pragma once

#include "generator/base/round_up.hpp"
#include "generator/base/tile_shape.hpp"
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

/// Who computes an element of D: what a mismatch is traced back to.
struct ElementOwner {
    std::int64_t block = 0;  ///< blockIdx.x
    std::int64_t tile_m = 0;
    std::int64_t tile_n = 0;
    int warp = 0;
    int lane = 0;                  ///< kUnknown where the hardware alone knows
    int accumulator_register = 0;  ///< index into the thread's accumulator fragment, or kUnknown

    static constexpr int kUnknown = -1;
};

/// Tile, block and warp, where block tiles follow a raster order and warp tiles lie row by row in them. Lane and
/// register are 0.
[[nodiscard]] ElementOwner tile_owner(const RasterOrder& order, const TileShape& block, const TileShape& warp,
                                      const GemmSpec& spec, std::int64_t row, std::int64_t column);

/// How an operand gets from global memory into the registers of the tensor cores.
struct OperandPath {
    Operand operand = Operand::a;
    bool k_major = true;                     ///< as it lies in shared memory
    std::string copy;                        ///< "cp.async of 16 bytes"
    std::string place;                       ///< how its rows lie in shared memory, and why so
    std::optional<LdmatrixChoice> ldmatrix;  ///< unset where fragments are loaded otherwise
    std::string width_reason;                ///< why a fragment is loaded so many elements at a time
    std::string trans_reason;                ///< and why it is transposed on its way or not
};

/// Of a kernel whose warps read A and B from global memory themselves, without tiles in shared memory: threads of a
/// warp along M and N, and the elements of D that each computes.
struct DirectReads {
    int warp_m = 0;
    int warp_n = 0;
    TileShape thread;
};

/// Of a kernel whose warps feed mma.sync by ldmatrix out of a multistage pipeline: how, for its page to draw.
struct LdmatrixPipeline {
    const MmaAtom* atom;
    OperandGeometry a, b;
    SharedLayout shared_layout;
    bool double_buffer;  ///< of fragments
    TileSchedule schedule;
};

/// Warps of a block that run the same code: all of them, but where a kernel is warp-specialized.
struct WarpRole {
    std::string name;   ///< "all"; "producer", "consumer"
    int warps = 0;      ///< per block
    int registers = 0;  ///< per thread, estimated
};

/// Why accesses to shared memory that are not conflict-free speak against a config, each with its wavefronts.
[[nodiscard]] std::vector<std::string> conflict_reasons(const std::vector<SharedAccess>& accesses);

struct KernelAnatomy;
/// What is said in place of a table of accesses where it has none.
[[nodiscard]] std::string no_accesses_text(const KernelAnatomy& anatomy);

/// What a kernel is made of, as `explain` tells it. Bytes are per block, registers per thread.
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
    int cluster = 1;          ///< blocks of a thread-block cluster: then its splits add up in shared memory
    int blocks_per_wave = 0;  ///< where tiles left over from whole waves of so many blocks are cut in two along K
    std::int64_t remainder_tiles = 0;  ///< those
    int stream_k_blocks = 0;           ///< that take equal shares of the k-tiles of
    std::int64_t streamed_tiles = 0;   ///< so many tiles, and
    std::int64_t partial_tiles = 0;    ///< leave the sums of so many pieces of tiles in the workspace
    int raster_group = 1;              ///< of the raster order: tiles of a group
    bool needs_whole_tiles = false;    ///< nothing asks for the bounds of the matrices
    std::optional<DirectReads> direct_reads;
    std::optional<LdmatrixPipeline> ldmatrix_pipeline;
    int k_run =
        0;  ///< neighbours along K that a warp reads at once of an operand that holds K contiguous; 0: a tile's row
    bool packs_a = false;  ///< copied into the workspace first
    bool packs_b = false;
    std::int64_t stage_bytes = 0;
    std::int64_t pipeline_bytes = 0;  ///< all stages
    std::int64_t epilogue_bytes = 0;
    std::int64_t shared_bytes = 0;  ///< in all: pipeline and epilogue may share
    std::int64_t pad_bytes = 0;     ///< of shared_bytes, that nothing uses: it keeps a second block off the SM
    std::vector<OperandPath> operands;
    std::vector<SharedAccess> accesses;
    /// Beside these, where an instruction leaves its addresses to the hardware: as ptxas is seen to make it.
    std::vector<SharedAccess> assumed_accesses;

    [[nodiscard]] int warps() const;
    [[nodiscard]] int threads() const;
    /// Of a block's registers, each thread's equal share: what decides how many blocks an SM holds.
    [[nodiscard]] int registers() const;
};

/// Of a kernel whose warps all do the same: its tiles, and what its geometry says of threads, registers and shared
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
