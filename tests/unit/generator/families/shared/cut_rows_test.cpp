#include "generator/families/shared/cut_rows.hpp"
#include "tests/catch.hpp"

#include <array>

using namespace jitgemm;

// Against a count over 128 rows, which begin wherever in a line such a pitch lets them.
TEST_CASE("rows of 128 bytes: how many lie in two lines of L2, and how many in five sectors") {
    constexpr std::array<std::int64_t, 8> kPitches{128, 4096, 192, 2080, 2064, 6, 22320, 130};
    for (const std::int64_t pitch : kPitches) {
        INFO(pitch);
        int in_two_lines = 0;
        bool in_five_sectors = false;
        for (std::int64_t row = 0; row < 128; ++row) {
            const std::int64_t first = row * pitch;
            const std::int64_t last = first + 127;
            in_two_lines += last / 128 != first / 128 ? 1 : 0;
            in_five_sectors = in_five_sectors || last / 32 - first / 32 == 4;
        }
        CHECK(second_line_share(pitch) == in_two_lines / 128.0);
        CHECK(begins_within_sectors(pitch) == in_five_sectors);
    }
}
