#ifdef JITGEMM_TOOL

#include "generator/kernel_set.hpp"
#include "jitgemm/error.hpp"
#include "runtime/cli/row_range.hpp"
#include "tests/catch.hpp"
#include "tests/support/tool.hpp"

#include <string>

using namespace jitgemm;
using namespace jitgemm::cli;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("a problem with a range of m is read with its first m and the range") {
    const RangedProblem named = take_rows("bf16 tn m=1:8192 k=4096 n=6144  # weights");
    CHECK(named.text == "bf16 tn 1 6144 4096");
    CHECK(named.rows.first == 1);
    CHECK(named.rows.last == 8192);
    CHECK(take_rows("bf16 tn 5:7 64 32").rows.last == 7);
    CHECK(take_rows("bf16 tn 5 64 32").rows.last == 5);
    const RangedProblem spec = take_rows("gemm-v1 n=64 m=3:9 k=32 d-layout=n");
    CHECK(parse_gemm_spec(spec.text) == parse_gemm_spec("gemm-v1 m=3 n=64 k=32 d-layout=n"));
    CHECK(spec.rows.last == 9);
    CHECK_THROWS_WITH(take_rows("bf16 tn m=1:8 n=1:2 k=3"), ContainsSubstring("1:2"));
    CHECK_THROWS_WITH(take_rows("bf16 tn m=1:8:*2 n=1 k=3"), ContainsSubstring("leave the step out"));
    CHECK_THROWS_WITH(take_rows("bf16 tn m=1:x n=1 k=3"), ContainsSubstring("1:x"));
}

TEST_CASE("the tool: kernels prints a set for a range of m, without a GPU") {
    const Tool tool;
    const std::string arguments = "kernels bf16 tn m=1:300 n=512 k=512 --gpu h200";
    const nlohmann::json document = tool.json(arguments, 0);
    const KernelSet set = parse_kernel_set(document.dump());
    CHECK(set.first_m == 1);
    CHECK(set.last_m == 300);
    CHECK(set.spec.n == 512);
    CHECK(set.gpu == "h200");
    CHECK(set.body_count() <= 10);
    for (std::int64_t m = 1; m <= 300; ++m) REQUIRE(set.find(m) != nullptr);

    const ToolResult text = tool.run(arguments);
    CHECK(text.exit_code == 0);
    CHECK(text.err.empty());
    for (const SetKernel& kernel : set.kernels) CHECK_THAT(text.out, ContainsSubstring(kernel_name(kernel.id)));
    CHECK(tool.json("kernels --m 1:300 --n 512 --k 512 --gpu h200", 0) == document);
    CHECK(tool.json(arguments + " --most 1", 0).at("kernels").size() <= set.kernels.size());
}

TEST_CASE("the tool: kernels refuses ranges and limits that are none, with the value") {
    const Tool tool;
    const auto refused = [&](const std::string& arguments, const std::string& phrase) {
        const ToolResult result = tool.run("kernels " + arguments + " --gpu h200");
        INFO(arguments << "\n" << result.err);
        CHECK(result.exit_code == 2);
        CHECK(result.out.empty());
        CHECK_THAT(result.err, ContainsSubstring(phrase));
    };
    refused("bf16 tn m=0:10 n=8 k=8", "0:10");
    refused("bf16 tn m=9:3 n=8 k=8", "9:3");
    refused("bf16 tn m=1:3000000000 n=8 k=8", "3000000000");
    refused("bf16 tn m=1:8 n=8:9 k=8", "8:9");
    refused("bf16 tn m=1:8 n=8", "bf16 tn");
    refused("--n 8 --k 8", "--m is missing");
    refused("bf16 tn m=1:8 n=8 k=8 --most 0", "--most is 0");
    refused("bf16 tn m=1:8 n=8 k=8 --mean 1.5", "--mean is 1.5");
    refused("bf16 tn m=1:8 n=8 k=8 --worst 0", "--worst is 0");
}

TEST_CASE("the tool: kernels export refuses a folder that it can't write, before it compiles") {
    const Tool tool;
    const auto refused = [&](const std::string& arguments, int exit_code, const std::string& phrase) {
        const ToolResult result = tool.run("kernels export bf16 tn m=1:64 n=64 k=64 --gpu h200 " + arguments);
        INFO(arguments << "\n" << result.err);
        CHECK(result.exit_code == exit_code);
        CHECK_THAT(result.err, ContainsSubstring(phrase));
    };
    refused("", 2, "-o DIR is missing");
    refused("-o -", 2, "--output is '-'");
    refused("-o /proc/deep", 1, "cannot write /proc/deep");
    refused("-o x --name 2fast", 2, "'2fast' cannot name C functions");
    refused("-o x --most 0", 2, "--most is 0");
    CHECK_THAT(tool.run("kernels export --help").out, ContainsSubstring("a dispatcher in C"));
    CHECK_THAT(tool.run("kernels --help").out, ContainsSubstring("kernels export"));
}

#endif
