/// Kernels of every family apply random texts of epilogues as the judge on the host does:
///
///     JITGEMM_TEST_SEED=7 JITGEMM_TEST_TEXTS=500 jitgemm_emulator_tests "[random-texts]"

#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/random_problems.hpp"

#include <cstdlib>
#include <exception>
#include <set>
#include <string>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

constexpr std::uint64_t kUsualTexts = 6;
constexpr std::uint64_t kManyTexts = 100;  // every family serves some of these

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
    const char* const text = std::getenv(name);
    return text == nullptr ? otherwise : std::stoull(text, nullptr, 0);
}

/// What verification says; empty: right.
std::string complaint(const RandomProblem& problem) {
    try {
        Context context(emulator_options(std::string(problem.gpu->arch->name)));
        ContextState& state = state_of(context);
        const GemmKernel kernel = state.build(problem_of(problem.spec), problem.config);
        const Verification verdict = verify(state, kernel, problem.options);
        return verdict.ok ? std::string() : verdict.message;
    } catch (const std::exception& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("kernels apply random epilogues as the judge does", "[random-texts]") {
    const std::uint64_t seed = setting("JITGEMM_TEST_SEED", 1), first = setting("JITGEMM_TEST_FIRST", 0);
    const std::uint64_t texts = setting("JITGEMM_TEST_TEXTS", kUsualTexts);
    std::set<std::string_view> families;
    for (std::uint64_t i = first; i < first + texts; ++i) {
        const RandomProblem problem = random_text_problem(seed, i);
        families.insert(family_name(problem.config));
        const std::string words = complaint(problem);
        INFO("JITGEMM_TEST_SEED=" << seed << " JITGEMM_TEST_FIRST=" << i
                                  << " JITGEMM_TEST_TEXTS=1: " << describe(problem) << "\n"
                                  << words);
        CHECK(words.empty());
    }
    if (texts >= kManyTexts) CHECK(families.size() >= 8);
}
