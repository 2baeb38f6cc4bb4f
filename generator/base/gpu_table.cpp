#include "generator/base/arch.hpp"
#include "generator/base/gpu_names.hpp"
#include "generator/text/nearest_name.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm {
namespace {

constexpr std::int64_t kMegabyte = std::int64_t{1} << 20U;

struct GpuRow {
    std::string_view name;
    std::string_view arch;
    int sm_count;
    int l2_megabytes;
    int clock_mhz;
    double dram_gigabytes_per_second;
};

// SMs, L2 and DRAM are the datasheets'. Clocks are what a long GEMM holds: the boost clock where power allows it, less
// on cards known to run into their limit (measured: h200). The first row of an architecture is its typical GPU.
constexpr GpuRow kGpuRows[] = {
    {"a100", "sm_80", 108, 40, 1350, 1555},       // 40 GB, SXM
    {"a100-80gb", "sm_80", 108, 40, 1350, 2039},  // SXM
    {"a100-pcie", "sm_80", 108, 40, 1200, 1935},  // 80 GB
    {"a100-pcie-40gb", "sm_80", 108, 40, 1200, 1555},
    {"a30", "sm_80", 56, 24, 1300, 933},
    {"rtx3090", "sm_86", 82, 6, 1695, 936},
    {"rtx3080", "sm_86", 68, 5, 1710, 760},
    {"a6000", "sm_86", 84, 6, 1650, 768},
    {"a40", "sm_86", 84, 6, 1500, 696},
    {"a10", "sm_86", 72, 6, 1300, 600},
    {"orin", "sm_87", 16, 4, 1300, 205},  // Jetson AGX Orin
    {"rtx4090", "sm_89", 128, 72, 2520, 1008},
    {"rtx4080", "sm_89", 76, 64, 2505, 717},
    {"rtx6000ada", "sm_89", 142, 96, 2200, 960},
    {"l40s", "sm_89", 142, 96, 2000, 864},
    {"l4", "sm_89", 58, 48, 1200, 300},
    {"h200", "sm_90a", 132, 60, 1755, 4800},
    {"h100", "sm_90a", 132, 50, 1755, 3350},  // SXM
    {"h100-pcie", "sm_90a", 114, 50, 1400, 2000},
    {"h100-nvl", "sm_90a", 132, 60, 1500, 3900},
    {"gh200", "sm_90a", 132, 60, 1755, 4000},
    {"b200", "sm_100", 148, 126, 1800, 8000},
    {"b300", "sm_103", 148, 126, 1800, 8000},
    {"thor", "sm_110", 20, 32, 1500, 273},  // Jetson AGX Thor
    {"rtx5090", "sm_120", 170, 96, 2400, 1792},
    {"rtx5080", "sm_120", 84, 64, 2600, 960},
    {"rtxpro6000", "sm_120", 188, 128, 2300, 1792},
    {"gb10", "sm_121", 48, 24, 2400, 273},  // DGX Spark
};

GpuModel model_of(const GpuRow& row) {
    return {.name = std::string(row.name),
            .arch = &find_arch(row.arch),
            .sm_count = row.sm_count,
            .l2_bytes = row.l2_megabytes * kMegabyte,
            .clock_mhz = row.clock_mhz,
            .dram_bytes_per_second = row.dram_gigabytes_per_second * 1e9};
}

const std::vector<GpuModel>& models() {
    static const std::vector<GpuModel> table = [] {
        std::vector<GpuModel> built;
        for (const GpuRow& row : kGpuRows) built.push_back(model_of(row));
        return built;
    }();
    return table;
}

/// Null where no row has this name, its memory included.
const GpuModel* model_called(const std::string& name) {
    const auto found =
        std::ranges::find(models(), name, [](const GpuModel& model) { return gpu_name_parts(model.name).with_memory; });
    return found == models().end() ? nullptr : &*found;
}

/// The nearest name, else the longest that the word begins with: "rtx4080super" is no rtx4080, and close to it.
std::string hint_for(const std::string& word, std::span<const std::string_view> known) {
    if (std::string near = nearest_hint(word, known); !near.empty()) return near;
    std::string_view begins;
    for (const std::string_view name : known)
        if (word.starts_with(name) && name.size() > begins.size()) begins = name;
    return nearest_hint(begins, known);
}

}  // namespace

std::span<const GpuModel> gpu_table() { return models(); }

const GpuModel& find_gpu(std::string_view name) {
    const GpuNameParts parts = gpu_name_parts(name);
    if (const GpuModel* const exact = model_called(parts.with_memory)) return *exact;
    if (const GpuModel* const model = model_called(parts.model)) return *model;
    std::vector<std::string_view> known;
    for (const GpuModel& model : models()) known.push_back(model.name);
    throw SpecError(fmt::format("unknown GPU '{}'", name),
                    {fmt::format("known: {}{}", join_names(known), hint_for(parts.model, known))});
}

const GpuModel& typical_gpu(const Arch& arch) {
    const auto found = std::find_if(models().begin(), models().end(),
                                    [&](const GpuModel& model) { return model.arch->name == arch.name; });
    if (found != models().end()) return *found;
    throw SpecError(fmt::format("no typical GPU of architecture '{}'", arch.name),
                    {"the GPU table has no GPU of this architecture"});
}

}  // namespace jitgemm
