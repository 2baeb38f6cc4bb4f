#include "runtime/verify/verify.hpp"

#include "generator/base/operand.hpp"
#include "generator/families/family.hpp"
#include "runtime/emulator_device/emulator_device.hpp"
#include "runtime/verify/emulator_verify.hpp"
#include "runtime/verify/trials.hpp"
#include "runtime/verify/verification_text.hpp"

#include <algorithm>
#include <string_view>

namespace jitgemm {
namespace {

Verification verify_trial(ContextState& context, const GemmKernel& kernel, const TrialInputs& trial,
                          const VerifyOptions& options) {
    GuardedProblem problem(context, kernel.spec(), trial.inputs, trial.seed, trial.alpha, trial.beta);
    problem.run(kernel);
    Verification verdict = problem.check();
    if (verdict.ok && options.use_cpu) verdict = problem.check_on_cpu();
    add_owner(verdict, kernel);
    if (!verdict.ok) verdict.message += trial_text(trial, options);
    return verdict;
}

bool is_reduction(const GemmSpec& spec, std::string_view output) {
    const EpilogueParts* const text = parts_of(spec);
    return text != nullptr && std::ranges::any_of(text->outputs, [&](const EpilogueOutput& one) {
               return one.name == output && one.reduction;
           });
}

}  // namespace

// A transposed problem exchanges rows and columns of D. A reduction's result has no single owner.
void add_owner(Verification& verdict, const GemmKernel& kernel) {
    if (!verdict.first) return;
    const KernelState& state = state_of(kernel);
    if (has_groups(state.problem.asked)) return;  // whose tiles only the device knows
    Mismatch& first = *verdict.first;
    if (is_reduction(state.problem.asked, first.output)) return;
    const std::int64_t row = state.problem.transposed ? first.column : first.row;
    const std::int64_t column = state.problem.transposed ? first.row : first.column;
    first.owner = family_of(state.source().id.config).owner(state.problem, state.source().id.config, row, column);
    verdict.message.insert(std::min(verdict.message.find('\n'), verdict.message.size()),
                           ", " + owner_text(first.owner));
}

Verification verify(ContextState& context, const GemmKernel& kernel, const VerifyOptions& options) {
    if (as_emulator(*context.device) != nullptr) return verify_emulated(context, kernel, options).verification;
    for (const TrialInputs& trial : integer_trials(kernel.spec(), options, gpu_budget(kernel.spec()))) {
        Verification verdict = verify_trial(context, kernel, trial, options);
        if (!verdict.ok) return verdict;
    }
    return verify_trial(context, kernel, normal_trial(options), options);
}

}  // namespace jitgemm
