#include "runtime/tuning/sweep/compile_pool.hpp"

#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/child.hpp"
#include "tests/support/fake_sweep.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <set>

using namespace jitgemm;
using namespace jitgemm::testing;
using namespace jitgemm::tuning;
using namespace std::chrono_literals;

namespace {

CompilePoolOptions pool_options(const FakeSweep& sweep, int workers, std::chrono::milliseconds timeout = 60s) {
    return {sweep.command(), workers, timeout};
}

CompileJob job_of(const std::string& kernel) { return {small_spec(), kernel, "sm_90a", false}; }

/// A script that plants a fault in one kernel's compile.
std::string planted(const std::string& kernel, const std::string& fault) {
    return fmt::format(R"({{"kernels": [{{"name": "{}", "compile": "{}"}}]}})", kernel, fault);
}

}  // namespace

TEST_CASE("a pool compiles many kernels on a few workers") {
    const FakeSweep sweep(R"({"kernels": [{"spill_bytes": 48, "warnings": ["(C7510) planted"]}]})");
    CompilePool pool(pool_options(sweep, 3));
    std::vector<std::shared_future<CompileOutcome>> results;
    for (const std::string& kernel : some_kernels(20)) results.push_back(pool.compile(job_of(kernel)));
    std::set<std::string> hashes;
    for (const auto& result : results) {
        CHECK(result.get().verdict == Verdict::fine);
        CHECK(result.get().spill_bytes == 48);
        CHECK(result.get().warnings == std::vector<std::string>{"(C7510) planted"});
        hashes.insert(result.get().text_hash);
    }
    CHECK(hashes.size() == 20);
    CHECK(pool.waiting() == 0);
}

TEST_CASE("a job asked for again is not compiled again") {
    FakeSweep sweep("{}");
    sweep.set_script(fmt::format(R"({{"log": "{}"}})", sweep.log()));
    const std::string kernel = some_kernels(1).front();
    CompilePool pool(pool_options(sweep, 2));
    for (int i = 0; i < 5; ++i) CHECK(pool.compile(job_of(kernel)).get().verdict == Verdict::fine);
    CHECK(sweep.executed() == std::vector<std::string>{"compile " + kernel});
    CompileJob ptx = job_of(kernel);
    ptx.ptx = true;
    CHECK(pool.compile(ptx).get().verdict == Verdict::fine);
    CHECK(sweep.executed().size() == 2);
}

TEST_CASE("a planted fault is that kernel's outcome, and the next compile works") {
    const std::vector<std::string> kernels = some_kernels(2);
    const auto outcome_of = [&](const std::string& fault, std::chrono::milliseconds timeout = 60s) {
        const FakeSweep sweep(planted(kernels[0], fault));
        CompilePool pool(pool_options(sweep, 1, timeout));
        const std::shared_future<CompileOutcome> faulty = pool.compile(job_of(kernels[0]));
        CHECK(pool.compile(job_of(kernels[1])).get().verdict == Verdict::fine);
        return faulty.get();
    };
    SECTION("an error of the compiler") {
        const CompileOutcome outcome = outcome_of("fail");
        CHECK(outcome.verdict == Verdict::compile_failed);
        CHECK(outcome.message == "kernel.cu(1): error: planted");
    }
    SECTION("a crash") {
        const CompileOutcome outcome = outcome_of("segv");
        CHECK(outcome.verdict == Verdict::compile_failed);
        CHECK_THAT(outcome.message, Catch::Matchers::ContainsSubstring("signal 11 (SIGSEGV)"));
        CHECK_THAT(outcome.message, Catch::Matchers::ContainsSubstring("segv planted in " + kernels[0]));
    }
    SECTION("an exit") { CHECK_THAT(outcome_of("exit").message, Catch::Matchers::ContainsSubstring("exit code 3")); }
    SECTION("no end") {
        const CompileOutcome outcome = outcome_of("hang", 300ms);
        CHECK(outcome.verdict == Verdict::compile_timeout);
        CHECK_THAT(outcome.message, Catch::Matchers::ContainsSubstring("within 0.3 s"));
    }
}

TEST_CASE("a worker that somebody kills is no kernel's fault: its job is tried once more, and then wants memory") {
    const std::vector<std::string> kernels = some_kernels(2);
    const auto outcome_of = [&](const std::string& fault, std::size_t compiles) {
        const FakeSweep sweep("{}");
        sweep.set_script(fmt::format(R"({{"log": "{}", "kernels": [{{"name": "{}", "compile": "{}"}}]}})", sweep.log(),
                                     kernels[0], fault));
        CompilePool pool(pool_options(sweep, 1));
        CompileOutcome outcome = pool.compile(job_of(kernels[0])).get();
        CHECK(sweep.executed().size() == compiles);
        CHECK(pool.compile(job_of(kernels[1])).get().verdict == Verdict::fine);
        return outcome;
    };
    CHECK(outcome_of("kill once", 2).verdict == Verdict::fine);
    const CompileOutcome outcome = outcome_of("kill", 2);
    CHECK(outcome.verdict == Verdict::no_memory);
    CHECK_THAT(outcome.message, Catch::Matchers::ContainsSubstring("SIGKILL"));
    CHECK(outcome_of("segv", 1).verdict == Verdict::compile_failed);
}

TEST_CASE("where no worker can be started, that is nobody's verdict") {
    const std::vector<std::string> kernels = some_kernels(2);
    const FakeSweep sweep(planted(kernels[0], "segv"));
    CompilePool pool(pool_options(sweep, 1));
    CHECK(pool.compile(job_of(kernels[0])).get().verdict == Verdict::compile_failed);
    sweep.set_script("no script any more");
    CHECK_THROWS_WITH(pool.compile(job_of(kernels[1])).get(), Catch::Matchers::ContainsSubstring("no compile worker"));
    CHECK(pool.waiting() == 0);
}

TEST_CASE("closing a pool waits neither for the queue nor for a compile") {
    const std::vector<std::string> kernels = some_kernels(3);
    const FakeSweep sweep(planted(kernels[0], "hang"));
    std::vector<std::shared_future<CompileOutcome>> results;
    const auto begin = std::chrono::steady_clock::now();
    {
        CompilePool pool(pool_options(sweep, 1));
        for (const std::string& kernel : kernels) results.push_back(pool.compile(job_of(kernel)));
        CHECK(pool.waiting() > 0);
    }
    CHECK(std::chrono::steady_clock::now() - begin < 10s);
    for (const auto& result : results)
        CHECK_THAT(result.get().message, Catch::Matchers::ContainsSubstring("pool was closed"));
}

TEST_CASE("a pool whose workers cannot work is an error at once") {
    FakeSweep sweep(R"({"gpuu": "h200"})");
    CHECK_THROWS_WITH(CompilePool(pool_options(sweep, 1)), Catch::Matchers::ContainsSubstring("gpuu"));
    CompilePoolOptions nowhere = pool_options(sweep, 1);
    nowhere.command.program = {"/nowhere/jitgemm"};
    CHECK_THROWS_WITH(CompilePool(nowhere), Catch::Matchers::ContainsSubstring("/nowhere/jitgemm"));
}

TEST_CASE("where the machine allows fewer workers, those it allowed end, and how many is said", "[heavy]") {
    const FakeSweep sweep("{}");
    const int status = in_child([&] {
        const rlimit stacks_of_some{rlim_t{2} << 30, rlim_t{2} << 30};
        ::setrlimit(RLIMIT_AS, &stacks_of_some);
        try {
            const CompilePool pool(pool_options(sweep, 99'999));
        } catch (const Error& error) {
            const std::string_view text = error.what();
            return text.starts_with("only ") && text.find(" of 99999 compile workers") != text.npos ? 0 : 2;
        }
        return 1;
    });
    CHECK(status == 0);
}
