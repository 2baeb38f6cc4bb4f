// bench/epilogues.txt: its seeded problems, and what a peer makes of its texts.

#include "runtime/bench/epilogue_pass_text.hpp"
#include "runtime/bench/peer_epilogue.hpp"
#include "runtime/cli/shapes.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace jitgemm;

namespace {

std::string file_text() {
    std::ifstream file(std::string(JITGEMM_SOURCE_DIR) + "/bench/epilogues.txt");
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> drawn_problems() {
    constexpr std::array kTexts{"d = gelu(acc + bias[n])",
                                "d = silu(acc + bias[n]) * up[m,n]",
                                "d = acc + residual[m,n]",
                                "d = residual[m,n] + gate[n] * (acc + bias[n])",
                                "d = acc * row_scale[m] * column_scale[n]",
                                "d = relu(acc + bias[n])",
                                "d = gelu_erf(acc + bias[n])",
                                "t = acc + bias[n]; d = t * sigmoid(1.702 * t)",
                                "d = dsilu(pre[m,n]) * acc",
                                "bias: f32[n]; d = tanh(acc + bias[n])",
                                "d = relu(acc + bias[n] + residual[m,n])",
                                "d = bf16(acc + bias[n]) + residual[m,n]"};
    constexpr std::array kLayouts{"tn", "nn", "nt", "tt"};
    std::mt19937_64 bits(39);
    const auto extent = [&](double least, double most) {
        return 8 * std::llround(least * std::pow(most / least, static_cast<double>(bits() >> 11) * 0x1p-53) / 8);
    };
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < kTexts.size(); ++i) {
        const auto m = extent(8, 8192);
        const auto n = extent(512, 8192);
        const auto k = extent(512, 8192);
        lines.push_back(fmt::format("bf16 {} {} {} {} epilogue='{}'", kLayouts[i % 4], m, n, k, kTexts[i]));
    }
    return lines;
}

}  // namespace

TEST_CASE("bench/epilogues.txt ends with the 12 problems of seed 39") {
    const std::vector<std::string> drawn = drawn_problems();
    std::string text;
    for (const std::string& line : drawn) text += line + "\n";
    CHECK(file_text().ends_with("# Seed 39\n" + text));
}

TEST_CASE("bench/epilogues.txt has problems that cuBLASLt computes with a pass, and some that it computes alone") {
    std::set<std::string> forms;
    int texts = 0;
    for (const cli::ProblemRequest& request : cli::parse_shapes(file_text(), "epilogues.txt", {})) {
        const GemmSpec spec = resolved(request.spec);
        if (spec.epilogue.empty()) continue;
        ++texts;
        const PassProblem problem = pass_problem(spec);
        INFO(problem.epilogue.text());
        if (spec.d == DataType::e4m3) {  // with scales: no way of cuBLASLt makes them
            CHECK(unserved_pass(problem) == "a pass stores d alone");
            continue;
        }
        CHECK(unserved_pass(problem).empty());
        CHECK(pass_vector(problem) == 8);
        if (const auto form = cublaslt_epilogue(problem.epilogue, spec.d_order)) forms.insert(form->name());
    }
    CHECK(texts >= 30);
    CHECK(forms == std::set<std::string>{"bias", "relu_bias", "gelu_bias", "bias + c", "c", "relu_bias + c"});
}
