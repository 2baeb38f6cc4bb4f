#include "runtime/c_api/copied_launch.hpp"

#include "jitgemm/error.hpp"
#include "runtime/c_api/matrix_lines.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/device/launch.hpp"

#include <cstddef>
#include <cstdint>
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

}  // namespace

void launch_on_copies(const GemmKernel& kernel, const GemmArguments& arguments) {
    const KernelState& state = state_of(kernel);
    const GemmSpec& spec = state.problem.asked;
    check_host_arrays(state, arguments);
    if (spec.m == 0 || spec.n == 0) return;

    const bool multiplies = arguments.alpha != 0 && spec.k != 0;
    const bool reads_c = arguments.beta != 0;
    const bool c_is_d = reads_c && arguments.c == arguments.d;
    const auto copy_of = [&](ArgumentRole role, bool is_there, DevicePointer host) {
        const MatrixLines lines = lines_of(role, spec, arguments);
        return DeviceCopy(*state.device, host, is_there ? lines : MatrixLines{});
    };
    DeviceCopy a = copy_of(ArgumentRole::a, multiplies, arguments.a);
    DeviceCopy b = copy_of(ArgumentRole::b, multiplies, arguments.b);
    DeviceCopy c = copy_of(ArgumentRole::c, reads_c && !c_is_d, arguments.c);
    DeviceCopy d = copy_of(ArgumentRole::d, true, arguments.d);
    for (DeviceCopy* const read : {&a, &b, &c}) read->read_host();
    if (c_is_d) d.read_host();

    GemmArguments there = arguments;
    there.a = a.pointer();
    there.b = b.pointer();
    there.c = c_is_d ? d.pointer() : c.pointer();
    there.d = d.pointer();
    there.workspace = nullptr;  // the context's own does
    there.workspace_bytes = 0;
    kernel.launch(there);
    d.write_host();
}

}  // namespace jitgemm::c_api
