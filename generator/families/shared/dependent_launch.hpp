#pragma once

#include "generator/base/arch.hpp"
#include "generator/base/grid_rule.hpp"
#include "generator/families/shared/constraint_checks.hpp"
#include "generator/families/shared/parameter_table.hpp"

#include <algorithm>
#include <cstdint>

namespace jitgemm {

/// \file Kernels that may begin while the previous kernel ends (griddepcontrol). They wait for it before they touch
/// memory: CUDA C++ Programming Guide, "Programmatic Dependent Launch and Synchronization".

/// The parameter of a family whose configs have `dependent_launch`, with its published default.
template <typename Config>
constexpr ConfigParameter<Config> dependent_launch_parameter(std::string_view usual = "0") {
    return flag_parameter<&Config::dependent_launch>("dependent_launch", "pdl", usual);
}

/// Two blocks with this much shared memory do not fit on an SM of 228 KB. Else blocks that begin while the previous
/// kernel ends would gather on the SMs that it leaves, and slow each other down.
inline constexpr int kLoneBlockBytes = 116 << 10;

/// Bytes that a block requests beyond its use, so that it has its SM to itself.
[[nodiscard]] constexpr std::int64_t lone_block_pad(std::int64_t used) {
    return std::max<std::int64_t>(kLoneBlockBytes - used, 0);
}

/// griddepcontrol needs sm_90.
void check_dependent_launch(Reasons& reasons, bool dependent_launch, const Arch& arch);

/// Whether candidates begin while the previous kernel ends: the architecture must allow it, and a launch must take less
/// than about 200 us.
[[nodiscard]] bool dependent_launch_pays(const GemmSpec& spec, const Arch& arch);
/// The same for kernels whose blocks each need an SM of their own (kLoneBlockBytes): all of them must run at once.
[[nodiscard]] bool lone_launch_pays(const GemmSpec& spec, const GridRule& grid, const GpuModel& gpu);

}  // namespace jitgemm
