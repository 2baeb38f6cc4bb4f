/// 8-bit operands on a GPU with wgmma: all pairs of numbers, the bits that sums keep, a D in 8 bits, sums of integers.
/// The checks are those of the emulator's tests. Sums that tensor cores cut have the emulator's bits.

#include "runtime/context/context_state.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/support/eight_bits.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

bool has_wgmma(Context& context) { return state_of(context).device->model().arch->has_wgmma; }

}  // namespace

#define REQUIRE_WGMMA(context) \
    if (!has_wgmma(context)) SKIP_TEST("this GPU has no wgmma")

TEST_CASE("8-bit floats on a GPU: the product of every pair of numbers") {
    REQUIRE_GPU();
    Context context;
    REQUIRE_WGMMA(context);
    for (const DataType a : {DataType::e4m3, DataType::e5m2})
        for (const DataType b : {DataType::e4m3, DataType::e5m2})
            for (const Summation sums : {Summation::fast, Summation::promoted}) check_every_pair(context, a, b, sums);
}

TEST_CASE("8-bit floats on a GPU: D in 8 bits is rounded to the nearest, saturates and keeps NaN") {
    REQUIRE_GPU();
    Context context;
    REQUIRE_WGMMA(context);
    for (const DataType type : {DataType::e4m3, DataType::e5m2}) check_float8_rounding(context, type);
}

TEST_CASE("8-bit floats on a GPU: fast sums keep 13 fraction bits, promoted ones those of f32 after every 128 of K") {
    REQUIRE_GPU();
    Context context;
    REQUIRE_WGMMA(context);
    check_kept_bits(context);
}

TEST_CASE("8-bit floats on a GPU: cut sums of random numbers have the emulator's bits") {
    REQUIRE_GPU();
    Context context;
    REQUIRE_WGMMA(context);
    for (const std::string config : {"block=128x64x128,warpgroup=64x64,stages=3", "block=64x32x128,warpgroup=64x32"}) {
        const std::vector<std::uint32_t> fast = random_float8_sums(context, Summation::fast, config);
        CHECK(fast == random_float8_sums(on_hopper(), Summation::fast, config));
        const std::string promoted = config + ",promote=128";
        const std::vector<std::uint32_t> exact = random_float8_sums(context, Summation::promoted, promoted);
        CHECK(exact == random_float8_sums(on_hopper(), Summation::promoted, promoted));
        const auto equal = std::ranges::mismatch(fast, exact).in1 == fast.end();
        CHECK_FALSE(equal);  // else the numbers cut nothing
    }
}

TEST_CASE("8-bit integers on a GPU: sums of random bytes are exact") {
    REQUIRE_GPU();
    Context context;
    REQUIRE_WGMMA(context);
    for (const std::int64_t k : {1, 75, 400, 4112})
        for (const std::string_view variant : {"block=128x256x128,warpgroup=64x256,stages=3,cluster=2x1",
                                               "block=128x112x128,warpgroup=128x112,schedule=pingpong,stages=3",
                                               "block=64x8x256,warpgroup=64x8,stages=6,rasterization=column",
                                               "block=128x64x128,warpgroup=64x64,stages=4,stream_k=7",
                                               "block=256x80x128,warpgroup=128x80,schedule=overlapped,stages=3"})
            for (const Order order : {Order::row, Order::column}) check_int8_sums(context, k, variant, order);
}

TEST_CASE("8-bit integers on a GPU: D in 8 bits is rounded to the nearest, and saturates") {
    REQUIRE_GPU();
    Context context;
    REQUIRE_WGMMA(context);
    check_int8_rounding(context);
}
