#include "tests/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tool.hpp"

#include <set>
#include <sstream>
#include <string>
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

std::set<std::string> lines_of(const std::string& text) {
    std::set<std::string> all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) all.insert(without_comment(line));
    return all;
}

/// `run` and `bench` print what a compiler and a device made of it.
bool is_reproducible(const Sample& sample) {
    return !sample.arguments.starts_with("run ") && !sample.arguments.starts_with("bench ");
}

}  // namespace

TEST_CASE("the tool prints what README says it prints") {
    const Tool tool;
    int checked = 0;
    for (const Sample& sample : samples_in(text_in(JITGEMM_SOURCE_DIR "/README.md"))) {
        if (!is_reproducible(sample)) continue;
        ++checked;
        const ToolResult result = tool.run(sample.arguments, "CUDA_VISIBLE_DEVICES=-1");
        const std::set<std::string> printed = lines_of(result.out);
        INFO("jitgemm " << sample.arguments << "\n" << result.out << result.err);
        CHECK(result.exit_code == 0);
        for (const std::string& line : sample.lines) {
            INFO(line);
            CHECK(printed.contains(without_comment(line)));
        }
    }
    CHECK(checked >= 1);
}
