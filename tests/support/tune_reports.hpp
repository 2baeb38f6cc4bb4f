#pragma once

#include "runtime/tuning/report/tune_report.hpp"

namespace jitgemm::testing {

/// A sweep that nobody made: three problems on an H200 with times from hidden factors, one candidate that does not
/// compile, one that is wrong, one that is another's code, a problem cut off before it had a winner, and one without
/// any trial.
[[nodiscard]] tuning::TuneReport made_up_sweep();

}  // namespace jitgemm::testing
