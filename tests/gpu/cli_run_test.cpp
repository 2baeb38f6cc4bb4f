#ifdef JITGEMM_TOOL

#include "runtime/cli/npy.hpp"
#include "runtime/support/element_codec.hpp"
#include "tests/catch.hpp"
#include "tests/support/tool.hpp"

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

bool has_gpu(const Tool& tool) { return !nlohmann::json::parse(tool.run("doctor --json").out).at("gpus").empty(); }

/// Small integers, whose products and sums are exact in every type used here.
std::vector<float> integers(std::int64_t count, std::int64_t seed) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>((i * 7 + seed) % 5 - 2));
    return values;
}

float at(const std::vector<float>& matrix, Order order, std::int64_t rows, std::int64_t columns, std::int64_t row,
         std::int64_t column) {
    return matrix[static_cast<std::size_t>(order == Order::row ? row * columns + column : column * rows + row)];
}

std::vector<float> floats_of(const NpyMatrix& matrix) {
    std::vector<float> values(static_cast<std::size_t>(matrix.rows() * matrix.columns()));
    convert_elements(matrix.data(), matrix.type(), values.data(), DataType::f32, values.size());
    return values;
}

constexpr std::int64_t kM = 37;
constexpr std::int64_t kN = 29;
constexpr std::int64_t kK = 53;

/// Writes A, B and C in the given orders, runs `options` and compares D with the sum done here.
void check_product(Order order_of_a, Order order_of_b, const std::string& options, float alpha, float beta) {
    const Tool tool;
    const auto file = [&](const char* name) { return tool.folder() / name; };
    const std::vector<float> a = integers(kM * kK, 1);
    const std::vector<float> b = integers(kK * kN, 2);
    const std::vector<float> c = integers(kM * kN, 3);
    write_npy(file("a.npy"), DataType::f32, {kM, kK}, order_of_a, a.data());
    write_npy(file("b.npy"), DataType::f32, {kK, kN}, order_of_b, b.data());
    write_npy(file("c.npy"), DataType::f32, {kM, kN}, Order::row, c.data());
    const ToolResult result = tool.run("run --a '" + file("a.npy") + "' --b '" + file("b.npy") + "' --c '" +
                                       file("c.npy") + "' --out '" + file("d.npy") + "' --rounds 1 " + options);
    INFO(options << "\n" << result.out << "\n" << result.err);
    REQUIRE(result.exit_code == 0);

    const NpyMatrix d = NpyMatrix::open(file("d.npy"));
    REQUIRE((d.rows() == kM && d.columns() == kN && d.order() == Order::row));
    const std::vector<float> values = floats_of(d);
    int wrong = 0;
    for (std::int64_t i = 0; i < kM; ++i) {
        for (std::int64_t j = 0; j < kN; ++j) {
            float sum = 0;
            for (std::int64_t l = 0; l < kK; ++l)
                sum += at(a, order_of_a, kM, kK, i, l) * at(b, order_of_b, kK, kN, l, j);
            const float expected = alpha * sum + beta * at(c, Order::row, kM, kN, i, j);
            wrong += at(values, Order::row, kM, kN, i, j) == expected ? 0 : 1;
        }
    }
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("the tool: run compiles, then fetches, verifies and reports with stable names") {
    const Tool tool;
    if (!has_gpu(tool)) SKIP_TEST("no GPU here");
    const nlohmann::json first = tool.json("run bf16 tn 1000 777 333", 0);
    CHECK(first.at("verified") == true);
    CHECK(first.at("cache") == "compiled");
    CHECK(first.at("status") == "ok");
    CHECK(first.at("microseconds").get<double>() > 0);
    CHECK(first.at("tflops").get<double>() > 0);
    CHECK(!text_in(first.at("source_file").get<std::string>()).empty());
    CHECK(tool.json("run bf16 tn 1000 777 333", 0).at("cache") == "disk");
    CHECK(tool.json("run bf16 tn 0 777 333", 0).at("microseconds") == 0);
    CHECK(tool.json("run bf16 nn 64 64 0 --beta 2", 0).at("verified") == true);
}

TEST_CASE("the tool: run multiplies arrays of either order, and C") {
    if (!has_gpu(Tool())) SKIP_TEST("no GPU here");
    for (const Order a : {Order::row, Order::column}) {
        for (const Order b : {Order::row, Order::column})
            check_product(a, b, "--type f16 --alpha 2 --beta 0.5", 2, 0.5);
    }
    check_product(Order::row, Order::row, "--type bf16 --d-type f32", 1, 1);
}

TEST_CASE("the tool: run --source compiles an edited dump, and a wrong one is told apart") {
    const Tool tool;
    if (!has_gpu(tool)) SKIP_TEST("no GPU here");
    const std::string file = tool.folder() / "edited.cu";
    REQUIRE(tool.run("dump bf16 tn 512 512 512 --family mma_multistage -o '" + file + "'").exit_code == 0);
    CHECK(tool.json("run --source '" + file + "'", 0).at("verified") == true);

    std::string text = text_in(file);
    const std::string right = "return args.alpha * sum;";
    const std::size_t place = text.find(right);
    REQUIRE(place != std::string::npos);
    put_text(file, text.replace(place, right.size(), "return 1.5f * args.alpha * sum;"));
    const nlohmann::json wrong = tool.json("run --source '" + file + "'", 1);
    CHECK(wrong.at("verified") == false);
    CHECK(wrong.at("status") == "wrong");

    put_text(file, text.replace(text.find("__global__"), 10, "__globule__"));
    CHECK(tool.json("run --source '" + file + "'", 1).at("error").at("kind") == "compile");
    CHECK(tool.run("run --source '" + file + "' --m 3").exit_code == 2);
}

TEST_CASE("the tool: bench writes a row per problem, unsupported ones too", "[timing]") {
    const Tool tool;
    if (!has_gpu(tool)) SKIP_TEST("no GPU here");
    const std::string shapes = tool.folder() / "shapes.txt";
    const std::string csv = tool.folder() / "rows.csv";
    put_text(shapes, "bf16 tn 512 512 512\ne4m3 tn 512 512 512\nf16 nt 100 200 300\n");
    const nlohmann::json bench = tool.json("bench --shapes '" + shapes + "' --rounds 3 --csv '" + csv + "'", 0);
    REQUIRE(bench.at("rows").size() == 3);
    CHECK(bench.at("summary").at("ok") == 2);
    CHECK(bench.at("summary").at("unsupported") == 1);
    CHECK(bench.at("rows").at(1).at("status") == "unsupported");

    std::istringstream lines(text_in(csv));
    std::string header;
    std::getline(lines, header);
    CHECK_THAT(header, Catch::Matchers::StartsWith(
                           "kernel,type,layout,m,n,k,microseconds,tflops,verified,cache,compile_ms,peer,"));
    CHECK(std::count(header.begin(), header.end(), ',') > 20);
    CHECK_THAT(tool.run("bench bf16 tn 256 256 256 --rounds 3 --csv -").out, Catch::Matchers::StartsWith("kernel,"));
}

TEST_CASE("the tool: a peer that does not exist is named before anything is measured") {
    const Tool tool;
    if (!has_gpu(tool)) SKIP_TEST("no GPU here");
    const ToolResult result = tool.run("bench bf16 tn 256 256 256 --against lib:/no/such/peer.so");
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.err, ContainsSubstring("/no/such/peer.so"));
}

#endif
