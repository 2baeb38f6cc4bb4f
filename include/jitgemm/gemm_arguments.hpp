#pragma once

#include "jitgemm/device_pointer.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace jitgemm {

/// Whether a kernel may start before the previous kernel of its stream has ended (CUDA C++ Programming Guide,
/// "Programmatic Dependent Launch and Synchronization"). The kernel then waits for the previous one before it accesses
/// memory, except for operands that the spec calls constant. So the results are right after and before every other
/// kernel.
enum class DependentLaunch : std::uint8_t {
    automatic,  ///< yes, if the kernel was generated with dependent_launch=1
    off,        ///< no: it starts when the previous kernel has ended
    on,         ///< yes; SpecError if the kernel was generated with dependent_launch=0
};

/// An operand of an epilogue, or an output beside D, by its name: the device address of a vector, a matrix or an
/// element, or the value of a scalar of the launch.
struct OperandArgument {
    std::string_view name;  ///< the caller's: it must live until the launch returns
    DevicePointer pointer;
    float value;

    OperandArgument() = default;
    constexpr OperandArgument(std::string_view of, DevicePointer address) : name(of), pointer(address), value(0) {}
    constexpr OperandArgument(std::string_view of, float scalar) : name(of), pointer(), value(scalar) {}
};

/// Operands of an epilogue in any order: {{"bias", bias}, {"scale", 0.5F}}.
class OperandArguments {
public:
    static constexpr std::size_t kMost = 16;

    OperandArguments() {}  // NOLINT(modernize-use-equals-default): the array stays as it is
    OperandArguments(std::initializer_list<OperandArgument> operands) {  // NOLINT: an array of what is used
        for (const OperandArgument& operand : operands) set(operand);
    }
    OperandArguments(const OperandArguments& other) { *this = other; }  // NOLINT: as above
    OperandArguments& operator=(const OperandArguments& other) {        // NOLINT: copies what is used
        size_ = other.size_;
        for (std::size_t i = 0; i < size_; ++i) operands_[i] = other.operands_[i];  // NOLINT: size_ is at most kMost
        return *this;
    }
    ~OperandArguments() = default;

    /// Adds the operand, or replaces the one of its name. Throws SpecError beyond kMost.
    void set(const OperandArgument& operand);
    /// Null if no operand has that name.
    [[nodiscard]] const OperandArgument* find(std::string_view name) const {
        for (const OperandArgument& operand : *this)
            if (operand.name == name) return &operand;
        return nullptr;
    }
    [[nodiscard]] const OperandArgument* begin() const { return operands_.data(); }
    [[nodiscard]] const OperandArgument* end() const { return operands_.data() + size_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }

private:
    std::array<OperandArgument, kMost> operands_;
    std::size_t size_ = 0;
};

class PreparedOperand;

/// Operands of one launch. Pointers are device addresses. C is read only if the spec has a C and beta is not 0. If the
/// spec has `pointers`, a, b, c and d are device addresses of arrays, each of one device address per problem. Only D's
/// addresses must differ. No launch checks whether matrices overlap.
struct GemmArguments {
    DevicePointer a{};
    DevicePointer b{};
    DevicePointer c{};
    DevicePointer d{};
    float alpha = 1.0F;
    float beta = 0.0F;
    /// Optional. Without it the context's own workspace for the stream serves. It must be aligned to 16 bytes, even if
    /// this kernel needs none: tuning may replace the kernel. It must not overlap A, B, C or D. Its contents after a
    /// launch are undefined.
    DevicePointer workspace{};
    std::size_t workspace_bytes = 0;
    DependentLaunch dependent_launch = DependentLaunch::automatic;
    /// Treat C as a bias: one row of n elements, added to every row of D (one column of m elements if D is
    /// column-major). If the spec has broadcast_c, every launch does this, and the kernel is chosen for it. Every other
    /// spec with a C allows it, too; ldc is ignored.
    bool broadcast_c = false;
    /// Of a spec with groups: s32 (groups). Without group_rows they are ends in rising order: group i ends before row
    /// offsets[i] and begins where the previous group ends, the first one at row 0. With group_rows, offsets[i] is the
    /// number of rows of group i. Rows of D outside the groups are not written. With Ragged::k, ends are those of
    /// groups along K. If ends decrease, or there are more rows than room, results are wrong, but no other memory is
    /// touched.
    DevicePointer offsets{};
    /// Of a spec with source_rows: s32 (m). Row i of D is made of row row_index[i] of A. A number outside 0 to
    /// source_rows - 1, -1 for example, stands for a row of zeros. Only the numbers of rows in groups are read.
    DevicePointer row_index{};
    /// In place of a and b, if the spec says that they are prepared. They must live until the launch returns, and what
    /// they refer to until it has ended.
    const PreparedOperand* prepared_a = nullptr;
    const PreparedOperand* prepared_b = nullptr;
    /// Of the spec's epilogue: each that its text names, except alpha and beta.
    OperandArguments operands = {};
};

}  // namespace jitgemm
