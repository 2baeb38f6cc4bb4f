#include "generator/families/kernel_name.hpp"
#include "runtime/tuning/store/lookup.hpp"

#include "runtime/context/context_state.hpp"
#include "runtime/emulator_device/emulator_device.hpp"
#include "runtime/tuning/search/search.hpp"
#include "runtime/tuning/store/store.hpp"
#include "runtime/tuning/store/tuned_records.hpp"
#include "runtime/tuning/store/wisdom.hpp"
#include "tests/catch.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/fake_compiler.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/says.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tuning_records.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>

using namespace jitgemm;
using namespace jitgemm::testing;
using namespace jitgemm::tuning;
using Catch::Matchers::ContainsSubstring;

namespace {

const GpuModel& kH200 = find_gpu("h200");
const Versions kToday = h200_facts().versions;

GemmSpec spec_of(std::int64_t m, std::int64_t n, std::int64_t k) { return {.m = m, .n = n, .k = k}; }

TunedChoices choices(const std::vector<Winner>& winners) { return {winners, kToday}; }

std::string name_of(const GemmSpec& spec, const TunedChoice& choice) {
    return kernel_name(problem_of(spec), choice.config);
}

/// A tuner's class of FakeDevice.
const std::string kFakeClass = "sm_90a-132sm-60MB-1GB-4800GBs-1750MHz";

/// The same winner, found by a sweep of today on a FakeDevice.
Winner on_fake_device(Winner winner) {
    FakeCompiler compiler;
    winner.versions = device_facts(FakeDevice(), TemplateSet::embedded(), compiler).versions;
    return on_class(kFakeClass, std::move(winner));
}

/// Options with a store, in that folder, of two winners of the problem: `winner_for(spec, 2)` on an H200, and another
/// on the emulator.
Options tuned_on_two_classes(const TemporaryFolder& folder, const GemmSpec& spec) {
    Options options;
    options.tuning_directory = folder.path();
    TuningStore store(options.tuning_directory);
    REQUIRE(store.add_winners({on_class(kEmulatorClass, winner_for(spec, 3)), winner_for(spec, 2)}) == 2);
    return options;
}

GemmKernel kernel_of(const Options& options, const GemmSpec& spec, std::shared_ptr<Device> device) {
    ContextState context(options, std::move(device), std::make_shared<FakeCompiler>());
    return context.kernel(spec);
}

}  // namespace

TEST_CASE("a tuned problem gets its winner") {
    const GemmSpec spec = spec_of(4096, 512, 1024);
    const Winner winner = winner_for(spec, 3);
    const TunedChoice choice =
        choices({winner_for(spec_of(4096, 512, 1000), 2), winner}).choose(problem_of(spec), kH200);
    REQUIRE(choice.source == ChoiceSource::exact);
    REQUIRE(name_of(spec, choice) == winner.kernel);
    REQUIRE(winner.kernel != winner.heuristic_kernel);
    REQUIRE_THAT(choice.reason, Says("10.00", "heuristic", "12.00"));
    REQUIRE(choice.reason.find("hint") == std::string::npos);
    REQUIRE_FALSE(choice.tuned_spec.has_value());
}

TEST_CASE("a choice says of a time that the emulator estimated it") {
    const GemmSpec spec = spec_of(4096, 512, 1024);
    const Winner winner = on_class(kEmulatorClass, winner_for(spec, 3));
    REQUIRE_THAT(choices({winner}).choose(problem_of(spec), kH200).reason, Says("10.00", "estimated", "12.00"));
}

TEST_CASE("a column-major D is the row-major problem that it is computed as") {
    const GemmSpec spec{.m = 4096, .n = 512, .k = 1024, .d_order = Order::column};
    const Winner winner = winner_for(spec, 3);
    REQUIRE(choices({winner}).choose(problem_of(spec), kH200).source == ChoiceSource::exact);
    const GemmSpec transposed = with_row_major_d(resolved(spec));
    REQUIRE(choices({winner}).choose(problem_of(transposed), kH200).source == ChoiceSource::exact);
    REQUIRE(choices({winner}).choose(problem_of(spec_of(4096, 512, 1024)), kH200).source != ChoiceSource::exact);
}

TEST_CASE("a near problem gets its neighbour's winner, the nearest one's first") {
    const GemmSpec spec = spec_of(4096, 4096, 4096);
    const TunedChoices tuned =
        choices({winner_for(spec_of(4096, 4096, 2048), 1), winner_for(spec_of(4096, 4096, 4000), 1)});
    const TunedChoice choice = tuned.choose(problem_of(spec), kH200);
    REQUIRE(choice.source == ChoiceSource::nearest);
    REQUIRE(choice.tuned_spec->k == 4000);
    REQUIRE(choice.distance == Approx(std::log2(4096.0 / 4000)));
    REQUIRE_THAT(choice.reason, Says("tuned", "4096x4096x4000"));
    REQUIRE_THAT(choice.reason, ContainsSubstring("distance 0.03"));
}

TEST_CASE("distance counts octaves of m, n and k together") {
    const TunedChoices tuned = choices({winner_for(spec_of(4096, 8192, 4096))});
    const auto choice = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
        return tuned.choose(problem_of(spec_of(m, n, k)), kH200);
    };
    REQUIRE(choice(8192, 16384, 4096).distance == Approx(std::sqrt(2.0)));
    REQUIRE(choice(4096, 8192, 16384).source == ChoiceSource::heuristic);  // two octaves
    REQUIRE(choice(8192, 16384, 8192).source == ChoiceSource::heuristic);  // 1.73
    REQUIRE_THAT(choice(8192, 16384, 8192).reason, ContainsSubstring("nothing tuned is near enough"));
}

TEST_CASE("a neighbour is of the same types, layout, order of D, C and alignments") {
    const TunedChoices tuned = choices({winner_for(spec_of(4096, 4096, 4096))});
    GemmSpec spec = spec_of(4096, 4096, 4160);
    REQUIRE(tuned.choose(problem_of(spec), kH200).source == ChoiceSource::nearest);
    SECTION("types") { spec.a = spec.b = spec.d = DataType::f16; }
    SECTION("layout") { spec.layout = GemmLayout::nn; }
    SECTION("D's type") { spec.d = DataType::f32; }
    SECTION("C") { spec.c = DataType::bf16; }
    SECTION("alignment") { spec.align_a = 8; }
    REQUIRE(tuned.choose(problem_of(spec), kH200).source == ChoiceSource::heuristic);
}

TEST_CASE("a C of one row is tuned for itself, and its neighbours have one, too") {
    const auto with_c = [](std::int64_t k, bool broadcast) {
        GemmSpec spec = spec_of(4096, 4096, k);
        spec.c = DataType::bf16;
        spec.broadcast_c = broadcast;
        return spec;
    };
    const TunedChoices tuned = choices({winner_for(with_c(4096, true))});
    REQUIRE(tuned.choose(problem_of(with_c(4096, true)), kH200).source == ChoiceSource::exact);
    REQUIRE(tuned.choose(problem_of(with_c(4160, true)), kH200).source == ChoiceSource::nearest);
    for (const std::int64_t k : {4096, 4160})
        REQUIRE(tuned.choose(problem_of(with_c(k, false)), kH200).source == ChoiceSource::heuristic);
}

TEST_CASE("a neighbour's kernel whose tiles and waves do not suit is not taken", "[heavy]") {
    // Tiles of 40 rows hold both in one; of 24 rows, m = 40 takes as many as m = 36, but others serve it better.
    const GemmSpec tuned_spec = spec_of(36, 4096, 4096);
    const GemmSpec asked = spec_of(40, 4096, 4096);
    const Winner skinny = winner_for(tuned_spec);
    const double heuristic_us = list_candidates(problem_of(asked), kH200).accepted.front().cost.total_us;
    bool taken = false;
    bool refused = false;
    // Every kernel that the model holds for as good as its own choice at m = 36, asked for at m = 40.
    for (const Candidate& candidate : list_candidates(problem_of(tuned_spec), kH200).accepted) {
        Winner winner = skinny;
        winner.kernel = kernel_name(problem_of(tuned_spec), candidate.config);
        winner.heuristic_kernel = winner.kernel;  // no error of the model to allow for
        const TunedChoice choice = choices({winner}).choose(problem_of(asked), kH200);
        const double here_us = family_of(candidate.config).cost(problem_of(asked), candidate.config, kH200).total_us;
        const bool suits = here_us <= kNearestSlack * heuristic_us;
        INFO(winner.kernel << " takes " << here_us << " us, the heuristic's " << heuristic_us);
        REQUIRE((choice.source == ChoiceSource::nearest) == suits);
        (suits ? taken : refused) = true;
    }
    REQUIRE(taken);
    REQUIRE(refused);
}

TEST_CASE("a neighbour's kernel that cannot compute the problem is passed over in silence") {
    const GemmSpec asked = spec_of(32, 4096, 14336);
    Winner fewer = winner_for(spec_of(16, 4096, 14336));  // sorted before the other one, which is as near
    fewer.kernel = "mma_sliced_k_bf16_tn_32x16x512_swapab_stages4";
    Winner more = winner_for(spec_of(64, 4096, 14336));
    more.kernel = "wgmma_bf16_tn_64x32x128_swapab_stages8_slices1";
    Winner of_old = winner_for(spec_of(32, 4096, 14000));
    of_old.kernel = "mma_multistage_of_old";
    const CapturedLog captured;
    const TunedChoice next = choices({of_old, fewer, more}).choose(problem_of(asked), kH200);
    REQUIRE(next.source == ChoiceSource::nearest);
    REQUIRE(name_of(asked, next) == more.kernel);
    REQUIRE(choices({of_old, fewer}).choose(problem_of(asked), kH200).source == ChoiceSource::heuristic);
    REQUIRE(captured.text().empty());
}

TEST_CASE("a heuristic's kernel that a search of the problem did not beat is not given up for a neighbour's") {
    const GemmSpec spec = spec_of(4096, 4096, 4096);
    const Winner neighbour = winner_for(spec_of(4096, 4096, 4000), 1);
    Winner own = winner_for(spec, 2);
    own.heuristic_us = own.high_us;  // not beyond doubt
    own.complete = false;
    const auto choose = [&] { return choices({neighbour, own}).choose(problem_of(spec), kH200); };
    REQUIRE(choose().source == ChoiceSource::heuristic);
    REQUIRE(choose().config == choose_config(problem_of(spec), kH200));
    REQUIRE_THAT(choose().reason, Says("60", "kernels"));
    SECTION("nor one that won a whole search") {
        own.complete = true;
        own.kernel = own.heuristic_kernel;
        own.heuristic_us = own.low_us / 1.001;  // lost to itself, by noise
        REQUIRE(choose().source == ChoiceSource::heuristic);
    }
    SECTION("the heuristic has another one today") {
        own.heuristic_kernel = winner_for(spec, 3).kernel;
        REQUIRE(choose().source == ChoiceSource::nearest);
    }
    SECTION("it alone was timed") {
        own.candidates_timed = 1;
        REQUIRE(choose().source == ChoiceSource::nearest);
    }
    SECTION("the search was kept to something") {
        own.narrowed = "family=simt_naive";
        REQUIRE(choose().source == ChoiceSource::nearest);
    }
}

TEST_CASE("what the model was wrong by on the neighbour is allowed for") {
    const GemmSpec tuned_spec = spec_of(4096, 4096, 4096);
    const GemmSpec asked = spec_of(4096, 4096, 4160);
    const CandidateList list = list_candidates(problem_of(tuned_spec), kH200);
    const double best_us = list.accepted.front().cost.total_us;
    std::size_t rank = 0;  // a kernel that the model thinks little of, and that won all the same
    while (list.accepted.at(rank).cost.total_us < 1.3 * best_us) ++rank;
    const Winner winner = winner_for(tuned_spec, rank);
    REQUIRE(choices({winner}).choose(problem_of(asked), kH200).source == ChoiceSource::nearest);
    Winner unknown = winner;
    unknown.heuristic_kernel.clear();
    REQUIRE(choices({unknown}).choose(problem_of(asked), kH200).source == ChoiceSource::heuristic);
}

TEST_CASE("nothing tuned is the heuristic's business") {
    const GemmSpec spec = spec_of(1000, 777, 555);
    const TunedChoice choice = TunedChoices().choose(problem_of(spec), kH200);
    REQUIRE(choice.source == ChoiceSource::heuristic);
    REQUIRE(choice.config == choose_config(problem_of(spec), kH200));
    REQUIRE(choices({winner_for(spec_of(4096, 4096, 4096))}).choose(problem_of(spec_of(0, 8, 8)), kH200).source ==
            ChoiceSource::heuristic);
}

TEST_CASE("a winner that no longer passes its constraints is passed over with a line in the log") {
    const GemmSpec spec = spec_of(4096, 4096, 4096);
    Winner broken = winner_for(spec, 1);
    SECTION("too much shared memory for this device") {
        const KernelId id = parse_kernel_name(broken.kernel);
        const KernelConfig deep = with_parameters(id.config, {{"stages", "12"}, {"block", "256x128x64"}});
        broken.kernel = kernel_name({id.signature, deep});
    }
    SECTION("a name that is none any more") { broken.kernel = "mma_multistage_of_old"; }
    SECTION("an option of an earlier version") {
        broken.kernel = "mma_multistage_bf16_tn_128x128x32_warp64x64_stages4_raster-hilbert_group1";
    }
    SECTION("for another problem") {
        broken.kernel = winner_for({.m = 64, .n = 64, .k = 64, .layout = GemmLayout::nn}).kernel;
    }
    const CapturedLog captured;
    const TunedChoice next = choices({broken, winner_for(spec_of(4096, 4096, 4000))}).choose(problem_of(spec), kH200);
    REQUIRE(next.source == ChoiceSource::nearest);
    REQUIRE(captured.lines_with("the tuned kernel " + broken.kernel + " is not used for 4096x4096x4096: ") >= 1);
    REQUIRE(choices({broken}).choose(problem_of(spec), kH200).source == ChoiceSource::heuristic);
}

TEST_CASE("a tuned choice is taken only where it is what the caller wishes") {
    const GemmSpec spec = spec_of(4096, 4096, 4096);
    const Winner winner = winner_for(spec, 2);
    const KernelConfig config = parse_kernel_name(winner.kernel).config;
    const ParameterMap parameters = parameters_of(config);
    const TunedChoices tuned = choices({winner});
    const auto source = [&](const Selection& selection) {
        return tuned.choose(problem_of(spec), kH200, selection).source;
    };
    REQUIRE(source({{}, std::string(family_name(config)), {}}) == ChoiceSource::exact);
    REQUIRE(source({{}, {}, {{"stages", parameters.at("stages")}}}) == ChoiceSource::exact);
    const std::string other_stages = parameters.at("stages") == "3" ? "4" : "3";
    const TunedChoice other = tuned.choose(problem_of(spec), kH200, {{}, {}, {{"stages", other_stages}}});
    REQUIRE(other.source == ChoiceSource::heuristic);
    REQUIRE(parameters_of(other.config).at("stages") == other_stages);
    REQUIRE(source({{}, "simt_naive", {}}) == ChoiceSource::heuristic);
    REQUIRE(source({winner.heuristic_kernel, {}, {}}) == ChoiceSource::forced);
    REQUIRE_THROWS_AS(source({{}, "simt_nave", {}}), ConfigError);
    REQUIRE_THROWS_AS(source({{}, {}, {{"stagez", "3"}}}), ConfigError);
}

TEST_CASE("a winner that is not of a whole, finished search of today is a hint") {
    const GemmSpec spec = spec_of(4096, 4096, 4096);
    Winner winner = winner_for(spec, 1);
    std::string why;
    SECTION("other versions") {
        winner.versions.templates = "older", why = "it ran with other versions than the current ones";
    }
    SECTION("cut short") { winner.complete = false, why = "the search was not finished"; }
    SECTION("narrowed") { winner.narrowed = "max-candidates=1", why = "the search was limited to max-candidates=1"; }
    SECTION("not known") { winner.narrowed = kNarrowedUnknown, why = "the extent of the search is not recorded"; }
    const TunedChoice choice = choices({winner}).choose(problem_of(spec), kH200);
    REQUIRE(choice.source == ChoiceSource::hint);
    REQUIRE(name_of(spec, choice) == winner.kernel);
    REQUIRE_THAT(choice.reason, ContainsSubstring("a hint, as " + why));
    REQUIRE(to_string(choice.source) == "hint");
    // One of today's takes its place, faster or not, whoever comes first.
    const Winner trusted = winner_for(spec, 2, 11);
    for (const std::vector<Winner>& all : {std::vector{winner, trusted}, std::vector{trusted, winner}}) {
        const TunedChoice best = choices(all).choose(problem_of(spec), kH200);
        REQUIRE(best.source == ChoiceSource::exact);
        REQUIRE(name_of(spec, best) == trusted.kernel);
    }
}

TEST_CASE("versions that are not known here make no winner stale") {
    const GemmSpec spec = spec_of(4096, 4096, 4096);
    Versions unknown = kToday;
    unknown.driver = unknown.nvrtc = 0;  // a machine without either
    REQUIRE(TunedChoices({winner_for(spec, 1)}, unknown).choose(problem_of(spec), kH200).source == ChoiceSource::exact);
}

TEST_CASE("a hint that was not measured faster than today's heuristic's kernel serves nobody") {
    const GemmSpec spec = spec_of(4096, 4096, 4096);
    Winner winner = winner_for(spec, 1);
    winner.complete = false;
    SECTION("its interval reaches the heuristic's time") { winner.high_us = winner.heuristic_us; }
    SECTION("the heuristic's kernel was not measured") { winner.heuristic_us = 0; }
    SECTION("the heuristic has another one today") { winner.heuristic_kernel = winner_for(spec, 3).kernel; }
    SECTION("the L2 cache was flushed") { winner.complete = true, winner.protocol = Protocol::cold; }
    SECTION("the operands lay in L2") { winner.complete = true, winner.hot = true; }
    REQUIRE(choices({winner}).choose(problem_of(spec), kH200).source == ChoiceSource::heuristic);
}

TEST_CASE("where a problem was tuned and its record serves no request, the reason says what the record is short of") {
    const GemmSpec spec = spec_of(4096, 4096, 4096);
    Winner winner = winner_for(spec, 1);
    Selection selection;
    std::string why;
    SECTION("narrowed, and nothing was faster") {
        winner.narrowed = "max-candidates=6", winner.high_us = winner.heuristic_us;
        why = "max-candidates=6";
    }
    SECTION("nothing was faster") {
        winner.complete = false, winner.candidates_timed = 1, winner.high_us = winner.heuristic_us;
        why = "no kernel was clearly faster";
    }
    SECTION("cold") { winner.protocol = Protocol::cold, why = "cold"; }
    SECTION("hot") { winner.hot = true, why = "hot"; }
    SECTION("beside another kernel") {
        winner.complete = false, winner.heuristic_kernel = winner_for(spec, 3).kernel;
        why = "another kernel than the heuristic's current choice";
    }
    SECTION("the heuristic's kernel was not timed") {
        winner.complete = false, winner.heuristic_us = 0;
        why = "not timed";
    }
    SECTION("a wish that its kernel does not fulfil") {
        selection.family = "simt_naive";
        why = "simt_naive";
    }
    SECTION("a name that is no kernel's any more") { winner.kernel = "mma_multistage_of_old", why = "does not fit"; }
    const TunedChoice choice = choices({winner}).choose(problem_of(spec), kH200, selection);
    REQUIRE(choice.source == ChoiceSource::heuristic);
    REQUIRE_THAT(choice.reason, ContainsSubstring("this problem was tuned") && ContainsSubstring(why));
    // One that could have served is the one to speak of.
    Winner cold = winner_for(spec, 2);
    cold.protocol = Protocol::cold;
    if (!winner.hot)
        REQUIRE_THAT(choices({cold, winner}).choose(problem_of(spec), kH200, selection).reason, ContainsSubstring(why));
}

TEST_CASE("where a product was tuned with other fields than asked, the reason names those fields") {
    GemmSpec asked = spec_of(4096, 4096, 4096);
    std::string field;
    SECTION("a promise of the caller's") { asked.constant_b = true, field = "constant-b"; }
    SECTION("D's type") { asked.d = DataType::f32, field = "d="; }
    SECTION("C") { asked.c = DataType::bf16, field = "c="; }
    SECTION("alignment") { asked.align_a = 8, field = "align-a"; }
    const TunedChoices tuned = choices({winner_for(spec_of(4096, 4096, 4096)), winner_for(spec_of(4096, 4096, 4000))});
    const TunedChoice choice = tuned.choose(problem_of(asked), kH200);
    REQUIRE(choice.source == ChoiceSource::heuristic);
    REQUIRE_THAT(choice.reason, ContainsSubstring("this product was tuned") && ContainsSubstring(field));
    asked.k = 20000;
    REQUIRE_THAT(tuned.choose(problem_of(asked), kH200).reason, ContainsSubstring("near enough"));
}

TEST_CASE("what one family was searched for serves those who keep to it, and nobody else when it is slower") {
    const GemmSpec spec = spec_of(4096, 4096, 4096);
    const Selection naive{{}, "simt_naive", {}};
    Winner winner = winner_for(spec, 0, 29);
    winner.kernel = kernel_name(problem_of(spec), choose_config(problem_of(spec), kH200, naive));
    winner.narrowed = narrowing(naive);
    REQUIRE(winner.narrowed == "family=simt_naive");
    const TunedChoices tuned = choices({winner});
    REQUIRE(tuned.choose(problem_of(spec), kH200).source == ChoiceSource::heuristic);
    REQUIRE(tuned.choose(problem_of(spec), kH200, naive).source == ChoiceSource::exact);
    REQUIRE(tuned.choose(problem_of(spec_of(4096, 4096, 4160)), kH200).source == ChoiceSource::heuristic);
    REQUIRE(tuned.choose(problem_of(spec_of(4096, 4096, 4160)), kH200, naive).source == ChoiceSource::nearest);
}

TEST_CASE("a near problem is served by today's winners, and by others' where nothing but their versions is amiss") {
    const GemmSpec asked = spec_of(4096, 4096, 4096);
    Winner stale = winner_for(spec_of(4096, 4096, 4000), 1);
    stale.versions.driver = 120;
    const TunedChoice hint = choices({stale}).choose(problem_of(asked), kH200);
    REQUIRE(hint.source == ChoiceSource::hint);
    REQUIRE(hint.tuned_spec->k == 4000);
    REQUIRE_THAT(hint.reason, ContainsSubstring("a hint, as it ran with other versions"));
    const TunedChoice farther =
        choices({stale, winner_for(spec_of(4096, 4096, 2048), 1)}).choose(problem_of(asked), kH200);
    REQUIRE(farther.source == ChoiceSource::nearest);
    REQUIRE(farther.tuned_spec->k == 2048);
    Winner unfinished = winner_for(spec_of(4096, 4096, 4000), 1);
    SECTION("unfinished") { unfinished.complete = false; }
    SECTION("narrowed") { unfinished.narrowed = "max-candidates=4"; }
    REQUIRE(choices({unfinished}).choose(problem_of(asked), kH200).source == ChoiceSource::heuristic);
}

TEST_CASE("a winner that lost to the heuristic's kernel in its own sweep does not serve") {
    const GemmSpec spec = spec_of(4096, 4096, 4096);
    Winner winner = winner_for(spec, 5, 30);
    winner.heuristic_us = 12;
    REQUIRE(choices({winner}).choose(problem_of(spec), kH200).source == ChoiceSource::heuristic);
}

// ---- from disk ------------------------------------------------------------------------------------------------------

TEST_CASE("a context is served from store and wisdom file, and says so") {
    const TemporaryFolder folder;
    Options options;
    options.tuning_directory = folder / "tuning";
    options.wisdom = folder / "wisdom";
    const GemmSpec stored = spec_of(4096, 4096, 4096);
    const GemmSpec shipped = spec_of(64, 4096, 1024);
    REQUIRE(TuningStore(options.tuning_directory).add_winners({on_fake_device(winner_for(stored, 3))}) == 1);
    write_wisdom(options.wisdom, {on_fake_device(winner_for(shipped, 2))});
    const auto info = [&](const GemmSpec& spec) {
        return kernel_of(options, spec, std::make_shared<FakeDevice>()).info();
    };
    REQUIRE(info(stored).name == winner_for(stored, 3).kernel);
    REQUIRE(info(stored).choice == ChoiceSource::exact);
    REQUIRE(info(shipped).name == winner_for(shipped, 2).kernel);
    REQUIRE(info(shipped).choice == ChoiceSource::exact);
    REQUIRE(info(spec_of(4096, 4096, 4032)).choice == ChoiceSource::nearest);
    REQUIRE_FALSE(info(stored).choice_reason.empty());
    options.kernel = winner_for(stored, 1).kernel;
    REQUIRE(info(stored).choice == ChoiceSource::forced);
}

TEST_CASE("a stale winner in one place hides no valid one in another") {
    const TemporaryFolder folder;
    Options options;
    options.tuning_directory = folder / "tuning";
    options.wisdom = folder / "wisdom";
    const GemmSpec spec = spec_of(4096, 4096, 4096);
    Winner stale = on_class(kFakeClass, winner_for(spec, 3, 5));
    stale.versions.templates = "of long ago";
    const Winner valid = on_fake_device(winner_for(spec, 2, 9));
    REQUIRE(TuningStore(options.tuning_directory).add_winners({stale}) == 1);
    write_wisdom(options.wisdom, {valid});
    const KernelInfo info = kernel_of(options, spec, std::make_shared<FakeDevice>()).info();
    REQUIRE(info.name == valid.kernel);
    REQUIRE(info.choice == ChoiceSource::exact);
}

TEST_CASE("a winner in one place that breaks a constraint hides no sound one in another") {
    const TemporaryFolder folder;
    Options options;
    options.tuning_directory = folder / "tuning";
    options.wisdom = folder / "wisdom";
    const GemmSpec spec = spec_of(4096, 4096, 4096);
    const Winner sound = on_fake_device(winner_for(spec, 2, 9));
    Winner broken = on_fake_device(winner_for(spec, 1, 5));
    const KernelId id = parse_kernel_name(broken.kernel);
    const KernelConfig deep = with_parameters(id.config, {{"stages", "12"}, {"block", "256x128x64"}});
    broken.kernel = kernel_name({id.signature, deep});
    REQUIRE(TuningStore(options.tuning_directory).add_winners({sound}) == 1);
    write_wisdom(options.wisdom, {broken});
    const CapturedLog captured;
    const KernelInfo info = kernel_of(options, spec, std::make_shared<FakeDevice>()).info();
    REQUIRE(info.name == sound.kernel);
    REQUIRE(info.choice == ChoiceSource::exact);
    REQUIRE(captured.lines_with("is not used for") == 1);
}

TEST_CASE("winners of another class, the emulator's among them, do not serve a device") {
    const TemporaryFolder folder;
    const GemmSpec spec = spec_of(4096, 4096, 4096);
    Options options = tuned_on_two_classes(folder, spec);  // neither is the fake device: the H200 has more memory
    options.installed_wisdom = false;
    REQUIRE(kernel_of(options, spec, std::make_shared<FakeDevice>()).info().choice == ChoiceSource::heuristic);
    REQUIRE(tuned_choices(options, find_gpu("h100"), TemplateSet::embedded()).empty());
    const GemmSpec small = spec_of(64, 64, 64);
    REQUIRE(TuningStore(folder.path()).add_winners({on_class(kEmulatorClass, winner_for(small, 3))}) == 1);
    FakeCompiler compiler;
    const EmulatorDevice emulator(find_arch("sm_90a"), 0);
    const TunedChoices own = tuned_choices(options, emulator, TemplateSet::embedded(), compiler);
    REQUIRE(own.choose(problem_of(small), emulator.model()).source == ChoiceSource::exact);
    const EmulatorDevice other(find_arch("sm_80"), 0);
    REQUIRE(tuned_choices(options, other, TemplateSet::embedded(), compiler).empty());
}

TEST_CASE("a GPU that is only named is served by any class that it may be") {
    const TemporaryFolder folder;
    const GemmSpec spec = spec_of(4096, 4096, 4096);
    const Options options = tuned_on_two_classes(folder, spec);
    const TunedChoice choice = tuned_choices(options, kH200, TemplateSet::embedded()).choose(problem_of(spec), kH200);
    REQUIRE(choice.source == ChoiceSource::exact);
    REQUIRE(name_of(spec, choice) == winner_for(spec, 2).kernel);
    REQUIRE(may_be_of_class(kH200, kH200Class));
    REQUIRE_FALSE(may_be_of_class(kH200, "sm_90a-132sm-60MB-GB-4800GBs-1750MHz"));
    REQUIRE_FALSE(may_be_of_class(kH200, "sm_90a-132sm-60MB-140GB-4800GBs-1700MHz"));
    REQUIRE_FALSE(may_be_of_class(kH200, kEmulatorClass));
}

TEST_CASE("installed winners serve what nothing else measured does, in place of the kernel that they beat") {
    Options off;
    off.installed_wisdom = false;
    const Options on;
    const TemplateSet& templates = TemplateSet::embedded();
    const GemmSpec spec{.m = 8192,
                        .n = 8192,
                        .k = 8192,
                        .a = DataType::f32,
                        .b = DataType::f32,
                        .d = DataType::f32,
                        .layout = GemmLayout::tt};
    const TunedChoice heuristic = tuned_choices(off, kH200, templates).choose(problem_of(spec), kH200);
    REQUIRE(heuristic.source == ChoiceSource::heuristic);
    const TunedChoice choice = tuned_choices(on, kH200, templates).choose(problem_of(spec), kH200);
    REQUIRE(choice.source == ChoiceSource::installed);
    REQUIRE(name_of(spec, choice) ==
            "simt_hierarchical_f32_tt_128x256x16_64x64_16x8_stages3_right_kl4_sl14_pred0_wave132");
    REQUIRE(choice.distance == 0);
    REQUIRE(tuned_choices(on, find_gpu("h100"), templates).choose(problem_of(spec), find_gpu("h100")).source ==
            ChoiceSource::heuristic);
    GemmSpec far = spec;  // C is read, and K is longer
    far.c = DataType::f32;
    far.k = 16384;
    REQUIRE(tuned_choices(on, kH200, templates).choose(problem_of(far), kH200).source == ChoiceSource::installed);
    far.b = far.a = DataType::bf16;
    REQUIRE(tuned_choices(on, kH200, templates).choose(problem_of(far), kH200).source == ChoiceSource::heuristic);
}

TEST_CASE("an installed winner of a larger or smaller block tile serves near problems alone") {
    // A problem with the same choice for a K of 1.5 and of four times as much: which one has it, the next fit of the
    // cost model may change.
    GemmSpec spec, near, far;
    const std::array<std::array<std::int64_t, 3>, 6> sizes{{{2048, 8192, 6144},
                                                            {4096, 8192, 4096},
                                                            {4096, 4096, 4096},
                                                            {2048, 4096, 8192},
                                                            {8192, 8192, 2048},
                                                            {3072, 6144, 4096}}};
    const bool found = std::ranges::any_of(sizes, [&](const std::array<std::int64_t, 3>& size) {
        const auto [m, n, k] = size;
        spec = spec_of(m, n, k), near = spec_of(m, n, k * 3 / 2), far = spec_of(m, n, k * 4);
        return choose_config(problem_of(near), kH200) == choose_config(problem_of(spec), kH200) &&
               choose_config(problem_of(far), kH200) == choose_config(problem_of(spec), kH200);
    });
    REQUIRE(found);
    const CandidateList list = list_candidates(problem_of(spec), kH200);
    const KernelConfig heuristic = list.accepted.front().config;
    REQUIRE(choose_config(problem_of(spec), kH200) == heuristic);
    const auto source_of = [&](const GemmSpec& asked, const KernelConfig& config) {
        Winner winner = winner_for(spec);
        winner.kernel = kernel_name(problem_of(spec), config);
        winner.heuristic_kernel = kernel_name(problem_of(spec), heuristic);
        const auto installed = [&](const KernelConfig&) { return std::vector{winner}; };
        return TunedChoices({}, {}, installed).choose(problem_of(asked), kH200).source;
    };
    const auto tile_of = [&](const KernelConfig& config) {
        const TileShape block = family_of(config).anatomy(problem_of(spec), config).block;
        return block.m * block.n;
    };
    const auto ratio = [&](const GemmSpec& asked, const KernelConfig& config) {
        const auto us = [&](const KernelConfig& one) {
            return family_of(one).cost(problem_of(asked), one, kH200).total_us;
        };
        return us(config) / us(heuristic);
    };
    constexpr std::size_t kEnough = 8;  // a choice each, three times over
    std::size_t alike = 0, others = 0;
    for (const Candidate& candidate : list.accepted) {
        const KernelConfig& config = candidate.config;
        if (family_name(config) != family_name(heuristic) || config == heuristic) continue;
        const bool is_alike = tile_of(config) == tile_of(heuristic);
        if ((is_alike ? alike : others) == kEnough) continue;
        if (ratio(near, config) > ratio(spec, config) || ratio(far, config) > ratio(spec, config)) continue;
        INFO(kernel_name(problem_of(spec), config));
        CHECK(source_of(spec, config) == ChoiceSource::installed);
        CHECK(source_of(near, config) == ChoiceSource::installed);
        CHECK(source_of(far, config) == (is_alike ? ChoiceSource::installed : ChoiceSource::heuristic));
        ++(is_alike ? alike : others);
    }
    CHECK(alike > 0);
    CHECK(others > 0);
}

TEST_CASE("of what is installed, a choice reads the lines that name the kernel it might replace, and no others") {
    std::size_t read = 0;
    const Wisdom all = installed_wisdom();
    for (const Winner& winner : all.winners) {
        const KernelConfig beaten = parse_kernel_name(winner.heuristic_kernel).config;
        const Wisdom few = installed_wisdom(family_of(beaten).config_name(beaten));
        INFO(winner.heuristic_kernel);
        REQUIRE(few.problems.empty());
        REQUIRE_THAT(lines(few.winners), ContainsSubstring(lines({winner})));
        read += few.winners.size();
    }
    REQUIRE(read < all.winners.size() * all.winners.size() / 2);
    REQUIRE(installed_wisdom("no kernel's name").winners.empty());
}

TEST_CASE("every installed winner is a sound kernel of its problem, and is chosen for it") {
    const Wisdom wisdom = installed_wisdom();
    REQUIRE(wisdom.problems.empty());
    REQUIRE(wisdom.winners.size() > 10);
    std::size_t of_known_gpus = 0;
    for (const char* name : {"h200", "h100"}) {
        const GpuModel& gpu = find_gpu(name);
        const TunedChoices choices = tuned_choices(Options(), gpu, TemplateSet::embedded());
        for (const Winner& winner : wisdom.winners) {
            if (!may_be_of_class(gpu, winner.device_class)) continue;
            INFO(name << ' ' << winner.kernel);
            REQUIRE(kernel_name(problem_of(winner.spec), choose_config(problem_of(winner.spec), gpu)) ==
                    winner.heuristic_kernel);
            REQUIRE(name_of(winner.spec, choices.choose(problem_of(winner.spec), gpu)) == winner.kernel);
            ++of_known_gpus;
        }
    }
    REQUIRE(of_known_gpus == wisdom.winners.size());
}

TEST_CASE("what cannot be read is a warning and nothing else") {
    const TemporaryFolder folder;
    Options options;
    options.tuning_directory = folder / "tuning";
    options.wisdom = folder / "missing";
    const GemmSpec spec = spec_of(512, 512, 512);
    {
        const CapturedLog captured;
        REQUIRE(kernel_of(options, spec, std::make_shared<FakeDevice>()).info().choice == ChoiceSource::heuristic);
        REQUIRE(captured.lines_with("no such file: " + options.wisdom) == 1);
        REQUIRE_FALSE(std::filesystem::exists(options.tuning_directory));  // reading makes no store
    }
    std::filesystem::create_directory(options.tuning_directory);
    put_text(options.tuning_directory + "/tuning.sqlite", std::string(9000, 'x'));
    options.wisdom.clear();
    const CapturedLog captured;
    REQUIRE(kernel_of(options, spec, std::make_shared<FakeDevice>()).info().choice == ChoiceSource::heuristic);
    REQUIRE(captured.lines_with(options.tuning_directory + "/tuning.sqlite") == 1);
    REQUIRE(text_in(options.tuning_directory + "/tuning.sqlite") == std::string(9000, 'x'));
}
