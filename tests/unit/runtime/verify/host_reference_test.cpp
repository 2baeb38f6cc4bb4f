/// The emulator's reference against the reference kernels' text run thread by thread on the host.

#include "runtime/verify/host_reference.hpp"

#include "runtime/support/element_codec.hpp"
#include "tests/catch.hpp"
#include "tests/support/child.hpp"
#include "tests/support/host_reference_device.hpp"
#include "tests/support/thread_limit.hpp"

#include <cmath>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <random>
#include <vector>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

constexpr std::int64_t kM = 21;
constexpr std::int64_t kN = 19;
constexpr std::int64_t kK = 35;

/// Three operands in one device's memory; D is the once-rounded product, but for what a test spoils.
struct Operands {
    explicit Operands(ContextState& context, const Reference& reference) : device(context.device) {
        a = matrix(kM, kK, Order::column, DataType::bf16);
        b = matrix(kK, kN, Order::row, DataType::bf16);
        d = matrix(kM, kN, Order::row, DataType::f32);
        reference.fill(a, {.kind = FillKind::integers, .seed = 5, .range = 4});
        reference.fill(b, {.kind = FillKind::sparse, .seed = 6, .group = 3});
    }
    ~Operands() {
        for (const DeviceMatrix& matrix : {a, b, d}) device->free(matrix.data);
    }
    Operands(const Operands&) = delete;
    Operands& operator=(const Operands&) = delete;

    [[nodiscard]] DeviceMatrix matrix(std::int64_t rows, std::int64_t columns, Order order, DataType type) const {
        const bool by_row = order == Order::row;
        return {device->allocate(static_cast<std::size_t>(rows * columns * bytes(type))),
                rows,
                columns,
                by_row ? columns : 1,
                by_row ? 1 : rows,
                type};
    }
    [[nodiscard]] Check check(bool exact) const {
        return {.a = a,
                .b = b,
                .d = d,
                .k = kK,
                .alpha = 2,
                .bound = {.sum_unit = 1e-6, .output_unit = 1e-7, .output_floor = 1e-30},
                .exact = exact};
    }
    void set_d(std::int64_t index, float value) const {
        device->copy_to_device(DevicePointer{d.data.address + 4 * static_cast<std::uint64_t>(index)}, &value, 4);
    }

    std::shared_ptr<Device> device;
    DeviceMatrix a, b, d;
};

std::vector<std::byte> bytes_of(Device& device, const DeviceMatrix& matrix, std::int64_t elements) {
    std::vector<std::byte> host(static_cast<std::size_t>(elements * bytes(matrix.type)));
    device.copy_to_host(host.data(), matrix.data, host.size());
    return host;
}

}  // namespace

TEST_CASE("the host's reference makes the operands the kernels make", "[threads]") {
    HostReferenceContext context;
    const HostReference host(context.impl.device);
    const std::unique_ptr<Reference> kernels = make_reference(context.impl);
    const Operands ours(context.impl, host);
    const Operands theirs(context.impl, *kernels);
    CHECK(bytes_of(*ours.device, ours.a, kM * kK) == bytes_of(*ours.device, theirs.a, kM * kK));
    CHECK(bytes_of(*ours.device, ours.b, kK * kN) == bytes_of(*ours.device, theirs.b, kK * kN));
}

TEST_CASE("the host's reference finds what the kernels find", "[heavy]") {
    HostReferenceContext context;
    const HostReference host(context.impl.device);
    const std::unique_ptr<Reference> kernels = make_reference(context.impl);
    const Operands operands(context.impl, host);
    for (const bool exact : {true, false}) {
        const Check check = operands.check(exact);
        for (std::int64_t i = 0; i < kM * kN; ++i)
            operands.set_d(i, static_cast<float>(host.element(check, static_cast<std::uint64_t>(i)).expected));
        CHECK(kernels->check(check).wrong == 0);  // they expect the same of every element
        CHECK(host.check(check).wrong == 0);

        operands.set_d(47, 0.5F);
        operands.set_d(200, std::nanf(""));
        const CheckResult found = host.check(check);
        const CheckResult expected = kernels->check(check);
        CHECK(found.wrong == 2);
        CHECK(found.wrong == expected.wrong);
        CHECK(found.first == expected.first);
        CHECK(host.element(check, 47).expected == kernels->element(check, 47).expected);
        CHECK(host.element(check, 47).got == 0.5);
    }
}

// K has two blocks and a part of one, and the rows of A begin within a block of 4.
TEST_CASE("scales of blocks of K are factors of the sums, on the host and in the kernels", "[heavy]") {
    constexpr std::int64_t kLong = 300;
    HostReferenceContext context;
    const HostReference host(context.impl.device);
    const std::unique_ptr<Reference> kernels = make_reference(context.impl);
    const Operands of_d(context.impl, host);
    const auto filled = [&](std::int64_t rows, std::int64_t columns, Order order, DataType type) {
        const DeviceMatrix matrix = of_d.matrix(rows, columns, order, type);
        host.fill(matrix, {.kind = FillKind::integers, .seed = static_cast<std::uint64_t>(rows), .range = 3});
        return matrix;
    };
    Check check = of_d.check(true);
    check.alpha = 1;
    check.k = kLong;
    check.a = filled(kM, kLong, Order::row, DataType::e4m3);
    check.b = filled(kLong, kN, Order::row, DataType::e5m2);
    check.scale_a = {.elements = filled(6, 3, Order::column, DataType::f32), .over = 4, .first = 2};
    check.scale_b = {.elements = filled(kN, 3, Order::row, DataType::f32)};

    const auto value = [&](const DeviceMatrix& matrix, std::int64_t row, std::int64_t column) {
        const auto all = bytes_of(*of_d.device, matrix, matrix.rows * matrix.columns);
        return element_value(all.data(), matrix.type, row * matrix.row_stride + column * matrix.column_stride);
    };
    const auto sum = [&](std::int64_t row, std::int64_t column) {
        double all = 0;
        for (std::int64_t k = 0; k < kLong; ++k)
            all += value(check.a, row, k) * value(check.scale_a.elements, (row + 2) / 4, k / 128) *
                   value(check.b, k, column) * value(check.scale_b.elements, column, k / 128);
        return all;
    };
    const std::vector<ProductSum> sums = host.sums(check);
    for (const std::int64_t row : {std::int64_t{0}, std::int64_t{2}, kM - 1})
        for (const std::int64_t column : {std::int64_t{0}, kN - 1}) {
            const std::int64_t number = row * kN + column;
            CHECK(sums.at(static_cast<std::size_t>(number)).sum == sum(row, column));
            CHECK(host.element(check, static_cast<std::uint64_t>(number)).expected == sum(row, column));
            CHECK(kernels->element(check, static_cast<std::uint64_t>(number)).expected == sum(row, column));
        }
    for (std::int64_t i = 0; i < kM * kN; ++i) of_d.set_d(i, static_cast<float>(sums[static_cast<std::size_t>(i)].sum));
    CHECK(kernels->check(check).wrong == 0);
    CHECK(host.check(check).wrong == 0);

    const float other = 7;  // a scale of the last block of K, for rows 2 to 5
    const auto place =
        static_cast<std::uint64_t>(1 * check.scale_a.elements.row_stride + 2 * check.scale_a.elements.column_stride);
    of_d.device->copy_to_device(DevicePointer{check.scale_a.elements.data.address + 4 * place}, &other, sizeof other);
    const CheckResult found = host.check(check);
    CHECK(found.wrong > 3 * kN);  // a sum may be 0
    CHECK(found.wrong <= 4 * kN);
    CHECK(found.first >= 2 * kN);
    CHECK(kernels->check(check).wrong == found.wrong);
    CHECK(kernels->check(check).first == found.first);
    for (const DeviceMatrix& matrix : {check.a, check.b, check.scale_a.elements, check.scale_b.elements})
        of_d.device->free(matrix.data);
}

TEST_CASE("the host's reference finds the same where the process may have no more threads", "[heavy]") {
    HostReferenceContext context;
    const HostReference host(context.impl.device);
    const Operands operands(context.impl, host);
    host.fill(operands.d, {.kind = FillKind::integers, .seed = 7, .range = 2});
    const std::uint64_t wrong = host.check(operands.check(true)).wrong;
    REQUIRE(wrong > 0);
    CHECK(in_child([&] {
              allow_threads(0);
              return host.check(operands.check(true)).wrong == wrong ? 0 : 1;
          }) == 0);
}

TEST_CASE("the host's reference finds the changed elements that the kernels find", "[threads]") {
    HostReferenceContext context;
    const HostReference host(context.impl.device);
    const std::unique_ptr<Reference> kernels = make_reference(context.impl);
    const Operands operands(context.impl, host);
    const Fill integers{.kind = FillKind::integers, .seed = 5, .range = 4};
    CHECK(host.compare(operands.a, integers).wrong == 0);
    CHECK(kernels->compare(operands.a, integers).wrong == 0);
    const auto set = [&](std::int64_t row, std::int64_t column, std::uint16_t bits) {
        const auto offset = 2 * static_cast<std::uint64_t>(row + column * kM);
        operands.device->copy_to_device(DevicePointer{operands.a.data.address + offset}, &bits, 2);
    };
    set(20, 34, 0x5555);
    set(7, 30, 0x1234);
    set(8, 2, 0xffff);
    for (const Reference* reference : std::initializer_list<const Reference*>{&host, kernels.get()}) {
        const CheckResult found = reference->compare(operands.a, integers);
        CHECK(found.wrong == 3);
        CHECK(found.first == 7 * kK + 30);
        CHECK(reference->compared_element(operands.a, integers, found.first).got == 0x1234);
        CHECK(reference->compared_element(operands.a, integers, found.first).expected ==
              host.compared_element(operands.a, integers, found.first).expected);
    }
    const Fill other{.kind = FillKind::constant, .constant = 0xffffffff};
    CHECK(host.compare(operands.a, other).wrong == kM * kK - 1);
    CHECK(kernels->compare(operands.a, other).wrong == kM * kK - 1);
}

TEST_CASE("the host's reference counts damaged bytes as the kernels do", "[threads]") {
    HostReferenceContext context;
    const HostReference host(context.impl.device);
    const std::unique_ptr<Reference> kernels = make_reference(context.impl);
    Device& device = *context.impl.device;
    const DevicePointer buffer = device.allocate(100);
    const GuardedLines lines{.buffer = buffer, .front = 10, .lines = 3, .run = 12, .pitch = 20, .back = 10};
    device.fill_bytes(buffer, 0x5a, 100);
    for (const int offset : {0, 9, 10, 21, 22, 29, 30, 62, 71}) {
        device.fill_bytes(DevicePointer{buffer.address + static_cast<std::uint64_t>(offset)}, 1, 1);
        CHECK(host.guard_damage(lines, 0x5a) == kernels->guard_damage(lines, 0x5a));
    }
    CHECK(host.guard_damage(lines, 0x5a) == 6);  // but for 10, 21 and 30, which lie in lines
    device.free(buffer);
}
