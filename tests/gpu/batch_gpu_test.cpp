/// Batches on a GPU: more problems than a grid has along one dimension, every kind of kernel, matrices whose last
/// elements lie beyond 2^32, and streams and replays.

#include "generator/heuristics.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/verify/guarded_problem.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/gpu/streams_and_replays.hpp"
#include "tests/support/kernel_checks.hpp"

#include <cstdint>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

GemmSpec batch_of(std::int64_t batch, const Sizes& size, DataType type = DataType::bf16,
                  GemmLayout layout = GemmLayout::tn) {
    GemmSpec spec = spec_of(layout, size[0], size[1], size[2], type);
    spec.batch = batch;
    return spec;
}

}  // namespace

TEST_CASE("batches on a GPU: as many problems as fill two dimensions of a grid") {
    REQUIRE_GPU();
    Context context;
    static_cast<void>(check_chosen(context, batch_of(70000, {3, 5, 4})));
    static_cast<void>(check_chosen(context, batch_of(70000, {3, 5, 4}, DataType::f32)));
}

TEST_CASE("batches on a GPU: one wrong element among 70,000 problems, and a byte between two of them") {
    REQUIRE_GPU();
    Context context;
    GemmSpec spec = batch_of(70'000, {3, 5, 4});
    spec.batch_stride_d = 17;
    spec = resolved(spec);
    GuardedProblem problem(state_of(context), spec, InputKind::integers, 1, 1, 0);
    problem.run(context.kernel(spec));
    REQUIRE(problem.check().ok);
    const auto set = [&](std::uint64_t element) {
        const std::uint16_t value = 0x4500;  // 2048
        state_of(context).device->copy_to_device(problem.arguments().d.address + 2 * element, &value, 2);
    };
    set(41'234 * 17 + 13);
    set(50'000 * 17 + 15);
    const Verification verdict = problem.check();
    CHECK(verdict.wrong == 1);
    CHECK(verdict.guard_damage == 2);
    REQUIRE(verdict.first);
    CHECK(verdict.first->problem == 41'234);
    CHECK(verdict.first->row == 2);
    CHECK(verdict.first->column == 3);
}

TEST_CASE("batches on a GPU: every type and layout, packed, shared and side by side") {
    REQUIRE_GPU();
    Context context;
    for (const GemmLayout layout : kLayouts)
        for (const DataType type : {DataType::bf16, DataType::f16, DataType::f32}) {
            GemmSpec spec = batch_of(9, {136, 72, 200}, type, layout);
            static_cast<void>(check_chosen(context, spec));
            spec.batch_stride_b = 0;
            spec.c = spec.d;
            static_cast<void>(check_chosen(context, spec, {.alpha = 0.5F, .beta = 2.0F}));
            spec.ldd = spec.ldc = 9 * 72;
            spec.batch_stride_d = spec.batch_stride_c = 72;
            static_cast<void>(check_chosen(context, spec, {.beta = 1.0F}));
        }
}

TEST_CASE("batches on a GPU: the last problem lies beyond 2^32 elements") {
    REQUIRE_GPU();
    Context context;
    GemmSpec spec = batch_of(3, {64, 64, 64});
    spec.batch_stride_a = std::int64_t{1} << 31;
    spec.batch_stride_d = (std::int64_t{1} << 31) + 64;
    static_cast<void>(check_chosen(context, spec));
}

TEST_CASE("batches on a GPU: element 2^31 lies within the last problem's matrices") {
    REQUIRE_GPU();
    Context context;
    // Half of the last A, B and D lies on either side: as TMA reads them, as threads of mma.sync do, and FP32 cores.
    for (const GemmSpec& asked : {batch_of(2, {64, 64, 64}), batch_of(2, {63, 65, 67}, DataType::f16, GemmLayout::nn),
                                  batch_of(2, {64, 64, 64}, DataType::f32, GemmLayout::tt)}) {
        GemmSpec spec = asked;
        spec.batch_stride_a = spec.batch_stride_b = spec.batch_stride_d = (std::int64_t{1} << 31) - 2048;
        INFO(to_string(spec));
        static_cast<void>(check_chosen(context, spec));
    }
}

TEST_CASE("batches on a GPU: a text with values of each problem") {
    REQUIRE_GPU();
    Context context;
    GemmSpec spec = batch_of(5, {200, 136, 72});
    spec.epilogue = "t = acc + bias[b,n]; d = relu(t) * x[m,n]; pre[b,m,n] = t";
    static_cast<void>(check_chosen(context, spec));
}

TEST_CASE("batches on a GPU: two dimensions, every type and layout") {
    REQUIRE_GPU();
    Context context;
    int i = 0;
    for (const DataType type : {DataType::bf16, DataType::f32, DataType::e4m3, DataType::s8})
        for (const GemmLayout layout : kLayouts) {
            GemmSpec spec = batch_of(40, {136, 72, 208}, type, layout);
            OuterBatch outer{.inner = 8};
            if (++i % 3 == 0) spec.batch_stride_a = 0, outer.stride_b = 0;
            if (i % 3 == 1) spec.ldd = 72 * 8 + 16, spec.batch_stride_d = 72;  // side by side
            if (i % 3 == 2) outer.stride_d = 9 * 136 * 72, outer.stride_a = 0;
            spec.outer = outer;
            INFO(to_string(spec));
            static_cast<void>(check_chosen(context, spec));
        }
}

TEST_CASE("batches on a GPU: launches on two streams, and replays of a graph") {
    REQUIRE_GPU();
    Context context;
    for (const bool is_nested : {false, true})
        for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nn}) {
            GemmSpec spec = batch_of(24, {200, 136, 72}, DataType::bf16, layout);
            if (is_nested) spec.outer = OuterBatch{.inner = 6, .stride_b = 0};
            const Problem problem = problem_of(spec);
            check_streams_and_replays(context, problem.asked, choose_config(problem, find_gpu("h200")));
        }
}

TEST_CASE("batches on a GPU: arrays of addresses, of many problems and behind another kernel") {
    REQUIRE_GPU();
    Context context;
    for (const DataType type : {DataType::bf16, DataType::f32}) {
        GemmSpec spec = batch_of(300, {72, 40, 104}, type);
        spec.pointers = true;
        spec.c = spec.d;
        static_cast<void>(check_chosen(context, spec, {.alpha = 0.5F, .beta = 2.0F}));
    }
    GemmSpec many = batch_of(70'000, {3, 5, 4});
    many.pointers = true;
    many = resolved(many);
    GuardedProblem problem(state_of(context), many, InputKind::integers, 1, 1, 0);
    const GemmKernel kernel = context.kernel(many);
    problem.run(kernel);
    kernel.launch(problem.arguments());  // begins while the same launch before it ends
    context.synchronize(nullptr);
    CHECK(problem.check().wrong == 0);
}
