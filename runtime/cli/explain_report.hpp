#pragma once

#include "generator/explain.hpp"
#include "generator/families/kernel_name.hpp"
#include "runtime/cli/output.hpp"
#include "runtime/cli/target.hpp"

#include <string>

namespace jitgemm::cli {

/// An explanation, and the report's other facts.
struct ExplainReport {
    Target target;
    Explanation explanation;
    tuning::TunedChoice choice;
    std::string no_registers;  ///< why ptxas gave no figure; empty if it did

    [[nodiscard]] const Problem& problem() const { return explanation.problem; }
    [[nodiscard]] std::string name_of(const KernelConfig& config) const { return kernel_name(problem(), config); }
};

/// The report for people.
[[nodiscard]] std::string to_text(const ExplainReport& report);
/// All its numbers (docs/explore.md).
[[nodiscard]] Json to_json(const ExplainReport& report);

}  // namespace jitgemm::cli
