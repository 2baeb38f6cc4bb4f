#pragma once

#include "generator/base/arch.hpp"
#include "generator/families/shared/constraint_checks.hpp"
#include "generator/families/shared/parameter_table.hpp"

namespace jitgemm {

/// \file Kernels that may begin while the previous kernel ends (griddepcontrol). They wait for it before they touch
/// memory: CUDA C++ Programming Guide, "Programmatic Dependent Launch and Synchronization".

/// The parameter of a family whose configs have `dependent_launch`, with its published default.
template <typename Config>
constexpr ConfigParameter<Config> dependent_launch_parameter(std::string_view usual = "0") {
    return flag_parameter<&Config::dependent_launch>("dependent_launch", "pdl", usual);
}

/// griddepcontrol needs sm_90.
void check_dependent_launch(Reasons& reasons, bool dependent_launch, const Arch& arch);

/// Whether candidates begin while the previous kernel ends: the architecture must allow it, and a launch must take less
/// than about 200 us.
[[nodiscard]] bool dependent_launch_pays(const GemmSpec& spec, const Arch& arch);

}  // namespace jitgemm
