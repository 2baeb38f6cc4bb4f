#include "runtime/warm/warm_plan.hpp"

#include "generator/generate.hpp"
#include "generator/kernel_set.hpp"
#include "jitgemm/error.hpp"
#include "runtime/warm/on_threads.hpp"
#include "tests/catch.hpp"

#include <atomic>
#include <set>
#include <string>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::warm;

namespace {

bool never() { return false; }

WarmChooser on(const char* gpu) { return {find_gpu(gpu), {}, {}, {}}; }

WarmRequest range_of(const char* line, std::int64_t last_m) { return {parse_shape_line(line), last_m, true}; }

std::set<std::string> names_of(const WarmPlan& plan) {
    std::set<std::string> names;
    for (const WarmKernel& kernel : plan.kernels) names.insert(kernel.name);
    return names;
}

}  // namespace

TEST_CASE("a plan has the kernel of each problem once", "[threads]") {
    const WarmChooser chooser = on("a100");
    std::set<std::string> expected;
    std::vector<WarmRequest> requests;
    for (GemmSpec spec = parse_shape_line("bf16 tn 1 1024 512"); spec.m <= 300; spec.m += 13) {
        expected.insert(kernel_name(problem_of(spec), choose_config(problem_of(spec), chooser.gpu)));
        requests.push_back({spec, spec.m});
    }
    REQUIRE(expected.size() > 3);
    for (const int threads : {1, 3}) {
        const WarmPlan plan = plan_warm(requests, chooser, threads, never);
        CHECK(names_of(plan) == expected);
        CHECK(plan.kernels.size() == expected.size());
        CHECK(plan.problems == static_cast<std::int64_t>(requests.size()));
        CHECK(plan.unserved.empty());
    }
}

TEST_CASE("a plan has the few kernels of a range, which serve each m of it") {
    const WarmChooser chooser = on("h200");
    for (const char* line : {"bf16 tn 1 1024 512", "bf16 nt 1 1024 512"}) {
        const WarmPlan plan = plan_warm({range_of(line, 700)}, chooser, 1, never);
        const KernelSet set = build_kernel_set(parse_shape_line(line), 1, 700, chooser.gpu);
        CHECK(plan.problems == 700);
        const std::set<std::string> names = names_of(plan);
        for (std::int64_t m = 1; m <= 700; ++m) {
            INFO(line << " m=" << m);
            REQUIRE(names.contains(kernel_name(set.kernels[set.range_of(m).kernel].id)));
        }
        for (const WarmKernel& kernel : plan.kernels)
            CHECK_NOTHROW(generate(kernel.problem, kernel.config, *chooser.gpu.arch));
    }
}

TEST_CASE("a plan of a range has one kernel for each text, the one that a set compiles") {
    const WarmChooser chooser = on("h200");
    const char* const line = "bf16 tn 1 768 16384";
    const KernelSet set = build_kernel_set(parse_shape_line(line), 1, 4096, chooser.gpu);
    REQUIRE(set.kernels.size() > set.body_count());  // else this test shows nothing
    const WarmPlan plan = plan_warm({range_of(line, 4096)}, chooser, 1, never);
    std::set<std::string> firsts;
    std::set<std::size_t> bodies;
    for (const SetKernel& kernel : set.kernels)
        if (bodies.insert(kernel.body).second) firsts.insert(kernel_name(kernel.id));
    CHECK(plan.kernels.size() == set.body_count());
    CHECK(names_of(plan) == firsts);
}

TEST_CASE("a plan has a kernel again where its operands are prepared, once for all m") {
    std::vector<WarmRequest> requests;
    for (const char* line : {"e4m3 tn 64 256 512", "e4m3 tt 64 256 512 prepared=b", "e4m3 tt 64 256 512 prepared=b"})
        requests.push_back({parse_shape_line(line), 64});
    const WarmPlan plan = plan_warm(requests, on("h200"), 1, never);
    REQUIRE(plan.kernels.size() == 2);
    CHECK(plan.kernels[0].name == plan.kernels[1].name);
    CHECK(plan.kernels[1].problem.requested().prepared == Prepared::b);
}

TEST_CASE("a plan tells of a range that nothing serves once") {
    const WarmPlan plan =
        plan_warm({range_of("tf32 tn 1 8 8", 1000), range_of("tf32 tn 3 8 8", 3)}, on("h200"), 2, never);
    REQUIRE(plan.unserved.size() == 2);
    CHECK(plan.unserved[0].request.spec.m == 1);
    CHECK(plan.unserved[0].request.last_m == 1000);
    CHECK(plan.unserved[1].request.last_m == 3);
    CHECK(plan.kernels.empty());
}

TEST_CASE("work on threads: each index once, and the first failure ends it", "[threads]") {
    std::vector<std::atomic<int>> calls(500);
    on_threads(4, calls.size(), never, [&](std::size_t i) { ++calls[i]; });
    for (const std::atomic<int>& count : calls) CHECK(count == 1);

    std::atomic<int> begun = 0;
    const auto fail = [&](std::size_t) {
        ++begun;
        throw Error("planted");
    };
    CHECK_THROWS_WITH(on_threads(4, 1000, never, fail), "planted");
    CHECK(begun <= 4);
}
