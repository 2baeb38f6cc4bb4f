#include "generator/global_traffic.hpp"

#include "generator/families/family.hpp"
#include "generator/families/simt_naive/family.hpp"
#include "generator/families/simt_tile2d/family.hpp"

#include <cmath>
#include <optional>

namespace jitgemm {
namespace {

constexpr double kSectorBytes = 32;
constexpr double kSumBytes = 4;  // of a partial sum in the workspace

double ceil_div(std::int64_t value, int divisor) { return std::ceil(static_cast<double>(value) / divisor); }

double whole_sectors(double bytes) { return std::ceil(bytes / kSectorBytes) * kSectorBytes; }

double elements(std::int64_t rows, std::int64_t columns) {
    return static_cast<double>(rows) * static_cast<double>(columns);
}

/// The tiling of a family whose threads read both factors from global memory themselves.
std::optional<SimtTiling> direct_tiling(const KernelConfig& config) {
    if (const auto* naive = std::get_if<SimtNaiveConfig>(&config.family)) return SimtNaive::tiling(*naive);
    if (const auto* tile2d = std::get_if<SimtTile2dConfig>(&config.family)) return SimtTile2d::tiling(*tile2d);
    return std::nullopt;
}

/// Of one load by a warp whose `lanes` want different rows (A) or columns (B), others the same ones.
double load_bytes(bool k_major, int lanes, DataType type) {
    return k_major ? lanes * kSectorBytes : whole_sectors(lanes * bytes(type));
}

double direct_reads(const GemmSpec& spec, const SimtGeometry& g) {
    const auto k = static_cast<double>(spec.k);
    const double loads_a = ceil_div(spec.m, g.warp_m) * ceil_div(spec.n, g.warp_n * g.tile.n) * k;
    const double loads_b = ceil_div(spec.n, g.warp_n) * ceil_div(spec.m, g.warp_m * g.tile.m) * k;
    return loads_a * load_bytes(g.a_k_major, g.warp_m, spec.a) + loads_b * load_bytes(g.b_k_major, g.warp_n, spec.b);
}

/// Bytes asked for over bytes wanted, where an operand is read in runs of so many neighbours.
double waste(int run, DataType type) { return whole_sectors(run * bytes(type)) / (run * bytes(type)); }

/// Neighbours of an operand that a warp reads at once: a row of its tile, or as many k as simt_hierarchical transposes.
int run_of(Operand operand, const GemmSpec& spec, const KernelConfig& config, const TileShape& block) {
    const bool k_major = is_k_major(operand, spec.layout);
    const auto* hierarchical = std::get_if<SimtHierarchicalConfig>(&config.family);
    if (k_major) return hierarchical != nullptr ? hierarchical->k_lanes : block.k;
    return operand == Operand::a ? block.m : block.n;
}

double tiled_reads(const GemmSpec& spec, const KernelConfig& config, const TileShape& block) {
    const double a = ceil_div(spec.n, block.n) * elements(spec.m, spec.k) * bytes(spec.a);
    const double b = ceil_div(spec.m, block.m) * elements(spec.k, spec.n) * bytes(spec.b);
    return a * waste(run_of(Operand::a, spec, config, block), spec.a) +
           b * waste(run_of(Operand::b, spec, config, block), spec.b);
}

/// Reading and writing an operand once more, in an order that copies can be wide in.
double packed_bytes(const GemmSpec& spec, const KernelConfig& config) {
    const auto* mma = std::get_if<MmaMultistageConfig>(&config.family);
    if (mma == nullptr) return 0;
    const bool a = packs_a(mma->pack);
    const bool b = packs_b(mma->pack);
    return (a ? elements(spec.m, spec.k) * bytes(spec.a) : 0) + (b ? elements(spec.k, spec.n) * bytes(spec.b) : 0);
}

/// Of a matrix that warps reach `run` neighbouring elements of a row at a time.
double row_by_row(const GemmSpec& spec, DataType type, int run) {
    return static_cast<double>(spec.m) * ceil_div(spec.n, run) * whole_sectors(run * bytes(type));
}

}  // namespace

GlobalTraffic global_traffic(const GemmSpec& spec, const KernelConfig& config) {
    const KernelAnatomy anatomy = family_of(config).anatomy(spec, config);
    const std::optional<SimtTiling> direct = direct_tiling(config);
    int run = anatomy.block.n;
    GlobalTraffic traffic;
    if (direct) {
        const SimtGeometry g = simt_geometry(signature(spec), *direct);
        traffic.read_bytes = direct_reads(spec, g);
        run = g.warp_n;
    } else {
        traffic.read_bytes = tiled_reads(spec, config, anatomy.block);
    }
    const double packed = packed_bytes(spec, config);
    const bool in_workspace = anatomy.split_k > 1 && anatomy.cluster == 1;
    const double sums = in_workspace ? anatomy.split_k * elements(spec.m, spec.n) * kSumBytes : 0;
    const double rests =
        static_cast<double>(anatomy.cut_tiles) * anatomy.block.m * anatomy.block.n * kSumBytes;  // then D is read, too
    const double c = spec.c ? row_by_row(spec, *spec.c, run) : 0;
    traffic.read_bytes += packed + sums + 2 * rests + c;
    traffic.written_bytes = row_by_row(spec, spec.d, run) + packed + sums + 2 * rests;
    return traffic;
}

}  // namespace jitgemm
