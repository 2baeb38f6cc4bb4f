#include "runtime/context/stand_in.hpp"

namespace jitgemm {
namespace {

double predicted_us(const Problem& problem, const KernelConfig& config, const GpuModel& gpu) {
    return family_of(config).cost(problem, config, gpu).total_us;
}

bool computes(const KernelId& kernel, const Problem& problem, const Arch& arch) {
    const Family& family = family_of(kernel.config);
    return kernel.signature == problem.signature && family.unsupported(problem, arch).empty() &&
           family.violations(problem, kernel.config, arch).empty();
}

}  // namespace

std::optional<KernelConfig> best_stand_in(const Problem& problem, const KernelConfig& choice,
                                          std::span<const KernelId> loaded, const GpuModel& gpu) {
    double best_us = kMostTimesSlower * predicted_us(problem, choice, gpu);
    std::optional<KernelConfig> best;
    for (const KernelId& kernel : loaded) {
        if (!computes(kernel, problem, *gpu.arch)) continue;
        const double us = predicted_us(problem, kernel.config, gpu);
        if (us > best_us) continue;
        best_us = us;
        best = kernel.config;
    }
    return best;
}

std::optional<KernelConfig> quick_stand_in(const Problem& problem, const KernelConfig& choice, const GpuModel& gpu) {
    constexpr double kMuchSooner = 0.8;  // of the choice's compile time
    const auto compile_ms = [](const KernelConfig& config) { return family_of(config).compile_ms(config); };
    std::optional<KernelConfig> quick =
        quick_config(problem, gpu, kMostTimesSlowerQuick * predicted_us(problem, choice, gpu));
    if (quick && compile_ms(*quick) > kMuchSooner * compile_ms(choice)) quick.reset();
    return quick;
}

}  // namespace jitgemm
