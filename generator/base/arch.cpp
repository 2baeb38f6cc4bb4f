#include "generator/base/arch.hpp"

#include "generator/base/nearest_name.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>

namespace jitgemm {
namespace {

constexpr int kKilobyte = 1024;

/// What differs between architectures; the rest has been the same since sm_80.
struct Row {
    std::string_view name;
    int compute_capability;
    int shared_kilobytes_per_sm;
    int max_threads_per_sm;
    int max_blocks_per_sm;
    int mma_flops_per_clock;
    int fma_flops_per_clock;
    int first_nvrtc;
};

// mma_flops_per_clock is dense 16-bit mma.sync with f32 sums. sm_90a: measured on an H200 (wgmma reaches 4096). sm_86,
// 89, 120 and 121: the GeForce rate; the workstation cards of sm_86 and 89 have twice that. sm_100, 103 and 110 do their
// best through tcgen05; for mma.sync the row holds sm_80's rate. fma_flops_per_clock is twice the FP32 cores of an SM: CUDA C++
// Programming Guide, "Arithmetic Instructions".
constexpr Row kRows[] = {
    {"sm_80", 80, 164, 2048, 32, 2048, 128, 110},   {"sm_86", 86, 100, 1536, 16, 512, 256, 111},
    {"sm_87", 87, 164, 1536, 16, 1024, 256, 114},   {"sm_89", 89, 100, 1536, 24, 512, 256, 118},
    {"sm_90a", 90, 228, 2048, 32, 2729, 256, 120},  {"sm_100", 100, 228, 2048, 32, 2048, 256, 128},
    {"sm_103", 103, 228, 2048, 32, 2048, 256, 129}, {"sm_110", 110, 228, 1536, 24, 2048, 256, 130},
    {"sm_120", 120, 100, 1536, 24, 512, 256, 128},  {"sm_121", 121, 100, 1536, 24, 512, 256, 129},
};

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
            .mma_flops_per_clock = row.mma_flops_per_clock,
            .fma_flops_per_clock = row.fma_flops_per_clock,
            .first_nvrtc = row.first_nvrtc,
            .has_wgmma = row.compute_capability == 90,
            .has_tma = row.compute_capability >= 90,
            .has_stmatrix = row.compute_capability >= 90,
            .has_fp8_mma = row.compute_capability >= 89};
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

std::string_view to_string(MathUnit unit) { return unit == MathUnit::tensor_cores ? "tensor cores" : "FP32 cores"; }

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
