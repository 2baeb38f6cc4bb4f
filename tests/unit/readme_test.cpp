#include "tests/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tool.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace jitgemm::testing;

/// A command of README's and the lines it is said to print.
struct Sample {
    std::string arguments;
    std::vector<std::string> lines;
};

/// Of the blocks of code that show commands: "$ jitgemm ARGUMENTS", then lines of its output; "..." stands for more.
std::vector<Sample> samples_in(const std::string& text) {
    constexpr std::string_view kPrompt = "$ jitgemm ";
    std::vector<Sample> samples;
    bool inside = false;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("```")) {
            inside = false;
        } else if (line.starts_with(kPrompt)) {
            samples.push_back({line.substr(kPrompt.size()), {}});
            inside = true;
        } else if (inside && line != "...") {
            samples.back().lines.push_back(line);
        }
    }
    return samples;
}

/// Without a comment at the end, whose words may change.
std::string without_comment(const std::string& line) { return line.substr(0, line.find("  // ")); }

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) all.push_back(without_comment(line));
    return all;
}

/// Whether `line` is what the tool printed; "..." in it stands for any text, such as a count that changes.
bool is_as_said(std::string_view printed, std::string_view line) {
    const std::size_t gap = line.find("...");
    if (gap == line.npos) return printed == line;
    if (!printed.starts_with(line.substr(0, gap))) return false;
    const std::string_view rest = line.substr(gap + 3);
    for (std::size_t at = gap; at <= printed.size(); ++at)
        if (is_as_said(printed.substr(at), rest)) return true;
    return false;
}

/// `run` and `bench` print what a compiler and a device made of it.
bool is_reproducible(const Sample& sample) {
    return !sample.arguments.starts_with("run ") && !sample.arguments.starts_with("bench ");
}

}  // namespace

TEST_CASE("dots in a sample's line stand for any text") {
    CHECK(is_as_said("2056 candidates, 32 rejected", "... candidates, ... rejected"));
    CHECK(is_as_said("rank 1", "rank 1"));
    CHECK_FALSE(is_as_said("2056 kernels, 32 rejected", "... candidates, ... rejected"));
    CHECK_FALSE(is_as_said("rank 12", "rank 1"));
}

TEST_CASE("the tool prints what README says it prints") {
    const Tool tool;
    int checked = 0;
    for (const Sample& sample : samples_in(text_in(JITGEMM_SOURCE_DIR "/README.md"))) {
        if (!is_reproducible(sample)) continue;
        ++checked;
        const ToolResult result = tool.run(sample.arguments, "CUDA_VISIBLE_DEVICES=-1");
        const std::vector<std::string> printed = lines_of(result.out);
        INFO("jitgemm " << sample.arguments << "\n" << result.out << result.err);
        CHECK(result.exit_code == 0);
        for (const std::string& line : sample.lines) {
            INFO(line);
            CHECK(std::ranges::any_of(printed,
                                      [&](const std::string& one) { return is_as_said(one, without_comment(line)); }));
        }
    }
    CHECK(checked >= 1);
}
