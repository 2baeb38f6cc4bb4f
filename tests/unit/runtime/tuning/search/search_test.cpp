#include "runtime/tuning/search/search.hpp"
#include "generator/families/kernel_name.hpp"
#include "jitgemm/error.hpp"
#include "runtime/tuning/search/parameter_grid.hpp"
#include "tests/catch.hpp"
#include "tests/support/landscape.hpp"

#include <algorithm>
#include <set>

using namespace jitgemm;
using namespace jitgemm::tuning;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr StrategyKind kAllKinds[] = {StrategyKind::exhaustive, StrategyKind::model};

SearchSpace space_of(const std::string& shape, const Selection& selection = {}) {
    return search_space(problem_of(parse_shape_line(shape)), find_gpu("h200"), selection);
}

Search search(StrategyKind kind, const Landscape& landscape, int limit = 0) {
    return searched(*make_strategy(kind, landscape.space(), {.max_candidates = limit}), landscape);
}

/// A trial that came to nothing.
Trial failed(const std::string& kernel) {
    Trial trial;
    trial.kernel = kernel;
    trial.verified.emplace().verdict = Verdict::wrong;
    return trial;
}

std::set<std::string> names_of(const std::vector<Trial>& trials) {
    std::set<std::string> names;
    for (const Trial& trial : trials) names.insert(trial.kernel);
    return names;
}

}  // namespace

TEST_CASE("search space: every accepted candidate once, the heuristic's first") {
    const GpuModel& gpu = find_gpu("h200");
    for (const std::string shape : {"bf16 tn 4096 4096 4096", "bf16 tn 128 128 65536", "f32 tn 1024 1024 1024"}) {
        const GemmSpec spec = parse_shape_line(shape);
        const SearchSpace space = space_of(shape);
        REQUIRE(space.spec == resolved(spec));
        REQUIRE(space.heuristic_kernel == kernel_name(problem_of(spec), choose_config(problem_of(spec), gpu)));
        REQUIRE(space.kernels.front() == space.heuristic_kernel);
        std::set<std::string> expected;
        for (const Candidate& candidate : list_candidates(problem_of(spec), gpu).accepted)
            expected.insert(kernel_name(problem_of(spec), candidate.config));
        REQUIRE(std::set(space.kernels.begin(), space.kernels.end()) == expected);
        REQUIRE(space.kernels.size() == expected.size());
        for (std::size_t i = 0; i < space.kernels.size(); ++i)
            REQUIRE(kernel_name(problem_of(spec), space.candidates[i].config) == space.kernels[i]);
    }
}

TEST_CASE("search space: a selection narrows it, a forced kernel is all of it") {
    const SearchSpace whole = space_of("bf16 tn 4096 4096 4096");
    const SearchSpace four = space_of("bf16 tn 4096 4096 4096", {std::nullopt, std::nullopt, {{"stages", "4"}}});
    REQUIRE(four.kernels.size() < whole.kernels.size());
    for (const Candidate& candidate : four.candidates) REQUIRE(parameters_of(candidate.config).at("stages") == "4");
    const std::string last = whole.kernels.back();
    REQUIRE(space_of("bf16 tn 4096 4096 4096", {last, std::nullopt, {}}).kernels == std::vector{last});
}

TEST_CASE("search space: an empty one is an error with every reason") {
    const Selection huge{std::nullopt, std::nullopt, {{"block", "256x256x64"}, {"warp", "16x16"}}};
    try {
        static_cast<void>(space_of("bf16 tn 4096 4096 4096", huge));
        FAIL("no error");
    } catch (const ConfigError& error) {
        REQUIRE_FALSE(error.reasons().empty());
        REQUIRE_THAT(error.what(), ContainsSubstring("threads"));
    }
}

TEST_CASE("strategy names: there and back. An unknown one names the nearest") {
    for (const StrategyKind kind : kAllKinds) REQUIRE(parse_strategy(to_string(kind)) == kind);
    REQUIRE_THROWS_WITH(parse_strategy("modle"), ContainsSubstring("'modle'") && ContainsSubstring("'model'"));
}

TEST_CASE("grid: neighbours differ by one step of a number, and in what is tied to it") {
    const SearchSpace space = space_of("bf16 tn 4096 4096 4096", {std::nullopt, "mma_multistage", {}});
    const ParameterGrid grid(space.candidates);
    const auto config = [&](std::size_t i) { return std::get<MmaMultistageConfig>(space.candidates[i].config.family); };
    const auto found = std::ranges::find_if(space.candidates, [](const Candidate& candidate) {
        const auto& c = std::get<MmaMultistageConfig>(candidate.config.family);
        return c.block == TileShape{128, 256, 32} && c.warp.m == 64 && c.warp.n == 64 && c.stages == 4;
    });
    REQUIRE(found != space.candidates.end());
    const auto here = static_cast<std::size_t>(found - space.candidates.begin());
    bool fewer_stages = false;
    bool narrower = false;
    for (const std::size_t i : grid.neighbours(here)) {
        REQUIRE(i != here);
        const MmaMultistageConfig other = config(i);
        fewer_stages =
            fewer_stages || (other.stages == 3 && other.block == TileShape{128, 256, 32} && other.warp.n == 64);
        narrower = narrower || (other.stages == 4 && other.block.n == 192 && other.warp.n == 48);
        REQUIRE(grid.distance(here, i) == grid.distance(i, here));
    }
    REQUIRE(fewer_stages);
    REQUIRE(narrower);  // its warp tile has to change as well
    REQUIRE(grid.distance(here, here) == 0);
}

TEST_CASE("exhaustive: everything once, in predicted order, in batches, or as far as the limit") {
    const SearchSpace space = space_of("bf16 tn 1000 1000 1000");
    const Landscape landscape(space, 1);
    const Search all = search(StrategyKind::exhaustive, landscape);
    REQUIRE(all.trials.size() == space.kernels.size());
    for (std::size_t i = 0; i < all.trials.size(); ++i) REQUIRE(all.trials[i].kernel == space.kernels[i]);
    REQUIRE(all.batches > 10);
    REQUIRE(all.best == landscape.best());
    REQUIRE(search(StrategyKind::exhaustive, landscape, 50).trials.size() == 50);
}

TEST_CASE("strategies: the heuristic's kernel in the first batch, none twice, none beyond the limit, the same again") {
    const SearchSpace space = space_of("bf16 tn 16 6144 4096");
    const Landscape landscape(space, 7);
    for (const StrategyKind kind : kAllKinds) {
        const auto strategy = make_strategy(kind, space, {.max_candidates = 40});
        REQUIRE(strategy->propose({}).front() == space.heuristic_kernel);
        const Search once = searched(*strategy, landscape);
        REQUIRE(once.trials.size() <= 40);
        REQUIRE(names_of(once.trials).size() == once.trials.size());
        REQUIRE(names_of(search(kind, landscape, 40).trials) == names_of(once.trials));
        REQUIRE(search(kind, landscape, 5).trials.size() == 5);
    }
}

TEST_CASE("strategies: a search that was cut off goes on as if it had not been, whatever order it is told in") {
    const SearchSpace space = space_of("bf16 tn 16 6144 4096");
    const Landscape landscape(space, 3);
    const auto strategy = make_strategy(StrategyKind::model, space, {});
    const Search whole = searched(*strategy, landscape);
    REQUIRE(whole.batches > 1);
    std::vector<Trial> known;
    while (true) {
        std::ranges::reverse(known);
        const std::vector<std::string> batch = make_strategy(StrategyKind::model, space, {})->propose(known);
        if (batch.empty()) break;
        for (const std::string& kernel : batch) known.push_back(landscape.measured(kernel));
    }
    REQUIRE(names_of(known) == names_of(whole.trials));
}

TEST_CASE("strategies: failures, twins and unfinished trials are no trouble. All failing ends") {
    const SearchSpace space = space_of("bf16 tn 1000 1000 1000");
    const Landscape landscape(space, 5);
    for (const StrategyKind kind : kAllKinds) {
        const auto strategy = make_strategy(kind, space, {.max_candidates = 100});
        std::vector<Trial> known;
        for (std::vector<std::string> batch; !(batch = strategy->propose(known)).empty();)
            for (const std::string& kernel : batch) known.push_back(failed(kernel));
        REQUIRE(known.size() >= 16);
        REQUIRE(known.size() <= 100);

        // Every third fails, every third is the code of the one before.
        known.clear();
        for (std::vector<std::string> batch; !(batch = strategy->propose(known)).empty();) {
            for (const std::string& kernel : batch) {
                Trial trial = known.size() % 3 == 1 ? failed(kernel) : landscape.measured(kernel);
                if (known.size() % 3 == 2) trial.samples.clear(), trial.same_as = known[known.size() - 2].kernel;
                known.push_back(trial);
            }
        }
        REQUIRE(known.size() > 24);
        REQUIRE(names_of(known).size() == known.size());

        // Nothing is proposed twice while it is being measured.
        known.clear();
        for (int turn = 0; turn < 3; ++turn) {
            for (const std::string& kernel : strategy->propose(known)) {
                REQUIRE_FALSE(names_of(known).contains(kernel));
                known.emplace_back().kernel = kernel;
            }
        }
    }
}

TEST_CASE("strategies: one candidate is tried and that is all. A stranger's trials don't matter") {
    const std::string only = space_of("bf16 tn 1000 1000 1000").kernels.back();
    const SearchSpace space = space_of("bf16 tn 1000 1000 1000", {only, std::nullopt, {}});
    const Landscape landscape(space, 1);
    for (const StrategyKind kind : kAllKinds) {
        REQUIRE(search(kind, landscape).trials.size() == 1);
        Trial stranger = failed("cublaslt");
        REQUIRE(make_strategy(kind, space, {})->propose({stranger}) == std::vector{only});
    }
}

TEST_CASE("model strategy: within 3 % of exhaustive on nine of ten landscapes, with a fraction of the candidates",
          "[heavy]") {
    constexpr std::size_t kLandscapes = 20;
    for (const std::string shape : {"bf16 tn 4096 4096 4096", "bf16 tn 16 6144 4096", "bf16 tn 4095 4097 4099",
                                    "bf16 tn 64 7168 2048", "f32 tn 1024 1024 1024"}) {
        const SearchSpace space = space_of(shape);
        const auto strategy = make_strategy(StrategyKind::model, space, {});
        std::size_t good = 0, tried = 0;
        for (std::uint64_t seed = 0; seed < kLandscapes; ++seed) {
            const Landscape landscape(space, seed);
            const Search found = searched(*strategy, landscape);
            good += found.best <= 1.03 * landscape.best() ? 1 : 0;
            tried += found.trials.size();
        }
        INFO(shape << ": " << good << " good, " << tried << " tried of " << kLandscapes << " times "
                   << space.kernels.size());
        CHECK(good * 10 >= 9 * kLandscapes);
        CHECK(tried <= 110 * kLandscapes);
    }
}
