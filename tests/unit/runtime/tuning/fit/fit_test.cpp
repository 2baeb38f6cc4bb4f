#include "runtime/tuning/fit/fit.hpp"
#include "generator/families/kernel_name.hpp"

#include "generator/families/mma_multistage/cost_constants.hpp"
#include "generator/families/shared/cost_table.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "runtime/tuning/fit/least_squares.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string_view>

using namespace jitgemm;
using namespace jitgemm::tuning;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr const char* kShapes[] = {"bf16 tn 4096 4096 4096", "bf16 tn 512 512 512",   "bf16 tn 16 6144 4096",
                                   "bf16 tn 4095 4097 4099", "f16 tn 2048 2048 2048", "bf16 tn 128 128 65536",
                                   "bf16 tn 1000 1000 1000", "bf16 nt 64 7168 2048",  "bf16 tn 16384 16384 64",
                                   "bf16 tn 128 4096 14336", "bf16 nn 8192 64 8192",  "f16 tt 3000 5000 777"};

const Family& family() { return find_family("mma_multistage"); }

/// For points that the model itself made up.
const FitOptions kLittleDoubt{.doubt = 0.1};

FitResult fit_of(const std::vector<FitPoint>& points, const GpuModel& gpu) {
    return fit_cost_constants(family(), points, gpu, kLittleDoubt);
}

/// Constants that are not the table's: each off by some 25 %.
CostConstants other_constants(const GpuModel& gpu, std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    std::lognormal_distribution<> factor(0, 0.25);
    CostConstants constants = family().cost_constants(gpu);
    for (CostConstant& one : constants) one.value *= factor(engine);
    return constants;
}

/// Times of the first candidates of each problem and of some of the rest, as if the constants were these.
std::vector<FitPoint> made_up_points(const GpuModel& gpu, const CostConstants& constants, double noise) {
    std::mt19937_64 engine(11);
    std::normal_distribution<> error(0, 1);
    std::vector<FitPoint> points;
    for (const char* shape : kShapes) {
        const GemmSpec spec = resolved(parse_shape_line(shape));
        const GemmSignature problem = problem_of(spec).signature;
        std::size_t rank = 0;
        for (const Candidate& candidate :
             list_candidates(problem_of(spec), gpu, {{}, std::string(family().name), {}}).accepted) {
            ++rank;
            if ((rank > 40 && rank % 12 != 0) || family().is_untimed(candidate.config)) continue;
            const CostByConstants cost = family().cost_by_constants(problem_of(spec), candidate.config, gpu);
            const double us = cost(constants).total_us * std::exp(noise * error(engine));
            points.push_back({spec, kernel_name({problem, candidate.config}), us});
        }
    }
    return points;
}

}  // namespace

TEST_CASE("cost constants: a family that has some predicts by the table's what its cost() does") {
    const GemmSpec spec = resolved(parse_shape_line("bf16 tn 1000 1000 1000"));
    const GpuModel& gpu = find_gpu("h200");
    int fitted = 0;
    for (const Family& one : family_table()) {
        INFO(one.name);
        REQUIRE((one.cost_constants == nullptr) == (one.cost_by_constants == nullptr));
        if (one.cost_constants == nullptr) continue;
        ++fitted;
        for (const Candidate& candidate :
             list_candidates(problem_of(spec), gpu, {{}, std::string(one.name), {}}).accepted)
            CHECK(one.cost_by_constants(problem_of(spec), candidate.config, gpu)(one.cost_constants(gpu)).total_us ==
                  candidate.cost.total_us);
    }
    REQUIRE(fitted > 0);
}

// Medians of the sweep that the H200's row was fitted to, each of the fastest kernel found.
TEST_CASE("cost constants: the H200's predict what an H200 measured, from 12 to 360 us") {
    struct Measured {
        const char* shape;
        const char* parameters;  ///< block, warp, stages, split_k, reduction, pack
        double us;
    };
    constexpr Measured kMeasured[] = {
        {"bf16 tn 4096 4096 4096", "block=128x256x32,warp=64x64,stages=4", 289.73},
        {"bf16 nn 4096 4096 4096", "block=256x128x64,warp=64x64,stages=3", 297.91},
        {"bf16 tn 16 28672 4096", "block=16x128x128,warp=16x32,stages=3", 58.41},
        {"bf16 tn 64 4096 14336", "block=64x64x128,warp=32x32,stages=5,split_k=2,reduction=cluster", 34.33},
        {"bf16 tn 512 28672 4096", "block=128x128x64,warp=64x64,stages=3", 271.74},
        {"bf16 tn 64 24576 1536", "block=64x64x64,warp=32x32,stages=4", 23.72},
        {"bf16 tn 128 128 65536", "block=64x64x128,warp=32x32,stages=5,split_k=32", 14.97},
        {"bf16 tn 1000 1000 1000", "block=64x128x64,warp=32x64,stages=4", 11.59},
        {"bf16 tn 4095 4097 4099", "block=256x128x64,warp=64x64,stages=3,pack=ab", 361.64},
    };
    for (const Measured& measured : kMeasured) {
        const CandidateList list = list_candidates(problem_of(parse_shape_line(measured.shape)), find_gpu("h200"),
                                                   {{}, {}, parse_parameters(measured.parameters)});
        INFO(measured.shape << " " << measured.parameters);
        REQUIRE_FALSE(list.accepted.empty());
        CHECK(list.accepted.front().cost.total_us == Approx(measured.us).epsilon(0.25));
    }
}

TEST_CASE("least squares: a line, Rosenbrock's valley, and a bound") {
    const auto line = [](const std::vector<double>& p) {
        std::vector<double> values;
        for (int x = 0; x < 5; ++x) values.push_back(p[0] + p[1] * x - (0.5 + 0.25 * x));
        return values;
    };
    const std::vector<double> fitted = least_squares(line, {0, 0}, {});
    REQUIRE(fitted[0] == Approx(0.5).epsilon(1e-6));
    REQUIRE(fitted[1] == Approx(0.25).epsilon(1e-6));
    const auto valley = [](const std::vector<double>& p) {
        return std::vector<double>{10 * (p[1] - p[0] * p[0]), 1 - p[0]};
    };
    LeastSquaresOptions patient;
    patient.iterations = 200;
    patient.gain = 0;
    patient.step = 1e-7;
    const std::vector<double> bottom = least_squares(valley, {-1.2, 1}, patient);
    REQUIRE(bottom[0] == Approx(1).epsilon(1e-3));
    REQUIRE(bottom[1] == Approx(1).epsilon(1e-3));
    LeastSquaresOptions narrow;
    narrow.bound = 0.2;
    REQUIRE(least_squares(line, {0, 0}, narrow)[1] <= 0.2);
}

TEST_CASE("fit: other constants are found again by what they predict") {
    const GpuModel& gpu = find_gpu("h200");
    const FitResult fit = fit_of(made_up_points(gpu, other_constants(gpu, 6), 0), gpu);
    INFO(fit_text(fit, gpu));
    REQUIRE(fit.points > 800);
    REQUIRE(fit.left_out == 0);
    CHECK(fit.before.rms_log > 0.05);
    CHECK(fit.after.rms_log < 0.01);
    CHECK(std::abs(fit.after.ratio - 1) < 0.01);
    CHECK(fit.after.regret < 1.005);
    REQUIRE(fit.held_out);
    CHECK(fit.held_out->rms_log < 0.05);
    CHECK(fit.held_out->rms_log >= fit.after.rms_log);
}

TEST_CASE("fit: with noise of 3 % an error of 3 % is left, and the noise is not learnt by heart") {
    const GpuModel& gpu = find_gpu("h200");
    const CostConstants truth = other_constants(gpu, 2);
    const FitResult fit = fit_of(made_up_points(gpu, truth, 0.03), gpu);
    INFO(fit_text(fit, gpu));
    CHECK(fit.after.rms_log > 0.025);
    CHECK(fit.after.rms_log < 0.035);
    CHECK(fit.held_out->rms_log < 0.06);
    CHECK(fit.after.regret < fit.before.regret);
    const std::vector<FitPoint> without = made_up_points(gpu, truth, 0);
    double worst = 0;
    for (const FitPoint& point : without) {
        const CostByConstants cost =
            family().cost_by_constants(problem_of(point.spec), parse_kernel_name(point.kernel).config, gpu);
        worst = std::max(worst, std::abs(std::log(cost(fit.constants).total_us / point.us)));
    }
    CHECK(worst < 0.06);
}

TEST_CASE("fit: measurements that agree with the table leave it as it is") {
    const GpuModel& gpu = find_gpu("a100");
    const FitResult fit = fit_of(made_up_points(gpu, family().cost_constants(gpu), 0), gpu);
    REQUIRE(fit.before.rms_log < 1e-12);
    REQUIRE(fit.before.hits == fit.before.problems);
    for (std::size_t i = 0; i < fit.start.size(); ++i)
        REQUIRE(fit.constants[i].value == Approx(fit.start[i].value).epsilon(1e-6));
}

TEST_CASE(
    "fit: what is no mma_multistage time is left out. Nothing left is an error. One problem has no held-out check") {
    const GpuModel& gpu = find_gpu("h200");
    std::vector<FitPoint> points{{parse_shape_line("bf16 tn 64 64 64"), "another_versions_kernel", 5},
                                 {parse_shape_line("bf16 tn 64 64 64"), "cublaslt", 5}};
    REQUIRE_THROWS_WITH(fit_of(points, gpu), ContainsSubstring("none of 2 measurements"));
    REQUIRE_THROWS_AS(fit_of({}, gpu), Error);
    const std::vector<FitPoint> all = made_up_points(gpu, other_constants(gpu, 3), 0);
    points.insert(points.end(), all.begin(), all.begin() + 30);
    points.push_back({parse_shape_line("f32 tn 64 64 64"), all.front().kernel, 5});  // of another problem
    points.push_back({all.front().spec, all.front().kernel, 0});                     // no time
    const FitResult fit = fit_of(points, gpu);
    REQUIRE(fit.points == 30);
    REQUIRE(fit.left_out == 4);
    REQUIRE_FALSE(fit.held_out);
    REQUIRE(fit.after.rms_log < fit.before.rms_log);
}

TEST_CASE("fit of a table: a family is named or all are fitted, and one that has no constants is refused") {
    const GpuModel& gpu = find_gpu("h200");
    const std::vector<FitPoint> points = made_up_points(gpu, other_constants(gpu, 6), 0);
    CHECK_THROWS_WITH(fit_cost_table(points, gpu, "simt_naive"), ContainsSubstring("simt_naive"));
    CHECK_THROWS_AS(fit_cost_table(points, gpu, "mma_multistag"), ConfigError);
    CHECK_THROWS_WITH(fit_cost_table(points, gpu, "simt_long_k"), ContainsSubstring("simt_long_k"));
    CHECK_THROWS_AS(fit_cost_table({}, gpu), Error);
}

TEST_CASE("fit of a table: constants that choose better are taken, and the table can be read again", "[heavy]") {
    const GpuModel& gpu = find_gpu("h100");
    const TableFit fit = fit_cost_table(made_up_points(gpu, other_constants(gpu, 6), 0), gpu, {}, kLittleDoubt);
    REQUIRE(fit.families.size() == 1);
    REQUIRE(fit.families.front().is_taken);
    CHECK(fit.held_out.mean < fit.before.mean);
    CHECK_THAT(fit_text(fit, gpu), ContainsSubstring("mma_multistage: taken"));

    const CostTable table(table_text(fit, gpu), "cost/h100.json");
    CHECK(table.gpu().name == "h100");
    const std::vector<double> values = table.values(MmaCosts::kSection);
    for (std::size_t i = 0; i < values.size(); ++i)
        CHECK(values[i] == Approx(fit.families.front().result.constants[i].value).epsilon(1e-3));
}

TEST_CASE("fit of a table: what is taken chooses better in every split, and each split deals problems out evenly",
          "[heavy]") {
    const GpuModel& gpu = find_gpu("h100");
    const TableFit fit = fit_cost_table(made_up_points(gpu, other_constants(gpu, 6), 0), gpu, {}, kLittleDoubt);
    const std::vector<FitSplit>& splits = fit.families.front().result.splits;
    REQUIRE(splits.size() == static_cast<std::size_t>(kLittleDoubt.splits));
    for (std::size_t i = 0; i < splits.size(); ++i) {
        REQUIRE(splits[i].fold_of.size() == std::size(kShapes));
        for (std::size_t fold = 0; fold < splits[i].constants.size(); ++fold)
            CHECK(static_cast<std::size_t>(std::ranges::count(splits[i].fold_of, fold)) ==
                  std::size(kShapes) / static_cast<std::size_t>(kLittleDoubt.folds));
        for (std::size_t j = 0; j < i; ++j) CHECK(splits[i].fold_of != splits[j].fold_of);
    }
}

TEST_CASE("fit of a table: noise alone is not taken, whichever way problems are split", "[heavy]") {
    const GpuModel& gpu = find_gpu("h200");
    const TableFit fit = fit_cost_table(made_up_points(gpu, family().cost_constants(gpu), 0.05), gpu, {}, kLittleDoubt);
    INFO(fit_text(fit, gpu));
    CHECK_FALSE(fit.families.front().is_taken);
}

TEST_CASE("fit: times of rounds at different clocks are made comparable by the reference kernel of each round") {
    ProblemRecord problem;
    problem.spec = resolved(parse_shape_line("bf16 tn 512 512 512"));
    const auto trial = [](const std::string& kernel, double us, double reference_us) {
        Trial one;
        one.kernel = kernel;
        one.compile = CompileOutcome{};
        one.verified = VerifyOutcome{};
        for (int round = 0; round < 3; ++round) {
            Sample& sample = one.samples.emplace_back();
            sample.round = round;
            sample.us = us;
            sample.reference_us = reference_us;
        }
        return one;
    };
    problem.trials = {trial("reference", 10, 10), trial("at_half_the_clock", 18, 20)};
    problem.winner = Winner{};
    problem.winner->heuristic_kernel = "reference";
    const std::vector<FitPoint> points = fit_points({problem});
    REQUIRE(points.size() == 2);
    CHECK(points[0].kernel == "at_half_the_clock");
    CHECK(points[0].us == Approx(9));
    CHECK(points[1].us == Approx(10));
}

TEST_CASE("fit of a table: constants that choose no better are left alone, however well they predict times",
          "[heavy]") {
    const GpuModel& gpu = find_gpu("h200");
    std::vector<FitPoint> points = made_up_points(gpu, family().cost_constants(gpu), 0);
    for (FitPoint& point : points) point.us *= 1.5;  // every prediction is wrong, and every choice right
    const TableFit fit = fit_cost_table(points, gpu, {}, kLittleDoubt);
    CHECK(fit.families.front().result.before.rms_log > 0.3);
    CHECK(fit.families.front().result.after.rms_log < 0.3);
    CHECK_FALSE(fit.families.front().is_taken);
    CHECK(CostTable(table_text(fit, gpu), "cost/h200.json").values(MmaCosts::kSection) ==
          cost_tables()[nearest_cost_table(gpu)].values(MmaCosts::kSection));
}
