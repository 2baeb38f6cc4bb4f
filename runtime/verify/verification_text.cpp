#include "runtime/verify/verification_text.hpp"

#include "generator/base/operand.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

namespace jitgemm {
namespace {

std::string_view inputs_name(InputKind inputs) { return inputs == InputKind::integers ? "integer" : "normal"; }

std::string element_text(double value) { return std::isnan(value) ? "nan" : fmt::format("{}", value); }

std::string elements_text(const GemmSpec& spec) {
    const auto [rows, columns] = size_of_d(spec);
    const EpilogueParts* const text = parts_of(spec);
    const auto is_reduction = [](const EpilogueOutput& output) { return output.reduction.has_value(); };
    const auto reductions = text == nullptr ? 0 : std::ranges::count_if(text->outputs, is_reduction);
    const auto matrices = text == nullptr ? 1 : std::ssize(text->outputs) - reductions;
    std::string elements = matrices == 1 ? "" : fmt::format("{} times ", matrices);
    elements += fmt::format("{}x{} elements", rows, columns);
    if (is_batched(spec)) elements = fmt::format("{} problems of {}", spec.batch, elements);
    if (reductions == 0) return elements;
    return fmt::format("{} and {}", elements,
                       reductions == 1 ? "a reduction" : fmt::format("{} reductions", reductions));
}

std::string success_text(const Verification& verdict, const GemmSpec& spec, bool exact) {
    const std::string what =
        fmt::format("all {} are right for {} inputs", elements_text(spec), inputs_name(verdict.inputs));
    return exact ? what + ", bit for bit"
                 : what + fmt::format(", the largest error is {:.3f} of its bound", verdict.largest_error);
}

std::string wrong_elements_text(const Verification& verdict, const GemmSpec& spec, bool exact) {
    std::string text = fmt::format("{} of {} are wrong for {} inputs", verdict.wrong, elements_text(spec),
                                   inputs_name(verdict.inputs));
    if (!exact && std::isfinite(verdict.largest_error))
        text += fmt::format(", by up to {:.3g} times the bound", verdict.largest_error);
    if (verdict.first) {
        const Mismatch& first = *verdict.first;
        text += fmt::format("; first {}: expected {}, got {}",
                            element_name(first.output, {first.problem, first.row, first.column}, is_batched(spec)),
                            element_text(first.expected), element_text(first.got));
    }
    return text;
}

}  // namespace

void describe(Verification& verdict, const GemmSpec& spec, bool exact, std::vector<std::string> complaints) {
    if (verdict.wrong != 0) complaints.insert(complaints.begin(), wrong_elements_text(verdict, spec, exact));
    verdict.ok = complaints.empty();
    verdict.message = verdict.ok ? success_text(verdict, spec, exact) : fmt::format("{}", fmt::join(complaints, "\n"));
}

std::string owner_text(const ElementOwner& owner) {
    std::string text =
        fmt::format("computed by block {} (tile {}, {}), warp {}", owner.block, owner.tile_m, owner.tile_n, owner.warp);
    if (owner.lane != ElementOwner::kUnknown) text += fmt::format(", lane {}", owner.lane);
    if (owner.accumulator_register != ElementOwner::kUnknown)
        text += fmt::format(", accumulator register {}", owner.accumulator_register);
    return text;
}

}  // namespace jitgemm
