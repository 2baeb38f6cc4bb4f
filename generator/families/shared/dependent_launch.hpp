#pragma once

#include "generator/base/arch.hpp"
#include "generator/base/grid_rule.hpp"
#include "generator/families/shared/constraint_checks.hpp"
#include "generator/families/shared/parameter_table.hpp"

#include <algorithm>
#include <cstdint>

namespace jitgemm {

/// \file Kernels that may begin while the launch before them ends (griddepcontrol), and wait for it before they touch
/// memory: CUDA C++ Programming Guide, "Programmatic Dependent Launch and Synchronization".

/// The parameter of a family whose configs have `dependent_launch`, with its published default.
template <typename Config>
constexpr ConfigParameter<Config> dependent_launch_parameter(std::string_view usual = "0") {
    return flag_parameter<&Config::dependent_launch>("dependent_launch", "pdl", usual);
}

/// Two blocks that ask for this much shared memory do not fit on an SM of 228 KB. Blocks that begin while the previous
/// kernel ends would otherwise gather on the SMs that it leaves free, and be slow there together.
inline constexpr int kLoneBlockBytes = 116 << 10;

/// Bytes that a block asks for beyond what it uses, so that it has its SM to itself.
[[nodiscard]] constexpr std::int64_t lone_block_pad(std::int64_t used) {
    return std::max<std::int64_t>(kLoneBlockBytes - used, 0);
}

/// griddepcontrol is there from sm_90 on.
void check_dependent_launch(Reasons& reasons, bool dependent_launch, const Arch& arch);

/// Whether candidates begin while the launch before ends: where they can, and a launch takes less than about 200 us.
[[nodiscard]] bool dependent_launch_pays(const GemmSpec& spec, const Arch& arch);
/// The same of kernels whose blocks then want an SM each (kLoneBlockBytes, where an SM has as much): all of them must
/// run at once.
[[nodiscard]] bool lone_launch_pays(const GemmSpec& spec, const GridRule& grid, const GpuModel& gpu);

}  // namespace jitgemm
