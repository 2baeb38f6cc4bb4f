#include "generator/families/shared/split_k.hpp"

namespace jitgemm {
namespace {

constexpr int kReduceSums = 4 * kReduceThreads;  // of D, that a reduction block takes at a time
constexpr int kMostReduceBlocks = 1 << 20;       // hundreds for each place on any GPU; a grid may have 2^31
constexpr int kAddRows = 8;                      // of a remainder tile a block adds at a time, about
constexpr int kMostAddBlocks = 32;               // on an SM

}  // namespace

KernelEntry reduce_entry(const std::vector<KernelArgument>& arguments) {
    KernelEntry entry;
    entry.function = "gemm_reduce";
    entry.threads = kReduceThreads;
    entry.grid = {.tile_n = kReduceSums, .matrix = GridMatrix::d_quads, .blocks = CappedBlocks{kMostReduceBlocks}};
    entry.arguments = arguments;
    return entry;
}

std::int64_t partial_sum_bytes(const GemmSpec& spec, int splits) {
    return splits > 1 ? splits * spec.m * ((spec.n + 3) / 4 * 4) * 4 : 0;
}

std::int64_t remainder_tiles(const GemmSpec& spec, const TileShape& block, int wave) {
    return wave > 0 ? block_count({block.m, block.n, 1}, spec) % wave : 0;
}

KernelEntry add_partials_entry(const std::vector<KernelArgument>& arguments, const TileShape& block, int wave) {
    KernelEntry entry;
    entry.function = "gemm_add_partials";
    entry.threads = kReduceThreads;
    entry.grid = {.tile_m = kAddRows, .tile_n = block.n, .blocks = CappedBlocks{std::int64_t{kMostAddBlocks} * wave}};
    entry.arguments = arguments;
    return entry;
}

std::int64_t remainder_bytes(const GemmSpec& spec, const TileShape& block, int wave) {
    return remainder_tiles(spec, block, wave) * block.m * block.n * 4;
}

}  // namespace jitgemm
