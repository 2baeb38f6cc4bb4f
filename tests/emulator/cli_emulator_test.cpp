#ifdef JITGEMM_TOOL

/// `jitgemm run` on the emulator, as a shell sees it.

#include "runtime/cli/npy.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/tool.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

bool has_gpu(const Tool& tool) { return !nlohmann::json::parse(tool.run("doctor --json").out).at("gpus").empty(); }

std::string text_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("cli emulator: run verifies, estimates and profiles") {
    const Tool tool;
    const auto row = tool.json("run bf16 tn 65 77 200 --device emulator:sm_90a --family mma_multistage --profile", 0);
    CHECK(row.at("verified") == true);
    CHECK(row.at("device") == "emulator (sm_90a)");
    CHECK(row.at("arch") == "sm_90a");
    CHECK(row.at("time_source") == "estimated");
    CHECK(row.at("microseconds") > 0);
    CHECK(row.at("low_microseconds").is_null());
    CHECK(row.at("registers").is_null());

    const auto& profile = row.at("profile");
    const auto& kinds = profile.at("kinds");
    const std::int64_t tensor = kinds.at("tensor").at("warps").get<std::int64_t>();
    CHECK(kinds.at("tensor").at("operations") == tensor * 2 * 16 * 8 * 16);
    CHECK(kinds.at("global store").at("global_written_bytes") == 65 * 77 * 2);
    CHECK(profile.at("bank_conflicts") == 0);
    std::int64_t wavefronts = 0;
    for (const auto& line : profile.at("lines")) {
        CHECK(line.at("line") > 0);
        wavefronts += line.at("wavefronts").get<std::int64_t>();
    }
    CHECK(profile.at("total").at("wavefronts") == wavefronts);
    CHECK(profile.at("estimate").at("total_us") == row.at("microseconds"));
    CHECK_THAT(tool.run("run bf16 tn 65 77 200 --device emulator --profile").out,
               ContainsSubstring("us estimated") && ContainsSubstring("matrix load") && ContainsSubstring("sectors"));
}

TEST_CASE("cli emulator: a product beyond D's largest value is right where it is infinite") {
    const auto row = Tool().json("run f16 tn 64 64 64 --alpha 300 --device emulator", 0);
    CHECK(row.at("verified") == true);
}

TEST_CASE("cli emulator: without a GPU run falls back to it and says so, other verbs do not") {
    const Tool tool;
    if (has_gpu(tool)) SKIP_TEST("there is a GPU here: nothing falls back");
    const ToolResult result = tool.run("run bf16 tn 33 35 37");
    CHECK(result.exit_code == 0);
    CHECK_THAT(result.err, ContainsSubstring("no GPU here") && ContainsSubstring("emulator:sm_80"));
    CHECK_THAT(result.out, ContainsSubstring("emulator (sm_80)"));
    CHECK(tool.run("run bf16 tn 33 35 37 --arch sm_90a").out.find("emulator (sm_90a)") != std::string::npos);
    CHECK(tool.run("run bf16 tn 33 35 37 --device cuda").exit_code == 1);
    CHECK(tool.run("bench bf16 tn 33 35 37").exit_code == 1);
}

TEST_CASE("cli emulator: JITGEMM_DEVICE is the device of every verb that has one, and --device wins") {
    const Tool tool;
    const std::string variable = "JITGEMM_DEVICE=emulator:sm_90a";
    const auto device = [&](const std::string& arguments) {
        return tool.json(arguments, 0, variable).at("device").get<std::string>();
    };
    CHECK(device("run bf16 tn 33 35 37") == "emulator (sm_90a)");
    CHECK(tool.run("run bf16 tn 33 35 37", variable).err.find("no GPU here") == std::string::npos);  // it was asked for
    CHECK(device("run bf16 tn 33 35 37 --device emulator:sm_80") == "emulator (sm_80)");
    CHECK(device("ladder f32 tt 8 8 8 --cpu-limit 0") == "emulator (sm_90a)");
    const auto winner =
        tool.json("tune f32 tt 8 8 8 --family simt_naive", 0, variable).at("problems").at(0).at("winner");
    CHECK(winner.at("device") == "emulator (sm_90a)");
    CHECK(tool.run("bench bf16 tn 33 35 37", variable).exit_code == 2);
    const ToolResult contradiction = tool.run("run bf16 tn 33 35 37 --arch sm_80", variable);
    CHECK(contradiction.exit_code == 2);
    CHECK_THAT(contradiction.err, ContainsSubstring("JITGEMM_DEVICE"));
    const ToolResult wrong = tool.run("run bf16 tn 33 35 37", "JITGEMM_DEVICE=emul");
    CHECK(wrong.exit_code != 0);
    CHECK_THAT(wrong.err, ContainsSubstring("JITGEMM_DEVICE"));
}

TEST_CASE("cli emulator: refusals name what is wrong, before anything is compiled") {
    const Tool tool;
    const auto refused = [&](const std::string& arguments, const std::string& words) {
        const ToolResult result = tool.run(arguments);
        INFO(arguments << '\n' << result.err);
        CHECK(result.exit_code == 2);
        CHECK_THAT(result.err, ContainsSubstring(words));
    };
    refused("run bf16 tn 33 35 37 --device emulater", "did you mean 'emulator'");
    refused("run bf16 tn 33 35 37 --device atuo", "did you mean 'auto'");
    refused("run bf16 tn 33 35 37 --device emulator:sm_81", "sm_81");
    refused("run bf16 tn 33 35 37 --device emulator:sm_80 --arch sm_90a", "contradict");
    refused("run bf16 tn 33 35 37 --device cuda --arch sm_90a", "--arch");
    refused("run bf16 tn 33 35 37 --device emulator --against cublaslt", "--against");
    refused("run bf16 tn 33 35 37 --device emulator --rounds 3", "--rounds needs a GPU");
    refused("run bf16 tn 33 35 37 --device emulator --rounds 15 --protocol steady", "--protocol, --rounds need a GPU");
    refused("run bf16 tn 33 35 37 --device emulator --emulator-limit many", "many");
    refused("run bf16 tn 8192 8192 8192 --device emulator", "the limit is 20 GFLOP");
    refused("run bf16 tn 330 350 370 --device emulator --emulator-limit 0.01", "the limit is 0.01 GFLOP");
    refused("run bf16 tn 100 1 10000 --d-layout n --device emulator --emulator-limit 0.01", "m=100 n=1 k=10000 takes");
    refused("bench bf16 tn 33 35 37 --device emulator", "bench needs a GPU");
    refused("bench bf16 tn 33 35 37 --device auto", "--device auto");
    CHECK_FALSE(std::filesystem::exists(tool.cache() + "/kernel.ptx"));
}

TEST_CASE("cli emulator: an edited dump runs for its banner's architecture, and a fault quotes its line") {
    const Tool tool;
    const std::string file = tool.folder() / "kernel.cu";
    REQUIRE(tool.run("dump bf16 tn 40 48 136 --arch sm_86 -o '" + file + "'").exit_code == 0);
    CHECK_THAT(tool.run("run --device emulator --source '" + file + "'").out, ContainsSubstring("emulator (sm_86)"));

    std::string text = text_of(file);
    const std::string barrier = "__syncthreads();";
    for (std::size_t at = text.find(barrier); at != std::string::npos; at = text.find(barrier))
        text.erase(at, barrier.size());
    std::ofstream(file) << text;
    const auto row = tool.json("run --device emulator --source '" + file + "'", 1);
    CHECK(row.at("status") == "wrong");
    const std::string why = row.at("verification");
    const std::size_t line_at = why.find("kernel.cu:");
    REQUIRE(line_at != std::string::npos);
    const int line = std::stoi(why.substr(line_at + 10));
    std::istringstream lines(text);
    std::string quoted;
    for (int i = 0; i < line; ++i) std::getline(lines, quoted);
    CHECK_THAT(why, ContainsSubstring(quoted));
}

TEST_CASE("cli emulator: real arrays") {
    const Tool tool;
    const auto file = [&](const char* name) { return tool.folder() / name; };
    const std::vector<float> a{1, 2, 3, 4, 5, 6};
    const std::vector<float> b{1, -1, 2, 0, 0, 3};
    write_npy(file("a.npy"), DataType::f32, {2, 3}, Order::row, a.data());
    write_npy(file("b.npy"), DataType::f32, {3, 2}, Order::row, b.data());
    const ToolResult result = tool.run("run --device emulator --type f16 --d-type f32 --a '" + file("a.npy") +
                                       "' --b '" + file("b.npy") + "' --out '" + file("d.npy") + "'");
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    const NpyMatrix d = NpyMatrix::open(file("d.npy"));
    std::vector<float> values(4);
    std::memcpy(values.data(), d.data(), values.size() * sizeof(float));
    CHECK(values == std::vector<float>{5, 8, 14, 14});
}

TEST_CASE("cli emulator: groups of K in files have a D each, and their ends are checked") {
    const Tool tool;
    const auto file = [&](const char* name) { return tool.folder() / name; };
    std::vector<float> a(std::size_t{20} * 8, 1.0F);  // (8, 20), in Fortran order
    const std::vector<float> b(std::size_t{20} * 8, 2.0F), c(std::size_t{3} * 8 * 8, 0.5F);
    std::fill(a.begin() + std::ptrdiff_t{15} * 8, a.end(), std::numeric_limits<float>::quiet_NaN());
    write_npy(file("a.npy"), DataType::f32, {8, 20}, Order::column, a.data());
    write_npy(file("b.npy"), DataType::f32, {20, 8}, Order::row, b.data());
    write_npy(file("c.npy"), DataType::f32, {3, 8, 8}, Order::row, c.data());
    const auto run = [&](const std::vector<std::int32_t>& ends) {
        write_npy(file("ends.npy"), DataType::s32, {3}, Order::row, ends.data());
        return tool.run("run --device emulator:sm_90a --type f16 --d-type f32 --c-type f32 --beta 1 --a '" +
                        file("a.npy") + "' --b '" + file("b.npy") + "' --c '" + file("c.npy") + "' --out '" +
                        file("d.npy") + "' --groups 3 --ragged k --operand offsets='" + file("ends.npy") + "'");
    };
    const ToolResult result = run({3, 3, 15});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    const NpyMatrix d = NpyMatrix::open(file("d.npy"));
    CHECK(d.matrices() == 3);
    std::vector<float> values(c.size());
    std::memcpy(values.data(), d.data(), values.size() * sizeof(float));
    std::vector<float> expected(64, 6.5F);
    expected.insert(expected.end(), 64, 0.5F);
    expected.insert(expected.end(), 64, 24.5F);
    CHECK(values == expected);
    const ToolResult wrong = run({3, 2, 15});
    CHECK(wrong.exit_code == 2);
    CHECK_THAT(wrong.err, ContainsSubstring("offsets[1] is 2, but the previous group ends at 3"));
}

TEST_CASE("cli emulator: a symmetric product of one array") {
    const Tool tool;
    const auto file = [&](const char* name) { return tool.folder() / name; };
    const std::vector<float> a{1, 2, 3, 4, 5, 6};
    write_npy(file("a.npy"), DataType::f32, {2, 3}, Order::row, a.data());
    write_npy(file("columns.npy"), DataType::f32, {3, 2}, Order::column, a.data());
    const auto product = [&](const std::string& arguments) {
        const ToolResult result =
            tool.run("run --device emulator:sm_90a --symmetric yes " + arguments + " --out '" + file("d.npy") + "'");
        INFO(result.err);
        REQUIRE(result.exit_code == 0);
        const NpyMatrix d = NpyMatrix::open(file("d.npy"));
        std::vector<float> values(static_cast<std::size_t>(d.rows() * d.columns()));
        std::memcpy(values.data(), d.data(), values.size() * sizeof(float));
        return values;
    };
    CHECK(product("--type f16 --d-type f32 --a '" + file("a.npy") + "'") == std::vector<float>{14, 32, 32, 77});
    CHECK(product("--a '" + file("columns.npy") + "'") == std::vector<float>{17, 22, 27, 22, 29, 36, 27, 36, 45});
    const ToolResult both = tool.run("run --device emulator --symmetric yes --a '" + file("a.npy") + "' --b '" +
                                     file("a.npy") + "' --out '" + file("d.npy") + "'");
    CHECK(both.exit_code == 2);
    CHECK_THAT(both.err, ContainsSubstring("--symmetric is yes, and --b is given"));
    CHECK(tool.json("run bf16 tn 200 200 72 symmetric=yes --device emulator:sm_90a", 0).at("verified") == true);
    const ToolResult wrong = tool.run("run bf16 tn 200 201 72 symmetric=yes --device emulator:sm_90a");
    CHECK(wrong.exit_code == 2);
    CHECK_THAT(wrong.err, ContainsSubstring("m is 200 and n is 201"));
    const ToolResult dumped = tool.run("dump bf16 tn 200 200 72 symmetric=yes --arch sm_90a --main");
    CHECK(dumped.exit_code == 0);
    CHECK_THAT(dumped.out, ContainsSubstring("b = a;  // B is A transposed"));
}

TEST_CASE("cli emulator: a batch with addresses is verified, and has no main and no files") {
    const Tool tool;
    const auto run = tool.json("run bf16 tn 64 64 64 --batch 5 --pointers yes --device emulator:sm_90a", 0);
    CHECK(run.at("verified") == true);
    const ToolResult exported = tool.run("dump bf16 tn 64 64 64 batch=5 pointers=yes --arch sm_90a --main");
    CHECK(exported.exit_code == 2);
    CHECK_THAT(exported.err, ContainsSubstring("main() makes no arrays of addresses"));
    const ToolResult launcher =
        tool.run("export bf16 tn 64 64 64 batch=5 pointers=yes --arch sm_90a -o '" + (tool.folder() / "kernel") + "'");
    CHECK(launcher.exit_code == 2);
    CHECK_THAT(launcher.err, ContainsSubstring("launchers in C take matrices and no arrays of addresses"));
    const ToolResult files = tool.run("run --pointers yes --a a.npy --b b.npy --out d.npy");
    CHECK(files.exit_code == 2);
    CHECK_THAT(files.err, ContainsSubstring("--pointers"));
}

TEST_CASE("cli emulator: a batch of one in files makes a batch of one") {
    const Tool tool;
    const auto file = [&](const char* name) { return tool.folder() / name; };
    const std::vector<float> a{1, 2, 3, 4, 5, 6}, b{1, 0, 0, 1, 1, 1};
    for (const std::int64_t batch : {1, 2}) {
        write_npy(file("a.npy"), DataType::f32, {batch, 3, 2 / batch}, Order::row, a.data());
        write_npy(file("b.npy"), DataType::f32, {batch, 2 / batch, 3}, Order::row, b.data());
        const ToolResult result = tool.run("run --device emulator --a '" + file("a.npy") + "' --b '" + file("b.npy") +
                                           "' --out '" + file("d.npy") + "'");
        INFO(result.err);
        REQUIRE(result.exit_code == 0);
        const NpyMatrix d = NpyMatrix::open(file("d.npy"));
        CHECK(d.is_batch());
        CHECK(d.matrices() == batch);
    }
}

TEST_CASE("cli emulator: a single matrix of a file with three dimensions serves all problems") {
    const Tool tool;
    const auto file = [&](const char* name) { return tool.folder() / name; };
    const std::vector<float> a{1, 2, 3, 4, 5, 6}, b{1, 10}, c{100, 200};
    write_npy(file("a.npy"), DataType::f32, {3, 1, 2}, Order::row, a.data());
    write_npy(file("b.npy"), DataType::f32, {1, 2, 1}, Order::row, b.data());
    write_npy(file("c.npy"), DataType::f32, {1, 1, 1}, Order::row, c.data());
    write_npy(file("two.npy"), DataType::f32, {2, 1, 1}, Order::row, c.data());
    const auto run = [&](const char* left, const char* right, const char* third) {
        return tool.run("run --device emulator --a '" + file(left) + "' --b '" + file(right) + "' --beta 1 --c '" +
                        file(third) + "' --out '" + file("d.npy") + "'");
    };
    const auto values = [&] {
        const NpyMatrix d = NpyMatrix::open(file("d.npy"));
        std::vector<float> list(d.size_bytes() / sizeof(float));
        std::memcpy(list.data(), d.data(), d.size_bytes());
        return std::pair(d.shape(), list);
    };
    const ToolResult result = run("a.npy", "b.npy", "c.npy");
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(values() == std::pair(std::vector<std::int64_t>{3, 1, 1}, std::vector<float>{121, 143, 165}));
    // The same with A and B exchanged: (1, 1, 2) by (3, 2, 1).
    write_npy(file("left.npy"), DataType::f32, {1, 1, 2}, Order::row, b.data());
    write_npy(file("right.npy"), DataType::f32, {3, 2, 1}, Order::row, a.data());
    REQUIRE(run("left.npy", "right.npy", "c.npy").exit_code == 0);
    CHECK(values() == std::pair(std::vector<std::int64_t>{3, 1, 1}, std::vector<float>{121, 143, 165}));
    const ToolResult two = run("a.npy", "b.npy", "two.npy");
    CHECK(two.exit_code == 2);
    CHECK_THAT(two.err, ContainsSubstring("has 2 matrices, but A and B make 3"));
    write_npy(file("b.npy"), DataType::f32, {2, 2, 1}, Order::row, a.data());
    const ToolResult apart = run("a.npy", "b.npy", "c.npy");
    CHECK(apart.exit_code == 2);
    CHECK_THAT(apart.err, ContainsSubstring("a batch has one number of problems"));
}

TEST_CASE("cli emulator: an A of three dimensions has room for the rows of each group") {
    const Tool tool;
    const auto file = [&](const char* name) { return tool.folder() / name; };
    std::vector<float> a(2 * 3 * 8), b(2 * 8 * 8), c(2 * 3 * 8, 1.0F);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 8 == i / 8 ? 1 : 0);  // row i takes row i
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i);
    write_npy(file("a.npy"), DataType::f32, {2, 3, 8}, Order::row, a.data());
    write_npy(file("b.npy"), DataType::f32, {2, 8, 8}, Order::row, b.data());
    write_npy(file("c.npy"), DataType::f32, {2, 3, 8}, Order::row, c.data());
    write_npy(file("matrix.npy"), DataType::f32, {6, 8}, Order::row, c.data());
    const auto run = [&](const std::vector<std::int32_t>& counts, const std::string& more) {
        write_npy(file("counts.npy"), DataType::s32, {2}, Order::row, counts.data());
        return tool.run("run --device emulator:sm_90a --type f16 --d-type f32 --groups 2 --a '" + file("a.npy") +
                        "' --b '" + file("b.npy") + "' --out '" + file("d.npy") + "' --operand offsets='" +
                        file("counts.npy") + "' " + more);
    };
    const ToolResult result = run({1, 3}, "--beta 1 --c-type f32 --c '" + file("c.npy") + "'");
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    const NpyMatrix d = NpyMatrix::open(file("d.npy"));
    REQUIRE(d.shape() == std::vector<std::int64_t>{2, 3, 8});
    std::vector<float> values(a.size());
    std::memcpy(values.data(), d.data(), d.size_bytes());
    for (std::size_t row = 0; row < 6; ++row)
        for (std::size_t n = 0; n < 8; ++n) {
            const bool is_used = row == 0 || row >= 3;  // one row of the first group, three of the second
            CHECK(values[row * 8 + n] == (is_used ? b[row / 3 * 64 + row * 8 + n] + 1 : 0));
        }
    const auto refused = [&](const std::vector<std::int32_t>& counts, const std::string& more, const char* why) {
        const ToolResult wrong = run(counts, more);
        INFO(wrong.err);
        CHECK(wrong.exit_code == 2);
        CHECK_THAT(wrong.err, ContainsSubstring(why));
    };
    refused({4, 0}, "", "offsets[0] is 4, but each group has room for 3 rows");
    refused({1, 3}, "--group-rows 2", "group_rows is 2 and m is 6");
    refused({1, 3}, "--beta 1 --c '" + file("matrix.npy") + "'", "where A's rows and B's columns make D 3x8");
    write_npy(file("b.npy"), DataType::f32, {1, 8, 8}, Order::row, b.data());
    refused({1, 3}, "", "has room for 2 groups, but B");
}

TEST_CASE("cli emulator: a file names the rows of A that groups multiply") {
    const Tool tool;
    const auto file = [&](const char* name) { return tool.folder() / name; };
    std::vector<float> a(3 * 8), b(2 * 8 * 8);
    for (std::size_t i = 0; i < 3; ++i) a[i * 8 + i] = 1;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i < 64 ? i : i + 36);
    const std::vector<std::int32_t> ends{1, 4}, rows{2, 2, -1, 0};
    write_npy(file("a.npy"), DataType::f32, {3, 8}, Order::row, a.data());
    write_npy(file("b.npy"), DataType::f32, {2, 8, 8}, Order::row, b.data());
    write_npy(file("c.npy"), DataType::f32, {3, 8}, Order::row, a.data());
    write_npy(file("ends.npy"), DataType::s32, {2}, Order::row, ends.data());
    write_npy(file("rows.npy"), DataType::s32, {4}, Order::row, rows.data());
    write_npy(file("matrix.npy"), DataType::s32, {2, 2}, Order::row, rows.data());
    const std::string command = "run --device emulator:sm_90a --type f16 --d-type f32 --groups 2 --a '" +
                                file("a.npy") + "' --b '" + file("b.npy") + "' --out '" + file("d.npy") +
                                "' --operand offsets='" + file("ends.npy") + "' --operand row_index='";
    const ToolResult result = tool.run(command + file("rows.npy") + "'");
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    const NpyMatrix d = NpyMatrix::open(file("d.npy"));
    REQUIRE(d.rows() == 4);
    std::vector<float> values(4 * 8);
    std::memcpy(values.data(), d.data(), values.size() * sizeof(float));
    for (std::size_t n = 0; n < 8; ++n) {
        CHECK(values[n] == b[2 * 8 + n]);
        CHECK(values[8 + n] == b[64 + 2 * 8 + n]);
        CHECK(values[16 + n] == 0);
        CHECK(values[24 + n] == b[64 + n]);
    }
    const ToolResult matrix = tool.run(command + file("matrix.npy") + "'");
    CHECK(matrix.exit_code == 2);
    CHECK_THAT(matrix.err, ContainsSubstring("is 2x2 of s32: expected a vector of int32"));
    const ToolResult c = tool.run(command + file("rows.npy") + "' --beta 1 --c '" + file("c.npy") + "'");
    CHECK(c.exit_code == 2);
    CHECK_THAT(c.err, ContainsSubstring("is 3x8 where row_index and B's columns make D 4x8"));
}

TEST_CASE("cli emulator: arrays of f32 are multiplied as f32") {
    const Tool tool;
    const auto file = [&](const char* name) { return tool.folder() / name; };
    const std::vector<float> a{1.0F, 0x1.000002p0F, 1e30F, 0.1F};
    const std::vector<float> b{1.0F, 0.0F, 0.0F, 1.0F};
    write_npy(file("a.npy"), DataType::f32, {2, 2}, Order::row, a.data());
    write_npy(file("b.npy"), DataType::f32, {2, 2}, Order::row, b.data());
    const std::string arrays =
        " --a '" + file("a.npy") + "' --b '" + file("b.npy") + "' --out '" + file("d.npy") + "' --device emulator";
    const ToolResult result = tool.run("run" + arrays);
    INFO(result.out << result.err);
    REQUIRE(result.exit_code == 0);
    const NpyMatrix d = NpyMatrix::open(file("d.npy"));
    REQUIRE(d.type() == DataType::f32);
    std::vector<float> values(4);
    std::memcpy(values.data(), d.data(), values.size() * sizeof(float));
    CHECK(values == a);
    CHECK_THAT(result.out,
               ContainsSubstring("verified   yes: the kernel, on inputs of its own in place of the arrays"));
    CHECK_THAT(result.err, !ContainsSubstring("infinite"));

    const ToolResult halved = tool.run("run --type f16" + arrays);
    INFO(halved.err);
    CHECK(halved.exit_code == 0);
    CHECK_THAT(halved.err, ContainsSubstring("1 of 4 elements of " + file("a.npy") + " are beyond what f16 holds"));
    CHECK_THAT(halved.err, !ContainsSubstring("elements of " + file("b.npy")));
}

TEST_CASE("cli emulator: an epilogue reads its operands from files, in their types") {
    const Tool tool;
    const auto file = [&](const char* name) { return tool.folder() / name; };
    const std::vector<float> a{1, 2, 3, 4}, b{1, 0, 0, 1}, bias{-2, 0.5F}, up{1, 2, 3, 4};
    write_npy(file("a.npy"), DataType::f32, {2, 2}, Order::row, a.data());
    write_npy(file("b.npy"), DataType::f32, {2, 2}, Order::row, b.data());
    write_npy(file("bias.npy"), DataType::f32, {1, 2}, Order::row, bias.data());
    write_npy(file("up.npy"), DataType::f32, {2, 2}, Order::row, up.data());
    const std::string command = "run --device emulator --type bf16 --d-type f32 --a '" + file("a.npy") + "' --b '" +
                                file("b.npy") + "' --out '" + file("d.npy") +
                                "' --epilogue 's: f32; d = relu(s * acc + bias[n]) * up[m,n]'";
    const std::string operands =
        " --operand bias='" + file("bias.npy") + "' --operand up='" + file("up.npy") + "' --operand s=2";
    const ToolResult result = tool.run(command + operands);
    INFO(result.out << result.err);
    REQUIRE(result.exit_code == 0);
    CHECK_THAT(result.out, ContainsSubstring("up: f32[m,n]"));
    const NpyMatrix d = NpyMatrix::open(file("d.npy"));
    const std::vector<float> expected{0, 4.5F * 2, 4 * 3, 8.5F * 4};
    std::vector<float> got(4);
    std::memcpy(got.data(), d.data(), sizeof(float) * got.size());
    CHECK(got == expected);

    const auto refused = [&](const std::string& words, const auto&... parts) {
        const ToolResult wrong = tool.run(command + words);
        CHECK(wrong.exit_code == 2);
        CHECK_THAT(wrong.err, Says(parts...));
    };
    refused("", "bias", "up", "s", "missing");
    refused(operands + " --operand gate=1", "gate", "no", "operand");
    refused(" --operand up='" + file("bias.npy") + "' --operand bias='" + file("bias.npy") + "' --operand s=1", "up",
            "1x2", "2x2");
    refused(" --operand s='" + file("bias.npy") + "'", "s", "scalar");
    refused(operands + " --operand s=3", "s", "twice");
    refused(" --operand bias", "bias", "NAME");
    refused(operands + " --beta 2", "beta", "2");
    refused(operands + " --operand beta=2", "--beta NUMBER");
    const std::string arrays = operands.substr(0, operands.rfind(" --operand"));
    refused(arrays + " --operand s=1e99", "s is 1e99", "f32");
    refused(" --operand bias=3 --operand up=4 --operand s=1", "bias is the number 3", "bias[n]", "up is the number 4");
    const auto is_like = [](float one, float other) { return one == other || (std::isnan(one) && std::isnan(other)); };
    for (const auto& [word, value] : {std::pair{"nan", NAN}, {"inf", INFINITY}, {"-inf", 0.0F}}) {
        INFO(word);
        CHECK(tool.run(command + arrays + " --operand s=" + word).exit_code == 0);
        const NpyMatrix written = NpyMatrix::open(file("d.npy"));
        std::memcpy(got.data(), written.data(), sizeof(float) * got.size());
        CHECK(std::ranges::all_of(got, [&](float one) { return is_like(one, value); }));
    }
}

TEST_CASE("cli emulator: alpha and beta are given where the epilogue has them") {
    const Tool tool;
    const std::string command = "run bf16 tn 33 35 37 --device emulator --epilogue ";
    for (const char* const scalar : {"--alpha 2", "--beta 1"}) {
        const ToolResult wrong = tool.run(command + "'d = relu(acc)' " + scalar);
        CHECK(wrong.exit_code == 2);
        CHECK_THAT(wrong.err, Says(scalar[2] == 'a' ? "--alpha is 2" : "--beta is 1", "the epilogue has no"));
        CHECK(tool.run(command + "'d = relu(alpha * acc) + beta' " + scalar).exit_code == 0);
    }
}

TEST_CASE("cli emulator: each output of an epilogue goes to its file") {
    const Tool tool;
    const auto file = [&](const char* name) { return "'" + (tool.folder() / name) + "'"; };
    const std::vector<float> a{1, 2, 3, 4}, b{1, 0, 0, 1};
    write_npy(tool.folder() / "a.npy", DataType::f32, {2, 2}, Order::row, a.data());
    write_npy(tool.folder() / "b.npy", DataType::f32, {2, 2}, Order::row, b.data());
    const std::string command = "run --device emulator --a " + file("a.npy") + " --b " + file("b.npy") +
                                " --epilogue 't = acc - 2; d = relu(t); pre[m,n] = t'";
    const ToolResult result = tool.run(command + " --out " + file("d.npy") + " --out pre=" + file("pre.npy"));
    INFO(result.out << result.err);
    REQUIRE(result.exit_code == 0);
    const auto elements = [&](const char* name) {
        const NpyMatrix matrix = NpyMatrix::open(tool.folder() / name);
        std::vector<float> got(4);
        std::memcpy(got.data(), matrix.data(), sizeof(float) * got.size());
        return got;
    };
    CHECK(elements("d.npy") == std::vector<float>{0, 0, 1, 2});
    CHECK(elements("pre.npy") == std::vector<float>{-1, 0, 1, 2});

    const std::string reduces = command.substr(0, command.size() - 1) +
                                "; r[n] = sum(acc)' --out pre=" + file("pre.npy") + " --out r=" + file("r.npy") +
                                " --out " + file("d.npy");
    REQUIRE(tool.run(reduces).exit_code == 0);
    const NpyMatrix sums = NpyMatrix::open(tool.folder() / "r.npy", DataType::f32, NpyDimensions::up_to_three);
    CHECK(sums.rows() * sums.columns() == 2);
    std::vector<float> got(2);
    std::memcpy(got.data(), sums.data(), sizeof(float) * got.size());
    CHECK(got == std::vector<float>{4, 6});

    const auto refused = [&](const std::string& words, const auto&... parts) {
        const ToolResult wrong = tool.run(command + words);
        CHECK(wrong.exit_code == 2);
        CHECK_THAT(wrong.err, Says(parts...));
    };
    refused(" --out " + file("d.npy"), "pre", "missing");
    refused(" --out pre=" + file("pre.npy"), "D");
    refused(" --out " + file("d.npy") + " --out pre=" + file("p.npy") + " --out aux=" + file("x.npy"), "aux", "output");
    refused(" --out " + file("d.npy") + " --out " + file("e.npy") + " --out pre=" + file("p.npy"), "D", "twice");
}

TEST_CASE("cli emulator: a second run compiles nothing and needs no NVRTC") {
    const Tool tool;
    CHECK(tool.json("run bf16 tn 33 35 37 --device emulator", 0).at("cache") == "compiled");
    CHECK(tool.json("run bf16 tn 33 35 37 --device emulator", 0).at("cache") == "disk");
    const auto row = tool.json("run bf16 tn 33 35 37 --device emulator", 0, "JITGEMM_NVRTC=/nowhere/libnvrtc.so");
    CHECK(row.at("cache") == "disk");
    CHECK(row.at("verified") == true);
}

#endif
