// Rendered epilogues on the emulator: each function, and some texts, against the intervals of the evaluator.

#include "generator/epilogue/functions.hpp"
#include "generator/epilogue/render.hpp"
#include "runtime/compiler/compiler.hpp"
#include "runtime/emulator/program.hpp"
#include "runtime/verify/epilogue_value.hpp"
#include "tests/catch.hpp"
#include "tests/support/ptx_run.hpp"

#include <fmt/format.h>

#include <bit>
#include <random>
#include <string>
#include <vector>

using namespace jitgemm;

namespace {

constexpr int kThreadsOfAnEpilogue = 256;
constexpr std::size_t kWordsPerElement = 8;

/// A kernel whose threads read scalars and operands of an element and write its first result.
std::string kernel_of(const Epilogue& epilogue) {
    std::string members, scalars, arguments;
    std::size_t word = 0;
    const std::vector<std::string> parameters = finish_parameters(epilogue.parts());
    for (; word < parameters.size(); ++word) arguments += fmt::format(", in[{}]", word);
    for (const EpilogueOperand& operand : epilogue.parts().operands) {
        if (!operand.is_scalar) continue;
        members += fmt::format("    float {};\n", operand.name);
        scalars += fmt::format("    args.{} = in[{}];\n", operand.name, word++);
    }
    REQUIRE(word <= kWordsPerElement);
    return "struct GemmArgs {\n" + members + "    int m;\n};\n" + render_epilogue(epilogue) +
           fmt::format(
               "extern \"C\" __global__ void kernel(const float* in, float* out) {{\n"
               "    in += threadIdx.x * {};\n    GemmArgs args{{}};\n{}"
               "    out[threadIdx.x * {}] = finish(args{}).{};\n}}\n",
               kWordsPerElement, scalars, kWordsPerElement, arguments, epilogue.parts().outputs[0].name);
}

CompileRequest request_of(const Epilogue& epilogue, const std::string& arch) {
    const std::vector<std::string> options{"--std=c++17", "--minimal", "--ptxas-options=-v"};
    return {.name = "epilogue", .body = kernel_of(epilogue), .arch = arch, .options = options};
}

CompiledKernel compiled_epilogue(const Epilogue& epilogue, const std::string& arch) {
    static const std::shared_ptr<Compiler> kCompiler = make_nvrtc_compiler(Options::from_environment(), 0, {});
    return kCompiler->compile(request_of(epilogue, arch));
}

/// Inputs of all threads, some words each: special values first, then random ones of all sizes.
std::vector<float> inputs() {
    std::mt19937_64 random(7);
    std::normal_distribution<float> normal;
    std::vector<float> values{0.0f, -0.0f, 1.0f, -1.0f, 0.55f, 0.93f, -0.93f, 4.0f, 9.5f, -9.5f, 20.0f, -20.0f, 88.0f};
    while (values.size() < kThreadsOfAnEpilogue * kWordsPerElement) {
        const float size = values.size() % 5 == 0 ? 8.0f : values.size() % 7 == 0 ? 0.01f : 1.0f;
        values.push_back(size * normal(random));
    }
    return values;
}

std::vector<float> emulated(const Epilogue& epilogue, const std::vector<float>& in) {
    const auto program = emulator::load_program(compiled_epilogue(epilogue, "compute_90a").binary);
    std::vector<std::uint32_t> bits;
    for (const float value : in) bits.push_back(std::bit_cast<std::uint32_t>(value));
    const emulator::LaunchConfig config{
        .entry = "kernel", .grid = {1, 1, 1}, .block = {kThreadsOfAnEpilogue, 1, 1}, .threads = 1};
    const auto result = testing::run_entry(*program, config, bits, bits.size());
    std::vector<float> values;
    for (const std::uint32_t word : testing::words(result)) values.push_back(std::bit_cast<float>(word));
    return values;
}

/// The interval of the first result for the words that a thread reads.
Interval expected(const Epilogue& epilogue, const float* words) {
    const EpilogueParts& parts = epilogue.parts();
    const auto next = [&] { return exactly(*words++); };
    EpilogueElement element;
    element.acc[0] = next();
    if (parts.pairs != EpiloguePairs::none) element.acc[1] = next();
    element.operands.resize(parts.operands.size());
    for (std::size_t i = 0; i < parts.operands.size(); ++i) {
        if (parts.operands[i].is_scalar) continue;
        element.operands[i][0] = next();
        if (differs_in_pair(parts, parts.operands[i])) element.operands[i][1] = next();
    }
    for (std::size_t i = 0; i < parts.operands.size(); ++i)
        if (parts.operands[i].is_scalar) element.operands[i][0] = next();
    return epilogue_values(epilogue, element)[0];
}

void check_on_emulator(const std::string& text) {
    INFO(text);
    const Epilogue epilogue = read_epilogue(text);
    const std::vector<float> in = inputs();
    const std::vector<float> values = emulated(epilogue, in);
    REQUIRE(values.size() == kThreadsOfAnEpilogue);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const float* const words = in.data() + i * kWordsPerElement;
        const Interval interval = expected(epilogue, words);
        if (interval.contains(values[i])) continue;
        FAIL_CHECK(fmt::format("thread {} (acc {}): {} is not in {} .. {}", i, words[0], values[i], interval.low,
                               interval.high));
        return;
    }
}

std::string call_of(const EpilogueFunction& row) {
    std::string arguments = "acc";
    for (int i = 1; i < row.arity; ++i) arguments += fmt::format(", x{}[n]", i);
    return row.is_fast ? fmt::format("fast({}({}))", row.name, arguments) : fmt::format("{}({})", row.name, arguments);
}

const std::vector<std::string>& sample_texts() {
    static const std::vector<std::string> kTexts{
        "d = alpha * acc + beta * c[m,n]",
        "d = silu(alpha * acc + bias[n]) * up[m,n]",
        "t = alpha * acc + bias[n]; d = gelu(t) + res[m,n]; pre[m,n] = t; amax[0] = max(abs(t))",
        "d[m,h] = silu(left(acc + bias[n])) * right(acc + bias[n])",
        "d[m,h] = gelu(even(acc)) * (odd(acc) + 1) - gate[m,h]",
        "d = dy[m,n] * dsilu(acc) + dgelu(acc) - drelu(acc)",
        "d = select(acc > x[n], clamp(acc, -1, 1), -bf16(acc) / 3)",
        "d = e4m3(acc * s[0]) - f16(acc) * 2",
        "d = x[n] - acc * alpha + (acc + 1) * (x[n] - 2) - 0.1",
    };
    return kTexts;
}

}  // namespace

TEST_CASE("each function of an epilogue is as exact on the emulator as its table says") {
    for (const EpilogueFunction& row : epilogue_functions())
        if (row.kind == FunctionKind::value) check_on_emulator("d = " + call_of(row));
}

TEST_CASE("each type that an epilogue rounds to is rounded on the emulator as its evaluator says") {
    for (const std::string_view type : epilogue_type_names()) {
        check_on_emulator(fmt::format("d = {}(acc) + 0", type));
        check_on_emulator(fmt::format("d = {}(acc * 100)", type));
    }
}

TEST_CASE("rendered epilogues have the values of their intervals on the emulator") {
    for (const std::string& text : sample_texts()) check_on_emulator(text);
}

TEST_CASE("rendered epilogues compile without spills and warnings") {
    for (const std::string& text : sample_texts()) {
        INFO(text);
        const PtxasReport report = compiled_epilogue(read_epilogue(text), "sm_90a").report;
        CHECK(report.registers > 4);
        CHECK(report.spill_bytes() + report.stack_bytes == 0);
        CHECK(report.warnings.empty());
    }
}
