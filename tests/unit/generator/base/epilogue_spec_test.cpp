/// A problem with an epilogue in words: its text, its rules, its operands and the names of its kernels.

#include "generator/base/operand.hpp"
#include "generator/base/roofline.hpp"
#include "generator/epilogue/epilogue_text.hpp"
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
#include <cstddef>
#include <string>
#include <vector>

using namespace jitgemm;
using jitgemm::testing::Says;

namespace {

constexpr std::string_view kText = "d = silu(acc + bias[n]) * up[m,n]";

GemmSpec spec_of(std::string_view text) { return {.m = 64, .n = 96, .k = 128, .epilogue = text}; }

std::string complaints(const GemmSpec& spec) {
    std::string all;
    for (const std::string& problem : problems(spec)) all += problem + '\n';
    return all;
}

std::string names_of(const OperandList& operands) {
    std::string names;
    for (const GemmOperand& operand : operands) names += std::string(operand.name) + ' ';
    return names;
}

}  // namespace

TEST_CASE("an epilogue is one value for each text, and its layouts belong to it") {
    const EpilogueText text = kText;
    CHECK(text == EpilogueText(std::string(kText)));
    CHECK(EpilogueText().empty());
    CHECK_FALSE(text == EpilogueText("d = acc"));
    const EpilogueText wide = text.with("up", {.ld = 200});
    CHECK_FALSE(wide == text);
    CHECK(wide.layout_of("up").ld == 200);
    CHECK(wide.with("up", {}) == text);
    CHECK(wide.text() == kText);
    CHECK_THROWS_WITH(EpilogueText().with("up", {.ld = 1}), Says("up", "no text"));
}

TEST_CASE("the text of a spec holds its epilogue and reads back as the same spec") {
    GemmSpec spec = spec_of(kText);
    CHECK(parse_gemm_spec(to_string(spec)) == spec);
    CHECK(to_string(spec).starts_with("gemm-v3 "));
    spec.epilogue = spec.epilogue.with("up", {.ld = 200, .align = 8});
    CHECK(parse_gemm_spec(to_string(spec)) == spec);
    spec.constant_b = true;
    CHECK(parse_gemm_spec(to_string(spec)) == spec);
    CHECK(parse_gemm_spec(to_string(resolved(spec))) == resolved(parse_gemm_spec(to_string(spec))));
    CHECK(to_string(GemmSpec{.m = 1, .n = 1, .k = 1}).starts_with("gemm-v1 "));
    CHECK_THROWS_WITH(parse_gemm_spec("gemm-v2 m=1 n=1 k=1 epilogue='d = acc'"), Says("epilogue", "unknown"));
    CHECK_THROWS_WITH(parse_gemm_spec("gemm-v3 m=1 n=1 k=1 epilogue='d = acc"), Says("quote"));
    CHECK_THROWS_WITH(parse_gemm_spec("gemm-v3 m=1 n=1 k=1 ld-up=5"), Says("ld-up", "5", "no epilogue"));
    CHECK_THROWS_WITH(parse_gemm_spec("gemm-v3 m=1 n=1 k=1 epilogue=''"), Says("epilogue is ''", "a text"));
}

TEST_CASE("layouts stand in a spec's text before or behind the epilogue, and name what is wrong") {
    const std::string sizes = "gemm-v3 m=64 n=96 k=128 ", text = fmt::format(" epilogue='{}'", kText);
    CHECK(parse_gemm_spec(sizes + "ld-up=200 align-up=8" + text) ==
          parse_gemm_spec(sizes + text + " align-up=8 ld-up=200"));
    CHECK_THROWS_WITH(parse_gemm_spec(sizes + "ld-=16" + text), Says("ld-", "16", "no operand"));
    CHECK_THROWS_WITH(parse_gemm_spec(sizes + "align-up=" + text), Says("align-up is ''", "whole number"));
    CHECK_THROWS_WITH(parse_gemm_spec(sizes + "ld-up=abc" + text), Says("ld-up is 'abc'", "whole number"));
    CHECK_THROWS_WITH(parse_gemm_spec(sizes + "ld-up=1 ld-up=2" + text), Says("ld-up", "twice"));
}

TEST_CASE("a resolved spec has the canonical text: texts of one meaning make one problem") {
    const GemmSpec spaced = resolved(spec_of("d=silu( acc+bias[n] )*up[m,n]"));
    CHECK(spaced == resolved(spec_of(kText)));
    CHECK(resolved(spaced) == spaced);
    CHECK(problem_of(spaced).signature == problem_of(spec_of(kText)).signature);
    CHECK_FALSE(problem_of(spec_of("d = acc")).signature == problem_of(GemmSpec{.m = 64, .n = 96, .k = 128}).signature);
}

TEST_CASE("the operands of an epilogue stand behind D, with the sizes of their indices") {
    GemmSpec spec = spec_of(kText);
    spec.epilogue = "scale: f32; s: f32[0]; v: f16[m]; d = scale * acc * s[0] + v[m] * bias[n] + up[m,n]";
    spec.epilogue = spec.epilogue.with("up", {.ld = 100});
    REQUIRE(complaints(spec).empty());
    const OperandList operands = gemm_operands(spec);
    CHECK(names_of(operands) == "a b d s v bias up ");
    CHECK(operands.find("s")->extent() == 1);
    CHECK(operands.find("v")->extent() == 64);
    CHECK(operands.find("v")->type == DataType::f16);
    CHECK(operands.find("bias")->extent() == 96);
    CHECK(operands.find("up")->extent() == 63 * 100 + 96);
    CHECK(operands.find("up")->alignment == 8);
    const OperandList turned = gemm_operands(
        problem_of({.m = 64, .n = 96, .k = 128, .d_order = Order::column, .epilogue = "d = acc + bias[n] + up[m,n]"})
            .row_major());
    CHECK(turned.find("bias")->row == OperandIndex::m);
    CHECK(turned.find("up")->rows == 96);
}

TEST_CASE("outputs beside d are operands that a launch writes, in D's order") {
    GemmSpec spec = spec_of(kText);
    spec.epilogue = "whole: f32[m,n]; t = acc + bias[n]; pre[m,n] = t; whole[m,n] = -t; d = relu(t)";
    spec.epilogue = spec.epilogue.with("pre", {.ld = 100});
    REQUIRE(complaints(spec).empty());
    const OperandList operands = gemm_operands(spec);
    CHECK(names_of(operands) == "a b d bias pre whole ");
    CHECK(std::ranges::count_if(operands, &GemmOperand::is_written) == 3);
    CHECK(operands.find("pre")->type == DataType::bf16);
    CHECK(operands.find("pre")->extent() == 63 * 100 + 96);
    CHECK(operands.find("pre")->alignment == 8);
    CHECK(operands.find("whole")->type == DataType::f32);
    spec.d_order = Order::column;
    const GemmOperand turned = *gemm_operands(problem_of(spec).row_major()).find("whole");
    CHECK(turned.rows == 96);
    CHECK(turned.leading_dimension() == 64);
    spec.d_order = Order::row;
    CHECK(parse_gemm_spec(to_string(spec)) == spec);
    spec.epilogue = spec.epilogue.with("pre", {.ld = 95});
    CHECK_THAT(complaints(spec), Says("ld-pre is 95", "ld-pre is at least 96"));
}

TEST_CASE("the least aligned matrix of an epilogue limits D's vectors") {
    const auto alignment = [](std::string_view text, const EpilogueLayout& of_pre) {
        GemmSpec spec{.m = 64, .n = 96, .k = 128, .epilogue = text};
        spec.epilogue = spec.epilogue.with("pre", of_pre);
        return problem_of(spec).signature.align_d;
    };
    CHECK(alignment("d = acc; pre[m,n] = acc", {}) == 16);
    CHECK(alignment("d = acc; pre[m,n] = acc", {.ld = 98}) == 4);
    CHECK(alignment("d = acc; pre[m,n] = acc", {.align = 2}) == 2);
    CHECK(alignment("pre: f32[m,n]; d = acc; pre[m,n] = acc", {}) == 16);  // several vectors of 16 bytes
    CHECK(alignment("pre: f32[m,n]; d = acc; pre[m,n] = acc", {.ld = 98}) == 4);
}

TEST_CASE("wrong epilogues are problems that name the value and the rule") {
    CHECK_THAT(complaints(spec_of("d = geul(acc)")), Says("geul", "gelu", "line 1"));
    CHECK_THAT(complaints({.m = 8, .n = 8, .k = 8, .c = DataType::bf16, .epilogue = "d = acc"}), Says("c is bf16"));
    CHECK_THAT(complaints(spec_of("d: f32[m,n]; d = acc")), Says("d", "f32", "bf16"));
    GemmSpec spec = spec_of(kText);
    spec.epilogue = spec.epilogue.with("bias", {.ld = 100});
    CHECK_THAT(complaints(spec), Says("ld-bias is 100", "no matrix"));
    spec.epilogue = EpilogueText(kText).with("down", {.ld = 100});
    CHECK_THAT(complaints(spec), Says("ld-down is 100", "reads no"));
    spec.epilogue = EpilogueText(kText).with("up", {.ld = 95});
    CHECK_THAT(complaints(spec), Says("ld-up is 95", "ld-up is at least 96"));
    spec.epilogue = EpilogueText(kText).with("up", {.ld = 97, .align = 16});
    CHECK_THAT(complaints(spec), Says("align-up is 16", "ld-up is 97"));
}

TEST_CASE("a launch reads what no scalar guards, and wants the text's names") {
    const GemmSpec spec = resolved(spec_of("scale: f32; d = scale * acc + beta * up[m,n]"));
    const OperandList operands = gemm_operands(spec);
    GemmArguments arguments{.beta = 1, .operands = {{"scale", 1.0F}}};
    CHECK(is_used(*operands.find("a"), spec, arguments));
    CHECK(is_used(*operands.find("up"), spec, arguments));
    arguments.beta = 0;
    CHECK_FALSE(is_used(*operands.find("up"), spec, arguments));
    arguments.operands.set({"scale", 0.0F});
    CHECK_FALSE(is_used(*operands.find("a"), spec, arguments));
    CHECK(is_used(*operands.find("d"), spec, arguments));
}

TEST_CASE("a kernel's name holds the hash of its text, and is read beside the problem") {
    const GpuModel& gpu = find_gpu("h100");
    for (const std::string_view text : {"d = relu(acc + bias[n])", "d = acc * 2 + up[m,n]"}) {
        const Problem problem = problem_of(spec_of(text));
        for (const char* const family : {"mma_multistage", "wgmma_warp_specialized"}) {
            Selection selection;
            selection.family = family;
            const KernelConfig config = choose_config(problem, gpu, selection);
            const std::string name = kernel_name(problem, config);
            CHECK(name.find("_ep" + problem.signature.epilogue->hash() + "_") != std::string::npos);
            CHECK(config_of_kernel(problem, name) == config);
            CHECK_THROWS_AS(config_of_kernel(problem_of(spec_of("d = acc - 1")), name), ConfigError);
        }
    }
    CHECK_THROWS_WITH(parse_kernel_name("mma_multistage_bf16_tn_ep01234567_128x256x32_warp64x64"),
                      Says("ep01234567", "epilogue"));
}

TEST_CASE("a dump with an epilogue reads back, and shows the user's line") {
    const Problem problem = problem_of(spec_of(kText));
    const KernelConfig config = choose_config(problem, find_gpu("h100"));
    const KernelSource source = generate(problem, config, find_arch("sm_90a"));
    const ParsedDump parsed = parse_dump(dump(source, problem));
    CHECK(parsed.spec == problem.asked);
    CHECK(parsed.id == source.id);
    CHECK(source.body.find("silu(acc + bias) * up") != std::string::npos);
}

TEST_CASE("what no kernel serves of a text is refused with its place, as the user sees rows and columns") {
    for (const Order order : {Order::row, Order::column}) {
        GemmSpec spec = spec_of("d = acc * bias[n] * q[m,n/128]");
        spec.d_order = order;
        CHECK_THROWS_WITH(choose_config(problem_of(spec), find_gpu("h100")),
                          Says("bias: bf16[n]; q: f32[m,n/128]", "line 1, column 16", "q[m,n/128]"));
    }
}

TEST_CASE("a dump whose spec has another epilogue than its kernel is refused") {
    for (const Order order : {Order::row, Order::column}) {
        GemmSpec spec = spec_of(kText);
        spec.d_order = order;
        const Problem problem = problem_of(spec);
        std::string text =
            dump(generate(problem, choose_config(problem, find_gpu("h100")), find_arch("sm_90a")), problem);
        CHECK(parse_dump(text).spec == problem.asked);
        const std::size_t silu = text.find("silu", text.find("epilogue="));
        text.replace(silu, 4, "gelu");
        CHECK_THROWS_WITH(parse_dump(text), Says("gelu(acc", "another"));
        text.replace(silu, 4, "geul");
        CHECK_THROWS_WITH(parse_dump(text), Says("geul", "line 1"));
    }
}

TEST_CASE("pairs of columns halve D, and what lies as D does") {
    GemmSpec spec = spec_of("bias: f32[n]; t = acc + bias[n]; d[m,h] = left(t) * up[m,h] + right(t) * column[h]");
    const auto place = [&](std::string_view name) {
        const OperandList list = gemm_operands(resolved(spec));
        const GemmOperand& operand = *list.find(name);
        return fmt::format("{}x{}", operand.rows, operand.columns);
    };
    CHECK(place("d") == "64x48");
    CHECK(place("up") == "64x48");
    CHECK(place("column") == "1x48");
    CHECK(place("bias") == "1x96");
    CHECK(place("b") == "128x96");
    CHECK(size_of_d(spec).columns == 48);
    CHECK(resolved(spec).ldd == 48);
    CHECK(operand_extents(resolved(spec)).d == 64 * 48);
    spec.ldd = 47;
    CHECK_THAT(complaints(spec), Says("ldd is 47", "48"));
    spec.ldd = 0;
    spec.n = 97;
    CHECK_THAT(complaints(spec), Says("n is 97", "even"));
    spec.n = 96;
    spec.d_order = Order::column;
    CHECK_THAT(complaints(spec), Says("column-major", "pairs"));
}

TEST_CASE("a family that makes no pairs, or not these, says so") {
    const auto reasons = [](const GemmSpec& spec, std::string_view family) {
        return fmt::format("{}",
                           fmt::join(find_family(family).unsupported(problem_of(spec), find_arch("sm_90a")), "; "));
    };
    GemmSpec spec = spec_of("d[m,h] = silu(left(acc)) * right(acc)");
    CHECK(reasons(spec, "wgmma_warp_specialized").empty());
    CHECK(reasons(spec, "mma_multistage").empty());
    CHECK_THAT(reasons(spec, "wmma_multistage"), Says("two columns"));
    spec.layout = GemmLayout::nt;
    CHECK_THAT(reasons(spec, "wgmma_warp_specialized"), Says("layout nt", "layout nn"));
    CHECK(reasons(spec, "mma_multistage").empty());
    spec.n = 90;
    CHECK_THAT(reasons(spec, "wgmma_warp_specialized"), Says("n is 90", "16"));
    CHECK_THAT(reasons(spec, "mma_multistage"), Says("n is 90", "16"));
    spec.epilogue = "d[m,h] = silu(even(acc)) * odd(acc)";
    CHECK(reasons(spec, "mma_multistage").empty());
}

TEST_CASE("compulsory bytes are those of all operands and outputs of a text") {
    for (const char* const text :
         {"d = acc + bias[n] * up[m,n]", "pre: f32[m,n]; d = relu(acc); pre[m,n] = acc + up[m,n]",
          "d = acc; rows[n] = sum(acc); all[0] = max(acc)",
          "d[m,h] = silu(left(acc)) * right(acc); squares[h] = sum(left(acc))"}) {
        INFO(text);
        const GemmSpec spec = spec_of(text);
        REQUIRE(complaints(spec).empty());
        double all = 0;
        for (const GemmOperand& operand : gemm_operands(spec))
            all += static_cast<double>(operand.rows * operand.columns * bytes(operand.type));
        CHECK(compulsory_bytes(spec) == all);
    }
}
