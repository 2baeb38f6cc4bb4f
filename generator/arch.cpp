#include "generator/arch.hpp"

#include "generator/error.hpp"
#include "generator/nearest_name.hpp"

#include <fmt/format.h>

#include <array>

namespace jitgemm {
namespace {

constexpr int kKilobyte = 1024;

// mma_flops_per_clock is dense 16-bit mma.sync with f32 sums. sm_90a: measured on an H200 (wgmma reaches 4096). sm_86, 89 and
// 120: the GeForce rate; the workstation cards of sm_86 and 89 have twice that. sm_100, 103 and 110 do their best through
// tcgen05; for mma.sync the row holds sm_80's rate.
constexpr std::array<Arch, 10> kArchs{{
    {.name = "sm_80", .compute_capability = 80,
     .shared_bytes_per_block = 163 * kKilobyte, .shared_bytes_per_sm = 164 * kKilobyte, .shared_reserved_per_block = kKilobyte,
     .registers_per_sm = 65536, .max_registers_per_thread = 255, .max_threads_per_sm = 2048, .max_blocks_per_sm = 32,
     .mma_flops_per_clock = 2048, .first_nvrtc = 110,
     .has_wgmma = false, .has_tma = false, .has_stmatrix = false, .has_fp8_mma = false},
    {.name = "sm_86", .compute_capability = 86,
     .shared_bytes_per_block = 99 * kKilobyte, .shared_bytes_per_sm = 100 * kKilobyte, .shared_reserved_per_block = kKilobyte,
     .registers_per_sm = 65536, .max_registers_per_thread = 255, .max_threads_per_sm = 1536, .max_blocks_per_sm = 16,
     .mma_flops_per_clock = 512, .first_nvrtc = 111,
     .has_wgmma = false, .has_tma = false, .has_stmatrix = false, .has_fp8_mma = false},
    {.name = "sm_87", .compute_capability = 87,
     .shared_bytes_per_block = 163 * kKilobyte, .shared_bytes_per_sm = 164 * kKilobyte, .shared_reserved_per_block = kKilobyte,
     .registers_per_sm = 65536, .max_registers_per_thread = 255, .max_threads_per_sm = 1536, .max_blocks_per_sm = 16,
     .mma_flops_per_clock = 1024, .first_nvrtc = 114,
     .has_wgmma = false, .has_tma = false, .has_stmatrix = false, .has_fp8_mma = false},
    {.name = "sm_89", .compute_capability = 89,
     .shared_bytes_per_block = 99 * kKilobyte, .shared_bytes_per_sm = 100 * kKilobyte, .shared_reserved_per_block = kKilobyte,
     .registers_per_sm = 65536, .max_registers_per_thread = 255, .max_threads_per_sm = 1536, .max_blocks_per_sm = 24,
     .mma_flops_per_clock = 512, .first_nvrtc = 118,
     .has_wgmma = false, .has_tma = false, .has_stmatrix = false, .has_fp8_mma = true},
    {.name = "sm_90a", .compute_capability = 90,
     .shared_bytes_per_block = 227 * kKilobyte, .shared_bytes_per_sm = 228 * kKilobyte, .shared_reserved_per_block = kKilobyte,
     .registers_per_sm = 65536, .max_registers_per_thread = 255, .max_threads_per_sm = 2048, .max_blocks_per_sm = 32,
     .mma_flops_per_clock = 2729, .first_nvrtc = 120,
     .has_wgmma = true, .has_tma = true, .has_stmatrix = true, .has_fp8_mma = true},
    {.name = "sm_100", .compute_capability = 100,
     .shared_bytes_per_block = 227 * kKilobyte, .shared_bytes_per_sm = 228 * kKilobyte, .shared_reserved_per_block = kKilobyte,
     .registers_per_sm = 65536, .max_registers_per_thread = 255, .max_threads_per_sm = 2048, .max_blocks_per_sm = 32,
     .mma_flops_per_clock = 2048, .first_nvrtc = 128,
     .has_wgmma = false, .has_tma = true, .has_stmatrix = true, .has_fp8_mma = true},
    {.name = "sm_103", .compute_capability = 103,
     .shared_bytes_per_block = 227 * kKilobyte, .shared_bytes_per_sm = 228 * kKilobyte, .shared_reserved_per_block = kKilobyte,
     .registers_per_sm = 65536, .max_registers_per_thread = 255, .max_threads_per_sm = 2048, .max_blocks_per_sm = 32,
     .mma_flops_per_clock = 2048, .first_nvrtc = 129,
     .has_wgmma = false, .has_tma = true, .has_stmatrix = true, .has_fp8_mma = true},
    {.name = "sm_110", .compute_capability = 110,
     .shared_bytes_per_block = 227 * kKilobyte, .shared_bytes_per_sm = 228 * kKilobyte, .shared_reserved_per_block = kKilobyte,
     .registers_per_sm = 65536, .max_registers_per_thread = 255, .max_threads_per_sm = 1536, .max_blocks_per_sm = 24,
     .mma_flops_per_clock = 2048, .first_nvrtc = 130,
     .has_wgmma = false, .has_tma = true, .has_stmatrix = true, .has_fp8_mma = true},
    {.name = "sm_120", .compute_capability = 120,
     .shared_bytes_per_block = 99 * kKilobyte, .shared_bytes_per_sm = 100 * kKilobyte, .shared_reserved_per_block = kKilobyte,
     .registers_per_sm = 65536, .max_registers_per_thread = 255, .max_threads_per_sm = 1536, .max_blocks_per_sm = 24,
     .mma_flops_per_clock = 512, .first_nvrtc = 128,
     .has_wgmma = false, .has_tma = true, .has_stmatrix = true, .has_fp8_mma = true},
    {.name = "sm_121", .compute_capability = 121,
     .shared_bytes_per_block = 99 * kKilobyte, .shared_bytes_per_sm = 100 * kKilobyte, .shared_reserved_per_block = kKilobyte,
     .registers_per_sm = 65536, .max_registers_per_thread = 255, .max_threads_per_sm = 1536, .max_blocks_per_sm = 24,
     .mma_flops_per_clock = 512, .first_nvrtc = 129,
     .has_wgmma = false, .has_tma = true, .has_stmatrix = true, .has_fp8_mma = true},
}};

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

std::span<const Arch> arch_table() { return kArchs; }

const Arch& find_arch(std::string_view name) {
    const std::string_view wanted = name == "sm_90" ? std::string_view("sm_90a") : name;
    for (const Arch& arch : kArchs) {
        if (arch.name == wanted) return arch;
    }
    const auto known = arch_names();
    throw SpecError(fmt::format("unknown architecture '{}'", name),
                    {fmt::format("known: {}{}", join_names(known), nearest_hint(name, known))});
}

const Arch& arch_for_compute_capability(int compute_capability) {
    const Arch* closest = nullptr;      // rows rise, so the last that serves is the closest
    for (const Arch& arch : kArchs) {
        if (serves(arch, compute_capability)) closest = &arch;
    }
    if (closest != nullptr) return *closest;
    throw SpecError(fmt::format("no architecture for compute capability {}.{}", compute_capability / 10, compute_capability % 10),
                    {fmt::format("known: {}", join_names(arch_names()))});
}

}  // namespace jitgemm
