/// Right kernels are never refused: random problems, each verified on the emulator with all its checks.
///
///     JITGEMM_TEST_SEED=7 JITGEMM_TEST_PROBLEMS=2000 jitgemm_emulator_tests "[random-problems]"
///
/// JITGEMM_TEST_SECONDS ends it earlier, JITGEMM_TEST_FIRST begins at another problem than 0: the line printed with a
/// problem that is refused runs that one alone.

#include "tests/emulator/random_problems.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <map>
#include <string>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kUsualProblems = 24;

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
    const char* const text = std::getenv(name);
    return text == nullptr ? otherwise : std::stoull(text, nullptr, 0);
}

/// One context per architecture; its kernels are forgotten when another kernel comes, so that long runs stay small.
class Emulators {
public:
    ContextState& of(const RandomProblem& problem) {
        const std::string kernel = kernel_name(problem_of(problem.spec), problem.config);
        const auto [found, is_new] =
            contexts_.try_emplace(problem.gpu->arch, emulator_options(std::string(problem.gpu->arch->name)));
        ContextState& context = state_of(found->second);
        if (std::exchange(last_kernel_, kernel) != kernel) context.loaded.clear();
        return context;
    }

private:
    std::map<const Arch*, Context> contexts_;
    std::string last_kernel_;
};

/// What verification says; empty: right.
std::string complaint(Emulators& emulators, const RandomProblem& problem) {
    try {
        ContextState& context = emulators.of(problem);
        const Verification verdict =
            verify(context, context.build(problem_of(problem.spec), problem.config), problem.options);
        return verdict.ok ? std::string() : verdict.message;
    } catch (const std::exception& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("random problems: no right kernel is refused", "[random-problems]") {
    const std::uint64_t seed = setting("JITGEMM_TEST_SEED", 1);
    const std::uint64_t first = setting("JITGEMM_TEST_FIRST", 0);
    const std::uint64_t problems = setting("JITGEMM_TEST_PROBLEMS", kUsualProblems);
    const std::chrono::seconds most(setting("JITGEMM_TEST_SECONDS", 1'000'000));
    const auto begin = Clock::now();
    Emulators emulators;
    std::uint64_t done = 0;
    std::uint64_t refused = 0;
    std::map<std::string, int, std::less<>> families;
    for (; done < problems && Clock::now() - begin < most; ++done) {
        const RandomProblem problem = random_problem(seed, first + done);
        ++families[std::string(family_name(problem.config))];
        const std::string text = complaint(emulators, problem);
        if (text.empty()) continue;
        ++refused;
        std::cout << fmt::format(
                         "refused: {}\n  {}\n  JITGEMM_TEST_SEED={} JITGEMM_TEST_FIRST={} JITGEMM_TEST_PROBLEMS=1 "
                         "jitgemm_emulator_tests \"[random-problems]\"",
                         describe(problem), text, seed, first + done)
                  << '\n'
                  << std::flush;
    }
    std::cout << fmt::format("{} random problems of seed {} in {} s, {} refused; {}", done, seed,
                             std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin).count(), refused,
                             families)
              << '\n'
              << std::flush;
    CHECK(done > 0);
    CHECK(refused == 0);
}
