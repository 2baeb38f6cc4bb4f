/// Correct kernels, spoilt one text at a time: does verification on the emulator notice? Writes tests/mutations.md into the
/// build folder, of which docs/emulator-mutations.md is a copy.

#include "generator/generate.hpp"
#include "runtime/emulator_device/emulator_device.hpp"
#include "runtime/verify/emulator_verify.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/mutants.hpp"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

constexpr double kLeastScore = 0.95;
constexpr int kLeastMutants = 60;

/// Its limit of work is small, so that a spoilt kernel that never ends is told so soon.
Context impatient_emulator(const char* arch, double gflop) {
    Options options = emulator_options(arch);
    options.emulator_gflop = gflop;
    return Context(options);
}

const char* arch_of(const Dump& dump) { return dump.wgmma ? "sm_90a" : "sm_80"; }

Context& emulator_of(const Dump& dump) {
    static Context ampere = impatient_emulator("sm_80", 0.02);
    static Context hopper = impatient_emulator("sm_90a", 0.2);
    return dump.wgmma ? hopper : ampere;
}

std::string what_was_found(const Verification& verdict) {
    if (verdict.changed_inputs != 0) return "changed input";
    if (verdict.message.find("wavefronts") != std::string::npos) return "wavefronts";
    return verdict.unwritten != 0 ? "unwritten D" : "wrong result";
}

/// What a verification with default checks says of a body; empty: it is right.
std::string complaint(const Dump& dump, ParsedDump parsed, const std::string& body) {
    parsed.body = body;
    ContextState& state = state_of(emulator_of(dump));
    const GemmKernel kernel = state.build(parsed);
    try {
        const EmulatedVerification verdict = verify_emulated(state, kernel, dump.options);
        if (verdict.verification.ok) return {};
        if (verdict.fault) return std::string(to_string(*verdict.fault));
        return what_was_found(verdict.verification);
    } catch (const emulator::EmulatorFault& fault) {
        return std::string(to_string(fault.kind()));  // it would run for ever
    }
}

struct Score {
    int caught = 0;
    int missed = 0;
    int equivalent = 0;
    std::string rows;
    std::string missed_rows;
    std::string equivalent_rows;

    void add(const Dump& dump, const Mutation& mutation, const std::string& found) {
        const std::string proof = equivalence(dump, mutation);
        const std::string row = fmt::format("| {} | {} |", mutation.name, dump.name);
        if (!proof.empty()) {
            ++equivalent;
            equivalent_rows += fmt::format("{} {} |\n", row, proof);
            CHECK(found.empty());  // the proof is wrong where verification complains
        } else if (found.empty()) {
            ++missed;
            missed_rows += row + '\n';
        } else {
            ++caught;
            rows += fmt::format("{} {} |\n", row, found);
        }
    }
    [[nodiscard]] int counted() const { return caught + missed; }
    [[nodiscard]] std::string page() const {
        return fmt::format(
            "# Mutants\n\nWritten by `tests/emulator/mutation_test.cpp` (`tests/mutations.md` in the build folder): "
            "one change "
            "of text in a correct kernel at a time,\nverified with the emulator's default checks; each change in the "
            "first four of "
            "thirteen kernels of mma_multistage that have the text (of those on memory two).\nMutants of "
            "wgmma_warp_specialized follow: each change in most of eight kernels.\nWhat is missed: lanes of one warp "
            "are not checked against each other, so a `__syncwarp()` can go unnoticed.\n\n"
            "{} of {} mutants are caught ({:.1f} %); {} more are equivalent and not counted.\n\n"
            "## Caught\n\n| change | kernel | found by |\n|---|---|---|\n{}\n"
            "## Missed\n\n| change | kernel |\n|---|---|\n{}\n"
            "## Equivalent\n\n| change | kernel | proof |\n|---|---|---|\n{}",
            caught, counted(), 100.0 * caught / counted(), equivalent, rows, missed_rows, equivalent_rows);
    }
};

}  // namespace

namespace {

/// Each mutation in the first dumps that have its text.
void spoil(const std::vector<Dump>& dumps, std::span<const Mutation> mutations, Score& score) {
    std::map<std::string_view, int> used;
    for (const Dump& dump : dumps) {
        const ParsedDump parsed = parsed_dump(dump, find_arch(arch_of(dump)));
        INFO(dump.name);
        const std::string said = complaint(dump, parsed, parsed.body);
        INFO(said);
        CHECK(said.empty());
        for (const Mutation& mutation : mutations) {
            const std::string body = mutated(dump, parsed.body, mutation);
            if (body.empty() || used[mutation.name] >= mutation.most_dumps) continue;
            ++used[mutation.name];
            INFO(mutation.name);
            score.add(dump, mutation, complaint(dump, parsed, body));
        }
    }
    for (const Mutation& mutation : mutations) {
        INFO(mutation.name);
        CHECK(used[mutation.name] > 0);  // a text no kernel has any more
    }
}

}  // namespace

TEST_CASE("mutants of correct kernels are caught by verification on the emulator") {
    Score score;
    spoil(dumps(), mutations(), score);
    spoil(wgmma_dumps(), wgmma_mutations(), score);
    std::ofstream(JITGEMM_TEST_OUTPUT_DIR "/mutations.md") << score.page();
    INFO(score.page());
    CHECK(score.counted() >= kLeastMutants);
    CHECK(score.caught >= kLeastScore * score.counted());
}

TEST_CASE("mutants of wgmma kernels, and of flags between blocks, are all caught on the emulator") {
    Score score;
    spoil(wgmma_dumps(), wgmma_mutations(), score);
    INFO(score.missed_rows);
    CHECK(score.missed == 0);
}
