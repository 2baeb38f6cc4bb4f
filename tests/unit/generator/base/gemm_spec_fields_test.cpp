#include "generator/base/gemm_spec_fields.hpp"
#include "generator/base/gemm_signature.hpp"
#include "generator/base/served_types.hpp"
#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"

#include <fmt/format.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr const char* kFirstFormat =
    "gemm-v1 m=3 n=4 k=5 a=bf16 b=bf16 c=none d=bf16 acc=f32 layout=tn d-layout=t lda=0 ldb=0 ldc=0 ldd=0 align-a=0 "
    "align-b=0 align-c=0 align-d=0";

GemmSpec small() { return {.m = 3, .n = 4, .k = 5}; }

/// A value that is not the usual one, for each field.
std::string other_value(const GemmSpecField& field) {
    static const std::map<std::string_view, std::string_view> kOthers{
        {"a", "f16"},
        {"b", "f16"},
        {"c", "f32"},
        {"d", "f32"},
        {"acc", "f16"},
        {"layout", "tt"},
        {"d-layout", "n"},
        {"constant-a", "yes"},
        {"constant-b", "yes"},
        {"broadcast-c", "yes"},
        {"deterministic", "batch_invariant"},
        {"epilogue", "x: f32[m,n]; d[m,n] = acc + x[m,n]"},
        {"sums", "fast"},
        {"math", "f16x3"},
        {"ragged", "k"},
        {"symmetric", "yes"},
        {"prepared", "b"},
        {"pointers", "yes"}};
    const auto found = kOthers.find(field.key);
    return found == kOthers.end() ? "16" : std::string(found->second);
}

GemmSpec with_other(const GemmSpecField& field) {
    GemmSpec spec = small();
    field.read(spec, other_value(field));
    return spec;
}

}  // namespace

TEST_CASE("every field of a spec has a text, a number and a hash of its own") {
    std::set<std::string_view> keys;
    std::set<std::string_view> options;
    std::set<std::size_t> hashes{std::hash<GemmSpec>()(small())};
    for (const GemmSpecField& field : gemm_spec_fields()) {
        INFO(field.key);
        CHECK(keys.insert(field.key).second);
        CHECK(options.insert(field.option).second);
        const GemmSpec other = with_other(field);
        CHECK_FALSE(other == small());
        CHECK_FALSE(is_usual(field, other));
        CHECK(field.print(other) == other_value(field));
        CHECK(parse_gemm_spec(to_string(other)) == other);
        CHECK(hashes.insert(std::hash<GemmSpec>()(other)).second);
        for (const GemmSpecField& its : gemm_spec_fields())
            CHECK(is_usual(its, other) == (its.value(other) == its.value({})));
    }
}

TEST_CASE("a spec of today's fields is written and read as before") {
    CHECK(to_string(small()) == kFirstFormat);
    CHECK(parse_gemm_spec(kFirstFormat) == small());
}

TEST_CASE("a spec with a field of the second format is of that format, which the first does not take for its own") {
    GemmSpec spec = small();
    spec.constant_b = true;
    const std::string text = to_string(spec);
    CHECK(text == "gemm-v2" + std::string(kFirstFormat).substr(7) + " constant-b=yes");
    CHECK(parse_gemm_spec(text) == spec);
    CHECK_THROWS_WITH(parse_gemm_spec("gemm-v1" + text.substr(7)), testing::Says("unknown", "'constant-b'"));
    CHECK_THROWS_WITH(parse_gemm_spec("gemm-v10 m=1"), testing::Says("'gemm-v10'", "gemm-v1", "gemm-v2", "gemm-v3"));
    CHECK(parse_gemm_spec("gemm-v2" + std::string(kFirstFormat).substr(7)) == small());
}

TEST_CASE("texts of earlier versions may name fields that no kernel served, with words that say nothing") {
    const std::string before =
        " m=3 n=4 k=5 batch=1 batch-stride-a=packed batch-stride-b=0 batch-stride-c=packed "
        "batch-stride-d=0 bias=none activation=none residual=none scale-a=none scale-b=none "
        "scale-d=none";
    for (const char* format : {"gemm-v1", "gemm-v2"}) {
        CHECK(parse_gemm_spec(format + before) == small());
        for (const FormerField& field : former_fields()) {
            const std::string text = fmt::format("{} m=3 n=4 k=5 {}=7", format, field.key);
            CHECK_THROWS_WITH(parse_gemm_spec(text), ContainsSubstring(fmt::format("{} is '7'", field.key)) &&
                                                         ContainsSubstring("no kernel serves"));
        }
    }
    CHECK(former_fields().size() == 11);
    CHECK_THROWS_WITH(parse_gemm_spec("gemm-v2 m=3 n=4 k=5 bias=none bias=none"), ContainsSubstring("twice"));
}

TEST_CASE("turned around twice, a spec is what it was") {
    for (const GemmSpecField& field : gemm_spec_fields()) {
        GemmSpec spec = with_other(field);
        spec.d_order = Order::column;
        GemmSpec turned = with_row_major_d(spec);
        turned.d_order = Order::column;
        GemmSpec again = with_row_major_d(turned);
        again.d_order = Order::column;
        INFO(field.key);
        CHECK(again == spec);
    }
}

TEST_CASE("turned around, what is said of A is said of B, field by field") {
    int pairs = 0;
    for (const GemmSpecField& of_a : gemm_spec_fields()) {
        if (!of_a.key.ends_with('a')) continue;
        const std::string key_of_b = std::string(of_a.key.substr(0, of_a.key.size() - 1)) + 'b';
        const auto of_b = std::ranges::find(gemm_spec_fields(), key_of_b, &GemmSpecField::key);
        REQUIRE(of_b != gemm_spec_fields().end());
        GemmSpec spec = with_other(of_a);
        spec.d_order = Order::column;
        INFO(of_a.key);
        CHECK(of_b->print(with_row_major_d(spec)) == of_a.print(spec));
        CHECK(of_a.print(with_row_major_d(spec)) == of_b->print(spec));
        ++pairs;
    }
    CHECK(pairs == 6);
}

TEST_CASE("a type that no family serves is told with those that are served, before anything of a family's") {
    for (const DataTypeInfo& row : data_type_table()) {
        INFO(row.name);
        GemmSpec spec = gemm_spec_of_type(row.type);
        spec.m = spec.n = spec.k = 64;
        if (!problems(spec).empty()) continue;  // no instruction multiplies it
        const bool is_served = std::ranges::find(served_types(), row.type) != served_types().end();
        const auto serves = [&](const Family& family) {
            return family.unsupported(problem_of(spec), find_arch("sm_90a")).empty();
        };
        CHECK(std::ranges::any_of(family_table(), serves) == is_served);
        if (is_served) continue;
        CHECK_THROWS_WITH(choose_config(problem_of(spec), find_gpu("a100")), ContainsSubstring(std::string(row.name)) &&
                                                                                 ContainsSubstring("f16, bf16, f32") &&
                                                                                 !ContainsSubstring("gemm-v"));
    }
}

TEST_CASE("the command of a dump says what doesn't follow from what it said before") {
    CHECK(command_line_options(problem_of({.m = 3, .n = 4, .k = 5})) == " --m 3 --n 4 --k 5 --type bf16 --layout tn");
    CHECK(command_line_options(problem_of({.m = 3,
                                           .n = 4,
                                           .k = 5,
                                           .a = DataType::f16,
                                           .c = DataType::f32,
                                           .d = DataType::f32,
                                           .d_order = Order::column,
                                           .lda = 8,
                                           .align_b = 2})) ==
          " --m 3 --n 4 --k 5 --type f16 --c-type f32 --d-type f32 --layout tn --d-layout n --lda 8");
    CHECK(command_line_options(problem_of({.m = 3, .n = 5, .k = 8, .c = DataType::bf16, .broadcast_c = true})) ==
          " --m 3 --n 5 --k 8 --type bf16 --c-type bf16 --broadcast-c yes --layout tn");
}
