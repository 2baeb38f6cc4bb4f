#include "generator/kernel_source.hpp"

namespace jitgemm {
namespace {

std::int64_t tiles(std::int64_t extent, std::int64_t tile) { return (extent + tile - 1) / tile; }

}  // namespace

std::int64_t block_count(const GridRule& rule, std::int64_t m, std::int64_t n) {
    return tiles(m, rule.tile_m) * tiles(n, rule.tile_n) * rule.splits;
}

}  // namespace jitgemm
