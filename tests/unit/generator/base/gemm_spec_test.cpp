#include "jitgemm/gemm_spec.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/random_spec.hpp"
#include "tests/support/says.hpp"
#include "tests/support/specs.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <unordered_set>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;
using jitgemm::testing::kLayouts;

namespace {

constexpr std::int64_t kLargest = 2147483647LL - 65536;
constexpr Order kOrders[] = {Order::row, Order::column};

/// The one reason given; the test fails when there are none or several.
std::string only_problem(const GemmSpec& spec) {
    const auto reasons = problems(spec);
    REQUIRE(reasons.size() == 1);
    return reasons.front();
}

/// A sound spec with explicit numbers here and there.
GemmSpec random_sound_spec(std::mt19937& random) {
    const auto size = [&] { return static_cast<std::int64_t>(random() % 40); };
    GemmSpec spec = sized(size(), size(), size());
    spec.layout = kLayouts[random() % 4];
    spec.d_order = kOrders[random() % 2];
    if (random() % 2 == 0) spec.c = pick(random, {DataType::f16, DataType::f32});
    for (auto* ld : {&spec.lda, &spec.ldb, &spec.ldc, &spec.ldd}) {
        if (random() % 2 == 0) *ld = 40 + static_cast<std::int64_t>(random() % 40);
    }
    return spec;
}

}  // namespace

TEST_CASE("layout letters name the orders of A and B") {
    CHECK(order_a(GemmLayout::tn) == Order::row);
    CHECK(order_b(GemmLayout::tn) == Order::column);
    CHECK(order_a(GemmLayout::nt) == Order::column);
    CHECK(order_b(GemmLayout::nt) == Order::row);
    for (const GemmLayout layout : kLayouts) {
        CHECK(layout_of(order_a(layout), order_b(layout)) == layout);
        CHECK(parse_gemm_layout(to_string(layout)) == layout);
        CHECK(std::string(to_string(layout)) ==
              std::string(to_string(order_a(layout))) + std::string(to_string(order_b(layout))));
    }
    for (const Order order : kOrders) CHECK(parse_order(to_string(order)) == order);
    CHECK(!parse_gemm_layout("tm"));
    CHECK(!parse_gemm_layout(""));
    CHECK(!parse_order("tn"));
}

TEST_CASE("sound problems have no problems") {
    CHECK(problems(sized(4096, 4096, 4096)).empty());
    CHECK(problems(sized(0, 0, 0)).empty());
    CHECK(problems(sized(1, 1, 1)).empty());
    CHECK(problems(sized(4095, 4097, 4099)).empty());
    CHECK(problems(sized(kLargest, 8, 8)).empty());
    CHECK(problems(sized(70000, 70000, 70000)).empty());  // more than 2^31 elements per matrix
}

TEST_CASE("sizes are neither negative nor beyond what 32-bit tile arithmetic holds") {
    CHECK_THAT(only_problem(sized(-1, 8, 8)), testing::Says("m", "-1", "negative"));
    CHECK_THAT(only_problem(sized(8, -7, 8)), testing::Says("n", "-7", "negative"));
    CHECK_THAT(only_problem(sized(8, 8, -9)), testing::Says("k", "-9", "negative"));
    CHECK_THAT(only_problem(sized(kLargest + 1, 8, 8)), testing::Says("m", "2147418112", "largest", "2147418111"));
    CHECK_THAT(only_problem(sized(8, kLargest + 1, 8)), testing::Says("n", "2147418112", "largest", "2147418111"));
    CHECK_THAT(only_problem(sized(8, 8, INT64_MAX)),
               testing::Says("k", "9223372036854775807", "largest", "2147418111"));
    CHECK(problems(sized(-1, -1, INT64_MIN)).size() == 3);
}

TEST_CASE("leading dimensions hold their row") {
    GemmSpec spec = sized(100, 200, 300);
    spec.lda = 299;
    CHECK_THAT(only_problem(spec), testing::Says("lda", "299", "A", "300", "at least"));
    spec = sized(100, 200, 300);
    spec.ldb = 299;
    CHECK_THAT(only_problem(spec), testing::Says("ldb", "299", "B", "300", "at least"));
    spec = sized(100, 200, 300);
    spec.ldd = -1;
    CHECK_THAT(only_problem(spec), testing::Says("ldd", "-1", "D", "200", "at least"));
    spec.ldd = 0;
    spec.c = DataType::bf16;
    spec.ldc = 100;
    CHECK_THAT(only_problem(spec), testing::Says("ldc", "100", "C", "200", "at least"));
    spec.d_order = Order::column;
    CHECK(problems(spec).empty());
    spec.layout = GemmLayout::nt;
    spec.lda = 100;
    spec.ldb = 200;
    CHECK(problems(spec).empty());
    spec.lda = 99;
    spec.ldb = 199;
    CHECK(problems(spec).size() == 2);
    spec = sized(0, 0, 0);
    spec.lda = -5;
    CHECK_THAT(only_problem(spec), testing::Says("lda", "-5", "A", "0", "at least", "1"));
}

TEST_CASE("a leading dimension of C matters only with C") {
    GemmSpec spec = sized(100, 200, 300);
    spec.ldc = 3;
    spec.align_c = 7;
    CHECK(problems(spec).empty());
    CHECK(resolved(spec).ldc == 0);
    CHECK(resolved(spec).align_c == 0);
    spec.c = DataType::bf16;
    CHECK(problems(spec).size() == 2);
}

TEST_CASE("a matrix beyond 63-bit addresses is refused") {
    GemmSpec spec = sized(1024, 8, 8);
    spec.lda = INT64_MAX / 2048;
    CHECK(problems(spec).empty());
    spec.lda += 1;
    CHECK_THAT(only_problem(spec), testing::Says("A", "1024", "2", "4503599627370496", "elements"));
    spec = sized(kLargest, kLargest, 8);
    spec.d = DataType::f32;
    CHECK_THAT(only_problem(spec), ContainsSubstring("D takes"));
    spec.d = DataType::bf16;
    CHECK(problems(spec).empty());
}

TEST_CASE("types go together as the instructions have them") {
    const auto spec_of = [](DataType input, DataType accumulator, DataType d) {
        GemmSpec spec = sized(8, 8, 8);
        spec.a = spec.b = input;
        spec.accumulator = accumulator;
        spec.d = d;
        return spec;
    };
    using enum DataType;
    const std::map<DataType, std::vector<DataType>> accumulators{
        {f16, {f32, f16}},  {bf16, {f32}},      {f32, {f32}}, {tf32, {f32}},
        {e4m3, {f32, f16}}, {e5m2, {f32, f16}}, {s8, {s32}},  {s32, {}}};
    for (const DataTypeInfo& input : data_type_table()) {
        for (const DataTypeInfo& accumulator : data_type_table()) {
            const auto& allowed = accumulators.at(input.type);
            const bool sound = std::find(allowed.begin(), allowed.end(), accumulator.type) != allowed.end();
            INFO(input.name << " accumulated in " << accumulator.name);
            CHECK(problems(spec_of(input.type, accumulator.type, input.output)).empty() == sound);
        }
    }
    for (const DataType input : {f16, bf16}) {
        for (const DataTypeInfo& d : data_type_table()) {
            const bool sound = d.type == f16 || d.type == bf16 || d.type == f32;
            CHECK(problems(spec_of(input, f32, d.type)).empty() == (sound || is_float8(d.type)));
            GemmSpec with_c = spec_of(input, f32, f32);
            with_c.c = d.type;
            CHECK(problems(with_c).empty() == sound);
        }
    }
    CHECK(problems(spec_of(s8, s32, s8)).empty());
    CHECK_THAT(only_problem(spec_of(s8, s32, e4m3)), testing::Says("d", "e4m3", "s8", "inputs", "s32"));
    CHECK_THAT(only_problem(spec_of(bf16, f16, bf16)), testing::Says("accumulator", "f16", "bf16", "f32"));
    CHECK_THAT(only_problem(spec_of(s32, s32, s32)), testing::Says("a", "s32", "instruction"));
}

TEST_CASE("A and B have one type, but 8-bit floats mix") {
    GemmSpec spec = sized(16, 16, 16);
    spec.b = DataType::f16;
    CHECK_THAT(only_problem(spec), testing::Says("a", "b", "bf16", "f16"));
    spec.a = DataType::e4m3;
    spec.b = DataType::e5m2;
    CHECK(problems(spec).empty());
    spec.b = DataType::s8;
    CHECK_THAT(only_problem(spec), ContainsSubstring("a is e4m3 and b is s8"));
}

TEST_CASE("alignments are powers of two between an element and 16 bytes") {
    for (const int wrong : {1, 3, 6, 12, 17, 24, 32, 64, -2, -16}) {
        GemmSpec spec = sized(64, 64, 64);
        spec.align_a = wrong;
        CHECK_THAT(only_problem(spec),
                   ContainsSubstring("align_a is " + std::to_string(wrong) +
                                     ": it must be a power of two from 2 (one bf16 element) to 16 bytes"));
    }
    for (const int right : {0, 2, 4, 8, 16}) {
        GemmSpec spec = sized(64, 64, 64);
        spec.align_a = spec.align_b = spec.align_d = right;
        CHECK(problems(spec).empty());
    }
    GemmSpec bytes = gemm_spec_of_type(DataType::s8);
    bytes.m = bytes.n = bytes.k = 64;
    bytes.align_a = 1;
    CHECK(problems(bytes).empty());
    bytes.align_d = 2;  // s32
    CHECK_THAT(only_problem(bytes), ContainsSubstring("from 4 (one s32 element)"));
}

TEST_CASE("an alignment divides the leading dimension, where there is more than one row") {
    GemmSpec spec = sized(64, 64, 100);
    spec.align_a = 8;
    CHECK(problems(spec).empty());
    spec.align_a = 16;
    CHECK(only_problem(spec) ==
          "align_a is 16: lda is 100 elements of 2 bytes, which gives every row an alignment of only 8 bytes");
    spec.m = 1;
    CHECK(problems(spec).empty());
    spec.layout = GemmLayout::nn;
    spec.m = 100;
    spec.lda = 101;
    spec.align_a = 4;
    CHECK_THAT(only_problem(spec), testing::Says("alignment", "2"));
}

TEST_CASE("all problems come at once, and resolved throws them all") {
    GemmSpec spec = sized(-1, 8, 8);
    spec.accumulator = DataType::f16;
    spec.ldb = 4;
    spec.align_d = 5;
    REQUIRE(problems(spec).size() == 4);
    try {
        (void)resolved(spec);
        FAIL("no exception");
    } catch (const SpecError& error) {
        CHECK(error.reasons() == problems(spec));
        for (const std::string& reason : error.reasons()) CHECK_THAT(error.what(), ContainsSubstring(reason));
    }
}

TEST_CASE("resolved gives packed leading dimensions") {
    GemmSpec spec = sized(100, 200, 300);
    spec.c = DataType::f32;
    spec = resolved(spec);
    CHECK((spec.lda == 300 && spec.ldb == 300 && spec.ldc == 200 && spec.ldd == 200));
    GemmSpec turned = sized(100, 200, 300);
    turned.layout = GemmLayout::nt;
    turned.d_order = Order::column;
    turned = resolved(turned);
    CHECK((turned.lda == 100 && turned.ldb == 200 && turned.ldc == 0 && turned.ldd == 100));
    const GemmSpec empty = resolved(sized(0, 0, 0));
    CHECK((empty.lda == 1 && empty.ldb == 1 && empty.ldd == 1));
}

TEST_CASE("resolved gives the alignment that the leading dimension allows") {
    const auto alignment_of = [](std::int64_t rows, std::int64_t lda, DataType type) {
        GemmSpec spec = gemm_spec_of_type(type);
        spec.m = rows;
        spec.n = 8;
        spec.k = 1;
        spec.lda = lda;
        return resolved(spec).align_a;
    };
    CHECK(alignment_of(64, 4096, DataType::bf16) == 16);
    CHECK(alignment_of(64, 8, DataType::bf16) == 16);
    CHECK(alignment_of(64, 12, DataType::bf16) == 8);
    CHECK(alignment_of(64, 6, DataType::bf16) == 4);
    CHECK(alignment_of(64, 7, DataType::bf16) == 2);
    CHECK(alignment_of(64, 7, DataType::s8) == 1);
    CHECK(alignment_of(64, 7, DataType::f32) == 4);
    CHECK(alignment_of(1, 7, DataType::bf16) == 16);  // a lone row never meets its leading dimension
    CHECK(alignment_of(0, 7, DataType::bf16) == 16);
}

TEST_CASE("a resolved spec resolves to itself") {
    std::mt19937 random(1);
    for (int i = 0; i < 500; ++i) {
        const GemmSpec spec = resolved(random_sound_spec(random));
        CHECK(resolved(spec) == spec);
        CHECK(with_row_major_d(spec) == resolved(with_row_major_d(spec)));
    }
}

namespace {

/// A matrix element's place in memory.
std::int64_t place(Order order, std::int64_t ld, std::int64_t row, std::int64_t column) {
    return order == Order::row ? row * ld + column : column * ld + row;
}

using Memory = std::vector<std::int64_t>;

/// Computes the spec to the letter, on integers. Untouched places of D hold −1.
Memory multiply(const GemmSpec& spec, const Memory& a, const Memory& b) {
    Memory d(static_cast<std::size_t>(operand_extents(spec).d), -1);
    for (std::int64_t row = 0; row < spec.m; ++row) {
        for (std::int64_t column = 0; column < spec.n; ++column) {
            std::int64_t sum = 0;
            for (std::int64_t k = 0; k < spec.k; ++k) {
                sum += a.at(static_cast<std::size_t>(place(order_a(spec.layout), spec.lda, row, k))) *
                       b.at(static_cast<std::size_t>(place(order_b(spec.layout), spec.ldb, k, column)));
            }
            d.at(static_cast<std::size_t>(place(spec.d_order, spec.ldd, row, column))) = sum;
        }
    }
    return d;
}

Memory random_memory(std::mt19937& random, std::int64_t size) {
    Memory memory(static_cast<std::size_t>(size));
    std::generate(memory.begin(), memory.end(), [&] { return static_cast<std::int64_t>(random() % 1000); });
    return memory;
}

}  // namespace

TEST_CASE("with_row_major_d computes the same bytes with A and B swapped") {
    std::mt19937 random(2);
    for (const GemmLayout layout : kLayouts) {
        for (int i = 0; i < 50; ++i) {
            const auto size = [&] { return static_cast<std::int64_t>(1 + random() % 6); };
            GemmSpec spec = sized(size(), size(), size());
            spec.layout = layout;
            spec.d_order = Order::column;
            for (auto* ld : {&spec.lda, &spec.ldb, &spec.ldd}) *ld = 6 + static_cast<std::int64_t>(random() % 3);
            spec = resolved(spec);
            const Memory a = random_memory(random, operand_extents(spec).a);
            const Memory b = random_memory(random, operand_extents(spec).b);
            const GemmSpec turned = with_row_major_d(spec);
            CHECK(turned.d_order == Order::row);
            CHECK(multiply(turned, b, a) == multiply(spec, a, b));
        }
    }
}

TEST_CASE("a matrix of one row or column, side by side, is that line in memory") {
    const auto asked = [](std::int64_t m, std::int64_t n, std::int64_t k, GemmLayout layout, Order d_order) {
        GemmSpec spec = sized(m, n, k);
        spec.layout = layout;
        spec.d_order = d_order;
        return spec;
    };
    const GemmSpec row_of_a = resolved(asked(1, 40, 25, GemmLayout::nt, Order::row));
    CHECK((row_of_a.layout == GemmLayout::nt && row_of_a.lda == 1 && row_of_a.align_a == 16));
    CHECK((as_lines(row_of_a).layout == GemmLayout::tt && as_lines(row_of_a).lda == 25));
    const GemmSpec column_of_b = as_lines(resolved(asked(40, 1, 25, GemmLayout::nt, Order::row)));
    CHECK((column_of_b.layout == GemmLayout::nn && column_of_b.ldb == 25));
    CHECK((column_of_b.d_order == Order::column && column_of_b.ldd == 40 && column_of_b.align_d == 16));
    const GemmSpec row_of_d = as_lines(resolved(asked(1, 40, 25, GemmLayout::tn, Order::column)));
    CHECK((row_of_d.d_order == Order::row && row_of_d.ldd == 40));
    const GemmSpec outer_product = as_lines(resolved(asked(40, 30, 1, GemmLayout::tn, Order::row)));
    CHECK((outer_product.layout == GemmLayout::nt && outer_product.lda == 40 && outer_product.ldb == 30));

    const auto stays = [](GemmSpec spec) {
        spec = resolved(spec);
        return as_lines(spec) == spec;
    };
    CHECK(stays(asked(1, 1, 1, GemmLayout::nt, Order::column)));
    CHECK(stays(asked(1, 40, 25, GemmLayout::tn, Order::row)));
    GemmSpec apart = asked(1, 40, 25, GemmLayout::nt, Order::row);
    apart.lda = 2;
    CHECK(stays(apart));
    CHECK(resolved(apart).align_a == 4);
    GemmSpec invariant = asked(1, 40, 25, GemmLayout::nt, Order::row);
    invariant.deterministic = Determinism::batch_invariant;  // has the kernel of many rows
    CHECK(stays(invariant));
    CHECK(resolved(invariant).align_a == 2);
    GemmSpec with_c = asked(40, 1, 25, GemmLayout::tn, Order::row);  // a launch may say that its C is one row
    with_c.c = DataType::bf16;
    CHECK(stays(with_c));
    CHECK(resolved(with_c).align_d == 2);
}

TEST_CASE("lines lie where the matrices lay") {
    std::mt19937 random(3);
    for (const GemmLayout layout : kLayouts)
        for (const Order d_order : {Order::row, Order::column})
            for (std::size_t i = 0; i < 60; ++i) {
                std::array<std::int64_t, 3> size{1, 1, 1};  // one or two of them are 1
                size.at(i % 3) = 2 + static_cast<std::int64_t>(random() % 5);
                if (i % 2 != 0) size.at(random() % 3) = 2 + static_cast<std::int64_t>(random() % 5);
                GemmSpec spec = sized(size[0], size[1], size[2]);
                spec.layout = layout;
                spec.d_order = d_order;
                spec = resolved(spec);
                const Memory a = random_memory(random, operand_extents(spec).a);
                const Memory b = random_memory(random, operand_extents(spec).b);
                const GemmSpec lines = as_lines(spec);
                CHECK(problems(lines).empty());
                CHECK(as_lines(lines) == lines);
                CHECK(multiply(lines, a, b) == multiply(spec, a, b));
            }
}

TEST_CASE("with_row_major_d trades all that belongs to A and B") {
    GemmSpec spec = sized(3, 5, 7);
    spec.a = DataType::e4m3;
    spec.b = DataType::e5m2;
    spec.d_order = Order::column;
    spec.lda = 8;
    spec.ldb = 16;
    spec = resolved(spec);
    const GemmSpec turned = with_row_major_d(spec);
    CHECK((turned.m == 5 && turned.n == 3 && turned.k == 7));
    CHECK((turned.a == DataType::e5m2 && turned.b == DataType::e4m3));
    CHECK((turned.lda == 16 && turned.ldb == 8 && turned.ldd == spec.ldd));
    CHECK((turned.align_a == 16 && turned.align_b == 8));
    CHECK(problems(turned).empty());
    CHECK(with_row_major_d(turned) == turned);
}

TEST_CASE("operand_extents end with the last element") {
    GemmSpec spec = sized(3, 5, 7);
    spec.lda = 10;
    spec.ldb = 20;
    spec.ldd = 30;
    const OperandExtents extents = operand_extents(resolved(spec));
    CHECK(extents.a == 2 * 10 + 7);
    CHECK(extents.b == 4 * 20 + 7);
    CHECK(extents.c == 0);
    CHECK(extents.d == 2 * 30 + 5);
    const OperandExtents empty = operand_extents(resolved(sized(3, 5, 0)));
    CHECK((empty.a == 0 && empty.b == 0 && empty.d == 15));
    CHECK(operand_extents(resolved(sized(100000, 100000, 1))).d == 10'000'000'000LL);
}

TEST_CASE("equal specs hash alike, specs that differ in one field differently") {
    std::mt19937 random(4);
    const std::hash<GemmSpec> hash;
    std::unordered_set<std::size_t> seen;
    for (int i = 0; i < 2000; ++i) {
        const GemmSpec spec = random_spec(random);
        CHECK(hash(spec) == hash(GemmSpec(spec)));
        CHECK(seen.insert(hash(spec)).second);
        GemmSpec other = spec;
        other.c = spec.c ? std::nullopt : std::optional(DataType::f16);
        CHECK(hash(other) != hash(spec));
    }
    const GemmSpec base = sized(1, 2, 3);
    std::vector<GemmSpec> neighbours(13, base);
    neighbours[0].m = 2;
    neighbours[1].n = 1;
    neighbours[2].k = 2;
    neighbours[3].lda = 8;
    neighbours[4].ldb = 8;
    neighbours[5].ldc = 8;
    neighbours[6].ldd = 8;
    neighbours[7].align_a = 8;
    neighbours[8].align_b = 8;
    neighbours[9].align_c = 8;
    neighbours[10].align_d = 8;
    neighbours[11].d_order = Order::column;
    neighbours[12].layout = GemmLayout::tt;
    std::unordered_set<std::size_t> hashes{hash(base)};
    for (const GemmSpec& neighbour : neighbours) CHECK(hashes.insert(hash(neighbour)).second);
}

TEST_CASE("flops count a multiply-add as two") {
    CHECK(flops(sized(2, 3, 5)) == 60.0);
    CHECK(flops(sized(8192, 8192, 8192)) == 2.0 * 8192.0 * 8192.0 * 8192.0);
    CHECK(flops(sized(0, 3, 5)) == 0.0);
}

TEST_CASE("types that are not named follow A's, as on the command line") {
    for (const DataTypeInfo& row : data_type_table()) {
        const GemmSpec spec{.m = 8, .n = 8, .k = 8, .a = row.type};
        CHECK(spec.b == row.type);
        CHECK(spec.d == row.output);
        CHECK(spec.accumulator == row.accumulator);
        CHECK(gemm_spec_of_type(row.type) == GemmSpec{.a = row.type, .b = row.type});
    }
    const GemmSpec mixed{.a = DataType::f16, .d = DataType::f32};
    CHECK((mixed.b == DataType::f16 && mixed.d == DataType::f32 && mixed.accumulator == DataType::f32));
}

TEST_CASE("numbers that are none of an enumeration are refused, each by name") {
    const auto type = static_cast<DataType>(99);
    CHECK_THAT(only_problem({.m = 8, .n = 8, .k = 8, .layout = static_cast<GemmLayout>(9)}),
               ContainsSubstring("layout is 9"));
    CHECK_THAT(only_problem({.m = 8, .n = 8, .k = 8, .d_order = static_cast<Order>(7)}),
               ContainsSubstring("d-layout is 7"));
    CHECK_THAT(only_problem({.m = 8, .n = 8, .k = 8, .c = type}), ContainsSubstring("c is 99"));
    CHECK_THAT(only_problem({.m = 8, .n = 8, .k = 8, .d = type}), ContainsSubstring("d is 99"));
    CHECK(problems({.m = 8, .n = 8, .k = 8, .a = type}).size() >= 2);  // B and the rest follow A
    CHECK_THROWS_AS(resolved({.m = 8, .n = 8, .k = 8, .a = type}), SpecError);
    CHECK_THROWS_AS(to_string(static_cast<GemmLayout>(9)), SpecError);
    CHECK_THROWS_AS(to_string(static_cast<Order>(7)), SpecError);
}

TEST_CASE("sums of 8-bit floats are promoted unless the spec says fast") {
    GemmSpec spec = sized(8, 8, 8);
    for (const DataType type : {DataType::e4m3, DataType::e5m2}) {
        spec.a = spec.b = type;
        spec.sums = Summation::usual;
        CHECK(has_promoted_sums(spec));
        const GemmSpec usual = resolved(spec);
        spec.sums = Summation::promoted;
        CHECK(resolved(spec) == usual);  // one problem, one kernel
        spec.sums = Summation::fast;
        CHECK(!has_promoted_sums(spec));
        CHECK(parse_gemm_spec(to_string(resolved(spec))) == resolved(spec));
        CHECK(resolved(spec) != usual);
    }
}

TEST_CASE("sums that are not made of 8-bit floats are fast") {
    GemmSpec spec = sized(8, 8, 8);
    for (const DataType type : {DataType::bf16, DataType::f16, DataType::f32, DataType::s8}) {
        spec = gemm_spec_of_type(type);
        CHECK(!has_promoted_sums(spec));
        const GemmSpec usual = resolved(spec);
        spec.sums = Summation::fast;
        CHECK(resolved(spec) == usual);
        spec.sums = Summation::promoted;
        CHECK_THAT(only_problem(spec), testing::Says("sums", "promoted", to_string(type), "fast"));
    }
    spec = gemm_spec_of_type(DataType::e4m3);
    spec.accumulator = DataType::f16;
    CHECK(!has_promoted_sums(spec));
    spec.sums = Summation::promoted;
    CHECK_THAT(only_problem(spec), testing::Says("sums", "promoted", "f16"));
}
