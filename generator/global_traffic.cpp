#include "generator/global_traffic.hpp"

#include "generator/base/sector.hpp"
#include "generator/families/family.hpp"

#include <cmath>

namespace jitgemm {
namespace {

constexpr double kSumBytes = 4;  // of a partial sum in the workspace

double ceil_div(std::int64_t value, int divisor) { return std::ceil(static_cast<double>(value) / divisor); }

double whole_sectors(double bytes) { return std::ceil(bytes / kSectorBytes) * kSectorBytes; }

double elements(std::int64_t rows, std::int64_t columns) {
    return static_cast<double>(rows) * static_cast<double>(columns);
}

/// Of one load by a warp whose `lanes` want different rows (A) or columns (B), others the same ones.
double load_bytes(bool k_major, int lanes, DataType type) {
    return k_major ? lanes * kSectorBytes : whole_sectors(lanes * bytes(type));
}

double direct_reads(const GemmSpec& spec, const DirectReads& reads) {
    const auto k = static_cast<double>(spec.k);
    const double loads_a = ceil_div(spec.m, reads.warp_m) * ceil_div(spec.n, reads.warp_n * reads.thread.n) * k;
    const double loads_b = ceil_div(spec.n, reads.warp_n) * ceil_div(spec.m, reads.warp_m * reads.thread.m) * k;
    return loads_a * load_bytes(is_k_major(Operand::a, spec.layout), reads.warp_m, spec.a) +
           loads_b * load_bytes(is_k_major(Operand::b, spec.layout), reads.warp_n, spec.b);
}

/// Bytes asked for over bytes wanted, if an operand is read in runs of this number of neighbours.
double waste(int run, DataType type) { return whole_sectors(run * bytes(type)) / (run * bytes(type)); }

/// Neighbours of an operand that a warp reads at once.
int run_of(Operand operand, const GemmSpec& spec, const KernelAnatomy& anatomy) {
    if (is_k_major(operand, spec.layout)) return anatomy.k_run > 0 ? anatomy.k_run : anatomy.block.k;
    return operand == Operand::a ? anatomy.block.m : anatomy.block.n;
}

double tiled_reads(const GemmSpec& spec, const KernelAnatomy& anatomy) {
    const double a = ceil_div(spec.n, anatomy.block.n) * elements(spec.m, spec.k) * bytes(spec.a);
    const double b = ceil_div(spec.m, anatomy.block.m) * elements(spec.k, spec.n) * bytes(spec.b);
    return a * waste(run_of(Operand::a, spec, anatomy), spec.a) + b * waste(run_of(Operand::b, spec, anatomy), spec.b);
}

/// Reading and writing an operand once more, in an order that copies can be wide in.
double packed_bytes(const GemmSpec& spec, const KernelAnatomy& anatomy) {
    return (anatomy.packs_a ? elements(spec.m, spec.k) * bytes(spec.a) : 0) +
           (anatomy.packs_b ? elements(spec.k, spec.n) * bytes(spec.b) : 0);
}

/// Of a matrix that warps reach `run` neighbouring elements of a row at a time.
double row_by_row(const GemmSpec& spec, DataType type, int run) {
    return static_cast<double>(spec.m) * ceil_div(spec.n, run) * whole_sectors(run * bytes(type));
}

}  // namespace

GlobalTraffic global_traffic(const Problem& problem, const KernelConfig& config) {
    const GemmSpec& spec = problem.row_major();
    const KernelAnatomy anatomy = family_of(config).anatomy(problem, config);
    const auto& direct = anatomy.direct_reads;
    const int run = direct ? direct->warp_n : anatomy.block.n;
    GlobalTraffic traffic;
    traffic.read_bytes = direct ? direct_reads(spec, *direct) : tiled_reads(spec, anatomy);
    const double packed = packed_bytes(spec, anatomy);
    const bool in_workspace = anatomy.split_k > 1 && anatomy.cluster == 1;
    const double sums = in_workspace ? anatomy.split_k * elements(spec.m, spec.n) * kSumBytes : 0;
    const double remainders = static_cast<double>(anatomy.remainder_tiles) * anatomy.block.m * anatomy.block.n *
                              kSumBytes;  // then D is read, too
    const double partial = static_cast<double>(anatomy.partial_tiles) * anatomy.block.m * anatomy.block.n * kSumBytes;
    const double rows_of_c = spec.c ? row_by_row(spec, *spec.c, run) : 0;
    const double c = spec.broadcast_c && spec.m > 0 ? rows_of_c / static_cast<double>(spec.m) : rows_of_c;
    traffic.read_bytes += packed + sums + partial + 2 * remainders + c;
    traffic.written_bytes = row_by_row(spec, spec.d, run) + packed + sums + partial + 2 * remainders;
    return traffic;
}

}  // namespace jitgemm
