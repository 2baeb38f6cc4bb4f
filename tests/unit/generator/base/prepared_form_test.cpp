/// Prepared operands: what decides their form, the problem that kernels see, and the rules of specs.

#include "generator/base/prepared_form.hpp"

#include "generator/base/problem.hpp"
#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/families/preparation.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/specs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

GemmSpec prepared(GemmSpec spec, Prepared operands = Prepared::b) {
    spec.prepared = operands;
    return spec;
}

GemmSpec f32(GemmLayout layout, Math math, std::int64_t m = 512) {
    GemmSpec spec = spec_of(layout, m, 384, 1000, DataType::f32);
    spec.math = math;
    return spec;
}

GemmSpec float8(GemmLayout layout, std::int64_t m = 512, std::int64_t ldb = 0) {
    GemmSpec spec = spec_of(layout, m, 384, 1000, DataType::e4m3);
    spec.ldb = ldb;
    return spec;
}

std::string form_of_b(const GemmSpec& spec) { return to_string(preparation_of(Prepared::b, resolved(spec)).form); }

std::string refusal(const GemmSpec& spec) { return fmt::format("{}", fmt::join(problems(spec), "; ")); }

}  // namespace

TEST_CASE("the form of a prepared operand follows from the operand alone") {
    CHECK(form_of_b(float8(GemmLayout::tt)) == "e4m3, 384 lines of k=1000, K contiguous, pitch 1024");
    for (const std::int64_t m : {1, 17, 8192})
        for (const GemmSpec& spec : {float8(GemmLayout::nt, m), float8(GemmLayout::tt, m, 387),
                                     float8(GemmLayout::tn, m), float8(GemmLayout::nn, m, 1003)})
            CHECK(form_of_b(spec) == form_of_b(float8(GemmLayout::tt)));
    GemmSpec turned = float8(GemmLayout::tt);
    turned.d_order = Order::column;
    turned.epilogue = "d = relu(acc)";
    CHECK(form_of_b(turned) == form_of_b(float8(GemmLayout::tt)));
    for (const GemmLayout layout : kLayouts)
        CHECK(form_of_b(f32(layout, Math::f16x3)) == "f32 in parts of f16x3, 384 lines of k=1000");
    CHECK(form_of_b(f32(GemmLayout::tt, Math::tf32)) == "f32, 384 lines of k=1000, K contiguous, pitch 1024");
    GemmSpec odd = spec_of(GemmLayout::tt, 512, 385, 1000);
    CHECK(form_of_b(odd) == "bf16, 385 lines of k=1000, side by side, pitch 448");
    const Preparation of_a = preparation_of(Prepared::a, resolved(float8(GemmLayout::nt)));
    CHECK(to_string(of_a.form) == "e4m3, 512 lines of k=1000, K contiguous, pitch 1024");
    CHECK(of_a.bytes() == 512 * 1024);
}

TEST_CASE("nothing is prepared of an operand that kernels read as it lies") {
    for (const GemmSpec& spec : {spec_of(GemmLayout::tt, 512, 384, 1000), f32(GemmLayout::tt, Math::ieee),
                                 spec_of(GemmLayout::tn, 512, 384, 1008, DataType::s8)}) {
        INFO(to_string(spec));
        const Preparation made = preparation_of(Prepared::b, resolved(spec));
        CHECK_FALSE(made.copies);
        CHECK(made.bytes() == 0);
        GemmSpec asked = problem_of(prepared(spec)).asked;
        CHECK(asked == problem_of(spec).asked);
    }
    GemmSpec odd = f32(GemmLayout::tn, Math::ieee);
    odd.ldb = 1001;
    CHECK_FALSE(preparation_of(Prepared::b, resolved(odd)).copies);
    const Preparation on_ampere =
        preparation_of(Prepared::b, problem_of(f32(GemmLayout::tt, Math::f16x3)), find_arch("sm_80"));
    CHECK_FALSE(on_ampere.copies);
    CHECK(preparation_of(Prepared::b, problem_of(f32(GemmLayout::tt, Math::f16x3)), find_arch("sm_90a")).copies);
}

TEST_CASE("kernels see a prepared matrix as one that lies so") {
    const Problem problem = problem_of(prepared(float8(GemmLayout::tt, 512, 387)));
    CHECK(problem.requested().prepared == Prepared::b);
    CHECK(problem.requested().ldb == 387);
    GemmSpec same = float8(GemmLayout::tn, 512, 1024);
    CHECK(problem.asked == resolved(same));
    CHECK(problem.signature == problem_of(same).signature);
    const Problem both = problem_of(prepared(float8(GemmLayout::nt), Prepared::ab));
    CHECK(both.asked.layout == GemmLayout::tn);
    CHECK(both.asked.lda == 1024);
    CHECK(problem_of(prepared(float8(GemmLayout::nt), Prepared::a)).asked.layout == GemmLayout::tt);
    CHECK(problem_of(both.requested()).asked == both.asked);
}

TEST_CASE("kernels take operands in parts under a name of their own") {
    const Problem plain = problem_of(f32(GemmLayout::tt, Math::f16x3));
    const Problem problem = problem_of(prepared(f32(GemmLayout::tt, Math::f16x3)));
    CHECK(problem.asked.prepared == Prepared::b);
    CHECK(problem.signature.prepared == Prepared::b);
    const GpuModel& gpu = find_gpu("h200");
    const KernelConfig config = choose_config(plain, gpu);
    const std::string name = kernel_name(problem, config);
    CHECK_THAT(name, Catch::Matchers::ContainsSubstring("_f16x3_preparedb_"));
    CHECK(parse_kernel_name(name) == KernelId{problem.signature, config});
    CHECK(family_of(config).cost(problem, config, gpu).total_us < family_of(config).cost(plain, config, gpu).total_us);
    const std::size_t copy = static_cast<std::size_t>(preparation_of(Prepared::b, plain.asked).bytes());
    CHECK(workspace_layout(problem, config).bytes == workspace_layout(plain, config).bytes - copy);
    GemmSpec turned = prepared(f32(GemmLayout::tt, Math::f16x3));
    turned.d_order = Order::column;
    CHECK(problem_of(turned).signature.prepared == Prepared::a);
}

TEST_CASE("prepared: the text names it and reads back, and the rules name the value") {
    const GemmSpec spec = resolved(prepared(float8(GemmLayout::tt), Prepared::ab));
    CHECK_THAT(to_string(spec), Catch::Matchers::StartsWith("gemm-v8 "));
    CHECK(parse_gemm_spec(to_string(spec)) == spec);
    CHECK(parse_shape_line("e4m3 tt 8 16 32 prepared=b").prepared == Prepared::b);
    CHECK_THROWS_AS(parse_gemm_spec("gemm-v7 m=8 n=8 k=8 prepared=b"), SpecError);
    CHECK_THROWS_WITH(parse_gemm_spec("gemm-v8 m=8 n=8 k=8 prepared=c"), Says("prepared", "c", "none", "ab"));
    CHECK(to_string(Prepared::ab) == "ab");

    GemmSpec groups = prepared(spec_of(GemmLayout::tn, 480, 40, 64));
    groups.groups = 3;
    CHECK_THAT(refusal(groups), Says("prepared is b", "groups is 3"));
    GemmSpec batch = prepared(float8(GemmLayout::tt));
    batch.batch = 4;
    CHECK_THAT(refusal(batch), Says("batch_stride_b is packed", "must be 0"));
    batch.batch_stride_b = 0;
    CHECK(refusal(batch).empty());
    batch.prepared = Prepared::a;
    CHECK_THAT(refusal(batch), Says("batch_stride_a is packed"));
    GemmSpec parts = prepared(f32(GemmLayout::tt, Math::f16x3));
    parts.batch = 2;
    parts.batch_stride_b = 0;
    CHECK_THAT(refusal(parts), Says("batch is 2", "math=f16x3"));
}

TEST_CASE("a file that prepares has one entry") {
    const auto text_of = [](const GemmSpec& spec) {
        return preparing_text(preparing_problem(Prepared::b, problem_of(spec)), find_arch("sm_90a"));
    };
    const KernelText split = text_of(f32(GemmLayout::tt, Math::f16x3));
    CHECK(split.name == "prepare_f32_n_f16x3");
    REQUIRE(split.entries.size() == 1);
    CHECK(split.entries[0].function == "gemm_split");
    CHECK(split.body.find("parts_b") == std::string::npos);
    const KernelText transposed = text_of(float8(GemmLayout::tt, 512, 387));
    CHECK(transposed.name == "prepare_e4m3_n_align1");
    CHECK(transposed.entries[0].function == "gemm_pack");
    CHECK(transposed.body == text_of(float8(GemmLayout::nt, 77, 385)).body);  // not the sizes
}
