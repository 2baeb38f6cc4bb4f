#pragma once

#include "generator/explain.hpp"
#include "generator/families/kernel_name.hpp"
#include "runtime/cli/output.hpp"
#include "runtime/cli/target.hpp"

#include <string>

namespace jitgemm::cli {

/// An explanation and what else the report says of it.
struct ExplainReport {
    Target target;
    Explanation explanation;
    tuning::TunedChoice choice;
    std::string no_registers;  ///< why there is no figure of ptxas; empty when there is one

    [[nodiscard]] const Problem& problem() const { return explanation.problem; }
    [[nodiscard]] std::string name_of(const KernelConfig& config) const { return kernel_name(problem(), config); }
};

/// A page for people.
[[nodiscard]] std::string to_text(const ExplainReport& report);
/// Every number of it (docs/explore.md).
[[nodiscard]] Json to_json(const ExplainReport& report);

}  // namespace jitgemm::cli
