#pragma once

#include "generator/families/preparation.hpp"
#include "jitgemm/prepared_operand.hpp"
#include "runtime/context/context_state.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace jitgemm {

/// The preparation of one operand of a kernel's problem.
struct OperandPreparation {
    Preparation what;
    int alignment = 1;                             ///< of the operand, bytes
    Problem problem{};                             ///< its A is the operand
    std::shared_ptr<const LoadedKernel> kernel{};  ///< null if nothing is copied
    std::vector<LoadedEntry> entries{};
    std::uint64_t id = new_problem_id();
};

/// Of the operands that a problem's launches take prepared.
struct KernelPreparations {
    std::unique_ptr<const OperandPreparation> a, b;
    [[nodiscard]] const OperandPreparation* of(Prepared operand) const {
        return (operand == Prepared::a ? a : b).get();
    }
};

/// Null if nothing is prepared. Loads the kernels that prepare.
[[nodiscard]] std::unique_ptr<const KernelPreparations> preparations_of(const Problem& problem, ContextState& context);
[[nodiscard]] bool are_preparations_loaded(const Problem& problem, ContextState& context);
/// Of another problem of the same kernel.
[[nodiscard]] std::unique_ptr<const KernelPreparations> preparations_of(const Problem& problem,
                                                                        const KernelPreparations& known,
                                                                        Device& device);

/// A PreparedOperand refers to this.
struct PreparedState {
    PreparedState() = default;
    PreparedState(const PreparedState&) = delete;
    PreparedState& operator=(const PreparedState&) = delete;
    ~PreparedState();

    PreparedForm form;
    DevicePointer data, operand;
    std::size_t bytes = 0;
    std::shared_ptr<Device> device;
    DevicePointer owned;                 ///< freed with this
    std::shared_ptr<const void> kept{};  ///< memory of the operand, where that is not the caller's
    unsigned generation = process_generation();
};

struct PreparedAccess {
    /// Throws Error for an empty object.
    [[nodiscard]] static const PreparedState& state(const PreparedOperand& prepared);
    [[nodiscard]] static PreparedOperand make(std::shared_ptr<const PreparedState> state);
};

/// Enqueues the preparation. `kept` owns the operand's memory.
[[nodiscard]] PreparedOperand prepare(const GemmKernel& kernel, Prepared operand, DevicePointer pointer, Stream stream,
                                      DevicePointer memory = {}, std::size_t bytes = 0,
                                      std::shared_ptr<const void> kept = {});

/// The arguments with the addresses of prepared operands in place of a and b. Throws SpecError.
[[nodiscard]] GemmArguments with_prepared(const KernelState& state, const GemmArguments& given);

/// Launches of a kernel whose spec has prepared operands, given them as they lie. They are prepared by prepare(), or
/// when a launch first sees their address. For other kernels launch() is the kernel's.
class PreparingLaunch {
public:
    explicit PreparingLaunch(GemmKernel kernel);
    void prepare(const GemmArguments& arguments);
    void launch(const GemmArguments& arguments, Stream stream = nullptr);

private:
    struct Known {
        DevicePointer address;
        PreparedOperand prepared;
    };
    [[nodiscard]] const PreparedOperand* prepared(Prepared operand, DevicePointer address, std::vector<Known>& known);

    GemmKernel kernel_;
    std::vector<Known> a_, b_;
};

}  // namespace jitgemm
