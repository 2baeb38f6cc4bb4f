#include "generator/kernel_set.hpp"
#include "generator/generate.hpp"
#include "generator/kernel_set_check.hpp"
#include "generator/kernel_set_rows.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;

const GpuModel& h200() { return find_gpu("h200"); }

GemmSpec weights(std::int64_t n, std::int64_t k) { return {.m = 0, .n = n, .k = k}; }

Problem asked(GemmSpec spec, std::int64_t m) {
    spec.m = m;
    return problem_of(spec);
}

double predicted_us(const Problem& problem, const KernelConfig& config) {
    return family_of(config).cost(problem, config, h200()).total_us;
}

/// The values of m that a kernel of the set does not serve as the request asks, each with the reason.
std::vector<std::string> unserved(const KernelSet& set, const std::vector<std::int64_t>& rows,
                                  const GpuModel& gpu = h200()) {
    std::vector<std::string> found;
    for (const std::int64_t m : rows) {
        const KernelId& id = set.kernels[set.range_of(m).kernel].id;
        const Problem problem = set.problem(m);
        const Problem wanted = asked(set.spec, m);
        for (const std::string& reason : family_of(id.config).violations(problem, id.config, *gpu.arch))
            found.push_back(std::to_string(m) + ": " + reason);
        GemmSpec realigned = problem.asked;
        realigned.align_a = wanted.asked.align_a, realigned.align_b = wanted.asked.align_b;
        realigned.align_c = wanted.asked.align_c, realigned.align_d = wanted.asked.align_d;
        if (realigned != wanted.asked || problem.signature != id.signature)
            found.push_back(std::to_string(m) + ": " + to_string(problem.asked));
        if (problem.asked.align_a > wanted.asked.align_a || problem.asked.align_d > wanted.asked.align_d)
            found.push_back(std::to_string(m) + ": asks for more alignment than there is");
    }
    return found;
}

std::vector<std::int64_t> all_rows(std::int64_t first, std::int64_t last) {
    std::vector<std::int64_t> rows;
    for (std::int64_t m = first; m <= last; ++m) rows.push_back(m);
    return rows;
}

/// All small ones, and others spread over the octaves.
std::vector<std::int64_t> some_rows(std::int64_t last, int count) {
    std::vector<std::int64_t> rows = all_rows(1, std::min<std::int64_t>(last, 300));
    std::mt19937_64 random(11);
    std::uniform_real_distribution<double> octave(8, std::log2(static_cast<double>(last)));
    for (int i = 0; i < count; ++i)
        rows.push_back(
            std::min(last, static_cast<std::int64_t>(std::exp2(octave(random))) + static_cast<int>(random() % 17)));
    rows.push_back(last);
    return rows;
}

GemmSpec with_layout(GemmSpec spec, GemmLayout layout, Order d_order) {
    spec.layout = layout;
    spec.d_order = d_order;
    return spec;
}

constexpr GemmLayout kLayouts[] = {GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt};

}  // namespace

TEST_CASE("a kernel set serves a weight with at most ten kernels, nearly as fast as the choice for each m") {
    for (const char* const gpu : {"h200", "h100"}) {
        const KernelSet set = build_kernel_set(weights(6144, 4096), 1, 8192, find_gpu(gpu));
        INFO(gpu << ": " << set.mean_ratio << ' ' << set.worst_ratio);
        CHECK(set.body_count() <= 10);
        CHECK(set.mean_ratio >= 0.96);
        CHECK(set.worst_ratio >= 0.80);
        CHECK(unserved(set, all_rows(1, 8192), find_gpu(gpu)).empty());
    }
}

TEST_CASE("the ratios of a kernel set are those of its kernels to the choice for each sampled m") {
    const KernelSet set = build_kernel_set(weights(1024, 512), 1, 700, h200());
    double sum = 0;
    double worst = 1;
    const std::vector<std::int64_t> rows = sampled_rows(1, 700);
    for (const std::int64_t m : rows) {
        const double best = predicted_us(asked(set.spec, m), choose_config(asked(set.spec, m), h200()));
        const double ratio = best / predicted_us(set.problem(m), set.kernels[set.range_of(m).kernel].id.config);
        sum += std::log(std::min(1.0, ratio));
        worst = std::min(worst, ratio);
    }
    // A kernel of another m may be predicted faster than each candidate of this one. The set's ratio counts that.
    CHECK(set.mean_ratio <= std::exp(sum / static_cast<double>(rows.size())) + 1e-9);
    CHECK(set.worst_ratio <= worst + 1e-9);
    CHECK(set.mean_ratio >= 0.985);
    CHECK(set.worst_ratio >= 0.90);
}

TEST_CASE("each m is served by a kernel of its set within the slack of the fastest one") {
    const KernelSetOptions options{.range_slack = 1.01};
    const KernelSet set = build_kernel_set(weights(3072, 1024), 1, 1500, h200(), {}, options);
    for (const std::int64_t m : all_rows(1, 1500)) {
        const Problem problem = asked(set.spec, m);
        double best = std::numeric_limits<double>::infinity();
        for (const SetKernel& kernel : set.kernels)
            if (family_of(kernel.id.config).violations(problem, kernel.id.config, *h200().arch).empty())
                best = std::min(best, predicted_us(problem, kernel.id.config));
        INFO("m=" << m);
        CHECK(predicted_us(problem, set.kernels[set.range_of(m).kernel].id.config) <= best * options.range_slack);
    }
}

TEST_CASE("a kernel set has a valid kernel for each m, whatever the layouts and the order of D") {
    for (const GemmLayout layout : kLayouts)
        for (const Order order : {Order::row, Order::column}) {
            const GemmSpec spec = with_layout(weights(777, 515), layout, order);
            INFO(to_string(spec));
            const KernelSet set = build_kernel_set(spec, 1, 600, h200());
            CHECK(unserved(set, all_rows(1, 600)).empty());
        }
}

TEST_CASE("a kernel set reaches from one row to the largest extent") {
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nt}) {
        const GemmSpec spec = with_layout(weights(96, 64), layout, Order::row);
        const KernelSet set = build_kernel_set(spec, 1, kLargestExtent, h200());
        CHECK(unserved(set, some_rows(kLargestExtent, 3000)).empty());
    }
}

TEST_CASE("kernel sets serve f32, a C, and GPUs without wgmma") {
    GemmSpec single{.n = 1000, .k = 300, .a = DataType::f32};
    CHECK(unserved(build_kernel_set(single, 1, 900, h200()), all_rows(1, 900)).empty());
    GemmSpec biased = weights(1024, 512);
    biased.c = DataType::bf16;
    biased.d_order = Order::column;
    CHECK(unserved(build_kernel_set(biased, 1, 300, h200()), all_rows(1, 300)).empty());
    const GpuModel& a100 = find_gpu("a100");
    CHECK(unserved(build_kernel_set(weights(1000, 512), 5, 900, a100), all_rows(5, 900), a100).empty());
}

TEST_CASE("the kernels of a batch-invariant set all add up in the one order") {
    GemmSpec spec = weights(6144, 4096);
    spec.deterministic = Determinism::batch_invariant;
    const KernelSet set = build_kernel_set(spec, 1, 2048, h200());
    for (const SetKernel& kernel : set.kernels)
        CHECK(family_of(kernel.id.config).sum_order(spec.a, kernel.id.config) ==
              batch_invariant_order(spec, *h200().arch));
    CHECK(unserved(set, all_rows(1, 2048)).empty());
}

TEST_CASE("kernels of a set have equal texts where they have equal body numbers, and nowhere else") {
    std::map<std::size_t, std::string> texts;
    std::set<std::string> seen;
    const KernelSet set = build_kernel_set(weights(512, 65536), 1, 4096, h200());
    REQUIRE(set.kernels.size() > set.body_count());  // else this test shows nothing
    for (const SetKernel& kernel : set.kernels) {
        const std::int64_t m =
            std::ranges::find(set.ranges, static_cast<std::size_t>(&kernel - set.kernels.data()), &KernelRange::kernel)
                ->first_m;
        const std::string text = generate(set.problem(m), kernel.id.config, *h200().arch).body;
        const auto known = texts.emplace(kernel.body, text);
        CHECK(known.first->second == text);
        CHECK((!known.second || seen.insert(text).second));
    }
    CHECK(texts.size() == set.body_count());
}

TEST_CASE("a measured choice serves its m, and predictions of other kernels don't displace it") {
    const std::int64_t measured_m = 300;
    const GemmSpec spec = weights(2048, 1024);
    const Problem problem = asked(spec, measured_m);
    const CandidateList list = list_candidates(problem, h200());
    const KernelConfig slow = list.accepted[list.accepted.size() / 2].config;
    const KernelSetOptions better{.better = [&](const Problem& at, const KernelConfig&) -> std::optional<BetterChoice> {
                                      if (at.asked.m != measured_m) return std::nullopt;
                                      return BetterChoice{slow, 1.3};
                                  },
                                  .samples = {measured_m}};
    const KernelSet told = build_kernel_set(spec, 256, 320, h200(), {}, better);
    CHECK(told.kernels[told.range_of(measured_m).kernel].id.config == slow);
    const double best_us = list.accepted.front().cost.total_us;
    const KernelSetOptions times{
        .times = {{measured_m, list.accepted.front().config, best_us * 1.5}, {measured_m, slow, best_us * 1.2}}};
    const KernelSet timed = build_kernel_set(spec, 256, 320, h200(), {}, times);
    CHECK(timed.kernels[timed.range_of(measured_m).kernel].id.config == slow);
    const KernelSet plain = build_kernel_set(spec, 256, 320, h200());
    CHECK(plain.kernels[plain.range_of(measured_m).kernel].id.config != slow);
}

TEST_CASE("a selection keeps a kernel set to what it names") {
    const KernelSet set = build_kernel_set(weights(1024, 512), 1, 500, h200(), {{}, "mma_multistage", {}});
    for (const SetKernel& kernel : set.kernels) CHECK(family_name(kernel.id.config) == "mma_multistage");
    const std::string forced = kernel_name(set.kernels.front().id);
    const KernelSet one = build_kernel_set(weights(1024, 512), 1, 500, h200(), {forced, {}, {}});
    REQUIRE(one.kernels.size() == 1);
    CHECK(kernel_name(one.kernels.front().id) == forced);
}

TEST_CASE("a kernel set is stored as JSON and read back equal") {
    for (const Order order : {Order::row, Order::column}) {
        const KernelSet set = build_kernel_set(with_layout(weights(777, 515), GemmLayout::nn, order), 3, 200, h200());
        CHECK(parse_kernel_set(to_json(set)) == set);
    }
    const std::string good = to_json(build_kernel_set(weights(64, 64), 1, 10, h200()));
    const auto changed = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        const std::size_t place = text.find(from);
        REQUIRE(place != std::string::npos);
        return text.replace(place, from.size(), to);
    };
    CHECK_THROWS_WITH(parse_kernel_set("[]"), ContainsSubstring("no JSON object"));
    CHECK_THROWS_WITH(parse_kernel_set(changed("kernel-set-v1", "kernel-set-v7")), ContainsSubstring("kernel-set-v7"));
    CHECK_THROWS_WITH(parse_kernel_set(changed("\"gpu\"", "\"gpus\"")), ContainsSubstring("'gpu' is missing"));
    CHECK_THROWS_WITH(parse_kernel_set(changed("\"kernel\": 0", "\"kernel\": 99")), ContainsSubstring("kernel 99"));
    CHECK_THROWS_WITH(parse_kernel_set(changed("\"multiple\": 1", "\"multiple\": 0")), ContainsSubstring("multiple 0"));
    CHECK_THROWS_WITH(parse_kernel_set(changed("\"last_m\": 10", "\"last_m\": 12")), ContainsSubstring("m=11"));
}

TEST_CASE("a range of m that is none, and an m outside a set, are refused with the values") {
    CHECK_THROWS_WITH(build_kernel_set(weights(64, 64), 0, 10, h200()), ContainsSubstring("0:10"));
    CHECK_THROWS_WITH(build_kernel_set(weights(64, 64), 20, 10, h200()), ContainsSubstring("20:10"));
    CHECK_THROWS_WITH(build_kernel_set(weights(64, 64), 1, kLargestExtent + 1, h200()),
                      ContainsSubstring(std::to_string(kLargestExtent)));
    GemmSpec narrow = weights(64, 64);
    narrow.d_order = Order::column;
    narrow.ldd = 100;
    CHECK_THROWS_WITH(build_kernel_set(narrow, 1, 101, h200()), ContainsSubstring("ldd is 100"));
    const KernelSet set = build_kernel_set(narrow, 1, 100, h200());
    CHECK_THROWS_WITH(set.range_of(101), ContainsSubstring("m is 101: the set serves 1 to 100"));
    CHECK_THROWS_WITH(set.range_of(0), ContainsSubstring("m is 0"));
}

TEST_CASE("a config that failed is in no set") {
    const KernelSet before = build_kernel_set(weights(512, 512), 1, 300, h200());
    for (const SetKernel& failed : before.kernels) {
        KernelSetOptions options;
        options.times = {{100, failed.id.config, std::numeric_limits<double>::infinity()}};
        const KernelSet set = build_kernel_set(weights(512, 512), 1, 300, h200(), {}, options);
        CHECK(unserved(set, all_rows(1, 300)).empty());
        for (const SetKernel& kernel : set.kernels) CHECK(kernel.id.config != failed.id.config);
    }
}

TEST_CASE("a set from a file is refused if a kernel has no range, a body no number, or an m another kernel") {
    const KernelSet set = build_kernel_set(weights(512, 512), 1, 3000, h200());
    REQUIRE(set.kernels.size() > 1);
    REQUIRE_NOTHROW(check_kernel_set(set, *h200().arch));
    KernelSet changed = set;
    changed.kernels.push_back(set.kernels.front());
    CHECK_THROWS_WITH(parse_kernel_set(to_json(changed)), ContainsSubstring("has no range"));
    changed = set;
    changed.kernels.front().body = std::size_t{1} << 60U;
    CHECK_THROWS_WITH(parse_kernel_set(to_json(changed)), ContainsSubstring("body 1152921504606846976 of kernel 0"));
    changed = set;
    changed.ranges.front().multiple = 2;
    CHECK_THROWS_WITH(parse_kernel_set(to_json(changed)), ContainsSubstring("m=1, no multiple of 2"));

    const GemmSpec tiles = parse_shape_line("f32 tt 256 512 512");
    const Selection simt{.kernel = {}, .family = "simt_hierarchical", .parameters = {}};
    const KernelConfig config = choose_config(problem_of(tiles), find_gpu("a100"), simt);
    changed = set;  // it reads whole tiles, and most values of m have none
    changed.spec = aligned_at(tiles, 256);
    changed.kernels = {{{problem_of(tiles).signature, with_parameters(config, {{"predicated", "0"}})}, changed.spec}};
    changed.ranges = {{1, 3000, 1, 0}};
    CHECK_THROWS_WITH(check_kernel_set(changed, *find_gpu("a100").arch), ContainsSubstring("does not serve m=1"));
    changed.first_m = 256;
    changed.last_m = 768;
    changed.ranges = {{256, 768, 1, 0}};
    CHECK_THROWS_WITH(check_kernel_set(changed, *find_gpu("a100").arch), ContainsSubstring("does not serve m=257"));
}
