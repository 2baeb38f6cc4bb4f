#include "runtime/verify/verify.hpp"

#include "generator/families/family.hpp"
#include "runtime/emulator_device/emulator_device.hpp"
#include "runtime/verify/emulator_verify.hpp"
#include "runtime/verify/verification_text.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

Verification verify_inputs(ContextState& context, const GemmKernel& kernel, InputKind inputs,
                           const VerifyOptions& options) {
    Problem problem(context, kernel.spec(), inputs, options.seed, options.alpha, options.beta);
    problem.run(kernel);
    Verification verdict = problem.check();
    if (verdict.ok && options.use_cpu) verdict = problem.check_on_cpu();
    add_owner(verdict, kernel);
    return verdict;
}

}  // namespace

// The owner is asked for in row-major-D form, where a column-major D's rows are columns.
void add_owner(Verification& verdict, const GemmKernel& kernel) {
    if (!verdict.first) return;
    const KernelState& state = state_of(kernel);
    Mismatch& first = *verdict.first;
    const std::int64_t row = state.operands_swapped ? first.column : first.row;
    const std::int64_t column = state.operands_swapped ? first.row : first.column;
    first.owner = family_of(state.id.config).owner(state.row_major, state.id.config, row, column);
    verdict.message.insert(std::min(verdict.message.find('\n'), verdict.message.size()),
                           ", " + owner_text(first.owner));
}

Verification verify(ContextState& context, const GemmKernel& kernel, const VerifyOptions& options) {
    if (as_emulator(*context.device) != nullptr) return verify_emulated(context, kernel, options).verification;
    Verification verdict = verify_inputs(context, kernel, InputKind::integers, options);
    if (!verdict.ok) return verdict;
    return verify_inputs(context, kernel, InputKind::normal, options);
}

}  // namespace jitgemm
