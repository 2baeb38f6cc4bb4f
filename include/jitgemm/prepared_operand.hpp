#pragma once

#include "jitgemm/device_pointer.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace jitgemm {

struct PreparedState;  // the library's own

/// A or B in the form in which kernels of a spec with `prepared` read it: GemmKernel::prepare_a() and prepare_b() make
/// it. Copies are cheap and share the memory, which is freed with the last copy, unless the caller gave it. All kernels
/// take it whose form() is the same: the form depends on the operand alone, not on the other one, nor on D or a tile.
///
/// Where kernels read the operand as it lies, the object refers to it. Where operands are split in parts (Math::f16x3),
/// kernels for few rows read the operand, too. So the operand must stay, unchanged, as long as the object is used.
class PreparedOperand {
public:
    PreparedOperand() = default;
    [[nodiscard]] explicit operator bool() const { return state_ != nullptr; }

    /// "e4m3, 4096 lines of k=7168, K contiguous, pitch 7168": a line is a row of A or a column of B. This and the next
    /// functions throw Error for an empty object.
    [[nodiscard]] std::string form() const;
    [[nodiscard]] DevicePointer data() const;     ///< the copy; the operand, if that is read as it lies
    [[nodiscard]] DevicePointer operand() const;  ///< from which it was made
    [[nodiscard]] std::size_t bytes() const;      ///< of the copy; 0 if there is none

private:
    friend struct PreparedAccess;
    std::shared_ptr<const PreparedState> state_;
};

}  // namespace jitgemm
