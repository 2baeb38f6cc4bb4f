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
    DeviceCopy(Device& device, const GemmOperand& operand, std::uint64_t host)
        : device_(&device), rows_(rows_of(operand)), host_(host), pointer_(device.allocate(bytes_of(operand))) {}
    DeviceCopy(const DeviceCopy&) = delete;
    DeviceCopy& operator=(const DeviceCopy&) = delete;
    ~DeviceCopy() { device_->free(pointer_); }

    [[nodiscard]] bool is_of(std::uint64_t host) const { return host_ == host; }
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

/// Addresses of copies in the device's memory.
class DeviceArray {
public:
    DeviceArray(Device& device, const std::vector<std::uint64_t>& addresses)
        : device_(&device), pointer_(device.allocate(addresses.size() * kAddressBytes)) {
        device.copy_to_device(pointer_, addresses.data(), addresses.size() * kAddressBytes);
    }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    ~DeviceArray() { device_->free(pointer_); }

    [[nodiscard]] DevicePointer pointer() const { return pointer_; }

private:
    Device* device_;
    DevicePointer pointer_;
};

/// The copies of a launch.
struct Copies {
    std::deque<DeviceCopy> written, read;
    std::deque<DeviceArray> arrays;

    /// The copy of a written operand at this place, if there is one: D may be exactly C.
    [[nodiscard]] DeviceCopy* written_at(std::uint64_t host) {
        const auto found = std::ranges::find_if(written, [host](const DeviceCopy& copy) { return copy.is_of(host); });
        return found == written.end() ? nullptr : &*found;
    }
    /// The address of the copy; with an array of addresses, of the array of the copies' addresses.
    [[nodiscard]] DevicePointer address(Device& device, const GemmOperand& operand,
                                        const std::vector<std::uint64_t>& copies) {
        return operand.by_addresses ? arrays.emplace_back(device, copies).pointer() : DevicePointer(copies.front());
    }
};

/// The rules of a launch are those of the caller's arrays, which copies would hide.
void check_host_arrays(const KernelState& state, const GemmArguments& arguments) {
    auto problems = launch_problems(state.problem, with_prepared(state, arguments), 0);
    if (problems.empty() && !is_empty(state.problem.asked))
        problems = address_problems(state.problem.asked, arguments, read_addresses);
    if (!problems.empty()) throw SpecError("cannot launch " + state.info().name, std::move(problems));
}

}  // namespace

void launch_on_copies(const GemmKernel& kernel, const GemmArguments& arguments) {
    const KernelState& state = state_of(kernel);
    const GemmSpec& spec = state.problem.asked;
    check_host_arrays(state, arguments);
    if (is_empty(spec)) return;

    const OperandList operands = gemm_operands(spec, broadcasts_c(spec, arguments));
    Copies copies;
    GemmArguments there = arguments;
    for (const GemmOperand& operand : operands) {
        if (!operand.is_written) continue;
        std::vector<std::uint64_t> addresses;
        for (const std::uint64_t host : addresses_of(operand, arguments)) {
            DeviceCopy& copy = copies.written.emplace_back(*state.device, operand, host);
            if (is_grouped(spec)) copy.read_host();  // some rows stay as they are
            addresses.push_back(copy.pointer().address);
        }
        set_address(operand, there, copies.address(*state.device, operand, addresses));
    }
    for (const GemmOperand& input : operands) {
        if (input.is_written) continue;
        set_address(input, there, nullptr);
        if (!is_used(input, spec, arguments) || is_given_prepared(input.name, arguments)) continue;
        std::vector<std::uint64_t> addresses;
        for (const std::uint64_t host : addresses_of(input, arguments)) {
            DeviceCopy* const same = copies.written_at(host);
            DeviceCopy& copy = same != nullptr ? *same : copies.read.emplace_back(*state.device, input, host);
            copy.read_host();
            addresses.push_back(copy.pointer().address);
        }
        set_address(input, there, copies.address(*state.device, input, addresses));
    }
    there.workspace = nullptr;  // the context's own does
    there.workspace_bytes = 0;
    kernel.launch(there);
    for (DeviceCopy& copy : copies.written) copy.write_host();
}

}  // namespace jitgemm::c_api
