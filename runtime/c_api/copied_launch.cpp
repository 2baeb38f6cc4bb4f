#include "runtime/c_api/copied_launch.hpp"

#include "jitgemm/error.hpp"
#include "runtime/c_api/copied_operand.hpp"
#include "runtime/c_api/host_rows.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/context/preparation.hpp"
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
    DeviceCopy(Device& device, const GemmOperand& operand, DevicePointer host)
        : device_(&device),
          rows_(rows_of(operand)),
          host_(host.address),
          pointer_(device.allocate(bytes_of(operand))) {}
    DeviceCopy(const DeviceCopy&) = delete;
    DeviceCopy& operator=(const DeviceCopy&) = delete;
    ~DeviceCopy() { device_->free(pointer_); }

    [[nodiscard]] bool is_of(DevicePointer host) const { return host_ == host.address; }
    [[nodiscard]] DevicePointer pointer() const { return pointer_; }
    void read_host() { copy_to_device(*device_, pointer_, host(), rows_); }
    void write_host() { copy_to_host(*device_, host(), pointer_, rows_); }

private:
    [[nodiscard]] std::byte* host() const { return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(host_)); }

    Device* device_;
    std::vector<OperandRows> rows_;
    std::uint64_t host_;
    DevicePointer pointer_;
};

/// The rules of a launch are those of the caller's arrays, which copies would hide.
void check_host_arrays(const KernelState& state, const GemmArguments& arguments) {
    if (auto problems = launch_problems(state.problem, with_prepared(state, arguments), 0); !problems.empty())
        throw SpecError("cannot launch " + state.info().name, std::move(problems));
}

/// The copy of a written operand at this place, if there is one: D may be exactly C.
DeviceCopy* written_at(DevicePointer host, std::deque<DeviceCopy>& written) {
    const auto found = std::ranges::find_if(written, [host](const DeviceCopy& copy) { return copy.is_of(host); });
    return found == written.end() ? nullptr : &*found;
}

}  // namespace

void launch_on_copies(const GemmKernel& kernel, const GemmArguments& arguments) {
    const KernelState& state = state_of(kernel);
    const GemmSpec& spec = state.problem.asked;
    check_host_arrays(state, arguments);
    if (is_empty(spec)) return;

    const OperandList operands = gemm_operands(spec, broadcasts_c(spec, arguments));
    std::deque<DeviceCopy> written, read;
    GemmArguments there = arguments;
    for (const GemmOperand& operand : operands)
        if (operand.is_written) {
            DeviceCopy& copy = written.emplace_back(*state.device, operand, address_of(operand, arguments));
            if (is_grouped(spec)) copy.read_host();  // some rows stay as they are
            set_address(operand, there, copy.pointer());
        }
    for (const GemmOperand& input : operands) {
        if (input.is_written) continue;
        set_address(input, there, nullptr);
        if (!is_used(input, spec, arguments) || is_given_prepared(input.name, arguments)) continue;
        const DevicePointer host = address_of(input, arguments);
        DeviceCopy* const same = written_at(host, written);
        DeviceCopy& copy = same != nullptr ? *same : read.emplace_back(*state.device, input, host);
        copy.read_host();
        set_address(input, there, copy.pointer());
    }
    there.workspace = nullptr;  // the context's own does
    there.workspace_bytes = 0;
    kernel.launch(there);
    for (DeviceCopy& copy : written) copy.write_host();
}

}  // namespace jitgemm::c_api
