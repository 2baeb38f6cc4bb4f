#include "runtime/c_api/host_launch.hpp"

#include "generator/base/matrix_storage.hpp"
#include "jitgemm/error.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/device/launch.hpp"
#include "runtime/emulator_device/emulator_device.hpp"

#include <algorithm>
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
    Shadow(EmulatorDevice& device, DevicePointer host, std::size_t bytes, const char* name)
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
    void read_host(std::uint64_t offset, std::size_t bytes) {
        device_->copy_to_device(pointer_.address + offset, at(offset), bytes);
    }
    void write_host(std::uint64_t offset, std::size_t bytes) {
        device_->copy_to_host(at(offset), pointer_.address + offset, bytes);
    }

private:
    [[nodiscard]] std::byte* at(std::uint64_t offset) const {
        return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(host_ + offset));
    }

    EmulatorDevice* device_ = nullptr;
    std::uint64_t host_ = 0;
    DevicePointer pointer_;
};

/// A matrix of each problem as rows (or columns) of bytes.
struct Lines {
    std::int64_t count;
    std::int64_t bytes;
    std::int64_t pitch;
    std::int64_t problems;
    std::int64_t stride;  ///< bytes from one problem's to the next, 0 where all have one

    [[nodiscard]] std::size_t extent() const {
        if (count == 0 || bytes == 0) return 0;
        return static_cast<std::size_t>((problems - 1) * stride + (count - 1) * pitch + bytes);
    }
    /// Calls with offset and length of each.
    template <typename Visit>
    void each(Visit visit) const {
        if (bytes == 0) return;
        for (std::int64_t problem = 0; problem < (stride == 0 ? 1 : problems); ++problem)
            for (std::int64_t i = 0; i < count; ++i)
                visit(static_cast<std::uint64_t>(problem * stride + i * pitch), static_cast<std::size_t>(bytes));
    }
};

std::int64_t batch_stride(ArgumentRole role, const GemmSpec& resolved_spec) {
    switch (role) {
        case ArgumentRole::a: return resolved_spec.batch_stride_a.value_or(0);
        case ArgumentRole::b: return resolved_spec.batch_stride_b.value_or(0);
        case ArgumentRole::c: return resolved_spec.batch_stride_c.value_or(0);
        default: return resolved_spec.batch_stride_d.value_or(0);
    }
}

/// Of C as broadcast_c has it: one line, for all problems of a batch where the spec says so.
Lines one_line(Lines lines) {
    lines.count = std::min<std::int64_t>(lines.count, 1);
    return lines;
}

Lines lines_of(ArgumentRole role, const GemmSpec& spec) {
    const MatrixStorage matrix = storage_of(role, spec);
    const int element = bytes(matrix.type);
    return {extent(matrix.runs, spec), extent(matrix.run, spec) * element, extent(matrix.pitch, spec) * element,
            spec.batch, batch_stride(role, spec) * element};
}

Shadow input(EmulatorDevice& device, DevicePointer host, const Lines& lines, const char* name) {
    Shadow shadow(device, host, lines.extent(), name);
    lines.each([&](std::uint64_t offset, std::size_t bytes) { shadow.read_host(offset, bytes); });
    return shadow;
}

void check(const KernelState& state, const GemmArguments& arguments) {
    if (auto problems = launch_problems(state.spec, arguments, state.workspace_bytes); !problems.empty())
        throw SpecError("cannot launch " + state.info.name, std::move(problems));
}

}  // namespace

void launch_on_host(const GemmKernel& kernel, const GemmArguments& arguments) {
    const KernelState& state = KernelAccess::state_for(kernel, arguments);
    const GemmSpec& spec = state.spec;
    check(state, arguments);
    if (spec.m == 0 || spec.n == 0) return;

    EmulatorDevice& device = *as_emulator(*state.device);
    const bool multiplies = arguments.alpha != 0 && spec.k != 0;
    const bool reads_c = arguments.beta != 0;
    const auto operand = [&](ArgumentRole role, bool is_read, DevicePointer host, const char* name) {
        if (!is_read) return Shadow();
        const Lines all = lines_of(role, spec);
        const bool is_one = role == ArgumentRole::c && broadcasts_c(spec, arguments);
        return input(device, host, is_one ? one_line(all) : all, name);
    };
    const Shadow a = operand(ArgumentRole::a, multiplies, arguments.a, "A");
    const Shadow b = operand(ArgumentRole::b, multiplies, arguments.b, "B");
    const Shadow c = operand(ArgumentRole::c, reads_c, arguments.c, "C");
    const Lines lines = lines_of(ArgumentRole::d, spec);
    Shadow d(device, arguments.d, lines.extent(), "D");

    GemmArguments emulated = arguments;
    emulated.a = a.pointer();
    emulated.b = b.pointer();
    emulated.c = c.pointer();
    emulated.d = d.pointer();
    emulated.workspace = nullptr;  // the context's own does: nobody reads what a launch leaves there
    emulated.workspace_bytes = 0;
    kernel.launch(emulated);
    lines.each([&](std::uint64_t offset, std::size_t bytes) { d.write_host(offset, bytes); });
}

}  // namespace jitgemm::c_api
