#pragma once

#include "generator/families/kernel_config.hpp"

#include <cstdint>
#include <vector>

namespace jitgemm {

/// Measured over predicted times of configs. A config has the factor of its own
/// nearest measurement. A config that was not measured near m has the largest factor measured there, so that nobody is
/// preferred for not having been measured. Far from all measurements the factor is 1.
class MeasuredFactors {
public:
    void add(std::int64_t m, const KernelConfig& config, double factor);
    /// From now on the config's factor is infinity everywhere.
    void refuse(const KernelConfig& config);
    [[nodiscard]] double factor(std::int64_t m, const KernelConfig& config) const;

private:
    struct OfConfig {
        KernelConfig config;
        std::vector<std::pair<std::int64_t, double>> factors;  ///< by m
    };
    std::vector<OfConfig> configs_;
    std::vector<KernelConfig> refused_;
    std::vector<std::pair<std::int64_t, double>> largest_;  ///< by m
};

}  // namespace jitgemm
