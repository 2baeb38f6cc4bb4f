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
    if (lines() == 0 || run() == 0) return 0;
    return ((lines() - 1) * leading_dimension + run()) * bytes(type);
}

std::int64_t MatrixForm::extent_bytes() const {
    const std::int64_t of_one = matrix_bytes();
    return of_one == 0 || matrices == 0 ? 0 : (matrices - 1) * batch_stride * bytes(type) + of_one;
}

bool MatrixForm::are_side_by_side() const {
    return matrices > 1 && lines() > 1 && batch_stride >= run() &&
           (matrices - 1) * batch_stride + run() <= leading_dimension;
}

bool MatrixForm::do_overlap() const {
    return matrices > 1 && batch_stride * bytes(type) < matrix_bytes() && !are_side_by_side();
}

MatrixForm form_of(const GemmOperand& operand, bool generous) {
    const bool has_promise = operand.alignment_field != nullptr || operand.is_matrix();
    const bool is_natural = operand.alignment == natural_alignment(operand);
    return {.rows = operand.rows,
            .columns = operand.columns,
            .order = operand.order,
            .leading_dimension = operand.leading_dimension(),
            .type = operand.type,
            .alignment = operand.alignment,
            .matrices = operand.matrices(),
            .batch_stride = operand.batch_stride,
            .generous = generous && (is_natural || !has_promise)};
}

MatrixForm form_of(const GemmSpec& spec, std::string_view name, bool generous) {
    return form_of(*gemm_operands(spec).find(name), generous);
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

DeviceMatrix GuardedMatrix::matrix(std::int64_t problem) const {
    const bool row = form_.order == Order::row;
    const auto stride = [](std::int64_t extent, std::int64_t step) { return extent == 1 ? 0 : step; };
    const std::int64_t offset = form_.matrices > 1 ? problem * form_.batch_stride * bytes(form_.type) : 0;
    return {memory_.data().address + static_cast<std::uint64_t>(front_ + offset),
            form_.rows,
            form_.columns,
            stride(form_.rows, row ? form_.leading_dimension : 1),
            stride(form_.columns, row ? 1 : form_.leading_dimension),
            form_.type};
}

std::vector<DeviceMatrix> GuardedMatrix::disjoint_matrices() const {
    std::vector<DeviceMatrix> list;
    if (form_.do_overlap()) {
        const std::int64_t elements = form_.extent_bytes() / bytes(form_.type);
        return {{matrix().data, 1, elements, 0, 1, form_.type}};
    }
    for (std::int64_t problem = 0; problem < form_.matrices; ++problem) list.push_back(matrix(problem));
    return list;
}

std::vector<GuardedLines> GuardedMatrix::guarded_lines() const {
    const std::int64_t size = bytes(form_.type), extent = form_.extent_bytes();
    if (extent == 0) return {{memory_.data(), front_, 0, 0, 0, kGuardBytes}};
    if (form_.do_overlap()) return {{memory_.data(), front_, 1, extent, extent, kGuardBytes}};
    // Two levels: lines of matrices, or matrices side by side in lines.
    const bool by_line = form_.are_side_by_side();
    const std::int64_t outer = by_line ? form_.lines() : form_.matrices;
    const std::int64_t step = (by_line ? form_.leading_dimension : form_.batch_stride) * size;
    const std::int64_t inner = by_line ? form_.matrices : form_.lines();
    const std::int64_t pitch = (by_line ? form_.batch_stride : form_.leading_dimension) * size;
    const std::int64_t length = (inner - 1) * pitch + form_.run() * size;
    std::vector<GuardedLines> list;
    for (std::int64_t i = 0; i < outer; ++i)
        list.push_back({memory_.data().address + static_cast<std::uint64_t>(i == 0 ? 0 : front_ + i * step),
                        i == 0 ? front_ : 0, inner, form_.run() * size, pitch,
                        i == outer - 1 ? kGuardBytes : step - length});
    return list;
}

}  // namespace jitgemm
