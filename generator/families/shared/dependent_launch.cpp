#include "generator/families/shared/dependent_launch.hpp"

#include <fmt/format.h>

namespace jitgemm {

void check_dependent_launch(Reasons& reasons, bool dependent_launch, const Arch& arch) {
    if (dependent_launch && !arch.has_dependent_launch)
        reasons.push_back(fmt::format("dependent_launch needs sm_90 (griddepcontrol), not {}", arch.name));
}

bool dependent_launch_pays(const GemmSpec& spec, const Arch& arch) {
    constexpr double kLongLaunchUs = 200;  // a rule for candidates and no term of a cost, so it is not fitted
    const double flops_per_us = spec.a == DataType::f32 ? 5e7 : 7.5e8;
    return arch.has_dependent_launch && flops(spec) < kLongLaunchUs * flops_per_us;
}

}  // namespace jitgemm
