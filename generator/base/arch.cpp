#include "generator/base/arch.hpp"

#include "generator/text/nearest_name.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace jitgemm {
namespace {

constexpr int kKilobyte = 1024;

/// A row holds the properties in which architectures differ. All others have been the same since sm_80.
struct Row {
    std::string_view name;
    int compute_capability;
    int shared_kilobytes_per_sm;
    int max_threads_per_sm;
    int max_blocks_per_sm;
    int first_nvrtc;
};

constexpr Row kRows[] = {
    {"sm_80", 80, 164, 2048, 32, 110},   {"sm_86", 86, 100, 1536, 16, 111},   {"sm_87", 87, 164, 1536, 16, 114},
    {"sm_89", 89, 100, 1536, 24, 118},   {"sm_90a", 90, 228, 2048, 32, 120},  {"sm_100", 100, 228, 2048, 32, 128},
    {"sm_103", 103, 228, 2048, 32, 129}, {"sm_110", 110, 228, 1536, 24, 130}, {"sm_120", 120, 100, 1536, 24, 128},
    {"sm_121", 121, 100, 1536, 24, 129},
};

struct MathPeak {
    int first, last;  ///< compute capabilities
    MathInstruction instruction;
    DataType operands;  ///< f16 stands for bf16, too, e4m3 for e5m2
    DataType accumulator;
    int flops_per_clock;
};

// fma: twice the FP32 cores of an SM (CUDA C++ Programming Guide, "Arithmetic Instructions"). mma: sm_80 from NVIDIA's
// A100 white paper; sm_86, 89, 120 and 121 the GeForce rate of the Ampere GA102, Ada and Blackwell RTX white papers
// (the workstation cards of sm_86 and 89 have twice that for f32 sums); sm_87 half of sm_80's; sm_90a measured on an
// H200; sm_100, 103 and 110 do their best through tcgen05, and for mma.sync the rows hold sm_80's rate. On sm_90a, 100,
// 103 and 110, ptxas makes mma.sync of 8-bit floats out of conversions and f16 instructions: the newer ones have
// sm_90a's share of the f16 rate. wgmma: measured on an H200, N / 2 cycles per m64nN for 32 bytes of K.
constexpr MathPeak kPeaks[] = {
    {80, 80, MathInstruction::fma, DataType::f32, DataType::f32, 128},
    {86, 121, MathInstruction::fma, DataType::f32, DataType::f32, 256},
    {80, 80, MathInstruction::mma, DataType::f16, DataType::f32, 2048},
    {80, 80, MathInstruction::mma, DataType::f16, DataType::f16, 2048},
    {80, 80, MathInstruction::mma, DataType::tf32, DataType::f32, 1024},
    {80, 80, MathInstruction::mma, DataType::s8, DataType::s32, 4096},
    {86, 86, MathInstruction::mma, DataType::f16, DataType::f32, 512},
    {86, 86, MathInstruction::mma, DataType::f16, DataType::f16, 1024},
    {86, 86, MathInstruction::mma, DataType::tf32, DataType::f32, 256},
    {86, 86, MathInstruction::mma, DataType::s8, DataType::s32, 2048},
    {87, 87, MathInstruction::mma, DataType::f16, DataType::f32, 1024},
    {87, 87, MathInstruction::mma, DataType::tf32, DataType::f32, 512},
    {87, 87, MathInstruction::mma, DataType::s8, DataType::s32, 2048},
    {89, 89, MathInstruction::mma, DataType::f16, DataType::f32, 512},
    {89, 89, MathInstruction::mma, DataType::f16, DataType::f16, 1024},
    {89, 89, MathInstruction::mma, DataType::tf32, DataType::f32, 256},
    {89, 89, MathInstruction::mma, DataType::s8, DataType::s32, 2048},
    {89, 89, MathInstruction::mma, DataType::e4m3, DataType::f32, 1024},
    {90, 90, MathInstruction::mma, DataType::f16, DataType::f32, 2729},
    {90, 90, MathInstruction::mma, DataType::tf32, DataType::f32, 1365},
    {90, 90, MathInstruction::mma, DataType::s8, DataType::s32, 5430},
    {90, 90, MathInstruction::mma, DataType::e4m3, DataType::f32, 785},
    {90, 90, MathInstruction::wgmma, DataType::f16, DataType::f32, 4096},
    {90, 90, MathInstruction::wgmma, DataType::f16, DataType::f16, 4096},
    {90, 90, MathInstruction::wgmma, DataType::tf32, DataType::f32, 2048},
    {90, 90, MathInstruction::wgmma, DataType::e4m3, DataType::f32, 8192},
    {90, 90, MathInstruction::wgmma, DataType::s8, DataType::s32, 8192},
    {100, 110, MathInstruction::mma, DataType::f16, DataType::f32, 2048},
    {100, 110, MathInstruction::mma, DataType::tf32, DataType::f32, 1024},
    {100, 110, MathInstruction::mma, DataType::s8, DataType::s32, 4096},
    {100, 110, MathInstruction::mma, DataType::e4m3, DataType::f32, 589},
    {120, 121, MathInstruction::mma, DataType::f16, DataType::f32, 512},
    {120, 121, MathInstruction::mma, DataType::tf32, DataType::f32, 256},
    {120, 121, MathInstruction::mma, DataType::s8, DataType::s32, 2048},
    {120, 121, MathInstruction::mma, DataType::e4m3, DataType::f32, 1024},
};

constexpr DataType rated_as(DataType type) {
    if (type == DataType::bf16) return DataType::f16;
    return type == DataType::e5m2 ? DataType::e4m3 : type;
}

/// CUDA C++ Programming Guide, "Thread Block Clusters": 8 blocks everywhere since sm_90; 16 on the data centre's GPUs.
constexpr int max_cluster_blocks(int compute_capability) {
    if (compute_capability < 90) return 0;
    return compute_capability < 110 ? 16 : kPortableClusterBlocks;
}

constexpr Arch arch_of(const Row& row) {
    return {.name = row.name,
            .compute_capability = row.compute_capability,
            // A block may have all but the driver's own kilobyte.
            .shared_bytes_per_block = (row.shared_kilobytes_per_sm - 1) * kKilobyte,
            .shared_bytes_per_sm = row.shared_kilobytes_per_sm * kKilobyte,
            .shared_reserved_per_block = kKilobyte,
            .registers_per_sm = 65536,
            .max_registers_per_thread = 255,
            .max_threads_per_sm = row.max_threads_per_sm,
            .max_blocks_per_sm = row.max_blocks_per_sm,
            .max_cluster_blocks = max_cluster_blocks(row.compute_capability),
            .first_nvrtc = row.first_nvrtc,
            .has_wgmma = row.compute_capability == 90,
            .has_tma = row.compute_capability >= 90,
            .has_dependent_launch = row.compute_capability >= 90};
}

constexpr auto kArchs = [] {
    std::array<Arch, std::size(kRows)> archs{};
    for (std::size_t i = 0; i < archs.size(); ++i) archs[i] = arch_of(kRows[i]);
    return archs;
}();

std::vector<std::string_view> arch_names() {
    std::vector<std::string_view> names;
    for (const Arch& arch : kArchs) names.push_back(arch.name);
    return names;
}

/// Code for "sm_90a" runs on 9.0 alone; code for a plain target runs on every later minor of its major too.
bool serves(const Arch& arch, int compute_capability) {
    if (arch.compute_capability == compute_capability) return true;
    const bool same_major = arch.compute_capability / 10 == compute_capability / 10;
    return same_major && arch.compute_capability < compute_capability && arch.name.back() != 'a';
}

}  // namespace

int flops_per_clock(const Arch& arch, MathInstruction instruction, DataType operands, DataType accumulator) {
    for (const MathPeak& peak : kPeaks) {
        const bool is_of_arch = arch.compute_capability >= peak.first && arch.compute_capability <= peak.last;
        if (is_of_arch && peak.instruction == instruction && peak.operands == rated_as(operands) &&
            peak.accumulator == accumulator)
            return peak.flops_per_clock;
    }
    return 0;
}

std::string_view to_string(MathInstruction instruction) {
    switch (instruction) {
        case MathInstruction::fma: return "f32 fma";
        case MathInstruction::mma: return "mma.sync";
        default: return "wgmma";
    }
}

std::string_view to_string(MathUnit unit) { return unit == MathUnit::tensor_cores ? "tensor cores" : "FP32 cores"; }

int resident_clusters(const GpuModel& gpu, int blocks) {
    constexpr int kReached = 10, kOf = 11;  // SMs, by clusters of more than two
    const int sms = blocks > 2 ? gpu.sm_count * kReached / kOf : gpu.sm_count;
    return std::max(1, sms / std::max(1, blocks));
}

std::span<const Arch> arch_table() { return kArchs; }

const Arch& find_arch(std::string_view name) {
    const std::string lower = lower_case(name);
    const std::string_view wanted = lower == "sm_90" ? std::string_view("sm_90a") : lower;
    for (const Arch& arch : kArchs) {
        if (arch.name == wanted) return arch;
    }
    const auto known = arch_names();
    throw SpecError(fmt::format("unknown architecture '{}'", name),
                    {fmt::format("known: {}{}", join_names(known), nearest_hint(name, known))});
}

const Arch& arch_for_compute_capability(int compute_capability) {
    const Arch* closest = nullptr;  // rows rise, so the last that serves is the closest
    for (const Arch& arch : kArchs) {
        if (serves(arch, compute_capability)) closest = &arch;
    }
    if (closest != nullptr) return *closest;
    const int major = compute_capability / 10;
    throw SpecError(fmt::format("no architecture for compute capability {}.{}", major, compute_capability % 10),
                    {fmt::format("known: {}", join_names(arch_names()))});
}

}  // namespace jitgemm
