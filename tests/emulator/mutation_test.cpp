/// Correct kernels, spoilt one text at a time: does verification on the emulator notice? Each test writes its rows
/// into the build folder, as tests/mutations-*.md. docs/emulator.md has the sums.

#include "generator/generate.hpp"
#include "runtime/emulator_device/emulator_device.hpp"
#include "runtime/verify/emulator_verify.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/mutants.hpp"
#include "tests/support/one_in.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

/// Several times what the kernels take: one that never ends is told so soon.
constexpr std::uint64_t kMostWork = 50'000'000;

Context impatient_emulator(const char* arch) {
    Context context(emulator_options(arch));
    as_emulator(*state_of(context).device)->set_mode({.checks = {}, .work_limit = kMostWork});
    return context;
}

const char* arch_of(const Dump& dump) { return dump.wgmma ? "sm_90a" : "sm_80"; }

Context& emulator_of(const Dump& dump) {
    static Context ampere = impatient_emulator("sm_80");
    static Context hopper = impatient_emulator("sm_90a");
    return dump.wgmma ? hopper : ampere;
}

std::string what_was_found(const Verification& verdict) {
    if (verdict.changed_inputs != 0) return "changed input";
    if (verdict.message.find("wavefronts") != std::string::npos) return "wavefronts";
    return verdict.unwritten != 0 ? "unwritten D" : "wrong result";
}

/// The complaint of a verification with default checks about a body, or "" if it passes.
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

/// The mutants that are made of one kernel: each change in the first kernels of the list that have its text.
using Plan = std::vector<std::vector<Mutation>>;

Plan plan_of(const std::vector<Dump>& dumps, std::span<const Mutation> mutations) {
    std::map<std::string_view, int> used;
    Plan plan(dumps.size());
    for (std::size_t i = 0; i < dumps.size(); ++i) {
        const ParsedDump parsed = parsed_dump(dumps[i], find_arch(arch_of(dumps[i])));
        for (const Mutation& mutation : mutations) {
            if (used[mutation.name] >= mutation.most_dumps || mutated(dumps[i], parsed.body, mutation).empty())
                continue;
            ++used[mutation.name];
            plan[i].push_back(mutation);
        }
    }
    return plan;
}

struct Score {
    OneIn tried = OneIn(2);
    int caught = 0;
    std::string caught_rows;
    std::string missed_rows;
    std::string equivalent_rows;

    void add(const Dump& dump, const Mutation& mutation, const std::string& found) {
        const std::string proof = equivalence(dump, mutation);
        const std::string row = fmt::format("| {} | {} |", mutation.name, dump.name);
        if (!proof.empty()) {
            equivalent_rows += fmt::format("{} equivalent: {} |\n", row, proof);
            INFO(proof);
            CHECK(found.empty());  // the proof is wrong where verification complains
        } else if (found.empty()) {
            missed_rows += row + " missed |\n";
            CHECK(mutation.from == "__syncwarp();");  // lanes of one warp are not checked against each other
        } else {
            ++caught;
            caught_rows += fmt::format("{} {} |\n", row, found);
        }
    }
};

void spoil(const Dump& dump, const std::vector<Mutation>& mutations, Score& score) {
    const ParsedDump parsed = parsed_dump(dump, find_arch(arch_of(dump)));
    INFO(dump.name);
    const std::string complaint_of_none = complaint(dump, parsed, parsed.body);
    INFO(complaint_of_none);
    CHECK(complaint_of_none.empty());
    for (const Mutation& mutation : mutations) {
        if (!score.tried.next()) continue;
        INFO(mutation.name);
        score.add(dump, mutation, complaint(dump, parsed, mutated(dump, parsed.body, mutation)));
    }
}

/// Spoils the kernels from `first` to before `end`; what was found goes to a part of the page.
void check_mutants(const std::vector<Dump>& dumps, std::span<const Mutation> mutations, std::size_t first,
                   std::size_t end, const std::string& part) {
    const Plan plan = plan_of(dumps, mutations);
    Score score;
    for (std::size_t i = first; i < end; ++i) spoil(dumps.at(i), plan.at(i), score);
    CHECK(score.caught > 0);
    std::ofstream(JITGEMM_TEST_OUTPUT_DIR "/mutations-" + part + ".md")
        << score.caught_rows << score.missed_rows << score.equivalent_rows;
}

void check_multistage(std::size_t first, std::size_t end, const std::string& part) {
    check_mutants(dumps(), mutations(), first, end, part);
}

void check_wgmma(std::size_t first, std::size_t end, const std::string& part) {
    check_mutants(wgmma_dumps(), wgmma_mutations(), first, end, part);
}

void check_all_are_used(const std::vector<Dump>& dumps, std::span<const Mutation> mutations) {
    std::set<std::string_view> used;
    for (const std::vector<Mutation>& of_one : plan_of(dumps, mutations))
        for (const Mutation& mutation : of_one) used.insert(mutation.name);
    for (const Mutation& mutation : mutations) {
        INFO(mutation.name);
        CHECK(used.contains(mutation.name));
    }
}

}  // namespace

TEST_CASE("each mutation's text is in some kernel") {
    check_all_are_used(dumps(), mutations());
    check_all_are_used(wgmma_dumps(), wgmma_mutations());
}

// Several tests, which run side by side. Each begins where the one before ended, so that all kernels are spoilt.

TEST_CASE("mutants of kernels with cp.async are caught on the emulator") { check_multistage(0, 2, "1-cp-async"); }

TEST_CASE("mutants of kernels with small cp.async are caught on the emulator") {
    check_multistage(2, 4, "2-small-cp-async");
}

TEST_CASE("mutants of kernels that realign copies are caught on the emulator") { check_multistage(4, 6, "3-realign"); }

TEST_CASE("mutants of kernels with split K, or packed operands, are caught on the emulator") {
    check_multistage(6, 9, "4-split-k");
}

TEST_CASE("mutants of kernels with C are caught on the emulator") { check_multistage(9, dumps().size(), "5-c"); }

TEST_CASE("mutants of wgmma kernels are caught on the emulator") { check_wgmma(0, 6, "6-wgmma"); }

TEST_CASE("mutants of wgmma kernels with stream-K are caught on the emulator") {
    check_wgmma(6, wgmma_dumps().size(), "7-wgmma-stream-k");
}
