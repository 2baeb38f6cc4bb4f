#include "runtime/cli/shapes.hpp"

#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/files.hpp"

#include <fmt/format.h>

#include <array>
#include <sstream>

namespace jitgemm::cli {
namespace {

/// What each line says itself.
constexpr std::array<std::string_view, 15> kAllowedOptions{"c-type",  "d-type",  "acc-type", "d-layout",  "align-a",
                                                           "align-b", "align-c", "align-d",  "alpha",     "beta",
                                                           "kernel",  "family",  "param",    "templates", "device"};

bool is_blank(const std::string& line) {
    return line.substr(0, line.find('#')).find_first_not_of(" \t\r") == std::string::npos;
}

}  // namespace

std::vector<ProblemRequest> read_shapes(const std::string& path, const ProblemOptions& options) {
    options.allow_only(kAllowedOptions, "the shape file");
    std::istringstream file(file_text(path));
    std::vector<ProblemRequest> problems;
    std::vector<std::string> complaints;
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
        if (is_blank(line)) continue;
        try {
            problems.push_back(options.problem_over(parse_shape_line(line)));
        } catch (const SpecError& error) {
            for (const std::string& reason : error.reasons())
                complaints.push_back(fmt::format("{}:{}: {}", path, number, reason));
        }
    }
    if (!complaints.empty()) throw UsageError("the shape file has bad lines", complaints);
    if (problems.empty()) throw UsageError(fmt::format("{} names no problem", path));
    return problems;
}

}  // namespace jitgemm::cli
