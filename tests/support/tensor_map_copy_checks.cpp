#include "tests/support/tensor_map_copy_checks.hpp"

#include "jitgemm/error.hpp"

#include <fmt/format.h>

namespace jitgemm::testing {
namespace {

constexpr std::uint16_t kUncopiedElement = kUncopied * 0x101;

/// Device memory of a test.
class Memory {
public:
    Memory(Device& device, std::size_t bytes) : device_(device), pointer_(device.allocate(bytes)) {}
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { device_.free(pointer_); }
    [[nodiscard]] DevicePointer pointer() const { return pointer_; }

private:
    Device& device_;
    DevicePointer pointer_;
};

}  // namespace

std::vector<std::uint16_t> copied_input(const CopiedMatrix& matrix, std::uint64_t seed) {
    std::vector<std::uint16_t> bits(matrix.bytes_a() / 2);
    for (std::size_t i = 0; i < bits.size(); ++i)
        bits[i] = static_cast<std::uint16_t>((i + 1 + seed * 7919) * 0x9e3779b97f4a7c15ULL >> 47);
    return bits;
}

std::string wrong_copy(const CopiedMatrix& matrix, const std::vector<std::uint16_t>& a,
                       const std::vector<std::uint16_t>& d) {
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        for (std::int64_t column = 0; column < matrix.ldd; ++column) {
            // A store takes whole 16 bytes along, where the load left zeros.
            const std::uint16_t behind = column < (matrix.columns + 7) / 8 * 8 ? 0 : kUncopiedElement;
            const std::uint16_t expected =
                column < matrix.columns ? a[static_cast<std::size_t>(row * matrix.lda + column)] : behind;
            const std::uint16_t got = d[static_cast<std::size_t>(row * matrix.ldd + column)];
            if (got != expected)
                return fmt::format("{} x {}: ({}, {}) is {:#06x}, not {:#06x}", matrix.rows, matrix.columns, row,
                                   column, got, expected);
        }
    }
    return {};
}

std::string copy_problem(ContextState& context, const TensorMapCopy& copy, const CopiedMatrix& matrix) {
    try {
        Device& device = *context.device;
        const Memory a(device, matrix.bytes_a());
        const Memory d(device, matrix.bytes_d());
        const std::vector<std::uint16_t> input =
            copied_input(matrix, static_cast<std::uint64_t>(matrix.rows * 1000 + matrix.columns));
        device.copy_to_device(a.pointer(), input.data(), matrix.bytes_a());
        device.fill_bytes(d.pointer(), kUncopied, matrix.bytes_d());
        copy.kernel(matrix.rows, matrix.columns, matrix.lda, matrix.ldd)
            .launch(TensorMapCopy::arguments(a.pointer(), d.pointer()));
        device.synchronize(nullptr);
        std::vector<std::uint16_t> output(matrix.bytes_d() / 2);
        device.copy_to_host(output.data(), d.pointer(), matrix.bytes_d());
        return wrong_copy(matrix, input, output);
    } catch (const Error& error) {
        return fmt::format("{} x {}: {}", matrix.rows, matrix.columns, error.what());
    }
}

}  // namespace jitgemm::testing
