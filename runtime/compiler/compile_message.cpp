#include "runtime/compiler/compile_message.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>

namespace jitgemm {
namespace {

constexpr int kNeighbours = 2;          // lines shown before and after
constexpr std::size_t kMostQuotes = 5;  // one mistake often gives dozens of errors

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

/// The line numbers that follow `marker` in lines of the log that speak of an error, each once.
std::vector<int> error_lines(const std::string& log, std::string_view marker) {
    std::vector<int> numbers;
    for (const std::string& line : lines_of(log)) {
        const std::size_t at = line.find(marker);
        if (at == std::string::npos || line.find("error") == std::string::npos) continue;
        int number = 0;
        std::from_chars(line.data() + at + marker.size(), line.data() + line.size(), number);
        const bool known = std::find(numbers.begin(), numbers.end(), number) != numbers.end();
        if (number > 0 && !known && numbers.size() < kMostQuotes) numbers.push_back(number);
    }
    return numbers;
}

std::string quote(const std::vector<std::string>& text, int number) {
    const int first = std::max(1, number - kNeighbours);
    const int last = std::min(static_cast<int>(text.size()), number + kNeighbours);
    std::string quoted;
    for (int line = first; line <= last; ++line) {
        const char mark = line == number ? '>' : ' ';
        quoted += fmt::format("{} {:5} | {}\n", mark, line, text[static_cast<std::size_t>(line - 1)]);
    }
    return quoted;
}

std::string quotes(const std::string& title, const std::string& text, const std::vector<int>& numbers) {
    const std::vector<std::string> lines = lines_of(text);
    std::string quoted;
    for (const int number : numbers) quoted += fmt::format("{}, line {}:\n{}", title, number, quote(lines, number));
    return quoted;
}

}  // namespace

std::string compile_message(const CompileRequest& request, const std::vector<std::string>& options,
                            const std::string& log, const std::string& ptx, int nvrtc_version) {
    std::string message =
        fmt::format("NVRTC {} refused kernel {}:\n{}", nvrtc_version_text(nvrtc_version), request.name, log);
    while (message.ends_with('\n')) message.pop_back();
    message += '\n' + quotes("source", request.body, error_lines(log, "kernel.cu("));
    message += quotes("generated PTX", ptx, error_lines(log, "ptx input, line "));
    return message + fmt::format("options: {}", fmt::join(options, " "));
}

}  // namespace jitgemm
