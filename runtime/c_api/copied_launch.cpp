#include "runtime/c_api/copied_launch.hpp"

#include "jitgemm/error.hpp"
#include "runtime/c_api/matrix_lines.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/device/launch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace jitgemm::c_api {
namespace {

/// Memory of a device for one matrix of host memory, which lies there as in the host's; freed with the object.
class DeviceCopy {
public:
    DeviceCopy(Device& device, DevicePointer host, const MatrixLines& lines)
        : device_(&device), lines_(lines), host_(host.address), pointer_(device.allocate(lines.extent())) {}
    DeviceCopy(const DeviceCopy&) = delete;
    DeviceCopy& operator=(const DeviceCopy&) = delete;
    ~DeviceCopy() { device_->free(pointer_); }

    [[nodiscard]] DevicePointer pointer() const { return pointer_; }
    void read_host() {
        if (lines_.extent() != 0) device_->copy_rows_to_device(pointer_.address, host(), rows());
    }
    void write_host() {
        if (lines_.extent() != 0) device_->copy_rows_to_host(host(), pointer_.address, rows());
    }

private:
    [[nodiscard]] std::byte* host() const { return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(host_)); }
    [[nodiscard]] MemoryRows rows() const {
        return {static_cast<std::size_t>(lines_.count), static_cast<std::size_t>(lines_.bytes),
                static_cast<std::size_t>(lines_.pitch)};
    }

    Device* device_;
    MatrixLines lines_;
    std::uint64_t host_;
    DevicePointer pointer_;
};

/// The rules of a launch are those of the caller's arrays, which copies would hide.
void check_host_arrays(const KernelState& state, const GemmArguments& arguments) {
    if (auto problems = launch_problems(state.problem.asked, arguments, 0); !problems.empty())
        throw SpecError("cannot launch " + state.info.name, std::move(problems));
}

/// What a launch writes where it reads that operand: D may be exactly C.
const GemmOperand* written_at(const GemmOperand& input, const OperandList& operands, const GemmArguments& arguments) {
    const auto* const found = std::find_if(operands.begin(), operands.end(), [&](const GemmOperand& one) {
        return one.is_written && arguments.*one.pointer == arguments.*input.pointer;
    });
    return input.is_written || found == operands.end() ? nullptr : found;
}

bool is_read_too(const GemmOperand& written, const OperandList& operands, const GemmSpec& spec,
                 const GemmArguments& arguments) {
    return std::any_of(operands.begin(), operands.end(), [&](const GemmOperand& input) {
        return is_used(input, spec, arguments.alpha, arguments.beta) &&
               written_at(input, operands, arguments) == &written;
    });
}

}  // namespace

void launch_on_copies(const GemmKernel& kernel, const GemmArguments& arguments) {
    const KernelState& state = state_of(kernel);
    const GemmSpec& spec = state.problem.asked;
    check_host_arrays(state, arguments);
    if (spec.m == 0 || spec.n == 0) return;

    const OperandList operands = gemm_operands(spec, broadcasts_c(spec, arguments));
    std::deque<DeviceCopy> copies;
    GemmArguments there = arguments;
    for (const GemmOperand& operand : operands) {
        const bool is_copied = is_used(operand, spec, arguments.alpha, arguments.beta) &&
                               written_at(operand, operands, arguments) == nullptr;
        DeviceCopy& copy = copies.emplace_back(*state.device, arguments.*operand.pointer,
                                               is_copied ? lines_of(operand) : MatrixLines{});
        if (is_copied && (!operand.is_written || is_read_too(operand, operands, spec, arguments))) copy.read_host();
        there.*operand.pointer = copy.pointer();
    }
    for (const GemmOperand& operand : operands)
        if (const GemmOperand* const same = written_at(operand, operands, arguments))
            there.*operand.pointer = there.*same->pointer;
    there.workspace = nullptr;  // the context's own does
    there.workspace_bytes = 0;
    kernel.launch(there);
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (operands[i].is_written) copies[i].write_host();
}

}  // namespace jitgemm::c_api
