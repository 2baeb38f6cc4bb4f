#include "generator/families/kernel_name.hpp"
#include "jitgemm/error.hpp"
#include "runtime/tuning/search/search.hpp"
#include "runtime/tuning/search/services.hpp"
#include "tests/catch.hpp"
#include "tests/support/noisy_kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

using namespace jitgemm;
using namespace jitgemm::tuning;
using namespace jitgemm::testing;

namespace {

Trial trial_of(const std::string& kernel, const std::vector<double>& times) {
    Trial trial;
    trial.kernel = kernel;
    trial.verified.emplace();
    for (const double us : times) {
        Sample sample;
        sample.round = static_cast<int>(trial.samples.size());
        sample.us = us;
        trial.samples.push_back(sample);
    }
    return trial;
}

/// No heuristic's kernel among the trials.
const Reference kNone{"none"};

std::vector<double> one_to(int n) {
    std::vector<double> values(static_cast<std::size_t>(n));
    std::iota(values.begin(), values.end(), 1.0);
    return values;
}

/// 64 kernels, most of them well behind the best.
std::vector<double> wide_landscape(std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    std::lognormal_distribution<> factor(0, 0.25);
    std::vector<double> truth;
    for (int i = 0; i < 64; ++i) truth.push_back(100 * factor(engine));
    return truth;
}

/// 40 kernels within 10 % of the best: one in ten is as good as it.
std::vector<double> flat_landscape(std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<> factor(1.0, 1.1);
    std::vector<double> truth;
    for (int i = 0; i < 40; ++i) truth.push_back(100 * factor(engine));
    return truth;
}

struct Outcome {
    int right = 0;  ///< winners within 1 % of the true best, of 1,000
    int agree = 0;  ///< second sweeps whose winner is within 1 % of the first's
    int same = 0;
    double timings = 0;  ///< of a sweep
};

template <typename Landscape>
Outcome thousand_sweeps(const Landscape& landscape, const Noise& noise) {
    Outcome outcome;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        const std::vector<double> truth = landscape(seed);
        NoisyKernels first(truth, noise, 2 * seed + 1);
        NoisyKernels second(truth, noise, 2 * seed + 2);
        const std::size_t one = first.sweep();
        const std::size_t other = second.sweep();
        outcome.right += truth[one] <= 1.01 * std::ranges::min(truth) ? 1 : 0;
        outcome.agree += std::abs(std::log(truth[one] / truth[other])) <= std::log(1.01) ? 1 : 0;
        outcome.same += one == other ? 1 : 0;
        outcome.timings += first.timings / 1000.0;
    }
    return outcome;
}

}  // namespace

TEST_CASE("median interval: the ranks that statistics books print for 95 %") {
    // Sign-test intervals of the median: Conover, Practical Nonparametric Statistics, table A3, p = 0.5; Campbell and
    // Gardner, BMJ 296 (1988), table of ranks.
    constexpr std::array<std::array<int, 2>, 17> kTable{{{6, 1},
                                                         {7, 1},
                                                         {8, 1},
                                                         {9, 2},
                                                         {10, 2},
                                                         {11, 2},
                                                         {12, 3},
                                                         {13, 3},
                                                         {14, 3},
                                                         {15, 4},
                                                         {16, 4},
                                                         {17, 5},
                                                         {20, 6},
                                                         {25, 8},
                                                         {30, 10},
                                                         {50, 18},
                                                         {100, 40}}};
    for (const auto& [n, rank] : kTable) {
        const Interval interval = median_interval(one_to(n));
        INFO("n = " << n);
        CHECK(interval.low == rank);
        CHECK(interval.high == n + 1 - rank);
        CHECK(interval.median == (n + 1) / 2.0);
    }
}

TEST_CASE("median interval: few values give their extremes, in any order. None is an error") {
    const Interval three = median_interval({3, 1, 2});
    CHECK((three.low == 1 && three.median == 2 && three.high == 3));
    const Interval one = median_interval({7});
    CHECK((one.low == 7 && one.median == 7 && one.high == 7));
    CHECK(median_interval({4, 1}).median == 2.5);
    CHECK_THROWS_AS(median_interval({}), Error);
    CHECK(median_interval(one_to(5000)).low > 2400);  // no underflow
}

TEST_CASE("median interval: covers the true median 95 times in 100, whatever the distribution") {
    std::mt19937_64 engine(5);
    std::lognormal_distribution<> skewed(0, 1);  // median 1
    int covered = 0;
    for (int run = 0; run < 4000; ++run) {
        std::vector<double> values(15);
        std::ranges::generate(values, [&] { return skewed(engine); });
        const Interval interval = median_interval(values);
        covered += interval.low <= 1 && 1 <= interval.high ? 1 : 0;
    }
    CHECK(covered >= 3800);
    CHECK(covered <= 3920);  // exactly 96.5 %
}

TEST_CASE("rounds: three for all, seven for the better half, fifteen for four and the heuristic's") {
    std::vector<double> truth;
    for (int i = 0; i < 20; ++i) truth.push_back(120 - i);
    NoisyKernels kernels(truth, {.sigma = 0}, 1);
    const auto plan = [&](bool screening_only) {
        return next_rounds(kernels.trials, kernels.reference(), screening_only);
    };
    auto next = plan(true);
    REQUIRE((next && next->rounds == 3 && next->kernels.size() == 20));
    kernels.time(*next);
    REQUIRE_FALSE(plan(true));
    for (Trial& trial : kernels.trials) trial.samples.back().us = 121;  // so disturbed that nobody is a clear loser
    next = plan(false);
    REQUIRE((next && next->rounds == 7));
    REQUIRE(next->kernels.size() == 11);  // half of 20, and the first, which is last
    kernels.time(*next);
    next = plan(false);
    REQUIRE((next && next->rounds == 15));
    REQUIRE(next->kernels == std::vector<std::string>{"kernel019", "kernel018", "kernel017", "kernel016", "kernel000"});
    kernels.time(*next);
    REQUIRE_FALSE(plan(false));
    REQUIRE(pick_winner(kernels.trials, kernels.reference()) == "kernel019");
}

TEST_CASE("rounds: overtime while it is open whether finalists are equals, and no longer than up to 31") {
    std::map<std::size_t, int> sweeps_of;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        NoisyKernels close({100, 100.1, 130, 130}, {.sigma = 0.03}, seed);
        close.sweep();
        ++sweeps_of[close.trials[0].samples.size()];
    }
    REQUIRE((sweeps_of[15] > 0 && sweeps_of[31] > 0));
    REQUIRE(sweeps_of[15] + sweeps_of[23] + sweeps_of[31] == 50);
    NoisyKernels clear({100, 110, 130}, {.sigma = 0.003}, 3);
    clear.sweep();
    REQUIRE(clear.trials[0].samples.size() == 15);
    REQUIRE(clear.trials[2].samples.size() == 3);
}

TEST_CASE("rounds: failed kernels, twins and the peer take no part. The heuristic's twin stands for it") {
    std::vector<Trial> trials{trial_of("slow", {9, 9, 9}), trial_of("fast", {1, 1, 1}), trial_of("cublaslt", {0.1})};
    trials.push_back(trial_of("wrong", {}));
    trials.back().verified->verdict = Verdict::wrong;
    trials.push_back(trial_of("broken", {}));
    trials.back().compile.emplace().verdict = Verdict::compile_failed;
    trials.push_back(trial_of("twin", {}));
    trials.back().same_as = "slow";
    trials.push_back(trial_of("unverified", {}));
    trials.back().verified.reset();
    const auto next = next_rounds(trials, {"twin"}, false);
    REQUIRE(next);
    REQUIRE(next->kernels == std::vector<std::string>{"fast", "slow"});
    REQUIRE(next->rounds == 7);
    REQUIRE(pick_winner(trials, {"twin"}) == "fast");
}

TEST_CASE("rounds: nothing to time and nobody to crown without a kernel that runs") {
    REQUIRE_FALSE(next_rounds({}, kNone, false));
    REQUIRE_FALSE(pick_winner({}, kNone));
    Trial hung = trial_of("hung", {1, 2, 3});
    hung.verified->verdict = Verdict::hung;
    REQUIRE_FALSE(next_rounds({hung}, {"hung"}, false));
    REQUIRE_FALSE(pick_winner({hung}, kNone));
    NoisyKernels lonely({5}, {.sigma = 0.01}, 1);
    REQUIRE(lonely.sweep() == 0);
    REQUIRE(lonely.trials[0].samples.size() == 15);
}

TEST_CASE("winner: a lucky screening does not beat those timed in earnest") {
    const std::vector<double> steady(15, 100.0);
    REQUIRE(pick_winner({trial_of("lucky", {90, 91, 92}), trial_of("steady", steady)}, kNone) == "steady");
    REQUIRE(pick_winner({trial_of("first", {90, 91, 92}), trial_of("second", {100, 100})}, kNone) == "first");
}

TEST_CASE("winner: among equals the one of fewer entries, then the first by name") {
    GemmSpec spec = parse_shape_line("bf16 tn 128 4096 4096");
    const GemmSignature problem = problem_of(spec).signature;
    MmaMultistageConfig config;
    const std::string plain = kernel_name({problem, {config}});
    config.split_k = 2;
    config.block = {128, 64, 32};
    config.warp = {64, 32, 32};
    const std::string split = kernel_name({problem, {config}});
    REQUIRE(split < "mma_multistage_bf16_tn_128x64x33");
    const auto pick = [&](double plain_us, double split_us) {
        return pick_winner({trial_of(plain, std::vector(15, plain_us)), trial_of(split, std::vector(15, split_us))},
                           kNone);
    };
    REQUIRE(pick(100, 100) == plain);
    REQUIRE(pick(102, 100) == split);  // no tie
    std::vector<double> wide(15, 100.4);
    for (std::size_t i = 0; i < 5; ++i) wide[i] = 99;
    REQUIRE(pick_winner({trial_of(plain, wide), trial_of(split, std::vector(15, 100.0))}, kNone) == plain);
    REQUIRE(pick(100.4, 100) == split);  // close, but the rounds tell them apart
    REQUIRE(pick_winner({trial_of("of_another_version", wide), trial_of(split, wide)}, kNone) == split);
}

TEST_CASE("rounds: times are compared by what the heuristic's kernel took in the same round") {
    Trial slow_clock = trial_of("slow clock", {120, 121, 119});
    for (Sample& sample : slow_clock.samples) sample.reference_us = 150;
    REQUIRE(comparable_times(slow_clock, 100) ==
            std::vector<double>{120 / 150.0 * 100, 121 / 150.0 * 100, 119 / 150.0 * 100});
    REQUIRE(comparable_times(slow_clock, 0) == slow_clock.times_us());
    const Trial unpaired = trial_of("unpaired", {90, 91, 92});
    REQUIRE(comparable_times(unpaired, 100) == unpaired.times_us());

    Trial heuristic = trial_of("heuristic", {100, 100, 100, 150, 150, 150});
    for (Sample& sample : heuristic.samples) sample.reference_us = sample.us;
    Trial fast_clock = trial_of("fast clock", {95, 95, 95});
    for (Sample& sample : fast_clock.samples) sample.reference_us = 100;
    REQUIRE(reference_us({heuristic}, "heuristic") == 100);  // of the first screening
    REQUIRE(pick_winner({heuristic, fast_clock, slow_clock}, {"heuristic"}) == "slow clock");
    Trial twin = trial_of("twin", {});
    twin.same_as = "heuristic";
    REQUIRE(reference_us({twin, heuristic}, "twin") == 100);
    REQUIRE(reference_us({heuristic}, "none") == 0);
}

TEST_CASE(
    "winner: one that a selection leaves out is timed for the comparison, and neither wins nor drives others out") {
    std::vector<Trial> trials{trial_of("outside", std::vector(3, 1.0))};
    for (int i = 0; i < 6; ++i) trials.push_back(trial_of("inside" + std::to_string(i), std::vector(3, 10.0 + i)));
    for (Trial& trial : trials)
        for (Sample& sample : trial.samples) sample.reference_us = 1;
    const Reference outside{.kernel = "outside", .competes = false};
    const auto next = next_rounds(trials, outside, false);
    REQUIRE(next);
    REQUIRE(next->kernels == std::vector<std::string>{"inside0"});  // the others are clear losers to this one
    REQUIRE(pick_winner(trials, outside) == "inside0");
    REQUIRE(pick_winner(trials, {"outside"}) == "outside");
}

TEST_CASE("winner: batches that share no round are compared through the heuristic's kernel", "[heavy]") {
    const Noise noise{.sigma = 0.005, .common_sigma = 0.03, .outlier_chance = 0.05};
    const auto right_of = [&](bool paired) {
        int right = 0;
        for (std::uint64_t seed = 0; seed < 1000; ++seed) {
            const std::vector<double> truth = wide_landscape(seed);
            NoisyKernels kernels(truth, noise, seed + 1);
            kernels.paired = paired;
            kernels.screen_in_batches(32, 8);
            right += truth[kernels.sweep()] <= 1.01 * std::ranges::min(truth) ? 1 : 0;
        }
        return right;
    };
    const int apart = right_of(false);
    const int together = right_of(true);
    INFO(apart << " right apart, " << together << " through the heuristic's kernel, of 1000");
    CHECK(together >= 993);
    CHECK(together > apart);
}

TEST_CASE("winner: noise is not crowned, and two sweeps agree", "[heavy]") {
    const Noise quiet{.sigma = 0.005, .common_sigma = 0.03, .outlier_chance = 0.05};
    const Noise loud{.sigma = 0.01, .common_sigma = 0.03, .outlier_chance = 0.05};
    const Noise both_ways{.sigma = 0.005, .common_sigma = 0.03, .outlier_chance = 0.05, .outlier = 0.85};
    for (const Noise& noise : {quiet, loud, both_ways}) {
        for (const auto landscape : {wide_landscape, flat_landscape}) {
            const Outcome outcome = thousand_sweeps(landscape, noise);
            INFO("sigma " << noise.sigma << ", outliers " << noise.outlier << ": " << outcome.right << " right, "
                          << outcome.agree << " agree, " << outcome.same << " the same, " << outcome.timings
                          << " timings");
            CHECK(outcome.right >= 950);
            CHECK(outcome.agree >= 900);
            CHECK(outcome.timings < 6 * 64);
        }
    }
}

namespace {

/// So many rounds of this time, beside the heuristic's kernel, the last `sustained` of them by both protocols.
Trial both_ways(const std::string& kernel, double us, double reference_us, double sustained_us,
                double reference_sustained_us, std::size_t sustained = 3) {
    Trial trial = trial_of(kernel, std::vector(15 + sustained, us));
    for (Sample& sample : trial.samples) {
        sample.reference_us = reference_us;
        if (sample.round < 15) continue;
        sample.sustained_us = sustained_us;
        sample.reference_sustained_us = reference_sustained_us;
    }
    return trial;
}

}  // namespace

TEST_CASE("rounds: finalists of what takes 200 us and more have three by both protocols, after all others") {
    const auto sustained_of = [](double us) {
        NoisyKernels kernels({us, us * 0.9, us * 0.93, us * 0.96, us * 2}, {.sigma = 0}, 1);
        kernels.sweep();
        return sustained_rounds(kernels.trials, kernels.reference());
    };
    REQUIRE_FALSE(sustained_of(220));  // the best takes 198
    const auto plan = sustained_of(230);
    REQUIRE(plan);
    CHECK(plan->sustained);
    CHECK(plan->rounds == 3);
    CHECK(plan->kernels == std::vector<std::string>{"kernel001", "kernel002", "kernel000"});

    // Behind in cycles beyond doubt, and yet they may take less energy; not those 5 % behind.
    const std::vector<Trial> done{both_ways("heuristic", 300, 300, 310, 310), both_ways("fast", 290, 300, 320, 310)};
    CHECK_FALSE(sustained_rounds(done, {"heuristic"}));
    const std::vector<Trial> begun{both_ways("heuristic", 300, 300, 310, 310),
                                   both_ways("fast", 290, 300, 320, 310, 2)};
    const auto rest = sustained_rounds(begun, {"heuristic"});
    REQUIRE(rest);
    CHECK(rest->kernels == std::vector<std::string>{"fast"});
    CHECK_FALSE(sustained_rounds({}, kNone));
}

TEST_CASE("winner: of what was timed by both protocols the geometric mean decides, once all have their rounds") {
    const Trial heuristic = both_ways("heuristic", 300, 300, 330, 330);
    const Trial few_cycles = both_ways("few cycles", 294, 300, 340, 330);
    const Trial little_energy = both_ways("little energy", 297, 300, 320, 330);
    const Trial also_ran = trial_of("also ran", std::vector(9, 296.0));
    CHECK(pick_winner({heuristic, few_cycles, little_energy, also_ran}, {"heuristic"}) == "little energy");
    CHECK(count_sustained(few_cycles) == 3);
    CHECK(reference_sustained_us({heuristic}, "heuristic") == 330);
    CHECK(sustained_factor(little_energy, 297, 330).value() == Approx(std::sqrt(320.0 / 297)));
    CHECK(sustained_factor(little_energy, 297, 660).value() == Approx(std::sqrt(640.0 / 297)));  // a hotter hour

    const Trial cut = both_ways("little energy", 297, 300, 320, 330, 2);
    CHECK_FALSE(sustained_factor(cut, 297, 330));
    CHECK(pick_winner({heuristic, few_cycles, cut}, {"heuristic"}) == "few cycles");
    CHECK(reference_sustained_us({cut}, "little energy") == 0);
    CHECK_FALSE(sustained_factor(also_ran, 296, 330));
}
