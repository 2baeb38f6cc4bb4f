#include "generator/families/mma_multistage/cost.hpp"

#include "generator/base/roofline.hpp"
#include "generator/families/mma_multistage/family.hpp"
#include "generator/families/mma_multistage/geometry.hpp"
#include "generator/families/mma_multistage/shared_accesses.hpp"
#include "generator/families/shared/compile_cost.hpp"
#include "generator/families/shared/cost_total.hpp"
#include "generator/families/shared/cut_rows.hpp"
#include "generator/families/shared/dependent_launch.hpp"
#include "generator/families/shared/hardware_costs.hpp"
#include "generator/families/shared/packing.hpp"
#include "generator/families/shared/readers.hpp"
#include "generator/families/shared/wave_cost.hpp"
#include "generator/layout/copy_atom.hpp"

#include <algorithm>
#include <cmath>

namespace jitgemm {
namespace {

/// The inputs of a kernel's cost, beside GPU and constants.
struct MmaCostInputs {
    const GemmSpec& spec;
    const GemmSignature& signature;
    const MmaMultistageConfig& config;
    const TensorCoreGeometry& geometry;
    double conflicts = 1;  ///< slowdown of shared memory
};

/// Copies of a whole warp in a k-tile.
double copies(const OperandGeometry& operand) {
    return static_cast<double>(operand.tile_rows) * operand.vectors_per_row / 32;
}

/// CUDA cores add each partial sum once, and multiply its scales before. An addition and a multiplication take as long
/// as a multiply-add, which counts as two flops.
double promotion_cycles(const GemmSignature& signature, const MmaMultistageConfig& c, const Arch& arch) {
    if (c.promote == 0) return 0;
    const int instructions = has_block_scales(signature) ? 2 : 1;
    const double additions = static_cast<double>(c.block.m) * c.block.n * c.block.k / c.promote;
    return 2 * instructions * additions / fma_flops_per_clock(arch);
}

/// One instruction rounds each element of f32 in registers. With parts, three round the element and the rest.
double rounding_cycles(const MmaCostInputs& in, const HardwareCosts& hardware) {
    if (in.signature.a != DataType::f32) return 0;
    const int instructions = has_parts(in.signature) ? 3 : 1;
    const double elements =
        static_cast<double>(in.geometry.threads) / 32 * (in.config.warp.m + in.config.warp.n) * in.config.block.k;
    return instructions * elements / hardware["conversions_per_cycle"];
}

/// Lanes load words one by one.
double word_cycles(const MmaCostInputs& in, const MmaCosts& costs) {
    const double warps = static_cast<double>(in.geometry.threads) / 32;
    const int extent =
        (loads_words(in.geometry.a) ? in.config.warp.m : 0) + (loads_words(in.geometry.b) ? in.config.warp.n : 0);
    return warps * extent * in.config.block.k / costs["words_per_cycle"];
}

double copy_overhead_cycles(const OperandGeometry& operand, const MmaCosts& costs) {
    if (!operand.async) return copies(operand) * costs["realign_cycles"];
    return operand.vector_bytes < 16 ? copies(operand) * costs["narrow_copy_cycles"] : 0;
}

/// An operand as the copies find it.
struct FetchedOperand {
    const OperandGeometry& geometry;
    std::int64_t bytes_of_k;   ///< of the M or N elements of one k
    std::int64_t pitch_bytes;  ///< a packed one's rows begin with a line, or are short
    double readers;            ///< blocks that read each byte
};
FetchedOperand fetched_a(const MmaCostInputs& in) {
    const std::int64_t pitch = packs_a(in.config.pack) ? packed_a(in.spec).pitch() : in.spec.lda;
    return {in.geometry.a, in.spec.m * bytes(in.spec.a), pitch * bytes(in.spec.a),
            readers(in.spec.n, in.config.block.n)};
}
FetchedOperand fetched_b(const MmaCostInputs& in) {
    const std::int64_t pitch = packs_b(in.config.pack) ? packed_b(in.spec).pitch() : in.spec.ldb;
    return {in.geometry.b, in.spec.n * bytes(in.spec.b), pitch * bytes(in.spec.b),
            readers(in.spec.m, in.config.block.m)};
}

/// A tile's rows touch more lines of L2 than they would fill. This is the number of extra lines, as a share of these.
double second_lines(const FetchedOperand& operand) {
    const double lines_of_row = std::max(1.0, static_cast<double>(operand.geometry.row_bytes) / kLineBytes);
    return second_line_share(operand.pitch_bytes) / lines_of_row;
}

/// To fetch a k-tile, with this share of the SMs at work.
double fetch_cycles(const FetchedOperand& operand, int block_k, double at_work, const MmaCosts& costs) {
    const double first = first_share(operand.readers);
    const double cycles_per_byte = (1 - first) / costs["l2_bytes_per_cycle"] + first / costs["first_bytes_per_cycle"];
    const bool is_short = !operand.geometry.k_major && operand.bytes_of_k < kLineBytes;
    return operand.geometry.stage_bytes * cycles_per_byte * (1 + costs["second_line"] * second_lines(operand)) +
           (is_short ? block_k * costs["short_line_cycles"] * at_work : 0);
}

/// Of one k-tile of one block, the cycles that each unit of an SM is busy.
struct UnitCycles {
    double tensor;  ///< at the tensor cores' peak
    double copies;  ///< the same, of instructions for unaligned copies, and to add partial sums
    double shared;  ///< bank conflicts included
    double l2;
};

/// The rate with sums of 32 bits. A constant has what f16 sums gain.
int wide_flops_per_clock(const Arch& arch, const GemmSignature& signature) {
    const bool narrow = signature.accumulator == DataType::f16;
    const DataType factor = signature.a == DataType::f32 ? DataType::tf32 : signature.a;
    return flops_per_clock(arch, MathInstruction::mma, factor, narrow ? DataType::f32 : signature.accumulator);
}

UnitCycles unit_cycles(const MmaCostInputs& in, const FetchedOperand& a, const FetchedOperand& b, double at_work,
                       const GpuModel& gpu, const MmaCosts& costs) {
    const Arch& arch = *gpu.arch;
    const MmaMultistageConfig& c = in.config;
    const TensorCoreGeometry& g = in.geometry;
    const double sums = in.signature.accumulator == DataType::f16 ? costs["f16_accumulator"] : 1.0;
    const double fill = g.a.stage_bytes + g.b.stage_bytes;
    const double reads =
        static_cast<double>(g.threads) / 32 * (c.warp.m * g.a.element_bytes + c.warp.n * g.b.element_bytes) * c.block.k;
    const int terms = has_parts(in.signature) ? 3 : 1;
    return {.tensor = 2.0 * c.block.m * c.block.n * c.block.k / wide_flops_per_clock(arch, in.signature) * sums * terms,
            .copies = copy_overhead_cycles(g.a, costs) + copy_overhead_cycles(g.b, costs) +
                      promotion_cycles(in.signature, c, arch) + rounding_cycles(in, HardwareCosts::of(gpu)) +
                      word_cycles(in, costs),
            .shared = (reads + fill) * in.conflicts / costs["shared_bytes_per_cycle"],
            .l2 = fetch_cycles(a, c.block.k, at_work, costs) + fetch_cycles(b, c.block.k, at_work, costs)};
}

/// While the mma of one run. Vectors to shift wait in registers, so that there is but one k-tile of them.
int k_tiles_in_flight(const MmaCostInputs& in) {
    return in.geometry.a.shifted || in.geometry.b.shifted ? 1 : in.config.stages - 1;
}

/// A k-tile takes this much longer, for reasons that no unit's rate explains.
double friction(const MmaCostInputs& in, const MmaCosts& costs) {
    const MmaMultistageConfig& c = in.config;
    const bool tight = c.block.k * in.geometry.a.element_bytes >= 128 && in.spec.accumulator != DataType::f16 &&
                       c.warp.m * c.warp.n >= 4096;
    return (1 + costs["many_stages"] * std::max(0, c.stages - 4)) *
           (1 + costs["stage_jitter"] / k_tiles_in_flight(in)) * (tight ? 1 + costs["tight_registers"] : 1);
}

/// Of a block, before its first mma; k-tiles that are not in flight together arrive one after the other. Blocks of an
/// SM fill their first stages all at once, also with zeros where K has fewer k-tiles, and nothing hides these copies.
double prologue_cycles(const MmaCostInputs& in, int resident, const MmaCosts& costs) {
    const OperandGeometry& a = in.geometry.a;
    const OperandGeometry& b = in.geometry.b;
    const int stages = in.config.stages - 1;
    const int one_by_one = stages - k_tiles_in_flight(in);
    const double asynchronous = (a.async ? copies(a) : 0) + (b.async ? copies(b) : 0);
    return costs["prologue_cycles"] + one_by_one * costs["load_latency_cycles"] +
           resident * stages * asynchronous * costs["first_copy_cycles"];
}

/// Cycles of one k-tile when `resident` blocks share the SM: the largest of three times. The first is that of its units
/// together, the cube root of the sum of cubes: the busiest one leads, and others near it get in its way. The second is
/// the latency of a lone chain, the third the latency of the loads. Launch and prologue have the first loads, so only
/// k-tiles beyond those in flight wait for theirs.
double k_tile_cycles(const UnitCycles& unit, double friction, const MmaCostInputs& in, double k_tiles, int resident,
                     const MmaCosts& costs) {
    const TensorCoreGeometry& g = in.geometry;
    const double warps_per_scheduler = std::max(1.0, resident * g.threads / 128.0);
    const double math = unit.tensor * (1 + costs["lone_warp"] / warps_per_scheduler) + unit.copies;
    const double units =
        std::cbrt(math * math * math + unit.shared * unit.shared * unit.shared + unit.l2 * unit.l2 * unit.l2);
    const double throughput = resident * (units + costs["sync_cycles"]) * friction;
    const double chain = costs["block_latency_cycles"] + g.k_blocks * costs["step_latency_cycles"];
    const int in_flight = k_tiles_in_flight(in);
    const double later = std::max(0.0, 1 - in_flight / std::max(1.0, k_tiles));
    const double loads = later * (costs["load_latency_cycles"] + resident * unit.l2) / in_flight;
    return std::max({throughput, chain, loads});
}

double operand_cycles(const MmaCostInputs& in, const MmaCosts& costs) {
    const MmaMultistageConfig& c = in.config;
    const GemmSpec& spec = in.spec;
    if (c.splits_in_workspace()) return 0;
    const auto& epilogue = in.signature.epilogue;
    const int matrices = epilogue ? epilogue->counts().matrices : spec.c && !spec.broadcast_c ? 1 : 0;
    const int vectors = epilogue ? epilogue->counts().vectors : spec.c && spec.broadcast_c ? 1 : 0;
    const double elements = static_cast<double>(c.block.m) * c.block.n / c.split_k / in.geometry.threads;
    return (matrices * costs["read_c_cycles"] + vectors * costs["read_row_of_c_cycles"]) *
           std::ceil(elements / (16.0 / bytes(spec.d)) / 4);
}

/// Storing what of the tile lies in D; where a cluster adds up, each block reads a tile's worth of sums and stores its
/// share. A warp stores one vector per lane after the other, and rows of little alignment are many of them.
double epilogue_cycles(const MmaCostInputs& in, int resident, const MmaCosts& costs) {
    const GemmSpec& spec = in.spec;
    const MmaMultistageConfig& c = in.config;
    const double elements = resident * static_cast<double>(c.block.m) * c.block.n;
    const double stores =
        static_cast<double>(c.warp.m) * c.warp.n / 32 / std::clamp(in.geometry.vector_d, 1, 8) * costs["store_cycles"];
    if (c.splits_in_workspace()) return elements * 4 / costs["store_bytes_per_cycle"] + stores;
    const double stored = resident * share_of(spec.m, c.block.m) * share_of(spec.n, c.block.n) * bytes(spec.d) /
                              c.split_k / costs["store_bytes_per_cycle"] +
                          stores / c.split_k;
    if (!c.splits_in_cluster()) return stored;
    return stored + elements * 4 / costs["remote_bytes_per_cycle"] + costs["cluster_cycles"];
}

/// The SMs that clusters reach. A cluster lies in one group of SMs (GPC). The number of SMs of some groups is no
/// multiple of its blocks.
/// Of an H200's 132, clusters of 2 fill all, of 4 and 8 fill 120. 38 of 3 and 17 of 6 ran at once on one card; 40 and
/// 18 took up to twice as long, 39 were not tried (one block per SM; with more per SM it matters less, but then a
/// wave's blocks are more too).
int sms_for_clusters(const GpuModel& gpu, int blocks) {
    if (blocks <= 2) return gpu.sm_count;
    const int reached = blocks == 6 ? 102 : blocks == 3 ? 114 : 120;
    return std::max(1, gpu.sm_count * reached / 132);
}

/// The operands' rows touch more lines than they would fill. These are the bytes of the extra lines.
double second_line_bytes(const FetchedOperand& a, const FetchedOperand& b, std::int64_t k) {
    return static_cast<double>(k) *
           (static_cast<double>(a.bytes_of_k) * second_lines(a) + static_cast<double>(b.bytes_of_k) * second_lines(b));
}

/// Bytes of partial sums, written and read.
double partials_traffic(const GemmSpec& spec, int splits) {
    return 2.0 * splits * static_cast<double>(spec.m) * static_cast<double>(spec.n) * 4;
}

double dram_us(const GemmSpec& spec, const FetchedOperand& a, const FetchedOperand& b, double partials_bytes,
               const GpuModel& gpu, const MmaCosts& costs) {
    return (compulsory_bytes(spec) + costs["partials_share"] * partials_bytes +
            costs["second_line_of_dram"] * second_line_bytes(a, b, spec.k)) /
           (costs["dram_share"] * gpu.dram_bytes_per_second) * 1e6;
}

/// Reading an operand and writing it with its rows padded.
double pack_us(const GemmSpec& spec, Pack pack, const GpuModel& gpu, const MmaCosts& costs) {
    if (pack == Pack::none) return 0;
    return costs["pack_us"] + packing_traffic(spec, pack) / (costs["dram_share"] * gpu.dram_bytes_per_second) * 1e6;
}

}  // namespace

CostEstimate MmaMultistage::cost(const Problem& problem, const MmaMultistageConfig& c, const GpuModel& gpu,
                                 const MmaCosts& costs) {
    return mma_pipeline_cost(problem, c, geometry(problem.signature, c), gpu, costs);
}

MmaLeastTime::MmaLeastTime(const Problem& problem, const MmaMultistageConfig& tile, const GpuModel& gpu)
    : spec_(problem.row_major()),
      gpu_(gpu),
      costs_(MmaCosts::of(gpu)),
      tiles_(static_cast<double>(blocks_of_batch({tile.block.m, tile.block.n, 1}, spec_))),
      k_tiles_(std::ceil(static_cast<double>(spec_.k) / tile.block.k)),
      sums_(static_cast<double>(tile.block.m) * tile.block.n),
      launch_us_(costs_["launch_us"] + pack_us(spec_, tile.pack, gpu, costs_)),
      dram_us_per_byte_(1e6 / (costs_["dram_share"] * gpu.dram_bytes_per_second)) {
    const TensorCoreGeometry g = geometry(problem.signature, tile);
    const MmaCostInputs in{spec_, problem.signature, tile, g};
    const FetchedOperand a = fetched_a(in);
    const FetchedOperand b = fetched_b(in);
    const UnitCycles unit = unit_cycles(in, a, b, std::min(1.0, tiles_ / gpu.sm_count), gpu, costs_);
    throughput_ = least_norm(least_norm(unit.tensor + unit.copies, unit.shared, 3), unit.l2, 3) + costs_["sync_cycles"];
    latency_ = std::max(throughput_, costs_["block_latency_cycles"] + g.k_blocks * costs_["step_latency_cycles"]);
    load_ = costs_["load_latency_cycles"] + unit.l2;
    dram_us_ = dram_us(spec_, a, b, 0, gpu, costs_);
    if (dependent_launch_pays(spec_, *gpu.arch))
        launch_us_ -= HardwareCosts::of(gpu)["early_launch_us"] + idle_sms_us(tiles_, gpu);
}

double MmaLeastTime::with(int splits, Reduction reduction, int most_stages) const {
    const double blocks = tiles_ * splits;
    const double k_tiles = std::ceil(k_tiles_ / splits);
    const int in_flight = most_stages - 1;
    const double loads = std::max(0.0, 1 - in_flight / std::max(1.0, k_tiles)) * load_ / in_flight;
    const bool in_cluster = splits > 1 && reduction == Reduction::cluster;
    const bool in_workspace = splits > 1 && !in_cluster;
    const double adding = in_cluster ? costs_["cluster_cycles"] + sums_ * 4 / costs_["remote_bytes_per_cycle"] : 0;
    const double cycles =
        std::max(k_tiles * std::max(latency_, loads), blocks / gpu_.sm_count * k_tiles * throughput_) +
        costs_["prologue_cycles"] + adding;
    const double partials_us =
        in_workspace ? costs_["partials_share"] * partials_traffic(spec_, splits) * dram_us_per_byte_ : 0;
    return launch_us_ + (in_workspace ? costs_["reduce_us"] : 0) +
           least_norm(cycles / gpu_.clock_mhz, dram_us_ + partials_us, costs_["overlap_exponent"]);
}

CostEstimate mma_pipeline_cost(const Problem& problem, const MmaMultistageConfig& c, const TensorCoreGeometry& g,
                               const GpuModel& gpu, const MmaCosts& costs) {
    CostEstimate cost;
    cost.blocks_per_sm = resident_blocks(g, *gpu.arch);
    if (cost.blocks_per_sm == 0) return cost;

    const MmaCostInputs in{problem.row_major(), problem.signature, c, g,
                           mma_multistage_conflict_slowdown(problem.signature, c)};
    const GemmSpec& spec = in.spec;
    const auto blocks = static_cast<double>(blocks_of_batch({c.block.m, c.block.n, c.split_k}, spec));
    const double k_tiles = std::ceil(std::ceil(static_cast<double>(spec.k) / c.block.k) / c.split_k);
    const FetchedOperand a = fetched_a(in);
    const FetchedOperand b = fetched_b(in);
    const UnitCycles unit = unit_cycles(in, a, b, std::min(1.0, blocks / gpu.sm_count), gpu, costs);
    const auto wave_cycles = [&](int resident) {
        if (resident == 0) return 0.0;
        return k_tiles * k_tile_cycles(unit, friction(in, costs), in, k_tiles, resident, costs) +
               (prologue_cycles(in, resident, costs) + epilogue_cycles(in, resident, costs) +
                operand_cycles(in, costs));
    };
    const int sms = c.splits_in_cluster() ? sms_for_clusters(gpu, c.split_k) : gpu.sm_count;
    add_waves(cost, blocks, sms, gpu.clock_mhz, wave_cycles);

    // Each unit alone, its work spread over all SMs.
    const double us_per_cycle = 1 / static_cast<double>(gpu.clock_mhz);
    const double k_tiles_per_sm = blocks * k_tiles / gpu.sm_count;
    cost.math_unit_us = k_tiles_per_sm * unit.tensor * us_per_cycle;
    cost.shared_us = k_tiles_per_sm * unit.shared * us_per_cycle;
    cost.l2_us = k_tiles_per_sm * unit.l2 * us_per_cycle;
    cost.dram_us = dram_us(spec, a, b, c.splits_in_workspace() ? partials_traffic(spec, c.split_k) : 0, gpu, costs);
    const double early_us =
        c.dependent_launch ? HardwareCosts::of(gpu)["early_launch_us"] + idle_sms_us(blocks, gpu) : 0;
    add_total(cost, {.launch_us = costs["launch_us"] - early_us + (c.splits_in_workspace() ? costs["reduce_us"] : 0) +
                                  pack_us(spec, c.pack, gpu, costs),
                     .waves_us = norm({cost.math_us, cost.l2_us, cost.dram_us}, costs["overlap_exponent"])});
    return cost;
}

double MmaMultistage::compile_ms(const Config& c) {
    return CompileCost{.base_ms = 182, .ms_per_sum = 1.5}.ms(c.warp.m * c.warp.n / 32);
}

}  // namespace jitgemm
