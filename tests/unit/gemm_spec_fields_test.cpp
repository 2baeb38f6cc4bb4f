#include "generator/base/gemm_spec_fields.hpp"
#include "generator/base/gemm_signature.hpp"
#include "generator/base/served_types.hpp"
#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"

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
        {"a", "f16"},           {"b", "f16"},          {"c", "f32"},          {"d", "f32"},
        {"acc", "f16"},         {"layout", "tt"},      {"d-layout", "n"},     {"bias", "col-bf16"},
        {"activation", "gelu"}, {"residual", "f16"},   {"scale-a", "vector"}, {"scale-b", "block"},
        {"scale-d", "tensor"},  {"constant-a", "yes"}, {"constant-b", "yes"}, {"deterministic", "batch_invariant"},
        {"broadcast-c", "yes"}};
    const auto found = kOthers.find(field.key);
    return found == kOthers.end() ? "16" : std::string(found->second);
}

GemmSpec with_other(const GemmSpecField& field) {
    GemmSpec spec = small();
    field.read(spec, other_value(field));
    return spec;
}

GemmSpec batch_of_four() {
    GemmSpec spec = small();
    spec.batch = 4;
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
    CHECK(keys.size() == 33);
}

TEST_CASE("a spec of today's fields is written and read as before") {
    CHECK(to_string(small()) == kFirstFormat);
    CHECK(parse_gemm_spec(kFirstFormat) == small());
}

TEST_CASE("a spec with a batch or an epilogue is of the second format, which the first does not take for its own") {
    GemmSpec spec = batch_of_four();
    spec.batch_stride_a = 0;
    spec.epilogue.activation = Activation::gelu;
    const std::string text = to_string(spec);
    CHECK(text == "gemm-v2" + std::string(kFirstFormat).substr(7) + " batch=4 batch-stride-a=0 activation=gelu");
    CHECK(parse_gemm_spec(text) == spec);
    CHECK_THROWS_WITH(parse_gemm_spec("gemm-v1" + text.substr(7)), ContainsSubstring("unknown key 'batch'"));
    CHECK_THROWS_WITH(parse_gemm_spec("gemm-v3 m=1"), ContainsSubstring("'gemm-v1' or 'gemm-v2'"));
    CHECK(parse_gemm_spec("gemm-v2" + std::string(kFirstFormat).substr(7)) == small());
}

TEST_CASE("turned around twice, a spec is what it was. A bias per column is then one per row") {
    for (const GemmSpecField& field : gemm_spec_fields()) {
        GemmSpec spec = with_other(field);
        spec.d_order = Order::column;
        GemmSpec turned = with_row_major_d(spec);
        CHECK(turned.epilogue.scale_a == spec.epilogue.scale_b);
        CHECK(turned.batch_stride_b == spec.batch_stride_a);
        if (spec.epilogue.bias == Bias::per_column) CHECK(turned.epilogue.bias == Bias::per_row);
        turned.d_order = Order::column;
        GemmSpec again = with_row_major_d(turned);
        again.d_order = Order::column;
        INFO(field.key);
        CHECK(again == spec);
    }
}

TEST_CASE("a batch is packed unless its strides say otherwise, and D's problems lie apart") {
    const GemmSpec spec = resolved(batch_of_four());
    CHECK(spec.batch_stride_a == 15);
    CHECK(spec.batch_stride_b == 20);
    CHECK_FALSE(spec.batch_stride_c.has_value());
    CHECK(spec.batch_stride_d == 12);
    GemmSpec padded = batch_of_four();
    padded.lda = 8;
    CHECK(resolved(padded).batch_stride_a == 24);  // as a tensor of 4x3x8 has
    CHECK(resolved(padded).align_a == 16);
    GemmSpec single = small();
    single.batch_stride_a = 100;
    CHECK_FALSE(resolved(single).batch_stride_a.has_value());
    const auto problem = [](auto&& change) {
        GemmSpec changed = batch_of_four();
        change(changed);
        const std::vector<std::string> reasons = problems(changed);
        REQUIRE(reasons.size() == 1);
        return reasons.front();
    };
    CHECK(problems(batch_of_four()).empty());
    CHECK_THAT(problem([](GemmSpec& s) { s.batch = 0; }), ContainsSubstring("batch is 0"));
    CHECK_THAT(problem([](GemmSpec& s) { s.batch_stride_b = -1; }), ContainsSubstring("batch_stride_b is -1"));
    CHECK_THAT(problem([](GemmSpec& s) { s.epilogue.scale_a = ScaleFactors::per_tensor; }),
               ContainsSubstring("A has scale factors and is bf16"));
    CHECK_THAT(problem([](GemmSpec& s) { s.epilogue.residual = DataType::s8; }),
               ContainsSubstring("the residual is s8"));
    CHECK_THAT(problem([](GemmSpec& s) { s.epilogue.bias = Bias::per_row, s.epilogue.bias_type = DataType::e4m3; }),
               ContainsSubstring("the bias is e4m3"));
    CHECK_THAT(problem([](GemmSpec& s) { s.epilogue.activation = static_cast<Activation>(9); }),
               ContainsSubstring("activation is 9: a number that none of its values has"));
}

TEST_CASE("strides of a batch are within reach and share no part of a matrix, and alignments divide them") {
    const auto problem = [](auto&& change) {
        GemmSpec spec{.m = 8, .n = 16, .k = 32, .c = DataType::bf16, .batch = 4};
        REQUIRE(problems(spec).empty());
        change(spec);
        const std::vector<std::string> reasons = problems(spec);
        return reasons.empty() ? std::string("none") : fmt::format("{}", fmt::join(reasons, "\n"));
    };
    CHECK(problem([](GemmSpec& s) { s.batch_stride_a = std::int64_t{1} << 62; }) ==
          "batch_stride_a is 4611686018427387904: 4 problems have one from 0 to 1537228672809129215, which addresses "
          "can reach");
    CHECK(problem([](GemmSpec& s) { s.batch_stride_a = (std::int64_t{1} << 62) / 3 - 256; }) == "none");
    CHECK_THAT(problem([](GemmSpec& s) { s.m = kLargestExtent, s.n = 1 << 30, s.batch = kLargestExtent; }),
               ContainsSubstring("batch_stride_d is"));
    for (const auto stride : {&GemmSpec::batch_stride_a, &GemmSpec::batch_stride_b, &GemmSpec::batch_stride_c})
        CHECK(problem([&](GemmSpec& s) { s.*stride = 0; }) == "none");
    CHECK(problem([](GemmSpec& s) { s.batch_stride_d = 0; }) ==
          "batch_stride_d is 0: no two problems share a part of D, so it is at least 128, or at least 16 where the "
          "rows of "
          "all 4 fit into an ldd");
    CHECK_THAT(problem([](GemmSpec& s) { s.batch_stride_d = 127; }), ContainsSubstring("so it is at least 128"));
    CHECK(problem([](GemmSpec& s) { s.batch_stride_d = 128; }) == "none");
    CHECK_THAT(
        problem([](GemmSpec& s) { s.batch_stride_b = 1; }),
        ContainsSubstring("share a part of B, so it is 0, at least 512, or at least 32 where the columns of all 4"));
    CHECK(problem([](GemmSpec& s) { s.ldd = 64, s.batch_stride_d = 16; }) == "none");  // rows side by side
    CHECK(problem([](GemmSpec& s) { s.ldd = 70, s.batch_stride_d = 18; }) == "none");
    CHECK_THAT(problem([](GemmSpec& s) { s.ldd = 63, s.batch_stride_d = 16; }),
               ContainsSubstring("batch_stride_d is 16"));
    CHECK_THAT(problem([](GemmSpec& s) { s.ldd = 64, s.batch_stride_d = 15; }),
               ContainsSubstring("batch_stride_d is 15"));

    CHECK(problem([](GemmSpec& s) { s.align_a = 16, s.batch_stride_a = 260; }) ==
          "align_a is 16: batch_stride_a is 260 elements of 2 bytes, which gives every problem an alignment of only 8 "
          "bytes");
    CHECK(problem([](GemmSpec& s) { s.align_a = 8, s.batch_stride_a = 260; }) == "none");
    CHECK(problem([](GemmSpec& s) { s.align_d = 16, s.batch_stride_d = 0, s.batch = 1; }) == "none");
    CHECK_THAT(problem([](GemmSpec& s) { s.m = 1, s.k = 36, s.align_a = 16; }),  // packed
               ContainsSubstring("batch_stride_a is 36 elements"));
    CHECK(resolved({.m = 1, .n = 16, .k = 36, .batch = 4}).align_a == 8);
    CHECK(resolved({.m = 1, .n = 16, .k = 36, .batch = 4, .batch_stride_a = 0}).align_a == 16);
    CHECK(resolved({.m = 1, .n = 16, .k = 36}).align_a == 16);
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

TEST_CASE("the type of no bias says nothing, and a number that is no activation has no text") {
    GemmSpec spec = small();
    spec.epilogue.bias_type = DataType::bf16;
    CHECK(resolved(spec) == resolved(small()));
    spec.epilogue.activation = static_cast<Activation>(9);
    CHECK_THROWS_AS(to_string(spec), SpecError);
}

TEST_CASE("what no family serves is refused by all, with field, value and rule") {
    GemmSpec spec = batch_of_four();
    spec.epilogue.bias = Bias::per_column;
    for (const Family& family : family_table()) {
        const std::vector<std::string> reasons = family.unsupported(problem_of(spec), find_arch("sm_90a"));
        CHECK_THAT(fmt::format("{}", fmt::join(reasons, "\n")),
                   ContainsSubstring("batch=4: no kernel family multiplies batches yet") &&
                       ContainsSubstring("bias=col-f32: no kernel family adds a bias yet"));
    }
    CHECK_THROWS_WITH(choose_config(problem_of(spec), find_gpu("h200")),
                      ContainsSubstring("no kernel family multiplies batches yet"));
    const KernelConfig config = choose_config(problem_of(small()), find_gpu("a100"));
    CHECK_THROWS_WITH(generate(problem_of(spec), config, find_arch("sm_90a")),
                      ContainsSubstring("no kernel family adds a bias yet"));
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

TEST_CASE("batch and epilogue have their place in a kernel's name") {
    GemmSpec spec = resolved({.m = 512, .n = 512, .k = 512});
    const KernelConfig config = choose_config(problem_of(spec), find_gpu("a100"));
    const std::string plain = kernel_name(problem_of(spec), config);
    spec.batch = 2;
    spec.epilogue = {
        .bias = Bias::per_row, .bias_type = DataType::bf16, .activation = Activation::silu, .residual = DataType::f32};
    const KernelId id{problem_of(spec).signature, config};
    const std::string name = kernel_name(id);
    CHECK(name == "mma_multistage_bf16_tn_batched_bias-row-bf16_act-silu_res-f32" +
                      plain.substr(std::string("mma_multistage_bf16_tn").size()));
    CHECK(parse_kernel_name(name) == id);
    CHECK_THROWS_WITH(parse_kernel_name("mma_multistage_bf16_tn_act-glu_64x64x32"),
                      ContainsSubstring("'act-glu': expected one of none, relu"));
    CHECK_THROWS_WITH(
        parse_kernel_name(name.substr(0, name.find("_bias")) + "_act-silu_bias-row-bf16" + plain.substr(22)),
        ContainsSubstring("the canonical name of this kernel is"));
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
