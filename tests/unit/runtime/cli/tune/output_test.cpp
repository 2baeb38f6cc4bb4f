#include "runtime/cli/tune/output.hpp"

#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/tune/options.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/temporary_folder.hpp"

#include <cstdio>
#include <functional>

#include <fcntl.h>
#include <unistd.h>

using namespace jitgemm;
using namespace jitgemm::cli;
using namespace jitgemm::testing;

namespace {

/// The work's output on stdout.
std::string stdout_of(const std::function<void()>& work) {
    const TemporaryFolder folder;
    std::fflush(stdout);
    const int kept = ::dup(STDOUT_FILENO);
    const int file = ::open((folder / "out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ::dup2(file, STDOUT_FILENO);
    work();
    std::fflush(stdout);
    ::dup2(kept, STDOUT_FILENO);
    ::close(file);
    ::close(kept);
    return text_in(folder / "out");
}

tuning::TunedProblem ended(std::size_t index, const char* device_class = "one") {
    tuning::TunedProblem problem;
    problem.index = index;
    problem.device_class = device_class;
    problem.record.spec = resolved({.m = static_cast<std::int64_t>(index + 1), .n = 8, .k = 8});
    problem.failure = "none";
    return problem;
}

/// The m of each line's problem, less one.
std::string order_of(const std::string& text) {
    std::string order;
    for (std::size_t at = text.find("bf16 tn "); at != std::string::npos; at = text.find("bf16 tn ", at + 1))
        order += static_cast<char>('0' + std::stoi(text.substr(at + 8)) - 1);
    return order;
}

}  // namespace

TEST_CASE("tune: problems are printed in the order asked, however they end") {
    Output output(false);
    const std::string text = stdout_of([&] {
        TuneWatcher watcher(output, std::vector<GemmSpec>(6), true);
        for (const std::size_t index : {2U, 0U, 1U, 5U, 4U}) watcher.problem(ended(index));
        watcher.problem(ended(0, "another class"));
    });
    CHECK(order_of(text) ==
          "012"
          "0"
          "45");  // 3 never ended: Ctrl-C
}

TEST_CASE("tune: counts are at least 1, and two results are not written to one file") {
    const auto complaint = [](const auto& change) {
        TuneOptions options;
        change(options);
        try {
            options.check();
        } catch (const UsageError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(complaint([](TuneOptions&) {}).empty());
    CHECK(complaint([](TuneOptions& options) { options.workers = 0; }) == "--workers is 0: it must be at least 1");
    CHECK(complaint([](TuneOptions& options) { options.max_candidates = 0; }) ==
          "--max-candidates is 0: it must be at least 1");
    CHECK_THAT(complaint([](TuneOptions& options) { options.report = "a.html", options.csv = "./a.html"; }),
               Says("--report", "--csv", "both", "'a.html'"));
    CHECK_THAT(complaint([](TuneOptions& options) { options.csv = "a", options.measurements = "a"; }),
               Says("--csv", "--measurements", "both", "'a'"));
    CHECK(complaint([](TuneOptions& options) { options.csv = options.measurements = "/dev/null"; }).empty());
    CHECK(complaint([](TuneOptions& options) { options.csv = "a", options.report = "b"; }).empty());
}
