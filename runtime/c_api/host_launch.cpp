#include "runtime/c_api/host_launch.hpp"

#include "jitgemm/error.hpp"
#include "runtime/c_api/copied_operand.hpp"
#include "runtime/c_api/host_rows.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/context/preparation.hpp"
#include "runtime/device/launch.hpp"
#include "runtime/emulator_device/emulator_device.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
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
    Shadow& operator=(Shadow&& other) noexcept {
        std::swap(device_, other.device_);
        std::swap(host_, other.host_);
        std::swap(pointer_, other.pointer_);
        return *this;
    }
    ~Shadow() {
        if (device_ != nullptr) device_->free(pointer_);
    }

    [[nodiscard]] explicit operator bool() const { return device_ != nullptr; }
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

/// An operand in a buffer of its own; with an array of addresses, each of its matrices.
class ShadowedOperand {
public:
    ShadowedOperand(EmulatorDevice& device, const GemmOperand& operand, const GemmArguments& arguments)
        : rows_(rows_of(operand)) {
        for (const std::uint64_t host : addresses_of(operand, arguments))
            matrices_.emplace_back(device, host, bytes_of(operand), std::string(operand.title));
        if (operand.by_addresses) make_array(device, operand, address_of(operand, arguments));
    }

    [[nodiscard]] DevicePointer pointer() const { return array_ ? array_.pointer() : matrices_.front().pointer(); }
    void read_host() {
        for (Shadow& matrix : matrices_) matrix.read_host(rows_);
    }
    void write_host() {
        for (Shadow& matrix : matrices_) matrix.write_host(rows_);
    }

private:
    void make_array(EmulatorDevice& device, const GemmOperand& operand, DevicePointer host) {
        std::vector<std::uint64_t> addresses;
        for (const Shadow& matrix : matrices_) addresses.push_back(matrix.pointer().address);
        const std::size_t bytes = addresses.size() * kAddressBytes;
        array_ = Shadow(device, host, bytes, fmt::format("the array of {}'s addresses", operand.title));
        device.copy_to_device(array_.pointer(), addresses.data(), bytes);
    }

    std::vector<OperandRows> rows_;
    std::vector<Shadow> matrices_;
    Shadow array_;
};

/// Nothing where the launch doesn't use the operand.
std::optional<ShadowedOperand> shadow_of(EmulatorDevice& device, const GemmOperand& operand, const GemmSpec& spec,
                                         const GemmArguments& arguments) {
    if (is_given_prepared(operand.name, arguments) || !is_used(operand, spec, arguments)) return std::nullopt;
    ShadowedOperand shadow(device, operand, arguments);
    if (!operand.is_written || is_grouped(spec)) shadow.read_host();  // some rows stay as they are
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
    auto problems = launch_problems(state.problem, seen, state.workspace_bytes);
    if (problems.empty() && !is_empty(state.problem.asked))
        problems = address_problems(state.problem.asked, arguments, read_addresses);
    if (!problems.empty()) throw SpecError("cannot launch " + state.info().name, std::move(problems));
}

}  // namespace

void launch_on_host(const GemmKernel& kernel, const GemmArguments& arguments) {
    const KernelState& state = KernelAccess::state_for(kernel, arguments);
    const GemmSpec& spec = state.problem.asked;
    check(state, arguments);
    if (is_empty(spec)) return;

    EmulatorDevice& device = *as_emulator(*state.device);
    const OperandList operands = gemm_operands(spec, broadcasts_c(spec, arguments));
    std::vector<std::optional<ShadowedOperand>> shadows;
    GemmArguments emulated = arguments;
    for (const GemmOperand& operand : operands) {
        const auto& shadow = shadows.emplace_back(shadow_of(device, operand, spec, arguments));
        set_address(operand, emulated, shadow ? shadow->pointer() : DevicePointer());
    }
    Shadow workspace = workspace_of(device, state, arguments);
    emulated.workspace = workspace.pointer();
    emulated.workspace_bytes = workspace.pointer() ? state.workspace_bytes : 0;
    kernel.launch(emulated);
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (operands[i].is_written) shadows[i]->write_host();
    if (workspace.pointer()) workspace.write_host(whole(state.workspace_bytes));
}

}  // namespace jitgemm::c_api
