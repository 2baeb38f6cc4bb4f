// The layout algebra against what NVIDIA/cutlass python/pycute computes, against CuTe's documentation, and by its laws.

#include "generator/layout/layout_algebra.hpp"
#include "generator/layout/composed_layout.hpp"
#include "generator/layout/layout_expression.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;

std::string result_of(std::string_view expression) { return to_string(evaluate_layout_expression(expression)); }

bool all_differ(const std::vector<std::int64_t>& values) {
    return std::set<std::int64_t>(values.begin(), values.end()).size() == values.size();
}

struct Vector {
    std::string expression;
    std::string result;
};

std::vector<Vector> pycute_vectors() {
    std::ifstream file(JITGEMM_SOURCE_DIR "/tests/data/pycute_vectors.txt");
    std::vector<Vector> vectors;
    for (std::string line; std::getline(file, line);) {
        const std::size_t equals = line.find(" = ");
        if (line.starts_with("#") || equals == std::string::npos) continue;
        vectors.push_back({line.substr(0, equals), line.substr(equals + 3)});
    }
    return vectors;
}

/// Random shapes and strides from a fixed seed.
class RandomLayouts {
public:
    /// Strides that nest in any order, so that no two coordinates share a value.
    Layout injective(int depth = 2) {
        const IntTuple shape = random_shape(depth);
        std::vector<std::int64_t> extents = flatten(shape), strides(extents.size());
        std::vector<std::size_t> order(extents.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(i)]);
        std::int64_t next = 1;
        for (const std::size_t i : order) {
            strides[i] = next;
            next *= extents[i] * static_cast<std::int64_t>(1 + below(4) / 3);
        }
        auto stride = strides.begin();
        return {shape, nested_as(shape, stride)};
    }

    /// Strides that nest without gaps: the values are 0 … size − 1, each once.
    Layout bijective(int depth = 2) {
        for (;;) {
            Layout layout = injective(depth);
            if (layout.cosize() == layout.size()) return layout;
        }
    }

    IntTuple random_shape(int depth) {
        static constexpr std::int64_t kExtents[] = {1, 2, 3, 4, 6, 8};
        if (depth == 0 || below(5) < 2) return kExtents[below(6)];
        std::vector<IntTuple> modes;
        for (std::size_t i = 0, count = 1 + below(3); i < count; ++i) modes.push_back(random_shape(depth - 1));
        return modes;
    }

    std::size_t below(std::size_t limit) { return generator_() % limit; }

private:
    static IntTuple nested_as(const IntTuple& shape, std::vector<std::int64_t>::iterator& next) {
        if (!shape.is_tuple()) return *next++;
        std::vector<IntTuple> modes;
        for (const IntTuple& mode : shape.modes()) modes.push_back(nested_as(mode, next));
        return modes;
    }

    std::mt19937 generator_{20240607};
};

/// Nothing where the composition is no layout.
std::optional<Layout> composed(const Layout& a, const Layout& b) {
    try {
        return composition(a, b);
    } catch (const LayoutError&) {
        return std::nullopt;
    }
}

template <typename Function>
void check_fails(Function&& function, const std::string& rule) {
    CHECK_THROWS_AS(function(), LayoutError);
    try {
        function();
    } catch (const LayoutError& error) {
        CHECK_THAT(error.what(), ContainsSubstring(rule));
    }
}

}  // namespace

TEST_CASE("layout algebra gives pycute's results, mode for mode") {
    const std::vector<Vector> vectors = pycute_vectors();
    REQUIRE(vectors.size() > 1300);
    for (const auto& [expression, result] : vectors) {
        INFO(expression);
        CHECK(result_of(expression) == result);
    }
}

TEST_CASE("layout algebra gives the results of CuTe's documentation") {
    // media/docs/cpp/cute/02_layout_algebra.md
    CHECK(result_of("coalesce((2,(1,6)):(1,(6,2)))") == "12:1");
    CHECK(result_of("coalesce((2,(1,6)):(1,(6,2)),(1,1))") == "(2,6):(1,2)");
    CHECK(result_of("composition((6,2):(8,2),(4,3):(3,1))") == "((2,2),3):((24,2),8)");
    CHECK(result_of("composition(20:2,(5,4):(4,1))") == "(5,4):(8,2)");
    CHECK(result_of("composition((10,2):(16,4),(5,4):(1,5))") == "(5,(2,2)):(16,(80,4))");
    CHECK(result_of("composition((12,(4,8)):(59,(13,1)),(3:4,8:2))") == "(3,(2,4)):(236,(26,1))");
    CHECK(result_of("composition((12,(4,8)):(59,(13,1)),(3,8))") == "(3,(4,2)):(59,(13,1))");
    CHECK(result_of("complement((2,2):(1,6),24)") == "(3,2):(2,12)");
    CHECK(result_of("complement((2,4):(1,6),24)") == "3:2");
    CHECK(result_of("logical_divide((4,2,3):(2,1,8),4:2)") == "((2,2),(2,3)):((4,1),(2,8))");
    CHECK(result_of("logical_divide((9,(4,8)):(59,(13,1)),(3:3,(2,4):(1,8)))") ==
          "((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))");
    CHECK(result_of("zipped_divide((9,(4,8)):(59,(13,1)),(3:3,(2,4):(1,8)))") ==
          "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))");
    CHECK(result_of("logical_product((2,2):(4,1),6:1)") == "((2,2),(2,3)):((4,1),(2,8))");
    CHECK(result_of("blocked_product((2,5):(5,1),(3,4):(1,3))") == "((2,3),(5,4)):((5,10),(1,30))");
    CHECK(result_of("raked_product((2,5):(5,1),(3,4):(1,3))") == "((3,2),(4,5)):((10,5),(30,1))");
    // 0y_predication.md: the tile count is rounded up.
    CHECK(result_of("logical_divide(1000:1,128:1)") == "(128,8):(1,128)");
    CHECK(result_of("zipped_divide((41,55),(4,8))") == "((4,8),(11,7)):((1,41),(4,328))");
}

TEST_CASE("composition is what the name says, and associates") {
    RandomLayouts random;
    int compositions = 0;
    for (int i = 0; i < 4000; ++i) {
        const Layout a = random.bijective(), b = random.bijective(1), c = random.bijective(1);
        const auto ab = composed(a, b), bc = composed(b, c);
        if (b.size() > a.size() || c.size() > b.size() || !ab || !bc) continue;
        INFO(to_string(a) << " o " << to_string(b) << " o " << to_string(c));
        for (std::int64_t j = 0; j < b.size(); ++j) CHECK((*ab)(j) == a(b(j)));
        const auto left = composed(*ab, c), right = composed(a, *bc);
        if (!left || !right) continue;
        for (std::int64_t j = 0; j < c.size(); ++j) CHECK((*left)(j) == (*right)(j));
        ++compositions;
    }
    CHECK(compositions > 500);
}

TEST_CASE("inverses invert, complements complete") {
    RandomLayouts random;
    for (int i = 0; i < 1000; ++i) {
        const Layout layout = random.injective();
        INFO(to_string(layout));
        const Layout right = right_inverse(layout);
        for (std::int64_t j = 0; j < right.size(); ++j) CHECK(layout(right(j)) == j);
        // A complement, and with it a left inverse, exists where every gap is a multiple of what lies below it.
        const Layout rest = complement(layout, 2 * layout.cosize());
        CHECK(make_layout({layout, rest}).size() >= 2 * layout.cosize());
        CHECK(all_differ(table(make_layout({layout, rest}))));
        const Layout left = left_inverse(layout);
        for (std::int64_t j = 0; j < layout.size(); ++j) CHECK(left(layout(j)) == j);
    }
}

TEST_CASE("dividing and flattening visits every element once") {
    RandomLayouts random;
    int divided = 0;
    for (int i = 0; i < 2000; ++i) {
        const Layout layout = random.bijective();
        const auto extent = static_cast<std::int64_t>(1 + random.below(4));
        if (layout.size() % extent != 0) continue;
        try {
            const Layout tiles = flatten(logical_divide(layout, extent));
            CHECK(tiles.size() == layout.size());
            CHECK(all_differ(table(tiles)));
            ++divided;
        } catch (const LayoutError&) {
        }
    }
    CHECK(divided > 300);
}

TEST_CASE("products repeat a block without overlap") {
    RandomLayouts random;
    for (int i = 0; i < 300; ++i) {
        const Layout block = random.bijective(1), tiler = random.bijective(1);
        for (const Layout& product :
             {logical_product(block, tiler), blocked_product(block, tiler), raked_product(block, tiler)}) {
            INFO(to_string(block) << " by " << to_string(tiler) << " gave " << to_string(product));
            CHECK(product.size() == block.size() * tiler.size());
            CHECK(all_differ(table(product)));
        }
    }
}

TEST_CASE("a table lists what the layout says of every index, of whole coordinates too") {
    const Layout layout = parse_layout("((4,8),(2,2,2)):((32,1),(16,8,128))");
    const std::vector<std::int64_t> values = table(layout);
    REQUIRE(values.size() == 256);
    for (std::int64_t thread = 0; thread < 32; ++thread) {
        for (std::int64_t value = 0; value < 8; ++value) {
            const std::int64_t row = thread / 4 + 8 * (value / 2 % 2);  // PTX ISA, mma.m16n8k16, matrix A
            const std::int64_t column = thread % 4 * 2 + value % 2 + 8 * (value / 4);
            CHECK(layout(IntTuple({thread, value})) == row + 16 * column);
            CHECK(values[static_cast<std::size_t>(thread + 32 * value)] == row + 16 * column);
        }
    }
    CHECK(index_to_coordinate(37, layout.shape()) == IntTuple({IntTuple({1, 1}), IntTuple({1, 0, 0})}));
}

TEST_CASE("layouts are read as CuTe prints them") {
    CHECK(to_string(parse_layout(" ( _4 , ( 8,_2)) : (_1,( 4, 32)) ")) == "(4,(8,2)):(1,(4,32))");
    CHECK(to_string(parse_layout("(2,(3,4))")) == "(2,(3,4)):(1,(2,6))");
    CHECK(parse_layout("8") == parse_layout("_8:_1"));
    check_fails([] { return parse_layout("(4,8"); }, "column 5");
    check_fails([] { return parse_layout("(4,8):(1,x)"); }, "column 10");
    check_fails([] { return parse_layout("(4,8):(1)"); }, "nest differently");
    check_fails([] { return parse_layout("(4,0)"); }, "at least 1");
    check_fails([] { return parse_layout("4:1 5"); }, "column 5");
    check_fails([] { return parse_layout("99999999999999999999"); }, "63 bits");
}

TEST_CASE("a broken rule is named") {
    check_fails([] { return result_of("composition((4,6):(1,8),6:1)"); }, "shape divisibility");
    check_fails([] { return result_of("composition((4,6,2):(1,8,64),4:6)"); }, "stride divisibility");
    check_fails([] { return result_of("composition((4,6):(1,8),4:3)"); }, "stride divisibility");
    CHECK(result_of("composition((10,6):(1,16),3:4)") == "3:4");  // no divisor, but never leaves the first mode
    check_fails([] { return result_of("complement((4,2):(1,2),16)"); }, "not injective");
    check_fails([] { return result_of("logical_divide((4,8),(2,2,2))"); }, "3 modes is too many");
    check_fails([] { return result_of("tile_to_shape((8,8),(20,16))"); }, "20");
    check_fails([] { return result_of("upcast<2>(8:3)"); }, "does not divide");
    check_fails([] { return result_of("size((99999999999,99999999999):(1,1))"); }, "exceeds 63 bits");
    check_fails([] { return result_of("get<2>((4,8))"); }, "no mode 2");
    check_fails([] { return result_of("(4,8):(8,1)(1,2,3)"); }, "does not fit");
}

TEST_CASE("swizzles are CuTe's, and TMA's are among them") {
    // include/cute/swizzle.hpp: index ^ ((index & yyy) >> shift)
    const Swizzle swizzle(3, 3, 3);
    for (std::int64_t i = 0; i < 4096; ++i) CHECK(swizzle(i) == (i ^ ((i & 0x1c0) >> 3)));
    const Swizzle back(2, 4, -3);
    for (std::int64_t i = 0; i < 4096; ++i) CHECK(back(i) == (i ^ ((i & 0x30) << 3)));
    for (std::int64_t i = 0; i < 4096; ++i) CHECK(swizzle(swizzle(i)) == i);
    // PTX ISA, tensor swizzling modes: 16-byte chunks are permuted within 32, 64, 128 bytes by the address bits from 7
    // on.
    const int spans[] = {2, 4, 8};
    for (std::size_t mode = 0; mode < 3; ++mode) {
        const Swizzle& tma = tma_swizzles()[mode].swizzle;
        for (std::int64_t address = 0; address < 4096; ++address) {
            const std::int64_t chunk = address / 16 % spans[mode], line = address / 128 % spans[mode];
            CHECK(tma(address) == address - chunk * 16 + (chunk ^ line) * 16);
        }
    }
    check_fails([] { return Swizzle(3, 3, 2); }, "|shift|");
    check_fails([] { return Swizzle(3, -1, 3); }, "at least 0");
    check_fails([] { return Swizzle(20, 30, 20); }, "beyond bit");
}

TEST_CASE("the calculator composes, applies and slices") {
    CHECK(result_of("Swizzle<3,3,3> o (8,64):(64,1)") == "Sw<3,3,3> o 0 o (8,64):(64,1)");
    CHECK(result_of("Sw<3,3,3> o 0 o (8,64):(64,1)") == "Sw<3,3,3> o 0 o (8,64):(64,1)");
    CHECK(result_of("(Swizzle<3,3,3> o (8,64):(64,1))(1,8)") == std::to_string((64 + 8) ^ 8));
    CHECK(result_of("(Swizzle<3,3,3> o (8,64):(64,1))(3,_)") == "Sw<3,3,3> o 192 o (64):(1)");
    CHECK(result_of("logical_divide(Swizzle<3,3,3> o (8,64):(64,1), (4,8))") ==
          "Sw<3,3,3> o 0 o ((4,2),(8,8)):((64,256),(1,8))");
    CHECK(result_of("(4,8):(8,1) o (8:4 o 4:2)") == "4:2");
    CHECK(result_of("(4,8):(8,1)(2,3)") == "19");
    CHECK(result_of("slice(((4,2),8):((1,64),8), ((_,1),3))") == "(4):(1)");
    CHECK(result_of("idx2crd(13,(4,(2,3)))") == "(1,(1,1))");
    CHECK(result_of("make_layout(4:1,(2,2):(8,4))") == "(4,(2,2)):(1,(8,4))");
    CHECK(result_of("logical_divide((8,8):(8,1),(_,4))") == "(8,(4,2)):(8,(1,4))");
}

TEST_CASE("the calculator names the column of what it can't read") {
    check_fails([] { return result_of("size(logical_dvide(4:1,2))"); }, "column 6");
    check_fails([] { return result_of("logical_dvide(4:1,2)"); }, "did you mean 'logical_divide'");
    check_fails([] { return result_of("size(4:1,2)"); }, "not 2 arguments");
    check_fails([] { return result_of("upcast(4:1)"); }, "1 integers");
    check_fails([] { return result_of("composition(4:1,"); }, "column 17");
    check_fails([] { return result_of("Swizzle<3,3>"); }, "three parameters");
    check_fails([] { return result_of("Swizzle<3,3,3> o Swizzle<2,3,3> o 8:1"); }, "only one swizzle");
    check_fails([] { return result_of("size(composition((4,6):(1,8),4:3))"); }, "column 6");
    check_fails([] { return result_of(std::string(200, '(') + "1"); }, "nest deeper");
    std::string chain = "4:1";
    for (int i = 0; i < 20000; ++i) chain += " o 4:1";
    check_fails([&] { return result_of(chain); }, "nest deeper");
    check_fails([] { return result_of(""); }, "column 1");
}
