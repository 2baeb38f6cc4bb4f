#pragma once

#include <cstdint>

/// \file The descriptor by which wgmma finds an operand in shared memory (PTX ISA, "Matrix Descriptor Format" and
/// "Strides").

namespace jitgemm::emulator {

/// Rows are m of A and n of B. All numbers are bytes.
class MatrixDescriptor {
public:
    /// Throws AccessFault for a base offset. Only tiles that are swizzled relative to an unaligned base have one.
    MatrixDescriptor(std::uint64_t bits, bool k_major);

    /// Offset in shared memory of 16 bytes of the operand: K-major, bytes 16 · chunk and on of a row. MN-major, of
    /// 16-bit elements, (8 · row, k) to (8 · row + 7, k) with `chunk` as k.
    [[nodiscard]] std::uint32_t chunk(std::uint32_t row, std::uint32_t chunk) const;
    [[nodiscard]] bool k_major() const { return k_major_; }

private:
    [[nodiscard]] std::uint32_t k_major_offset(std::uint32_t row, std::uint32_t chunk) const;
    [[nodiscard]] std::uint32_t mn_major_offset(std::uint32_t rows_of_eight, std::uint32_t k) const;

    bool k_major_;
    std::uint32_t start_;
    std::uint32_t leading_;  ///< byte offsets
    std::uint32_t stride_;
    std::uint32_t span_;  ///< of the swizzle; 16: none
};

}  // namespace jitgemm::emulator
