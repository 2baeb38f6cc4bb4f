#pragma once

#include "runtime/emulator/tensor_core.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace jitgemm::testing {

/// Operands of many warps' mma.sync: word [t · r · 32 + 32 · i + l] is register i of lane l of tile t.
struct MmaTiles {
    int count = 0;
    std::vector<std::uint32_t> a;
    std::vector<std::uint32_t> b;
    std::vector<std::uint32_t> c;
};

/// Tiles `first` … `first + count - 1` of the endless sequence that belongs to the instruction: the same on every
/// machine. They stress what differs between models of the sum: close and far exponents, cancellation, subnormal
/// numbers, zeros beside large factors, overflow, sums half way between two results, infinities and NaN.
[[nodiscard]] MmaTiles mma_tiles(const emulator::MmaKind& kind, std::uint64_t first, int count);

/// D of all tiles by emulator::mma.
[[nodiscard]] std::vector<std::uint32_t> emulated(const emulator::MmaKind& kind, emulator::TensorCoreModel model,
                                                  const MmaTiles& tiles);

/// A PTX module with entry `mma_tiles` (u64 a, b, c, d; u32 count): a warp per tile, blocks of 128 threads.
[[nodiscard]] std::string mma_ptx(const emulator::MmaKind& kind, int compute_capability);

/// Whether two words of D are the same result: bits, but any NaN for any of f64, whose bits nothing fixes.
[[nodiscard]] bool same_element(const emulator::MmaKind& kind, std::uint64_t left, std::uint64_t right);

/// The dot product behind element (row, column) of tile `tile` in hexadecimal: "c=… a=… b=…", k by k.
[[nodiscard]] std::string describe_dot(const emulator::MmaKind& kind, const MmaTiles& tiles, int tile, int row,
                                       int column);

/// Element (row, column) of D.
[[nodiscard]] std::uint64_t result_element(const emulator::MmaKind& kind, const std::vector<std::uint32_t>& d, int tile,
                                           int row, int column);

}  // namespace jitgemm::testing
