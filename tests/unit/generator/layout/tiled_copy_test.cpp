#include "generator/layout/tiled_copy.hpp"
#include "tests/catch.hpp"
#include "tests/support/cute_data.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

using namespace jitgemm;

namespace {

const Layout kThreads = parse_layout("(16,8):(8,1)");
const Layout kRowOf8 = parse_layout("(1,8)");

const CopyWidth& width(const std::vector<CopyWidth>& widths, int bytes) {
    return *std::ranges::find_if(widths, [&](const CopyWidth& row) { return row.bytes == bytes; });
}

}  // namespace

// make_tiled_copy and partition_S of CuTe (CUTLASS 4.7, NVIDIA/cutlass 7107b05).
TEST_CASE("tiled copies are CuTe's") {
    const std::vector<std::string> lines = testing::cute_lines("cute_tiled_copy.txt", "copy");
    REQUIRE(lines.size() == 20);
    for (const std::string& line : lines) {
        INFO(line);
        std::istringstream words(line);
        std::string threads, values, tensor, tile, layout_tv, partition;
        int vector = 0, thread = 0;
        std::int64_t offset = 0;
        words >> threads >> values >> tensor >> vector >> thread >> tile >> layout_tv >> offset >> partition;
        const TiledCopy copy(parse_layout(threads), parse_layout(values));
        CHECK("(" + std::to_string(copy.rows()) + "," + std::to_string(copy.columns()) + ")" == tile);
        CHECK(to_string(copy.layout_tv()) == layout_tv);
        const Slice part = copy.partition(parse_layout(tensor), vector, thread);
        CHECK(part.offset == offset);
        CHECK(table(part.layout) == table(parse_layout(partition)));
    }
}

TEST_CASE("threads copy every element of a tile once") {
    const TiledCopy copy(kThreads, kRowOf8);
    const Layout data = parse_layout("(128,64):(72,1)");
    std::set<std::int64_t> copied;
    for (int thread = 0; thread < 128; ++thread) {
        const std::vector<CopyVector> vectors = copy_vectors(copy, data, 8, thread);
        REQUIRE(vectors.size() == 8);
        for (int i = 0; i < 8; ++i) {
            const CopyVector& vector = vectors[static_cast<std::size_t>(i)];
            CHECK(vector ==
                  CopyVector{thread / 8 + 16 * i, 8 * (thread % 8), 72 * (thread / 8 + 16 * i) + 8 * (thread % 8)});
            for (int element = 0; element < 8; ++element) copied.insert(vector.offset + element);
        }
    }
    CHECK(copied.size() == 128 * 64);
}

TEST_CASE("the widest instruction follows from alignment and layout") {
    const TiledCopy copy(kThreads, kRowOf8);
    const auto widths = [&](std::string_view data, int alignment) {
        return copy_widths(copy, parse_layout(data), 16, alignment, CopyKind::global_to_shared);
    };
    CHECK(widest(widths("(128,64):(64,1)", 16))->bytes == 16);
    CHECK(widest(widths("(128,64):(64,1)", 16))->instruction == "SM80_CP_ASYNC_CACHEGLOBAL");
    CHECK(widest(widths("(128,64):(68,1)", 16))->bytes == 8);
    CHECK(widest(widths("(128,64):(66,1)", 16))->bytes == 4);
    CHECK(widest(widths("(128,64):(65,1)", 16))->instruction == "ld.global.b16 + st.shared.b16");
    CHECK(widest(widths("(128,64):(64,1)", 4))->bytes == 4);
    CHECK(widest(widths("(128,64)", 16))->bytes == 2);  // column-major: a thread's values lie 128 apart
    CHECK(width(widths("(128,64):(68,1)", 16), 16).reason == "a stride of 68 elements is no multiple of 8");
    CHECK(width(widths("(128,64):(64,1)", 8), 16).reason == "the data are aligned to 8 bytes, no multiple of 16");
    const auto from_shared = copy_widths(copy, parse_layout("(128,64):(64,1)"), 16, 16, CopyKind::shared_to_register);
    CHECK(widest(from_shared)->instruction == "ld.shared.v4.b32");
}

TEST_CASE("a copy to registers takes what an operand's fragments need") {
    const TiledMma mma(mma_atom("SM80_16x8x16_F32F16F16F32_TN"), parse_layout("(2,2,1)"));
    const TiledCopy copy(mma, Operand::a);
    const Layout k_major = parse_layout("(32,16):(16,1)"), m_major = parse_layout("(32,16)");
    // Two neighbours along k share a register, whichever way shared memory holds them.
    CHECK(widest(copy_widths(copy, k_major, 16, 16, CopyKind::shared_to_register))->bytes == 4);
    CHECK(widest(copy_widths(copy, m_major, 16, 16, CopyKind::shared_to_register))->bytes == 2);
}

TEST_CASE("copies refuse what does not divide") {
    const TiledCopy copy(kThreads, kRowOf8);
    CHECK_THROWS_AS(TiledCopy(parse_layout("(16,8):(16,1)"), kRowOf8), LayoutError);
    CHECK_THROWS_AS(copy_vectors(copy, parse_layout("(120,64):(64,1)"), 8, 0), LayoutError);
    CHECK_THROWS_AS(copy.partition(parse_layout("(128,64):(64,1)"), 3, 0), LayoutError);
    CHECK_THROWS_AS(copy.partition(parse_layout("(128,64):(64,1)"), 8, 128), LayoutError);
}
