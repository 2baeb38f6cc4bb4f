#pragma once

#include "jitgemm/gemm_spec.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace jitgemm {

/// The matrix whose elements the blocks of an entry divide among them: A is (m, k), B is (n, k), and D is (m, n). `ab`
/// is A followed by B. `d_quads` is all rows of D as one row, each padded to whole quads of columns. `lines` is the
/// rows of A, then the columns of B, each one element. `lines_a` and `lines_b` are one of these.
enum class GridMatrix : std::uint8_t { a, b, d, ab, d_quads, lines, lines_a, lines_b };
[[nodiscard]] std::string_view to_string(GridMatrix matrix);

/// Each block takes one tile.
struct BlockPerTile {
    friend bool operator==(const BlockPerTile&, const BlockPerTile&) = default;
};
/// There are at most `most` blocks. Each takes several tiles, one after the other (grid-stride loops).
struct CappedBlocks {
    std::int64_t most;
    friend bool operator==(const CappedBlocks&, const CappedBlocks&) = default;
};
/// There are as many blocks as the GPU holds at once: `per_sm` on each SM, in whole clusters of `cluster` blocks. There
/// are never more clusters than the tiles need. The kernel reads their number from gridDim.x.
struct PersistentBlocks {
    int per_sm = 1;
    int cluster = 1;
    friend bool operator==(const PersistentBlocks&, const PersistentBlocks&) = default;
};
/// Each tile has a block. A tile that is left over from whole waves of `per_wave` blocks is cut in two along K and has
/// a second block.
struct RemainderBlocks {
    int per_wave;
    friend bool operator==(const RemainderBlocks&, const RemainderBlocks&) = default;
};
using BlockRule = std::variant<BlockPerTile, CappedBlocks, PersistentBlocks, RemainderBlocks>;

/// How a grid takes the problems of a batch. none: there is one problem. tiles: their tiles are dealt out together,
/// along grid x. blocks: each problem has its own blocks, along grid y and z (problem_grid). groups: problems are
/// groups of rows, and blocks lie along grid x. Only the device knows the groups' sizes, so some blocks may have no
/// tile.
enum class GridBatch : std::uint8_t { none, tiles, blocks, groups };

/// The number of blocks of an entry, all along grid x. The matrix has ceil(rows / tile_m) · ceil(columns / tile_n)
/// tiles, and each is there `splits` times. `blocks` says how blocks take tiles.
struct GridRule {
    int tile_m = 1;
    int tile_n = 1;
    int splits = 1;
    GridMatrix matrix = GridMatrix::d;
    BlockRule blocks = BlockPerTile{};
    GridBatch batch = GridBatch::none;
    friend bool operator==(const GridRule&, const GridRule&) = default;
};

/// Blocks of a launch, at most 2^62. `sm_count` is the number of SMs that the kernel's clusters reach
/// (resident_clusters). If it is 0, the number is not known: each tile then counts as one persistent block, which is
/// the maximum.
[[nodiscard]] std::int64_t block_count(const GridRule& rule, std::int64_t rows, std::int64_t columns, int sm_count = 0);
/// The same for the rule's matrix: its rows and columns are the spec's m, n or k.
[[nodiscard]] std::int64_t block_count(const GridRule& rule, const GemmSpec& spec, int sm_count = 0);

/// The blocks of all problems.
[[nodiscard]] std::int64_t blocks_of_batch(GridRule rule, const GemmSpec& spec);

/// Most blocks along grid y (CUDA C++ Programming Guide, "Compute Capabilities").
inline constexpr std::int64_t kMostAlongY = 65535;

/// Blocks along grid y and z, if each problem has its own. The last ones along z may be behind the last problem.
struct ProblemGrid {
    std::int32_t y = 1;
    std::int32_t z = 1;
};
[[nodiscard]] ProblemGrid problem_grid(const GridRule& rule, const GemmSpec& spec);

/// Whether the count depends on the GPU.
[[nodiscard]] bool needs_sm_count(const GridRule& rule);

/// Expressions in C for a problem's sizes. `problems`: those of a batch; empty where there is one.
struct SizeExpressions {
    std::string m, n, k;
    std::string problems{};
};
/// The count along grid x as a C expression of 64 bits. It calls `tiles(extent, tile)` (the quotient rounded up),
/// `least(x, y)`, `greatest(x, y)` and `sm_count(cluster)` (the SMs that clusters of this many blocks reach).
[[nodiscard]] std::string block_count_expression(const GridRule& rule, const SizeExpressions& sizes);

}  // namespace jitgemm
