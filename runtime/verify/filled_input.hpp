#pragma once

#include "generator/base/operand.hpp"
#include "runtime/verify/guarded_matrix.hpp"
#include "runtime/verify/reference.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace jitgemm {

inline constexpr std::uint8_t kNanByte = 0xff;  // a NaN in every floating-point type
inline constexpr std::uint32_t kNanBits = 0xffffffff;

/// The damage that a kernel did to an operand that it may only read.
struct InputDamage {
    std::int64_t elements = 0;  ///< elements that no longer hold their fill
    std::int64_t outside = 0;   ///< bytes changed in the guard bands and between the lines
    std::string text;           ///< "3 elements of A were changed, first A[0, 5]: was 2, is 0"; empty without damage
};

/// An operand that a kernel may only read. It is NaN except the matrix itself, which is filled.
class FilledInput {
public:
    /// `read`: the first rows and columns, which results depend on. The others are NaN as well. Unset: all.
    FilledInput(std::shared_ptr<Device> device, const MatrixForm& form, std::string name, const Fill& fill,
                std::optional<MatrixSize> read);
    /// A vector with these values.
    FilledInput(std::shared_ptr<Device> device, const MatrixForm& form, std::string name,
                std::vector<std::int32_t> values);

    [[nodiscard]] const GuardedMatrix& memory() const { return memory_; }
    void fill(const Reference& reference) const;
    /// Compares every bit with the fill.
    [[nodiscard]] InputDamage damage(const Reference& reference) const;

private:
    [[nodiscard]] DeviceMatrix read_part() const;
    [[nodiscard]] DeviceMatrix unread_part() const;
    [[nodiscard]] CheckResult changed_values() const;
    [[nodiscard]] std::string change(const Reference& reference, const CheckResult& found) const;

    std::shared_ptr<Device> device_;
    std::string name_;
    Fill fill_;
    std::optional<MatrixSize> read_;
    std::vector<std::int32_t> values_;  ///< if not empty, in place of the fill
    GuardedMatrix memory_;
};

}  // namespace jitgemm
