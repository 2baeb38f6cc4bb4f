#include "generator/kernel_source.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

std::int64_t tiles(std::int64_t extent, std::int64_t tile) { return (extent + tile - 1) / tile; }

}  // namespace

std::int64_t block_count(const GridRule& rule, std::int64_t rows, std::int64_t columns) {
    const std::int64_t blocks = tiles(rows, rule.tile_m) * tiles(columns, rule.tile_n) * rule.splits;
    if (rule.wave > 0) return blocks + blocks % rule.wave;
    return rule.most > 0 ? std::min<std::int64_t>(blocks, rule.most) : blocks;
}

std::int64_t block_count(const GridRule& rule, const GemmSpec& row_major) {
    switch (rule.matrix) {
        case GridMatrix::a: return block_count(rule, row_major.m, row_major.k);
        case GridMatrix::b: return block_count(rule, row_major.n, row_major.k);
        case GridMatrix::d: break;
    }
    return block_count(rule, row_major.m, row_major.n);
}

}  // namespace jitgemm
