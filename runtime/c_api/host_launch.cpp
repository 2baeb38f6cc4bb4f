#include "runtime/c_api/host_launch.hpp"

#include "jitgemm/error.hpp"
#include "runtime/c_api/copied_operand.hpp"
#include "runtime/c_api/host_rows.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/context/preparation.hpp"
#include "runtime/device/launch.hpp"
#include "runtime/emulator_device/emulator_device.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace jitgemm::c_api {
namespace {

/// A buffer of the emulator that stands for host memory; freed with the object.
class Shadow {
public:
    Shadow() = default;
    Shadow(EmulatorDevice& device, DevicePointer host, std::size_t bytes, const std::string& name)
        : device_(&device), host_(host.address), pointer_(device.allocate_zeroed(bytes)) {
        device.name_memory(pointer_, name);
    }
    Shadow(Shadow&& other) noexcept
        : device_(std::exchange(other.device_, nullptr)), host_(other.host_), pointer_(other.pointer_) {}
    Shadow(const Shadow&) = delete;
    Shadow& operator=(const Shadow&) = delete;
    ~Shadow() {
        if (device_ != nullptr) device_->free(pointer_);
    }

    [[nodiscard]] DevicePointer pointer() const { return pointer_; }
    void read_host(const std::vector<OperandRows>& all) { copy_to_device(*device_, pointer_, host(), all); }
    void write_host(const std::vector<OperandRows>& all) { copy_to_host(*device_, host(), pointer_, all); }

private:
    [[nodiscard]] std::byte* host() const { return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(host_)); }

    EmulatorDevice* device_ = nullptr;
    std::uint64_t host_ = 0;
    DevicePointer pointer_;
};

std::vector<OperandRows> whole(std::size_t bytes) { return {{0, {1, bytes, bytes}}}; }

/// An operand in a buffer of its own; nothing where the launch doesn't use it.
Shadow shadow_of(EmulatorDevice& device, const GemmOperand& operand, const GemmSpec& spec,
                 const GemmArguments& arguments) {
    if (!is_used(operand, spec, arguments)) return {};
    Shadow shadow(device, address_of(operand, arguments), bytes_of(operand), std::string(operand.title));
    if (!operand.is_written || is_grouped(spec)) shadow.read_host(rows_of(operand));  // some rows stay as they are
    return shadow;
}

/// Of just the size that the kernel asks for, so that one that needs more is found out. A workspace that a launch has
/// no use for stands for nothing, as does the context's own.
Shadow workspace_of(EmulatorDevice& device, const KernelState& state, const GemmArguments& arguments) {
    if (!arguments.workspace || state.workspace_bytes == 0) return {};
    Shadow shadow(device, arguments.workspace, state.workspace_bytes, "the workspace");
    shadow.read_host(whole(state.workspace_bytes));
    return shadow;
}

void check(const KernelState& state, const GemmArguments& arguments) {
    const GemmArguments seen = with_prepared(state, arguments);
    if (auto problems = launch_problems(state.problem, seen, state.workspace_bytes); !problems.empty())
        throw SpecError("cannot launch " + state.info().name, std::move(problems));
}

}  // namespace

void launch_on_host(const GemmKernel& kernel, const GemmArguments& arguments) {
    const KernelState& state = KernelAccess::state_for(kernel, arguments);
    const GemmSpec& spec = state.problem.asked;
    check(state, arguments);
    if (is_empty(spec)) return;

    EmulatorDevice& device = *as_emulator(*state.device);
    const OperandList operands = gemm_operands(spec, broadcasts_c(spec, arguments));
    std::vector<Shadow> shadows;
    GemmArguments emulated = arguments;
    for (const GemmOperand& operand : operands) {
        const bool is_prepared = is_given_prepared(operand.name, arguments);
        const Shadow& shadow =
            shadows.emplace_back(is_prepared ? Shadow() : shadow_of(device, operand, spec, arguments));
        set_address(operand, emulated, shadow.pointer());
    }
    Shadow workspace = workspace_of(device, state, arguments);
    emulated.workspace = workspace.pointer();
    emulated.workspace_bytes = workspace.pointer() ? state.workspace_bytes : 0;
    kernel.launch(emulated);
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (operands[i].is_written) shadows[i].write_host(rows_of(operands[i]));
    if (workspace.pointer()) workspace.write_host(whole(state.workspace_bytes));
}

}  // namespace jitgemm::c_api
