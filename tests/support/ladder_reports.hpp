#pragma once

#include "runtime/cli/ladder/report.hpp"

namespace jitgemm::testing {

/// A ladder that nobody climbed: f16 at 4096 cubed on an H200, with a rung of each status, one extrapolated, one that
/// is another's kernel, and sources of a few lines.
[[nodiscard]] cli::LadderReport made_up_ladder();

/// The same with an emulator's counts in place of times.
[[nodiscard]] cli::LadderReport made_up_counts();

}  // namespace jitgemm::testing
