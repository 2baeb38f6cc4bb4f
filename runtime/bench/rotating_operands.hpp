#pragma once

#include "generator/base/operand.hpp"
#include "jitgemm/device_pointer.hpp"
#include "jitgemm/gemm_arguments.hpp"
#include "runtime/verify/group_sizes.hpp"
#include "runtime/verify/guarded_matrix.hpp"
#include "runtime/verify/reference_kernels.hpp"

#include <cstdint>
#include <numeric>
#include <vector>

namespace jitgemm {

/// The number of copies of a problem's operands for rotation, and the distance between the copies of an operand.
struct RotationPlan {
    std::int64_t copies = 1;
    std::vector<std::int64_t> strides;  ///< of each operand, bytes; multiples of 256
    [[nodiscard]] std::int64_t bytes_per_copy() const {
        return std::accumulate(strides.begin(), strides.end(), std::int64_t{0});
    }
};

/// Enough copies for `wanted_bytes` in all. There are at most kMostCopies, because a graph holds a launch for each, and
/// at most as many as fit into four fifths of the free memory. There is at least one.
inline constexpr std::int64_t kMostCopies = 2048;
[[nodiscard]] RotationPlan rotation_plan(const OperandList& operands, std::int64_t wanted_bytes,
                                         std::int64_t free_bytes);
[[nodiscard]] RotationPlan rotation_plan(const GemmSpec& resolved_spec, std::int64_t wanted_bytes,
                                         std::int64_t free_bytes);

/// Copies of a problem's operands. Inputs are standard normal, and the others are zero. They begin where
/// Placement::generous puts them.
class RotatingOperands {
public:
    /// With groups, the rows of each copy are divided anew, and rows of A drawn.
    RotatingOperands(ContextState& context, const GemmSpec& resolved_spec, std::int64_t wanted_bytes,
                     std::uint64_t seed, float alpha, float beta, GroupSizes sizes = GroupSizes::uniform);
    RotatingOperands(ContextState& context, const OperandList& operands, std::int64_t wanted_bytes, std::uint64_t seed,
                     float alpha, float beta);

    [[nodiscard]] std::int64_t copies() const { return plan_.copies; }
    /// Operands of launch `index`. Copies repeat.
    [[nodiscard]] GemmArguments arguments(std::int64_t index) const;
    /// Sets only their addresses.
    void point(GemmArguments& arguments, std::int64_t index) const;

private:
    struct Copies {
        GemmOperand operand;
        DeviceMemory memory;
        DevicePointer first;
        std::int64_t stride = 0;
        DeviceMemory arrays;  ///< of the matrices' addresses, one behind the other, if a launch takes these
        [[nodiscard]] DevicePointer at(std::int64_t copy) const {
            return first.address + static_cast<std::uint64_t>(copy * stride);
        }
        /// The address that a launch takes.
        [[nodiscard]] DevicePointer given(std::int64_t copy) const {
            if (!operand.by_addresses) return at(copy);
            return arrays.data().address + static_cast<std::uint64_t>(copy * operand.batch) * sizeof(std::uint64_t);
        }
    };
    [[nodiscard]] Copies allocate(const std::shared_ptr<Device>& device, const GemmOperand& operand,
                                  std::int64_t stride) const;
    void add_arrays(const std::shared_ptr<Device>& device, Copies& copies, std::uint64_t seed) const;
    void divide_rows(Device& device, const GemmSpec& spec, GroupSizes sizes, std::uint64_t seed) const;
    static void fill(const ReferenceKernels& kernels, const Copies& copies, DataType type, std::uint64_t seed);

    RotationPlan plan_;
    std::vector<Copies> operands_;
    GemmArguments scalars_;  ///< of each launch
};

}  // namespace jitgemm
