#pragma once

#include "jitgemm/gemm_spec.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace jitgemm {

/// The matrix whose elements the blocks of an entry share out: A is (m, k), B is (n, k), D is (m, n); or A and B one
/// after the other; or D's rows in one, each of them padded to whole quads of columns.
enum class GridMatrix : std::uint8_t { a, b, d, ab, d_quads };
[[nodiscard]] std::string_view to_string(GridMatrix matrix);

/// How blocks take the tiles: each block one.
struct BlockPerTile {
    friend bool operator==(const BlockPerTile&, const BlockPerTile&) = default;
};
/// No more than `most` blocks, which take several tiles one after the other (grid-stride loops).
struct CappedBlocks {
    std::int64_t most;
    friend bool operator==(const CappedBlocks&, const CappedBlocks&) = default;
};
/// As many blocks as the GPU holds at once, `per_sm` on each SM, in whole clusters of `cluster` blocks, and no more of
/// these than the tiles need. How many that is a kernel reads from gridDim.x.
struct PersistentBlocks {
    int per_sm = 1;
    int cluster = 1;
    friend bool operator==(const PersistentBlocks&, const PersistentBlocks&) = default;
};
/// A block per tile, and a second one for each tile left over from whole waves of `per_wave` blocks: these are cut in
/// two along K.
struct RemainderBlocks {
    int per_wave;
    friend bool operator==(const RemainderBlocks&, const RemainderBlocks&) = default;
};
using BlockRule = std::variant<BlockPerTile, CappedBlocks, PersistentBlocks, RemainderBlocks>;

/// How many blocks an entry is launched with, all along grid x: a matrix has ceil(rows / tile_m) · ceil(columns /
/// tile_n) tiles, each `splits` times, and `blocks` says how they are taken.
struct GridRule {
    int tile_m = 1;
    int tile_n = 1;
    int splits = 1;
    GridMatrix matrix = GridMatrix::d;
    BlockRule blocks = BlockPerTile{};
    friend bool operator==(const GridRule&, const GridRule&) = default;
};

/// Blocks of a launch, at most 2^62. The clusters of such a kernel reach `sm_count` SMs of the GPU (resident_clusters).
/// If the number is not known it is 0, and each tile has a persistent block, the most that there can be.
[[nodiscard]] std::int64_t block_count(const GridRule& rule, std::int64_t rows, std::int64_t columns, int sm_count = 0);
/// The same for the rule's matrix of a problem that is row-major in D.
[[nodiscard]] std::int64_t block_count(const GridRule& rule, const GemmSpec& row_major, int sm_count = 0);

/// Whether the count depends on the GPU.
[[nodiscard]] bool needs_sm_count(const GridRule& rule);

/// The count as a C expression of 64 bits. It calls `tiles(extent, tile)` (the quotient rounded up), `least(x, y)` and
/// `greatest(x, y)`, and `sm_count(cluster)`: the SMs that clusters of so many blocks reach.
[[nodiscard]] std::string block_count_expression(const GridRule& rule, std::string_view m, std::string_view n,
                                                 std::string_view k);

}  // namespace jitgemm
