/// Right kernels are never refused: random problems, each verified on the emulator with all its checks.
///
///     JITGEMM_TEST_SEED=7 JITGEMM_TEST_PROBLEMS=2000 jitgemm_emulator_tests "[random-problems]"
///
/// JITGEMM_TEST_SECONDS ends it earlier, JITGEMM_TEST_FIRST begins at another problem than 0: the line printed with a
/// problem that is refused runs that one alone. JITGEMM_TEST_KIND=groups takes problems of one kind
/// (random_problems.hpp). JITGEMM_TEST_DEVICE=cuda takes larger ones and verifies them on a GPU:
///
///     JITGEMM_TEST_DEVICE=cuda JITGEMM_TEST_SEED=7 JITGEMM_TEST_PROBLEMS=100000 JITGEMM_TEST_SECONDS=300
///         jitgemm_emulator_tests "[random-problems]"
///
/// It then names each kernel before its first launch, so that the last line names one that never ends.

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
#include <optional>
#include <string>
#include <utility>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kUsualProblems = 24;
constexpr std::uint64_t kMostRefused = 50;  // after a fault, a GPU takes no more launches of the process

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
    const char* const text = std::getenv(name);
    return text == nullptr ? otherwise : std::stoull(text, nullptr, 0);
}

std::string text_setting(const char* name) {
    const char* const text = std::getenv(name);
    return text == nullptr ? std::string() : std::string(text);
}

/// A GPU, or one emulator per architecture. A kernel is forgotten when another one comes, so that long runs stay small.
class Devices {
public:
    explicit Devices(const std::string& gpu) {
        if (gpu.empty()) return;
        Options options = emulator_options("sm_80");
        options.device = gpu;
        gpu_.emplace(options);
    }

    [[nodiscard]] ProblemScope scope(std::string kind) {
        return {.gpu = gpu_ ? &state_of(*gpu_).device->model() : nullptr, .kind = std::move(kind)};
    }

    ContextState& of(const RandomProblem& problem) {
        const std::string kernel = kernel_name(problem_of(problem.spec), problem.config);
        ContextState& context = state_of(gpu_ ? *gpu_ : emulator(*problem.gpu->arch));
        if (std::exchange(last_kernel_, kernel) == kernel) return context;
        context.loaded.clear();
        if (gpu_) std::cout << kernel << '\n' << std::flush;
        return context;
    }

private:
    Context& emulator(const Arch& arch) {
        return emulators_.try_emplace(&arch, emulator_options(std::string(arch.name))).first->second;
    }

    std::optional<Context> gpu_;
    std::map<const Arch*, Context> emulators_;
    std::string last_kernel_;
};

/// What verification says; empty: right.
std::string complaint(Devices& devices, const RandomProblem& problem) {
    try {
        ContextState& context = devices.of(problem);
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
    const std::string device = text_setting("JITGEMM_TEST_DEVICE"), kind = text_setting("JITGEMM_TEST_KIND");
    const auto begin = Clock::now();
    Devices devices(device);
    const ProblemScope scope = devices.scope(kind);
    const std::string again = (device.empty() ? "" : fmt::format("JITGEMM_TEST_DEVICE={} ", device)) +
                              (kind.empty() ? "" : fmt::format("JITGEMM_TEST_KIND={} ", kind));
    std::uint64_t done = 0;
    std::uint64_t refused = 0;
    std::map<std::string, int, std::less<>> families;
    for (; done < problems && refused < kMostRefused && Clock::now() - begin < most; ++done) {
        const RandomProblem problem = random_problem(seed, first + done, scope);
        ++families[std::string(family_name(problem.config))];
        const std::string text = complaint(devices, problem);
        if (text.empty()) continue;
        ++refused;
        std::cout << fmt::format(
                         "refused: {}\n  {}\n  {}JITGEMM_TEST_SEED={} JITGEMM_TEST_FIRST={} JITGEMM_TEST_PROBLEMS=1 "
                         "jitgemm_emulator_tests \"[random-problems]\"",
                         describe(problem), text, again, seed, first + done)
                  << '\n'
                  << std::flush;
    }
    std::cout << fmt::format("{} random problems {}of seed {} in {} s, {} refused; {}", done, again, seed,
                             std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin).count(), refused,
                             families)
              << '\n'
              << std::flush;
    CHECK(done > 0);
    CHECK(refused == 0);
}

TEST_CASE("random problems: all kinds are among them, and each can be asked for") {
    const std::map<std::string, bool (*)(const GemmSpec&)> kinds{
        {"batches", [](const GemmSpec& spec) { return spec.batch != 1; }},
        {"groups", [](const GemmSpec& spec) { return spec.groups != 0; }},
        {"float8", [](const GemmSpec& spec) { return is_float8(spec.a); }},
        {"int8", [](const GemmSpec& spec) { return spec.a == DataType::s8; }},
        {"single", [](const GemmSpec& spec) { return spec.math != Math::ieee; }},
        {"prepared", [](const GemmSpec& spec) { return spec.prepared != Prepared::none; }},
        {"epilogues", [](const GemmSpec& spec) { return !spec.epilogue.empty(); }}};
    std::map<std::string, int> drawn;
    for (std::uint64_t i = 0; i < 100; ++i) {
        const GemmSpec spec = random_problem(1, 8 * i).spec;
        for (const auto& [name, holds] : kinds) drawn[name] += holds(spec) ? 1 : 0;
    }
    for (const auto& [name, holds] : kinds) {
        INFO(name);
        CHECK(drawn[name] >= 3);
        CHECK(holds(random_problem(1, 0, {.kind = name}).spec));
    }
    CHECK_THROWS_WITH(random_problem(1, 0, {.kind = "group"}), "group is no kind of problems");
}
