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

}  // namespace jitgemm
