#pragma once

#include "generator/explain.hpp"
#include "generator/families/kernel_name.hpp"
#include "runtime/cli/output.hpp"
#include "runtime/cli/target.hpp"

#include <optional>
#include <string>

namespace jitgemm::cli {

/// An explanation, and the report's other facts.
struct ExplainReport {
    Target target;
    Explanation explanation;
    tuning::TunedChoice choice;
    std::string no_registers;  ///< why ptxas gave no figure; empty if it did
    /// Of launches that make the copies of prepared operands themselves: the predicted time of their best kernel. Unset
    /// if nothing is prepared, or if a kernel is named.
    std::optional<double> unprepared_us{};

    [[nodiscard]] const Problem& problem() const { return explanation.problem; }
    [[nodiscard]] std::string name_of(const KernelConfig& config) const { return kernel_name(problem(), config); }
};

/// The report for people.
[[nodiscard]] std::string to_text(const ExplainReport& report);
/// All its numbers (docs/explore.md).
[[nodiscard]] Json to_json(const ExplainReport& report);

}  // namespace jitgemm::cli
