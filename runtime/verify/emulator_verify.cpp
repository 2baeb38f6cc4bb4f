#include "runtime/verify/emulator_verify.hpp"

#include "generator/families/family.hpp"
#include "jitgemm/error.hpp"
#include "runtime/emulator_device/shared_access_check.hpp"
#include "runtime/verify/trials.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace jitgemm {
namespace {

using emulator::AsyncMode;
using emulator::FaultKind;

/// One launch of a verification on the emulator.
struct EmulatedTrial {
    TrialInputs inputs;
    AsyncMode async_mode = AsyncMode::eager;
    std::uint64_t order_seed = 0;  ///< 0: blocks and warps in order
};

/// In multiply-adds of whole tiles: a second or less in all.
TrialBudget emulator_budget(const GemmKernel& kernel) {
    const KernelState& state = state_of(kernel);
    return {.launch = padded_flops(state.problem, state.source().id.config) / 2, .scalars = 0x1p25, .seeds = 0x1p28};
}

std::vector<EmulatedTrial> emulated_trials(const GemmKernel& kernel, const VerifyOptions& options) {
    constexpr std::uint64_t kOrder = 0x9e3779b9;
    constexpr std::uint64_t kOtherOrder = 0x7f4a7c15;
    const std::vector<TrialInputs> integers = integer_trials(kernel.spec(), options, emulator_budget(kernel));
    std::vector<EmulatedTrial> trials{{integers.front(), AsyncMode::eager, 0}};
    for (const TrialInputs& inputs : integers) trials.push_back({inputs, AsyncMode::late, kOrder + trials.size() - 1});
    trials.push_back({normal_trial(options), AsyncMode::late, kOtherOrder});
    return trials;
}

std::string mode_text(const EmulatedTrial& trial) {
    return fmt::format(" (copies {}, blocks and warps {})",
                       trial.async_mode == AsyncMode::eager ? "done at issue" : "as late as the waits allow",
                       trial.order_seed == 0 ? "in order" : "shuffled");
}

/// The device runs as the trial says while this lives.
class ScopedMode {
public:
    ScopedMode(EmulatorDevice& device, const EmulatedTrial& trial) : device_(device), before_(device.mode()) {
        EmulatorMode mode = before_;
        mode.async_mode = trial.async_mode;
        mode.order_seed = trial.order_seed;
        mode.count = true;
        device_.set_mode(mode);
        static_cast<void>(device_.take_counters());
    }
    ScopedMode(const ScopedMode&) = delete;
    ScopedMode& operator=(const ScopedMode&) = delete;
    ~ScopedMode() { device_.set_mode(before_); }

private:
    EmulatorDevice& device_;
    EmulatorMode before_;
};

/// Faults that are not the kernel's.
bool says_nothing_of_the_kernel(FaultKind kind) {
    return kind == FaultKind::work_limit || kind == FaultKind::unsupported;
}

struct TrialRun {
    ContextState& context;
    EmulatorDevice& device;
    const GemmKernel& kernel;
    const VerifyOptions& options;

    void run(const EmulatedTrial& trial, EmulatedVerification& result) const {
        const ScopedMode mode(device, trial);
        const auto& [kind, seed, alpha, beta] = trial.inputs;
        GuardedProblem problem(context, kernel.spec(), kind, seed, alpha, beta);
        problem.run(kernel);
        if (result.counters.blocks == 0) result.counters = device.take_counters();
        result.verification = problem.check();
        add_owner(result.verification, kernel);
        if (!result.verification.ok) result.verification.message += text_of(trial);
    }

    [[nodiscard]] std::string text_of(const EmulatedTrial& trial) const {
        return trial_text(trial.inputs, options) + mode_text(trial);
    }

    void run_checked(const EmulatedTrial& trial, EmulatedVerification& result) const {
        try {
            run(trial, result);
        } catch (const emulator::EmulatorFault& fault) {
            if (says_nothing_of_the_kernel(fault.kind())) throw;
            result.fault = fault.kind();
            result.verification = {};
            result.verification.inputs = trial.inputs.inputs;
            result.verification.message = fault.what() + text_of(trial);
        }
    }
};

void check_wavefronts(EmulatedVerification& result, const GemmKernel& kernel) {
    const KernelState& state = state_of(kernel);
    const KernelAnatomy anatomy = family_of(state.source().id.config).anatomy(state.problem, state.source().id.config);
    const std::vector<std::string> excess = excess_wavefronts(result.counters, anatomy.accesses);
    if (excess.empty()) return;
    result.verification.ok = false;
    result.verification.message =
        fmt::format("more shared-memory wavefronts than the layout gives:\n  {}", fmt::join(excess, "\n  "));
}

}  // namespace

EmulatedVerification verify_emulated(ContextState& context, const GemmKernel& kernel, const VerifyOptions& options) {
    EmulatorDevice* const device = as_emulator(*context.device);
    if (device == nullptr) throw Error("verify_emulated: the context's device is not an emulator");
    const TrialRun runner{context, *device, kernel, options};
    EmulatedVerification result;
    for (const EmulatedTrial& trial : emulated_trials(kernel, options)) {
        runner.run_checked(trial, result);
        if (!result.verification.ok) return result;
    }
    check_wavefronts(result, kernel);
    return result;
}

}  // namespace jitgemm
