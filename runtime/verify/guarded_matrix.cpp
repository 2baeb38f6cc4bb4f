#include "runtime/verify/guarded_matrix.hpp"

#include "runtime/device/launch.hpp"

#include <algorithm>
#include <utility>

namespace jitgemm {
namespace {

constexpr std::int64_t kGuardBytes = 64 << 10;

}  // namespace

DeviceMemory::DeviceMemory(std::shared_ptr<Device> device, std::int64_t bytes)
    : device_(std::move(device)), data_(device_->allocate(static_cast<std::size_t>(bytes))), bytes_(bytes) {}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : device_(std::move(other.device_)),
      data_(std::exchange(other.data_, {})),
      bytes_(std::exchange(other.bytes_, 0)) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

DeviceMemory::~DeviceMemory() {
    if (data_) device_->free(data_);
}

std::int64_t MatrixForm::matrix_bytes() const {
    return reach_of(run(), {MemoryStep{lines(), leading_dimension}, MemoryStep{}, MemoryStep{}}) * bytes(type);
}

MemorySteps MatrixForm::steps() const {
    return {MemoryStep{lines(), leading_dimension}, MemoryStep{matrices, batch_stride},
            MemoryStep{outer_matrices, outer_stride}};
}

std::int64_t MatrixForm::extent_bytes() const { return reach_of(run(), steps()) * bytes(type); }

bool MatrixForm::do_overlap() const { return all_matrices() > 1 && !are_apart(run(), steps()); }

MatrixForm form_of(const GemmOperand& operand, bool generous) {
    const bool has_promise = operand.alignment_field != nullptr || operand.is_matrix();
    const bool is_natural = operand.alignment == natural_alignment(operand);
    return {.rows = operand.rows,
            .columns = operand.columns,
            .order = operand.order,
            .leading_dimension = operand.leading_dimension(),
            .type = operand.type,
            .alignment = operand.alignment,
            .matrices = operand.inner_matrices(),
            .batch_stride = operand.batch_stride,
            .outer_matrices = operand.outer_matrices(),
            .outer_stride = operand.outer_stride,
            .inner = operand.inner,
            .generous = generous && (is_natural || !has_promise)};
}

MatrixForm form_of(const GemmSpec& spec, std::string_view name, bool generous) {
    return form_of(*kernel_operands(spec).find(name), generous);
}

MatrixForm workspace_form(std::int64_t bytes) {
    return {.rows = 1,
            .columns = bytes,
            .leading_dimension = bytes,
            .type = DataType::s8,
            .alignment = static_cast<int>(kWorkspaceAlignment)};
}

GuardedMatrix::GuardedMatrix(const std::shared_ptr<Device>& device, const MatrixForm& form, const std::string& name)
    : form_(form) {
    front_ = kGuardBytes + (form.generous ? 0 : form.alignment);  // allocations begin at multiples of 256 bytes
    const std::int64_t extent = form.extent_bytes();
    memory_ = DeviceMemory(device, front_ + extent + kGuardBytes);
    const auto at = [&](std::int64_t offset) {
        return DevicePointer{memory_.data().address + static_cast<std::uint64_t>(offset)};
    };
    device->name_memory(memory_.data(), name + " with its guard bands");
    device->guard_memory(at(0), static_cast<std::size_t>(front_), "the guard band before " + name);
    device->guard_memory(at(front_ + extent), kGuardBytes, "the guard band behind " + name);
}

DeviceMatrix GuardedMatrix::matrix() const {
    const bool row = form_.order == Order::row;
    const auto stride = [](std::int64_t extent, std::int64_t step) { return extent == 1 ? 0 : step; };
    return {.data = memory_.data().address + static_cast<std::uint64_t>(front_),
            .rows = form_.rows,
            .columns = form_.columns,
            .row_stride = stride(form_.rows, row ? form_.leading_dimension : 1),
            .column_stride = stride(form_.columns, row ? 1 : form_.leading_dimension),
            .type = form_.type,
            .matrices = (form_.inner != 0 ? form_.inner : form_.matrices) * form_.outer_matrices,
            .batch_stride = stride(form_.matrices, form_.batch_stride),
            .inner = form_.inner,
            .outer_stride = stride(form_.outer_matrices, form_.outer_stride)};
}

DeviceMatrix GuardedMatrix::disjoint_matrix() const {
    if (!form_.do_overlap()) {
        DeviceMatrix each = matrix();
        if (form_.inner != 0) each.inner = form_.matrices;
        each.matrices = form_.all_matrices();
        return each;
    }
    const std::int64_t elements = form_.extent_bytes() / bytes(form_.type);
    return {.data = matrix().data, .rows = 1, .columns = elements, .column_stride = 1, .type = form_.type};
}

GuardedLines GuardedMatrix::guarded_lines() const {
    const std::int64_t size = bytes(form_.type);
    GuardedLines guarded{.buffer = memory_.data(), .front = front_, .back = kGuardBytes};
    if (form_.do_overlap()) {
        guarded.lines = 1;
        guarded.run = form_.extent_bytes();
    } else if (form_.extent_bytes() != 0) {
        const auto [lines, groups, blocks] = in_order(form_.steps());
        guarded.lines = lines.count;
        guarded.run = form_.run() * size;
        guarded.pitch = lines.stride * size;
        guarded.groups = groups.count;
        const std::int64_t of_group = (lines.count - 1) * guarded.pitch + guarded.run;
        guarded.between = groups.count > 1 ? groups.stride * size - of_group : 0;
        guarded.blocks = blocks.count;
        const std::int64_t of_block = (groups.count - 1) * groups.stride * size + of_group;
        guarded.between_blocks = blocks.count > 1 ? blocks.stride * size - of_block : 0;
    }
    return guarded;
}

}  // namespace jitgemm
