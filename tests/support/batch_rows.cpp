#include "tests/support/batch_rows.hpp"

#include "runtime/support/element_codec.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <set>
#include <string>

namespace jitgemm::testing {
namespace {

constexpr std::array<std::int64_t, 8> kRows{1, 2, 7, 16, 33, 64, 128, 500};
constexpr std::int64_t kMostRows = 4096;

/// 24 bits between -1 and 1 that depend on row and column alone.
double value_at(std::uint64_t seed, std::int64_t row, std::int64_t column) {
    std::uint64_t bits = seed + static_cast<std::uint64_t>(row) * 0x9E3779B97F4A7C15 +
                         static_cast<std::uint64_t>(column) * 0xBF58476D1CE4E5B9;
    bits = (bits ^ (bits >> 30U)) * 0x94D049BB133111EB;
    return static_cast<double>(bits >> 40U) / (1 << 23) - 1;
}

struct Matrix {
    DataType type;
    Order order;
    std::int64_t rows, columns, ld;
    std::int64_t index(std::int64_t row, std::int64_t column) const {
        return order == Order::row ? row * ld + column : column * ld + row;
    }
    std::size_t size() const {
        return static_cast<std::size_t>((order == Order::row ? rows : columns) * ld * bytes(type));
    }
};

DeviceBuffer filled(Context& context, const Matrix& matrix, std::uint64_t seed, std::int64_t usual_rows,
                    OtherRows others) {
    std::vector<std::byte> data(matrix.size());
    for (std::int64_t row = 0; row < matrix.rows; ++row)
        for (std::int64_t column = 0; column < matrix.columns; ++column) {
            const bool is_usual = row < usual_rows || others == OtherRows::usual;
            const double value = is_usual ? value_at(seed, row, column) : std::numeric_limits<double>::quiet_NaN();
            const std::uint32_t element = element_bits(value, matrix.type);
            const auto size = static_cast<std::size_t>(bytes(matrix.type));
            std::memcpy(&data[static_cast<std::size_t>(matrix.index(row, column)) * size], &element, size);
        }
    DeviceBuffer buffer = context.allocate(std::max<std::size_t>(data.size(), 1));
    buffer.copy_from_host(data.data(), data.size());
    return buffer;
}

}  // namespace

std::vector<std::byte> rows_of_d(Context& context, const GemmKernel& kernel, std::int64_t usual_rows,
                                 OtherRows others) {
    const GemmSpec& spec = kernel.spec();
    const Matrix a{spec.a, order_a(spec.layout), spec.m, spec.k, spec.lda};
    const Matrix b{spec.b, order_b(spec.layout), spec.k, spec.n, spec.ldb};
    const Matrix d{spec.d, spec.d_order, spec.m * spec.batch, spec.n, spec.ldd};
    const Matrix c{spec.c.value_or(spec.d), spec.d_order, spec.c ? spec.m : 0, spec.c ? spec.n : 0, spec.ldc};
    const DeviceBuffer of_a = filled(context, a, 1, usual_rows, others);
    const DeviceBuffer of_b = filled(context, b, 2, b.rows, OtherRows::usual);
    const DeviceBuffer of_c = filled(context, c, 3, usual_rows, others);
    DeviceBuffer of_d = context.allocate(d.size());
    kernel.launch({.a = of_a.data(),
                   .b = of_b.data(),
                   .c = spec.c ? of_c.data() : nullptr,
                   .d = of_d.data(),
                   .alpha = 0.7F,
                   .beta = spec.c ? 0.3F : 0.0F});
    context.synchronize();
    std::vector<std::byte> left(d.size());
    of_d.copy_to_host(left.data(), left.size());
    std::vector<std::byte> rows;
    const auto element = static_cast<std::ptrdiff_t>(bytes(spec.d));
    for (std::int64_t row = 0; row < d.rows; ++row)
        for (std::int64_t column = 0; column < d.columns; ++column) {
            const auto from = left.begin() + d.index(row, column) * element;
            rows.insert(rows.end(), from, from + element);
        }
    return rows;
}

std::size_t check_batch_invariance(Context& context, GemmSpec spec) {
    std::set<std::string> kernels;
    const auto rows_with = [&](std::int64_t m, std::int64_t usual_rows, OtherRows others) {
        spec.m = m;
        const GemmKernel kernel = context.kernel(spec);
        kernels.insert(kernel.info().name);
        return rows_of_d(context, kernel, usual_rows, others);
    };
    const std::vector<std::byte> all = rows_with(kMostRows, kMostRows, OtherRows::usual);
    const std::size_t row_bytes = all.size() / kMostRows;
    const auto are_first_of_all = [&](const std::vector<std::byte>& rows, std::size_t count) {
        return std::equal(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count * row_bytes), all.begin());
    };
    for (const std::int64_t m : kRows) {
        INFO("m = " << m);
        CHECK(are_first_of_all(rows_with(m, m, OtherRows::usual), static_cast<std::size_t>(m)));
        const std::int64_t half = (m + 1) / 2;
        CHECK(are_first_of_all(rows_with(m, half, OtherRows::not_a_number), static_cast<std::size_t>(half)));
    }
    return kernels.size();
}

}  // namespace jitgemm::testing
