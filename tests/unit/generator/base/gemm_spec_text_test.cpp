#include "generator/base/spec_text.hpp"
#include "jitgemm/error.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "tests/catch.hpp"
#include "tests/support/random_spec.hpp"
#include "tests/support/says.hpp"

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("a spec's text reads back as the same spec") {
    std::mt19937 random(3);
    for (int i = 0; i < 1000; ++i) {
        const GemmSpec spec = random_spec(random);
        CHECK(parse_gemm_spec(to_string(spec)) == spec);
    }
}

TEST_CASE("a problem is read from either of its texts, with a comment behind it or not") {
    CHECK(parse_spec_text("f16 tt 1 2 3") == parse_shape_line("f16 tt 1 2 3"));
    CHECK(parse_spec_text(" f16 tt 1 2 3 # two") == parse_shape_line("f16 tt 1 2 3"));
    const GemmSpec with_c{.m = 1, .n = 2, .k = 3, .c = DataType::f32};
    for (const char* text : {"gemm-v1 m=1 n=2 k=3 c=f32", " \tgemm-v1 m=1 n=2 k=3 c=f32",
                             "gemm-v2 k=3 m=1 n=2 c=f32\r\n", "gemm-v1 m=1 n=2 k=3 c=f32 # k=4"})
        CHECK(parse_spec_text(text) == with_c);
    CHECK_THROWS_WITH(parse_spec_text("gemm-v10 m=1"), testing::Says("'gemm-v10'", "gemm-v1", "gemm-v2", "gemm-v3"));
    CHECK_THROWS_WITH(parse_spec_text("fb16 tn 1 1 1"), ContainsSubstring("did you mean"));
    CHECK_THROWS_AS(parse_spec_text(""), SpecError);
    CHECK_THROWS_AS(parse_spec_text("# gemm-v1 m=1"), SpecError);
}

TEST_CASE("either text of a problem is refused for the rules that it breaks") {
    CHECK_THROWS_WITH(parse_spec_text("bf16 tn 64 -48 32"), testing::Says("n", "-48", "negative"));
    CHECK_THROWS_WITH(parse_spec_text("gemm-v1 m=64 n=-48 k=32"), testing::Says("n", "-48", "negative"));
    CHECK_THROWS_WITH(parse_spec_text("gemm-v2 m=64 n=48 k=32 ldd=40"), ContainsSubstring("ldd"));
}

TEST_CASE("the text that is printed of a problem is read as the text of one") {
    GemmSpec with_all = gemm_spec_of_type(DataType::e4m3);
    with_all.m = with_all.n = with_all.k = 64;
    with_all.c = DataType::f32;
    with_all.d_order = Order::column;
    with_all.ldc = with_all.ldd = 72;
    with_all.align_a = 4;
    with_all.constant_b = true;
    with_all.broadcast_c = true;
    with_all.deterministic = Determinism::batch_invariant;
    for (const GemmSpec& spec : {sized(1, 2, 3), gemm_spec_of_type(DataType::e4m3), sized(0, 8, 8), with_all}) {
        REQUIRE(problems(spec).empty());
        CHECK(parse_spec_text(to_string(spec)) == spec);
        CHECK(parse_spec_text(to_string(resolved(spec)) + "  # resolved") == resolved(spec));
    }
}

TEST_CASE("the text names every field") {
    GemmSpec spec = sized(1, 2, 3);
    spec.c = DataType::f32;
    spec.layout = GemmLayout::nt;
    spec.d_order = Order::column;
    CHECK(to_string(spec) ==
          "gemm-v1 m=1 n=2 k=3 a=bf16 b=bf16 c=f32 d=bf16 acc=f32 layout=nt d-layout=n "
          "lda=0 ldb=0 ldc=0 ldd=0 align-a=0 align-b=0 align-c=0 align-d=0");
    CHECK(to_string(resolved(sized(8, 8, 8))) ==
          "gemm-v1 m=8 n=8 k=8 a=bf16 b=bf16 c=none d=bf16 acc=f32 layout=tn d-layout=t "
          "lda=8 ldb=8 ldc=0 ldd=8 align-a=16 align-b=16 align-c=0 align-d=16");
}

TEST_CASE("keys come in any order and may be missing") {
    GemmSpec expected = sized(0, 5, 0);
    CHECK(parse_gemm_spec("gemm-v1 m=0 n=5 k=0") == expected);
    expected.layout = GemmLayout::tt;
    CHECK(parse_gemm_spec("  gemm-v1  k=0  layout=tt\tn=5\nm=0") == expected);
    CHECK(parse_gemm_spec("gemm-v1 a=f16 m=0 n=0 k=0") == gemm_spec_of_type(DataType::f16));
    CHECK(parse_gemm_spec("gemm-v1 d=f32 a=f16 m=0 n=0 k=0").d == DataType::f32);
}

TEST_CASE("a size that is missing is no size of 0: all that are missing are named") {
    CHECK_THROWS_WITH(parse_gemm_spec("gemm-v1"), ContainsSubstring("m, n, k are missing"));
    CHECK_THROWS_WITH(parse_spec_text("gemm-v2 n=8 a=bf16"), ContainsSubstring("m, k are missing"));
    CHECK_THROWS_WITH(parse_spec_text("gemm-v1 m=8 n=8"), testing::Says("k", "missing"));
}

TEST_CASE("malformed specs are refused with the word at fault") {
    CHECK_THROWS_AS(parse_gemm_spec(""), SpecError);
    CHECK_THROWS_WITH(parse_gemm_spec("gemm-v109 m=1"),
                      testing::Says("'gemm-v109'", "expected", "gemm-v1", "gemm-v2", "gemm-v3"));
    CHECK_THROWS_WITH(parse_gemm_spec("gemm-v1 m"), testing::Says("'m'", "form", "key=value"));
    CHECK_THROWS_WITH(parse_gemm_spec("gemm-v1 m=12x"), testing::Says("m", "'12x'", "expected"));
    CHECK_THROWS_WITH(parse_gemm_spec("gemm-v1 m="), ContainsSubstring("m is ''"));
    CHECK_THROWS_WITH(parse_gemm_spec("gemm-v1 m=99999999999999999999"), ContainsSubstring("too large"));
    CHECK_THROWS_WITH(parse_gemm_spec("gemm-v1 m=1 m=2"), ContainsSubstring("'m' stands twice"));
    CHECK_THROWS_WITH(parse_gemm_spec("gemm-v1 laout=tn"),
                      ContainsSubstring("unknown key 'laout'") && testing::Says("did you mean", "'layout'"));
    CHECK_THROWS_WITH(parse_gemm_spec("gemm-v1 a=bf6"), testing::Says("a", "'bf6'", "expected", "f16", "bf16") &&
                                                            testing::Says("did you mean", "'bf16'"));
    CHECK_THROWS_WITH(parse_gemm_spec("gemm-v1 a=none"), ContainsSubstring("a is 'none'"));
    CHECK_THROWS_WITH(parse_gemm_spec("gemm-v1 layout=xy"),
                      ContainsSubstring("layout is 'xy'") && ContainsSubstring("tn, nn, nt, tt"));
    CHECK_THROWS_WITH(parse_gemm_spec("gemm-v1 d-layout=tn"), ContainsSubstring("d-layout is 'tn'"));
}

TEST_CASE("a shape line gives type, layout and sizes") {
    const GemmSpec spec = parse_shape_line("f16 nt 10 20 30");
    CHECK((spec.m == 10 && spec.n == 20 && spec.k == 30));
    CHECK((spec.a == DataType::f16 && spec.b == DataType::f16 && spec.d == DataType::f16));
    CHECK((spec.accumulator == DataType::f32 && spec.layout == GemmLayout::nt && !spec.c));
    CHECK(parse_shape_line("\t bf16  tn 4096 4096 4096  # a comment") == parse_shape_line("bf16 tn 4096 4096 4096"));
    const GemmSpec integers = parse_shape_line("s8 tn 1024 1024 1024");
    CHECK((integers.d == DataType::s32 && integers.accumulator == DataType::s32));
    CHECK(parse_shape_line("e4m3 tn 64 7168 2048").d == DataType::bf16);
    CHECK(parse_shape_line("tf32 tn 64 64 64").d == DataType::f32);
}

TEST_CASE("a bad shape line is refused with the word at fault") {
    CHECK_THROWS_WITH(parse_shape_line("bf17 tn 1 2 3"),
                      ContainsSubstring("type is 'bf17'") && testing::Says("did you mean", "'bf16'"));
    CHECK_THROWS_WITH(parse_shape_line("bf16 tx 1 2 3"), ContainsSubstring("layout is 'tx'"));
    CHECK_THROWS_WITH(parse_shape_line("bf16 tn 1 2.5 3"), ContainsSubstring("n is '2.5'"));
    CHECK_THROWS_WITH(parse_shape_line("bf16 tn 1 2 1e9"), ContainsSubstring("k is '1e9'"));
    CHECK_THROWS_WITH(parse_shape_line("bf16 tn -1 2 3"), testing::Says("m", "-1", "negative"));
    CHECK_THROWS_WITH(parse_shape_line("bf16 tn 1 2 99999999999999999999"), ContainsSubstring("too large"));
    CHECK_THROWS_WITH(parse_shape_line("bf16 tn 1 2"), ContainsSubstring("has 4 words"));
    CHECK_THROWS_WITH(parse_shape_line("bf16 tn 1 2 3 4"), ContainsSubstring("'4' is not of the form key=value"));
    CHECK_THROWS_WITH(parse_shape_line("# only a comment"), ContainsSubstring("has 0 words"));
    CHECK_THROWS_WITH(parse_shape_line("s32 tn 1 2 3"), ContainsSubstring("no instruction multiplies"));
}

TEST_CASE("a shape line names one type, or two that mix") {
    GemmSpec mixed = gemm_spec_of_type(DataType::e4m3);
    mixed.b = DataType::e5m2;
    mixed.m = 1, mixed.n = 2, mixed.k = 3;
    CHECK(parse_shape_line("e4m3*e5m2 tn 1 2 3") == mixed);
    CHECK(parse_shape_line(shape_line(mixed)) == mixed);
    CHECK_THROWS_WITH(parse_shape_line("e4m3*e6m1 tn 1 2 3"), testing::Says("type", "e6m1"));
    CHECK_THROWS_WITH(parse_shape_line("bf16*f16 tn 1 2 3"), testing::Says("bf16", "f16", "one type"));
    CHECK_THROWS_AS(parse_shape_line("e4m3* tn 1 2 3"), SpecError);
}

TEST_CASE("behind its sizes, a shape line has the keys of a spec's text") {
    struct Pair {
        const char *line, *text;
    };
    constexpr Pair kPairs[] = {
        {"f32 tt 36 5512 432 math=tf32", "m=36 n=5512 k=432 a=f32 layout=tt math=tf32"},
        {"e4m3 tn 16 4096 7168 sums=fast", "m=16 n=4096 k=7168 a=e4m3 sums=fast"},
        {"s8 tn 64 2944 5632 d=s32", "m=64 n=2944 k=5632 a=s8 d=s32"},
        {"s8 tn 64 2944 5632 d=bf16 c=bf16", "m=64 n=2944 k=5632 a=s8 d=bf16 c=bf16"},
        {"e4m3 nt 64 32 48 b=e5m2 d=f32", "m=64 n=32 k=48 a=e4m3 b=e5m2 d=f32 layout=nt"},
        {"e4m3*e5m2 nt 64 32 48 acc=f32", "m=64 n=32 k=48 a=e4m3 b=e5m2 acc=f32 layout=nt"},
        {"bf16 tt 64 512 128 batch=128 lda=16384 ldd=65536 batch-stride-a=128",
         "m=64 n=512 k=128 layout=tt batch=128 lda=16384 ldd=65536 batch-stride-a=128"},
        {"bf16 tt 64 512 128 batch=3 batch-stride-b=packed", "m=64 n=512 k=128 layout=tt batch=3"},
        {"f16 tn 64 32 48 align-a=4 align-d=2 ldb=56", "m=64 n=32 k=48 a=f16 align-a=4 align-d=2 ldb=56"},
        {"f16 nn 64 32 48 d-layout=n constant-b=yes c=f32 broadcast-c=yes",
         "m=64 n=32 k=48 a=f16 layout=nn d-layout=n constant-b=yes c=f32 broadcast-c=yes"},
        {"bf16 tn 64 32 48 ld-x=40 epilogue='d = acc + x[m,n]' align-x=8 # ours",
         "m=64 n=32 k=48 epilogue='d = acc + x[m,n]' ld-x=40 align-x=8"},
        {"bf16 tn 64 32 48 deterministic=batch_invariant", "m=64 n=32 k=48 deterministic=batch_invariant"},
        {"bf16 tn 64 32 48 groups=4 expected-rows=8", "m=64 n=32 k=48 groups=4 expected-rows=8"},
        {"bf16 tn 64 64 48 symmetric=yes bias=none", "m=64 n=64 k=48 symmetric=yes bias=none"},
    };
    for (const auto& [line, text] : kPairs) {
        INFO(line);
        CHECK(parse_spec_text(line) == parse_spec_text(std::string("gemm-v8 ") + text));
    }
}

TEST_CASE("a key that a shape line says already, or that is wrong, is refused") {
    for (const char* key : {"m=4", "n=2", "k=3", "layout=tn", "a=e4m3"}) {
        INFO(key);
        CHECK_THROWS_WITH(parse_shape_line(std::string("e4m3 tn 1 2 3 ldd=2 ") + key),
                          testing::Says(std::string("'") + key + "'", "repeats", "first words"));
    }
    CHECK_THROWS_WITH(parse_shape_line("e4m3*e5m2 tn 1 2 3 b=e5m2"), testing::Says("'b=e5m2'", "repeats"));
    CHECK_THROWS_WITH(parse_shape_line("bf16 tn 1 2 3 lda=8 lda=8"), testing::Says("'lda'", "twice", "once"));
    CHECK_THROWS_WITH(parse_shape_line("bf16 tn 1 2 3 ld=8"), testing::Says("unknown key 'ld'", "did you mean"));
    CHECK_THROWS_WITH(parse_shape_line("bf16 tn 1 2 3 lda=8x"), testing::Says("lda", "'8x'", "whole number"));
    CHECK_THROWS_WITH(parse_shape_line("bf16 tn 1 2 3 lda=2"), testing::Says("lda", "2"));
    CHECK_THROWS_WITH(parse_shape_line("bf16 tn 1 2 3 b=f16"), testing::Says("bf16", "f16", "one type"));
    CHECK_THROWS_WITH(parse_shape_line("gemm-v1 m=1 n=2 k=3 a=f16"), testing::Says("format", "type"));
}
