// The CUDA text of an epilogue.

#include "generator/epilogue/render.hpp"

#include "tests/catch.hpp"
#include "tests/support/random_epilogue.hpp"

#include <algorithm>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;

namespace {

/// The expressions of `finish`: what stands behind "return {".
std::string result_of(const std::string& text) {
    const std::string rendered = render_epilogue(read_epilogue(text));
    const std::size_t begin = rendered.rfind("return {") + 8;
    return rendered.substr(begin, rendered.rfind("};") - begin);
}

}  // namespace

TEST_CASE("an epilogue is rendered as its functions, Results and finish") {
    const Epilogue epilogue =
        read_epilogue("bias: bf16[n]; t = alpha * acc + bias[n]; pre[m,n] = t; d = silu(t) * up[m,n]");
    CHECK(render_epilogue(epilogue) ==
          R"(__device__ __forceinline__ float silu(float x) {  // x / (1 + e^-x)
    float power, inverse;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * -1.4426950408889634f));
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(power + 1.0f));
    return x * inverse;
}
// The results of one element.
struct Results {
    float pre, d;
};
__device__ __forceinline__ Results finish(const GemmArgs& args, float acc, float bias, float up) {
    const float t0 = fmaf(args.alpha, acc, bias);
    return {t0, silu(t0) * up};
}
)");
}

TEST_CASE("a product that is added becomes one fmaf, of two the right one") {
    CHECK(result_of("d = alpha * acc + beta * c[m,n]") == "fmaf(args.beta, c, args.alpha * acc)");
    CHECK(result_of("d = alpha * acc + x[n]") == "fmaf(args.alpha, acc, x)");
    CHECK(result_of("d = x[n] + alpha * acc") == "fmaf(args.alpha, acc, x)");
    CHECK(result_of("d = x[n] - alpha * acc") == "fmaf(-args.alpha, acc, x)");
    CHECK(result_of("d = x[n] - 2 * acc") == "fmaf(-2.0f, acc, x)");
    CHECK(result_of("d = alpha * acc - x[n]") == "fmaf(args.alpha, acc, -x)");
    CHECK(result_of("d = (alpha + 1) * acc - 0.5") == "fmaf(args.alpha + 1.0f, acc, -0.5f)");
    CHECK(result_of("d = alpha * acc * x[n] + 1") == "fmaf(args.alpha * acc, x, 1.0f)");
    CHECK(result_of("d = (acc + x[n]) - (acc * x[n] + 1)") == "acc + x - fmaf(acc, x, 1.0f)");
    CHECK(result_of("t = acc * x[n]; d = t + t") == "t0 + t0");  // a value with a name is rounded by itself
}

TEST_CASE("expressions of CUDA keep the parentheses that they need") {
    CHECK(result_of("d = acc - (x[n] - 1)") == "acc - (x - 1.0f)");
    CHECK(result_of("d = acc / (x[n] / 2)") == "acc / (x / 2.0f)");
    CHECK(result_of("d = (acc + 1) * -(x[n] * 2)") == "(acc + 1.0f) * -(x * 2.0f)");
    CHECK(result_of("d = select(acc > 0, acc, x[n]) * 2") == "(acc > 0.0f ? acc : x) * 2.0f");
    CHECK(result_of("d = select(acc > 0, select(acc < 1, acc, 2), 1e-9)") ==
          "acc > 0.0f ? (acc < 1.0f ? acc : 2.0f) : 1e-09f");
    CHECK(result_of("d = max(acc, 0) + abs(acc)") == "max_f32(acc, 0.0f) + fabsf(acc)");
}

TEST_CASE("only the functions that an epilogue calls are printed, each once and behind what it needs") {
    const std::string text = render_functions(read_epilogue("d = dgelu(acc) + dgelu(acc + 1) + sigmoid(acc)").parts());
    const std::regex function("float (\\w+)\\(float x");
    std::vector<std::string> names;
    for (std::sregex_iterator match(text.begin(), text.end(), function), end; match != end; ++match)
        names.push_back((*match)[1]);
    CHECK(names == std::vector<std::string>{"sigmoid", "dgelu"});
    CHECK(render_functions(read_epilogue("d = acc + abs(acc)").parts()).empty());
}

TEST_CASE("the columns of a pair are parameters of finish, where an operand has two") {
    const std::string text =
        render_epilogue(read_epilogue("bias: f32[n]; d[m,h] = left(acc + bias[n]) * right(acc) + gate[m,h]"));
    CHECK_THAT(
        text, ContainsSubstring("finish(const GemmArgs& args, float acc_0, float acc_1, float bias_0, float bias_1,\n" +
                                std::string(42, ' ') + "float gate) {"));
    CHECK_THAT(text, ContainsSubstring("return {fmaf(acc_0 + bias_0, acc_1, gate)};"));
}

TEST_CASE("a reduction that is read back has a function of its own before finish") {
    const std::string text =
        render_epilogue(read_epilogue("t = acc * 2; s[m,n/64] = max(abs(t)) / 448; d = t / s[m,n/64]; r[n] = sum(t)"));
    CHECK_THAT(text, ContainsSubstring("Reduced reduced(const GemmArgs& args, float acc) {\n"
                                       "    const float t0 = acc * 2.0f;\n    return {fabsf(t0)};"));
    CHECK_THAT(text, ContainsSubstring("struct Results {\n    float d, r;\n};"));
    CHECK_THAT(text, ContainsSubstring("Results finish(const GemmArgs& args, float acc, const Divisor& s) {\n"
                                       "    const float t0 = acc * 2.0f;\n    return {over(t0, s), t0};"));
    const std::string read_otherwise =
        render_epilogue(read_epilogue("s[m,n/64] = max(acc); d = acc / s[m,n/64] * s[m,n/64]"));
    CHECK_THAT(read_otherwise, ContainsSubstring("Results finish(const GemmArgs& args, float acc, float s) {"));
}

TEST_CASE("lines of a rendered epilogue fit a screen, but for expressions") {
    std::string text = "d = acc";
    for (int i = 0; i < 14; ++i) text += " + a_longer_name_" + std::to_string(i) + "[m,n]";
    const std::string rendered = render_epilogue(read_epilogue(text));
    std::istringstream lines(rendered.substr(0, rendered.find("return {")));
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 120);
    CHECK_THAT(rendered, ContainsSubstring(",\n" + std::string(42, ' ') + "float a_longer_name_"));
    CHECK_THAT(rendered, ContainsSubstring("    return {acc + "));
}

TEST_CASE("instructions of an epilogue are counted by the table of functions") {
    const EpilogueCounts plain = read_epilogue("d = alpha * acc + x[n]").counts();
    CHECK(plain.special == 0);
    CHECK(plain.others == 2);
    CHECK(plain.vectors == 1);
    CHECK(read_epilogue("t = silu(acc); d = t * t + silu(acc)").counts().special == 2);  // computed once
    CHECK(read_epilogue("d = fast(silu(acc))").counts().special == 1);
}
