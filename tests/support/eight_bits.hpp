#pragma once

#include "jitgemm/jitgemm.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// \file Checks of 8-bit operands that the tests on a GPU and on the emulator share. What they compare with is computed
/// here, from the formats and from whole numbers.

namespace jitgemm::testing {

/// The number of a byte, as the OCP's specification of 8-bit floats has it.
[[nodiscard]] double float8_value(unsigned byte, DataType type);

/// A (m×k) and B (k×n) have K contiguous.
[[nodiscard]] GemmSpec float8_spec(std::int64_t m, std::int64_t n, std::int64_t k, DataType a = DataType::e4m3,
                                   DataType b = DataType::e4m3);
[[nodiscard]] GemmSpec int8_spec(std::int64_t m, std::int64_t n, std::int64_t k, DataType d = DataType::s32);

/// CHECKs D in f32 of a K of 1, for all numbers of A by all numbers of B.
void check_every_pair(Context& context, DataType a, DataType b, Summation sums);

/// CHECKs D of this 8-bit type for all numbers of e4m3 by all of e5m2: it is the nearest number, ties to even, the
/// largest one beyond it, and NaN for NaN.
void check_float8_rounding(Context& context, DataType d);

/// CHECKs sums that need a fourteenth fraction bit: tensor cores lose it, CUDA cores don't.
void check_kept_bits(Context& context);

/// D in f32, as bits, of random finite numbers in e4m3 and e5m2. Their sums have many more bits than tensor cores keep.
/// The kernel has this config of wgmma_warp_specialized.
[[nodiscard]] std::vector<std::uint32_t> random_float8_sums(Context& context, Summation sums,
                                                            const std::string& config);

/// Random bytes in rows at a pitch that TMA can address, or that is packed where it is odd.
struct Bytes {
    Bytes(std::int64_t rows, std::int64_t columns, std::int64_t pitch_of_rows, unsigned seed);
    std::int8_t& at(std::int64_t row, std::int64_t column) {
        return elements[static_cast<std::size_t>(row * pitch + column)];
    }
    [[nodiscard]] std::int64_t at(std::int64_t row, std::int64_t column) const {
        return elements[static_cast<std::size_t>(row * pitch + column)];
    }

    std::int64_t pitch;
    std::vector<std::int8_t> elements;
};

/// D, in f64, = A (m×k) · B^T (n×k) by a kernel of this config. D is s32 or s8.
[[nodiscard]] std::vector<double> int8_product(Context& context, GemmSpec spec, const Bytes& a, const Bytes& b,
                                               const std::string& config, float alpha = 1.0F);

/// Elements of D that are not `wanted` of the exact sum.
[[nodiscard]] int count_wrong(const GemmSpec& spec, const Bytes& a, const Bytes& b, const std::vector<double>& d,
                              const std::function<double(double)>& wanted);

/// CHECKs s32 sums of random bytes by this variant, for D by rows and by columns.
void check_int8_sums(Context& context, std::int64_t k, std::string_view variant, Order order);

/// CHECKs D of s8, rounded to the nearest even and saturated.
void check_int8_rounding(Context& context);

}  // namespace jitgemm::testing
