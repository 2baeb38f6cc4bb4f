#include "runtime/bench/rotating_operands.hpp"

#include "runtime/support/element_codec.hpp"
#include "tests/catch.hpp"
#include "tests/support/host_reference_device.hpp"

#include <cmath>
#include <set>

using namespace jitgemm;
using jitgemm::testing::HostReferenceContext;

namespace {

constexpr std::int64_t kMegabyte = 1 << 20;
constexpr std::int64_t kPlenty = std::int64_t{100} << 30;

GemmSpec square(std::int64_t extent) { return resolved({.m = extent, .n = extent, .k = extent}); }

}  // namespace

TEST_CASE("copies of all operands together fill what was asked for") {
    const RotationPlan plan = rotation_plan(square(1024), 256 * kMegabyte, kPlenty);
    CHECK(plan.bytes_per_copy() == 6 * kMegabyte);
    CHECK(plan.copies == 43);
    CHECK(plan.copies * plan.bytes_per_copy() >= 256 * kMegabyte);
}

TEST_CASE("a problem larger than that has one copy, a tiny one no more than a graph can hold") {
    CHECK(rotation_plan(square(16384), 256 * kMegabyte, kPlenty).copies == 1);
    CHECK(rotation_plan(square(1), 256 * kMegabyte, kPlenty).copies == kMostCopies);
}

TEST_CASE("copies are no more than fit into memory") {
    CHECK(rotation_plan(square(1024), 256 * kMegabyte, 60 * kMegabyte).copies == 8);
    CHECK(rotation_plan(square(1024), 256 * kMegabyte, kMegabyte).copies == 1);  // the allocation will tell
}

TEST_CASE("launches rotate through aligned copies of normal numbers") {
    HostReferenceContext context;
    const GemmSpec spec = resolved({.m = 8, .n = 6, .k = 10, .c = DataType::bf16, .align_a = 2});
    const RotatingOperands operands(context.impl, spec, 3 * 1024, 1, 2.0F, 0.5F);
    REQUIRE(operands.copies() == 3);
    std::set<std::uint64_t> seen;
    for (int launch = 0; launch < 6; ++launch) {
        const GemmArguments arguments = operands.arguments(launch);
        seen.insert(arguments.a.address);
        CHECK(arguments.a.address % 4 == 2);
        CHECK(arguments.a.address - operands.arguments(0).a.address == static_cast<std::uint64_t>(launch % 3) * 256);
        CHECK(arguments.c);
        CHECK(arguments.beta == 0.5F);
        const auto* a = reinterpret_cast<const void*>(arguments.a.address);
        for (std::int64_t i = 0; i < 80; ++i) CHECK(std::fabs(element_value(a, spec.a, i)) < 7);
    }
    CHECK(seen.size() == 3);
}

TEST_CASE("each copy has arrays of addresses of its own matrices, which lie apart") {
    HostReferenceContext context;
    const GemmSpec spec = resolved({.m = 8, .n = 6, .k = 10, .pointers = true, .batch = 5});
    const RotatingOperands operands(context.impl, spec, 3 * 12 * 1024, 1, 1.0F, 0.0F);
    REQUIRE(operands.copies() > 1);
    std::set<std::uint64_t> seen;
    for (int launch = 0; launch < operands.copies(); ++launch) {
        const GemmArguments arguments = operands.arguments(launch);
        for (const DevicePointer array : {arguments.a, arguments.b, arguments.d}) {
            const auto* const addresses = reinterpret_cast<const std::uint64_t*>(array.address);
            for (int problem = 0; problem < 5; ++problem) seen.insert(addresses[problem]);
        }
        const auto* a = reinterpret_cast<const void*>(*reinterpret_cast<const std::uint64_t*>(arguments.a.address));
        for (std::int64_t i = 0; i < 80; ++i) CHECK(std::fabs(element_value(a, spec.a, i)) < 7);
    }
    CHECK(static_cast<std::int64_t>(seen.size()) == 15 * operands.copies());
    std::uint64_t before = 0;
    for (const std::uint64_t address : seen) {
        CHECK(address % 16 == 0);
        CHECK(address - before >= 256);
        before = address;
    }
}

TEST_CASE("without C, beta is 0 whatever was asked") {
    HostReferenceContext context;
    const RotatingOperands operands(context.impl, square(4), 1, 1, 1.0F, 1.0F);
    CHECK(operands.arguments(0).beta == 0.0F);
    CHECK_FALSE(operands.arguments(0).c);
}
