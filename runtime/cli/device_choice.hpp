#pragma once

#include "generator/base/arch.hpp"
#include "runtime/cli/output.hpp"
#include "runtime/cli/problem_options.hpp"

#include <string>

namespace jitgemm::cli {

/// The device that --device, --arch and `banner_arch` (of an edited dump; null: none) name, in the form of
/// Options::device. Without --device it is that of JITGEMM_DEVICE, and without either it is "auto". "auto" is the first
/// GPU, else the emulator, which a line on stderr then says. The emulator's architecture is the suffix of its name,
/// else --arch, else the banner's, else sm_80. Throws UsageError with the nearest device, or if the options contradict
/// each other.
[[nodiscard]] std::string choose_device(const ProblemOptions& options, const Arch* banner_arch, Output& output);

/// --emulator-limit in GFLOP. Throws UsageError if it is not a number from 0.
[[nodiscard]] double emulator_limit(const ProblemOptions& options, double otherwise);

}  // namespace jitgemm::cli
