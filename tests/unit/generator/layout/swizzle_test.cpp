#include "generator/layout/swizzle.hpp"
#include "tests/catch.hpp"
#include "tests/support/wavefronts.hpp"

#include <set>

using namespace jitgemm;
using jitgemm::testing::access_wavefronts;
using jitgemm::testing::ldmatrix_wavefronts;

namespace {

constexpr int kPitches[] = {16, 32, 64, 128, 256, 384, 512};

/// The TMA unit changes the bits of a byte address by this rule: 32-, 64- and 128-byte swizzles.
int tma_swizzled(int address, int span) {
    const int mask = span == 128 ? 7 : span == 64 ? 3 : 1;
    return address ^ ((address >> 7 & mask) << 4);
}

}  // namespace

TEST_CASE("rows of 16, 32, 64 and multiples of 128 bytes can be swizzled") {
    for (const int pitch : kPitches) CHECK(swizzle_violation(pitch).empty());
    for (const int pitch : {0, -128, 8, 48, 96, 144, 160, 192}) {
        CHECK_THAT(swizzle_violation(pitch),
                   Catch::Matchers::ContainsSubstring("rows of " + std::to_string(pitch) + " bytes"));
    }
}

TEST_CASE("the swizzle permutes the chunks of each row within its span") {
    for (const int pitch : kPitches) {
        INFO("pitch " << pitch);
        for (int row = 0; row < 64; ++row) {
            std::set<int> chunks;
            for (int chunk = 0; chunk < pitch / 16; ++chunk) {
                const int moved = swizzled_chunk(pitch, row, chunk);
                CHECK((moved >= 0 && moved < pitch / 16));
                CHECK(moved * 16 / swizzle_span(pitch) == chunk * 16 / swizzle_span(pitch));
                CHECK(swizzled_chunk(pitch, row, moved) == chunk);
                CHECK(swizzled_offset(pitch, row, chunk) == row * pitch + moved * 16);
                chunks.insert(moved);
            }
            CHECK(chunks.size() == static_cast<std::size_t>(pitch / 16));
        }
    }
}

TEST_CASE("rows of 32, 64 and 128 bytes are swizzled as TMA swizzles them") {
    for (const int pitch : {32, 64, 128}) {
        CHECK(swizzle_span(pitch) == pitch);
        for (int row = 0; row < 64; ++row) {
            for (int chunk = 0; chunk < pitch / 16; ++chunk) {
                CHECK(swizzled_offset(pitch, row, chunk) == tma_swizzled(row * pitch + chunk * 16, pitch));
            }
        }
    }
    CHECK(swizzle_span(16) == 16);
    CHECK(swizzle_span(512) == 128);
}

TEST_CASE("ldmatrix meets no bank conflict in swizzled or padded rows, and does in plain ones") {
    for (const int pitch : kPitches) {
        INFO("pitch " << pitch);
        for (int chunk = 0; chunk < pitch / 16; ++chunk) {
            for (const int x : {1, 2, 4}) {
                CHECK(ldmatrix_wavefronts(x, [&](int lane) { return swizzled_offset(pitch, lane, chunk); }) == x);
            }
        }
        // One chunk of padding puts neighbours an odd number of chunks apart where the row itself is an even number.
        if (pitch >= 32) CHECK(ldmatrix_wavefronts(4, [&](int lane) { return lane * (pitch + 16); }) == 4);
    }
    CHECK(ldmatrix_wavefronts(4, [](int lane) { return lane * 32; }) == 8);
    CHECK(ldmatrix_wavefronts(4, [](int lane) { return lane * 64; }) == 16);
    CHECK(ldmatrix_wavefronts(4, [](int lane) { return lane * 128; }) == 32);
    CHECK(ldmatrix_wavefronts(1, [](int lane) { return lane * 128; }) == 8);
}

TEST_CASE("padding works for rows of any even number of chunks") {
    for (int pitch = 32; pitch <= 512; pitch += 32) {
        CHECK(ldmatrix_wavefronts(4, [&](int lane) { return lane * (pitch + 16) + 16; }) == 4);
    }
}

TEST_CASE("a warp that fills whole rows in 16-byte chunks meets no bank conflict") {
    for (const int pitch : kPitches) {
        INFO("pitch " << pitch);
        const int chunks = pitch / 16;
        CHECK(access_wavefronts(16, [&](int lane) { return swizzled_offset(pitch, lane / chunks, lane % chunks); }) ==
              4);
    }
}

TEST_CASE("narrower copies into swizzled rows meet no bank conflict while the lanes run along a row") {
    for (const int pitch : {128, 256, 512}) {
        const auto address = [&](int byte) {
            return swizzled_offset(pitch, byte / pitch, byte % pitch / 16) + byte % 16;
        };
        for (const int bytes : {4, 8, 16}) {
            CHECK(access_wavefronts(bytes, [&](int lane) { return address(lane * bytes); }) ==
                  (bytes <= 4 ? 1 : bytes / 4));
        }
    }
}
