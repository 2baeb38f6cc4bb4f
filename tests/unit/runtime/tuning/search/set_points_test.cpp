#include "runtime/tuning/search/set_points.hpp"

#include "generator/families/family.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cmath>

using namespace jitgemm;
using namespace jitgemm::tuning;

namespace {

const GpuModel& measured_gpu() { return find_gpu("h200"); }

KernelSet predicted_set(const GemmSpec& spec, std::int64_t first_m, std::int64_t last_m) {
    return build_kernel_set(spec, first_m, last_m, measured_gpu());
}

Trial timed(const std::string& kernel, double us) {
    Trial trial;
    trial.kernel = kernel;
    trial.compile = CompileOutcome{};
    trial.verified = VerifyOutcome{};
    Sample sample;
    sample.us = us;
    trial.samples = {sample};
    return trial;
}

}  // namespace

TEST_CASE("a set is measured where its ranges begin and in each octave between, with kernels that serve there") {
    for (const Order order : {Order::row, Order::column}) {
        const KernelSet set = predicted_set({.m = 0, .n = 512, .k = 512, .d_order = order}, 3, 5000);
        const std::vector<SetPoint> points = set_points(set, measured_gpu(), {});
        CHECK(points.front().m == 3);
        CHECK(points.back().m == 5000);
        CHECK(points.size() <= 40);
        for (std::size_t i = 1; i < points.size(); ++i) {
            CHECK(points[i].m > points[i - 1].m);
            if (points.size() < 40) CHECK(points[i].m * 2 <= points[i - 1].m * 5);  // else they were thinned
        }
        for (const SetPoint& point : points) {
            const Problem problem = problem_of(point.spec);
            CHECK(point.spec == resolved(point.spec));
            CHECK(point.spec.m == point.m);
            REQUIRE(point.kernels.size() > 1);
            for (const std::string& kernel : point.kernels) {
                const KernelId id = parse_kernel_name(kernel);
                CHECK(id.signature == problem.signature);
                CHECK(family_of(id.config).violations(problem, id.config, *measured_gpu().arch).empty());
            }
        }
    }
}

TEST_CASE("every row-major range of a predicted set has a measured point with its own kernel") {
    const KernelSet set = predicted_set({.m = 0, .n = 6144, .k = 4096}, 1, 8192);
    const std::vector<SetPoint> points = set_points(set, measured_gpu(), {});
    for (const KernelRange& range : set.ranges) {
        const auto at = std::ranges::find(points, range.first_m, &SetPoint::m);
        if (points.size() == 40 && at == points.end()) continue;  // thinned
        REQUIRE(at != points.end());
        CHECK(std::ranges::find(at->kernels, kernel_name(set.kernels[range.kernel].id)) != at->kernels.end());
    }
}

TEST_CASE("times for a set are those of its points, and a kernel that failed takes infinitely long") {
    const KernelSet set = predicted_set({.m = 0, .n = 512, .k = 512}, 1, 64);
    const std::vector<SetPoint> points = set_points(set, measured_gpu(), {});
    const std::vector<std::string>& kernels = points.front().kernels;
    REQUIRE(kernels.size() >= 3);
    ProblemRecord record;
    record.spec = points.front().spec;
    record.trials = {timed(kernels[0], 4), timed(kernels[1], 5)};
    record.trials[1].samples.clear();
    record.trials[1].verified->verdict = Verdict::wrong;
    const std::vector<KernelTime> times = set_times(points, {record});
    REQUIRE(times.size() == 2);
    CHECK(times[0].m == points.front().m);
    CHECK(times[0].us == 4);
    CHECK(std::isinf(times[1].us));
    CHECK(set_times(points, {}).empty());
}
