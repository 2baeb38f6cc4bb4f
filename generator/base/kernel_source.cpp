#include "generator/base/kernel_source.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

constexpr std::int64_t kMostBlocks = std::int64_t{1} << 62;

std::int64_t tiles(std::int64_t extent, std::int64_t tile) { return (extent + tile - 1) / tile; }

std::int64_t product(std::int64_t count, std::int64_t times) {
    return count != 0 && times > kMostBlocks / count ? kMostBlocks : count * times;
}

}  // namespace

std::int64_t block_count(const GridRule& rule, std::int64_t rows, std::int64_t columns) {
    const std::int64_t blocks = product(product(tiles(rows, rule.tile_m), tiles(columns, rule.tile_n)), rule.splits);
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
