#include "runtime/bench/benchmark.hpp"
#include "runtime/device/device_reading.hpp"

#include "runtime/cuda/cuda_timing.hpp"
#include "runtime/verify/reference_kernels.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;

namespace {

BenchCandidate ours(const GemmKernel& kernel) {
    return {"ours", [kernel](const GemmArguments& arguments, Stream stream) { kernel.launch(arguments, stream); }};
}

/// Launches the kernel as often.
BenchCandidate repeated(const GemmKernel& kernel, int times) {
    return {"repeated", [kernel, times](const GemmArguments& arguments, Stream stream) {
                for (int i = 0; i < times; ++i) kernel.launch(arguments, stream);
            }};
}

/// Computes with alpha doubled.
BenchCandidate wrong(const GemmKernel& kernel) {
    return {"wrong", [kernel](GemmArguments arguments, Stream stream) {
                arguments.alpha *= 2;
                kernel.launch(arguments, stream);
            }};
}

std::unique_ptr<Peer> open_cublaslt_if_there(Context& context, std::string& missing) {
    try {
        return open_peer("cublaslt", state_of(context));
    } catch (const CudaError&) {
        throw;
    } catch (const Error& error) {
        missing = error.what();
        return nullptr;
    }
}

}  // namespace

TEST_CASE("times are per launch, under either protocol", "[timing]") {
    REQUIRE_GPU();
    Context context;
    const GemmSpec spec = resolved({.m = 1024, .n = 1024, .k = 1024});
    const GemmKernel kernel = context.kernel(spec);
    for (const Protocol protocol : {Protocol::steady, Protocol::cold}) {
        const std::vector<Timing> timings =
            time_candidates(state_of(context), spec, {ours(kernel), repeated(kernel, 4)}, {.protocol = protocol});
        REQUIRE(timings.size() == 2);
        for (const Timing& timing : timings) {
            CHECK(timing.rounds_us.size() == 15);
            CHECK(timing.low_us <= timing.median_us);
            CHECK(timing.median_us <= timing.high_us);
        }
        CHECK(timings[0].median_us > 1);
        CHECK(timings[0].median_us < 1000);
        CHECK(timings[1].median_us > 1.5 * timings[0].median_us);
    }
}

TEST_CASE("sustained times are per launch, each of a candidate alone", "[timing]") {
    REQUIRE_GPU();
    Context context;
    const GemmSpec spec = resolved({.m = 1024, .n = 1024, .k = 1024});
    const GemmKernel kernel = context.kernel(spec);
    TimingOptions options{.protocol = Protocol::sustained, .rounds = 2};
    options.warm_up_us = 5e3;
    options.sustained_us = 20e3;
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<Timing> timings =
        time_candidates(state_of(context), spec, {ours(kernel), repeated(kernel, 4)}, options);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    CHECK(seconds.count() > 4 * 0.02);
    CHECK(timings.at(0).median_us > 1);
    CHECK(timings.at(1).median_us > 1.5 * timings[0].median_us);
}

TEST_CASE("a wrong peer is reported as wrong, one that cannot as failed with its words") {
    REQUIRE_GPU();
    Context context;
    const GemmSpec spec = resolved({.m = 200, .n = 100, .k = 64});
    const GemmKernel kernel = context.kernel(spec);
    CHECK(verify_candidate(state_of(context), spec, ours(kernel)).ok);
    const Verification verdict = verify_candidate(state_of(context), spec, wrong(kernel));
    CHECK_FALSE(verdict.ok);
    CHECK(verdict.wrong > 10000);
    REQUIRE(verdict.first);
    const BenchCandidate unable{"unable", [](const GemmArguments&, Stream) { throw Error("no such layout"); }};
    CHECK_THAT(verify_candidate(state_of(context), spec, unable).message, ContainsSubstring("no such layout"));
}

TEST_CASE("an exception while launches are captured leaves the stream usable") {
    REQUIRE_GPU();
    Context context;
    const GemmSpec spec = resolved({.m = 256, .n = 256, .k = 256});
    int calls = 0;
    const BenchCandidate failing{"failing", [&](const GemmArguments&, Stream) {
                                     if (++calls > 1) throw Error("second call");
                                 }};
    CHECK_THROWS_WITH(time_candidates(state_of(context), spec, {failing}, {}), ContainsSubstring("second call"));
    CHECK(time_candidates(state_of(context), spec, {ours(context.kernel(spec))}, {.rounds = 1}).front().median_us > 0);
}

TEST_CASE("every algorithm cuBLASLt offers is right, in every layout and D order") {
    REQUIRE_GPU();
    Context context;
    std::string missing;
    const std::unique_ptr<Peer> peer = open_cublaslt_if_there(context, missing);
    if (peer == nullptr) SKIP_TEST(missing);
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt}) {
        for (const Order order : {Order::row, Order::column}) {
            for (const DataType type : {DataType::bf16, DataType::f16}) {
                for (const bool with_c : {false, true}) {
                    GemmSpec spec{.m = 264,
                                  .n = 136,
                                  .k = 200,
                                  .a = type,
                                  .b = type,
                                  .d = type,
                                  .layout = layout,
                                  .d_order = order};
                    if (with_c) spec.c = type;
                    if (with_c) spec.batch = 3;
                    spec.lda = spec.ldb = 280;
                    spec = resolved(spec);
                    INFO(to_string(spec));
                    std::string reason;
                    const std::vector<BenchCandidate> candidates = peer->candidates(spec, reason);
                    INFO(reason);
                    REQUIRE_FALSE(candidates.empty());
                    CHECK(candidates.front().name == "cublaslt#0");
                    const Verification verdict = verify_candidate(state_of(context), spec, candidates.front(),
                                                                  {.alpha = 2, .beta = with_c ? -0.5F : 0.0F});
                    INFO(verdict.message);
                    CHECK(verdict.ok);
                }
            }
        }
    }
}

TEST_CASE("cuBLASLt adds a C of one row as its bias, once, and our kernels do as well") {
    REQUIRE_GPU();
    Context context;
    std::string missing;
    const std::unique_ptr<Peer> peer = open_cublaslt_if_there(context, missing);
    for (const Order order : {Order::row, Order::column}) {
        for (const DataType type : {DataType::bf16, DataType::f16}) {
            const GemmSpec spec =
                resolved({.m = 264, .n = 136, .k = 200, .a = type, .c = type, .d_order = order, .broadcast_c = true});
            INFO(to_string(spec));
            const Verification own = verify(state_of(context), context.kernel(spec), {.beta = 1});
            INFO(own.message);
            CHECK(own.ok);
            if (peer == nullptr) continue;
            std::string reason;
            const std::vector<BenchCandidate> candidates = peer->candidates(spec, reason);
            INFO(reason);
            REQUIRE_FALSE(candidates.empty());
            const Verification verdict =
                verify_candidate(state_of(context), spec, candidates.front(), {.alpha = 2, .beta = 1});
            INFO(verdict.message);
            CHECK(verdict.ok);
            CHECK_THAT(verify_candidate(state_of(context), spec, candidates.front(), {.beta = 0.5F}).message,
                       ContainsSubstring("beta must be 1, not 0.5"));
        }
    }
    if (peer == nullptr) SKIP_TEST(missing);
}

TEST_CASE("cuBLASLt computes a text in its own kernel or with a pass behind its product, and both are right") {
    REQUIRE_GPU();
    Context context;
    std::string missing;
    const std::unique_ptr<Peer> peer = open_cublaslt_if_there(context, missing);
    if (peer == nullptr) SKIP_TEST(missing);
    for (const Order order : {Order::row, Order::column}) {
        const std::string bias = order == Order::row ? "bias[n]" : "bias[m]";
        for (const auto& [text, is_fused] :
             std::vector<std::pair<std::string, bool>>{{"d = relu(acc + " + bias + ")", true},
                                                       {"d = gelu(acc + " + bias + ")", true},
                                                       {"d = gelu(acc)", true},
                                                       {"d = acc + x[m,n]", true},
                                                       {"d = acc + " + bias + " + x[m,n]", true},
                                                       {"d = silu(acc + " + bias + ") * x[m,n]", false},
                                                       {"s: f32[0]; w: f32[m]; d = acc * w[m] + s[0]", false}}) {
            const GemmSpec spec = resolved({.m = 264, .n = 136, .k = 200, .d_order = order, .epilogue = text});
            std::string reason;
            std::map<std::string, BenchCandidate> first_of_way;
            for (const BenchCandidate& candidate : peer->candidates(spec, reason))
                first_of_way.emplace(candidate.way, candidate);
            INFO(to_string(spec) << ": " << reason);
            CHECK(first_of_way.contains(std::string(kPassWay)));
            CHECK(first_of_way.size() == (is_fused ? 2 : 1));
            for (const auto& [way, candidate] : first_of_way) {
                const Verification verdict = verify_candidate(state_of(context), spec, candidate);
                INFO(candidate.name << ": " << verdict.message);
                CHECK(verdict.ok);
            }
        }
    }
}

TEST_CASE("all of cuBLASLt's algorithms for one problem are right and can be timed beside ours", "[timing]") {
    REQUIRE_GPU();
    Context context;
    std::string missing;
    const std::unique_ptr<Peer> peer = open_cublaslt_if_there(context, missing);
    if (peer == nullptr) SKIP_TEST(missing);
    const GemmSpec spec = resolved({.m = 128, .n = 128, .k = 65536});  // split along K
    std::string reason;
    std::vector<BenchCandidate> candidates = peer->candidates(spec, reason);
    REQUIRE(candidates.size() > 1);
    for (const BenchCandidate& candidate : candidates) {
        const Verification verdict = verify_candidate(state_of(context), spec, candidate);
        INFO(candidate.name << ": " << verdict.message);
        CHECK(verdict.ok);
    }
    candidates.insert(candidates.begin(), ours(context.kernel(spec)));
    const std::vector<Timing> timings = time_candidates(state_of(context), spec, candidates, {.rounds = 3});
    CHECK(std::ranges::all_of(timings, [](const Timing& timing) { return timing.median_us > 0; }));
}

TEST_CASE("cuBLASLt is offered other types, f16 accumulators and low alignment too") {
    REQUIRE_GPU();
    Context context;
    std::string missing;
    const std::unique_ptr<Peer> peer = open_cublaslt_if_there(context, missing);
    if (peer == nullptr) SKIP_TEST(missing);
    GemmSpec f16{.m = 256,
                 .n = 128,
                 .k = 512,
                 .a = DataType::f16,
                 .b = DataType::f16,
                 .d = DataType::f16,
                 .accumulator = DataType::f16};
    GemmSpec odd{.m = 255, .n = 127, .k = 513};
    GemmSpec low{.m = 256, .n = 128, .k = 512, .align_a = 2, .align_b = 2, .align_d = 2};
    GemmSpec wide{.m = 256, .n = 128, .k = 512, .d = DataType::f32};
    for (GemmSpec spec : {f16, odd, low, wide}) {
        spec = resolved(spec);
        INFO(to_string(spec));
        std::string reason;
        const std::vector<BenchCandidate> candidates = peer->candidates(spec, reason);
        INFO(reason);
        REQUIRE_FALSE(candidates.empty());
        const Verification verdict = verify_candidate(state_of(context), spec, candidates.front());
        INFO(verdict.message);
        CHECK(verdict.ok);
    }
    for (const DataType type : {DataType::tf32, DataType::f32, DataType::s8, DataType::e4m3}) {
        GemmSpec spec = gemm_spec_of_type(type);
        spec.m = spec.n = spec.k = 512;
        spec = resolved(spec);
        INFO(to_string(spec));
        std::string reason;
        const std::vector<BenchCandidate> candidates = peer->candidates(spec, reason);
        if (candidates.empty()) {
            CHECK_FALSE(reason.empty());  // fp8 needs a GPU that has it
            continue;
        }
        const Verification verdict = verify_candidate(state_of(context), spec, candidates.front());
        INFO(verdict.message);
        CHECK(verdict.ok);
    }
}

TEST_CASE("clock and power are read where NVML is", "[timing]") {
    REQUIRE_GPU();
    const tuning::DeviceReading state = tuning::read_device(0);
    std::cout << "SM clock " << state.sm_clock_mhz << " MHz, power " << state.power_watts << " W\n";
    CHECK(state.sm_clock_mhz >= 0);
    CHECK(state.power_watts >= 0);
    CHECK(tuning::read_device(9999).sm_clock_mhz == 0);
}
