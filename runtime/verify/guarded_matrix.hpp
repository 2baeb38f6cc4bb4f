#pragma once

#include "generator/base/operand.hpp"
#include "jitgemm/device_pointer.hpp"
#include "runtime/verify/reference.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace jitgemm {

/// Device memory freed with the object (move-only).
class DeviceMemory {
public:
    DeviceMemory() = default;
    DeviceMemory(std::shared_ptr<Device> device, std::int64_t bytes);
    DeviceMemory(DeviceMemory&& other) noexcept;
    DeviceMemory& operator=(DeviceMemory&& other) noexcept;
    ~DeviceMemory();

    [[nodiscard]] DevicePointer data() const { return data_; }
    [[nodiscard]] std::int64_t size_bytes() const { return bytes_; }

private:
    std::shared_ptr<Device> device_;
    DevicePointer data_;
    std::int64_t bytes_ = 0;
};

/// The place of a matrix in memory.
struct MatrixForm {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    Order order = Order::row;
    std::int64_t leading_dimension = 0;
    DataType type = DataType::f32;
    int alignment = 16;             ///< the spec's alignment in bytes
    std::int64_t matrices = 1;      ///< along the first dimension of a batch
    std::int64_t batch_stride = 0;  ///< elements from one to the next
    std::int64_t outer_matrices = 1;
    std::int64_t outer_stride = 0;
    std::int64_t inner = 0;  ///< problems that batch_stride steps over; 0: all
    bool generous = false;   ///< begins at 256 bytes, else at no more than the alignment
    /// Of the first element, in bytes.
    [[nodiscard]] int base_alignment() const { return generous ? 256 : alignment; }

    [[nodiscard]] std::int64_t lines() const { return order == Order::row ? rows : columns; }
    [[nodiscard]] std::int64_t run() const { return order == Order::row ? columns : rows; }
    /// Of one matrix.
    [[nodiscard]] std::int64_t matrix_bytes() const;
    /// Of all matrices, from the first element to one past the last.
    [[nodiscard]] std::int64_t extent_bytes() const;
    [[nodiscard]] MemorySteps steps() const;
    [[nodiscard]] std::int64_t all_matrices() const { return matrices * outer_matrices; }
    /// Whether elements belong to several matrices of a batch.
    [[nodiscard]] bool do_overlap() const;
};

/// With generous placement an operand begins at 256 bytes if its alignment is the one that its leading dimension and a
/// base of 256 bytes give, and so does a vector of an epilogue, whose alignment nobody promises.
[[nodiscard]] MatrixForm form_of(const GemmOperand& operand, bool generous);
/// The form of the spec's operand with this name: "a".
[[nodiscard]] MatrixForm form_of(const GemmSpec& resolved_spec, std::string_view name, bool generous);

/// This many bytes, aligned as a workspace.
[[nodiscard]] MatrixForm workspace_form(std::int64_t bytes);

/// An operand in device memory between two guard bands, with the matrices of all problems of a batch.
class GuardedMatrix {
public:
    GuardedMatrix() = default;
    /// `name` is its name in faults of devices that have them. Its guard bands are guarded memory.
    GuardedMatrix(const std::shared_ptr<Device>& device, const MatrixForm& form, const std::string& name);

    /// Those of all problems of a batch, or the one that they share.
    [[nodiscard]] DeviceMatrix matrix() const;
    /// The same, with each element once: if matrices overlap, one row of all elements between the first and the last.
    [[nodiscard]] DeviceMatrix disjoint_matrix() const;
    /// All bytes that belong to no matrix.
    [[nodiscard]] GuardedLines guarded_lines() const;
    [[nodiscard]] const DeviceMemory& memory() const { return memory_; }
    [[nodiscard]] const MatrixForm& form() const { return form_; }

private:
    MatrixForm form_;
    DeviceMemory memory_;
    std::int64_t front_ = 0;
};

}  // namespace jitgemm
