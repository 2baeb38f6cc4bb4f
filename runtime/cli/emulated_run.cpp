#include "runtime/cli/emulated_run.hpp"

#include "generator/generate.hpp"
#include "runtime/cli/interrupt.hpp"
#include "runtime/cli/json_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

namespace jitgemm::cli {
namespace {

std::string line_of(const std::string& text, int wanted) {
    std::size_t begin = 0;
    for (int line = 1; line < wanted && begin != std::string::npos; ++line) {
        begin = text.find('\n', begin);
        if (begin != std::string::npos) ++begin;
    }
    return begin == std::string::npos ? std::string() : text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

EmulatedRun run_emulated(ContextState& context, const GemmKernel& kernel, const ProblemRequest& request,
                         Output& output) {
    stop_if_interrupted();
    output.progress(fmt::format("{}: verifying on the {}", shape_text(kernel.spec()), context.device->name()));
    EmulatedVerification verified = verify_emulated(context, kernel, {.alpha = request.alpha, .beta = request.beta});
    output.progress("");
    EmulatedRun run;
    run.measurement.verification = std::move(verified.verification);
    run.measurement.verification.message = with_file_lines(run.measurement.verification.message, kernel);
    run.measurement.estimated = true;
    run.counters = std::move(verified.counters);
    if (run.counters.blocks == 0) return run;
    run.time = estimate_time(run.counters, kernel, request.alpha, request.beta);
    run.measurement.timing.median_us = run.time.total_us;
    return run;
}

int banner_lines(const GemmKernel& kernel) {
    const std::string text = banner(state_of(kernel).source(), state_of(kernel).problem);
    return static_cast<int>(std::ranges::count(text, '\n'));
}

std::string with_file_lines(const std::string& message, const GemmKernel& kernel) {
    static const std::regex kPlace(R"(kernel\.cu:(\d+))");
    const int shift = banner_lines(kernel);
    std::string result;
    std::string quote;
    std::string rest = message;
    for (std::smatch match; std::regex_search(rest, match, kPlace); rest = match.suffix()) {
        const int line = std::stoi(match[1]) + shift;
        result += fmt::format("{}kernel.cu:{}", match.prefix().str(), line);
        if (quote.empty()) quote = fmt::format("\n  {} | {}", line, line_of(kernel.source(), line));
    }
    return result + rest + quote;
}

}  // namespace jitgemm::cli
