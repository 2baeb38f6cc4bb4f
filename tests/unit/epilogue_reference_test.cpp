/// Batches and epilogues as verification makes and judges them, against the plain formula of tests/support. No kernel family has them yet.

#include "runtime/emulator_device/emulator_device.hpp"
#include "runtime/support/element_codec.hpp"
#include "runtime/verify/guarded_problem.hpp"
#include "runtime/verify/host_reference.hpp"
#include "runtime/verify/verification_rules.hpp"
#include "tests/catch.hpp"
#include "tests/support/fake_compiler.hpp"
#include "tests/support/host_reference_device.hpp"
#include "tests/support/plain_gemm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Case {
    std::string_view name;
    void (*change)(GemmSpec&);
};

const std::vector<Case>& epilogues() {
    static const std::vector<Case> cases{
        {"bias per row", [](GemmSpec& s) { s.epilogue.bias = Bias::per_row; }},
        {"bias per column",
         [](GemmSpec& s) { s.epilogue.bias = Bias::per_column, s.epilogue.bias_type = DataType::bf16; }},
        {"relu", [](GemmSpec& s) { s.epilogue.activation = Activation::relu; }},
        {"gelu", [](GemmSpec& s) { s.epilogue.activation = Activation::gelu; }},
        {"silu", [](GemmSpec& s) { s.epilogue.activation = Activation::silu; }},
        {"residual", [](GemmSpec& s) { s.epilogue.residual = DataType::f16; }},
        {"scale A", [](GemmSpec& s) { s.epilogue.scale_a = ScaleFactors::per_tensor; }},
        {"scale rows of A", [](GemmSpec& s) { s.epilogue.scale_a = ScaleFactors::per_vector; }},
        {"scale blocks of A", [](GemmSpec& s) { s.epilogue.scale_a = ScaleFactors::per_block; }},
        {"scale B", [](GemmSpec& s) { s.epilogue.scale_b = ScaleFactors::per_tensor; }},
        {"scale columns of B", [](GemmSpec& s) { s.epilogue.scale_b = ScaleFactors::per_vector; }},
        {"scale blocks of B", [](GemmSpec& s) { s.epilogue.scale_b = ScaleFactors::per_block; }},
        {"scale D", [](GemmSpec& s) { s.epilogue.scale_d = ScaleFactors::per_tensor; }},
        {"all",
         [](GemmSpec& s) {
             s.c = DataType::f32;
             s.epilogue = {.bias = Bias::per_column,
                           .bias_type = DataType::f16,
                           .activation = Activation::silu,
                           .residual = DataType::f32,
                           .scale_a = ScaleFactors::per_vector,
                           .scale_b = ScaleFactors::per_block,
                           .scale_d = ScaleFactors::per_tensor};
         }},
        {"all that is exact",
         [](GemmSpec& s) {
             s.c = DataType::bf16;
             s.epilogue = {.bias = Bias::per_row,
                           .activation = Activation::relu,
                           .residual = DataType::bf16,
                           .scale_a = ScaleFactors::per_block,
                           .scale_b = ScaleFactors::per_vector,
                           .scale_d = ScaleFactors::per_tensor};
         }},
    };
    return cases;
}

const std::vector<Case>& batches() {
    static const std::vector<Case> cases{
        {"one problem", [](GemmSpec&) {}},
        {"packed", [](GemmSpec& s) { s.batch = 3; }},
        {"one A for all", [](GemmSpec& s) { s.batch = 3, s.batch_stride_a = 0; }},
        {"one B and one C for all", [](GemmSpec& s) { s.batch = 3, s.batch_stride_b = 0, s.batch_stride_c = 0; }},
        {"far apart", [](GemmSpec& s) { s.batch = 2, s.batch_stride_a = 5000, s.batch_stride_d = 4001; }},
        {"rows side by side",
         [](GemmSpec& s) {
             s.batch = 3;
             s.lda = 3 * 150, s.batch_stride_a = 140;
             s.ldd = 70, s.batch_stride_d = 21;
         }},
    };
    return cases;
}

/// More than two blocks of k; 8-bit inputs, so that scale factors may be had.
GemmSpec spec_of(const Case& epilogue, const Case& batch, Order d_order = Order::row,
                 GemmLayout layout = GemmLayout::tn) {
    GemmSpec spec = gemm_spec_of_type(DataType::e4m3);
    spec.m = 9;
    spec.n = 11;
    spec.k = 140;
    spec.d = DataType::e5m2;
    spec.layout = layout;
    spec.d_order = d_order;
    epilogue.change(spec);
    batch.change(spec);
    return resolved(spec);
}

void compute(const GemmSpec& spec, const GuardedProblem& problem, float alpha, float beta) {
    compute_plainly(spec, plain_operands(problem), alpha, beta, reinterpret_cast<void*>(problem.arguments().d.address));
}

}  // namespace

TEST_CASE("the references expect of every epilogue, alone and together, what the plain formula gives") {
    HostReferenceContext context;
    const HostReference host(context.impl.device);
    const std::unique_ptr<Reference> kernels = make_reference(context.impl);
    for (const Case& epilogue : epilogues()) {
        const GemmSpec spec = spec_of(epilogue, batches()[2]);
        const GuardedProblem problem(context.impl, spec, InputKind::normal, 7, 0.75F, spec.c ? -0.5F : 0.0F);
        for (const std::uint64_t number : {0U, 57U, 98U, 99U, 2 * 99U + 13}) {
            const auto at = place_of(problem.request().d, number);
            INFO(epilogue.name << ' ' << element_name("D", spec.batch, at));
            const double plain =
                plain_element(spec, plain_operands(problem), 0.75F, spec.c ? -0.5F : 0.0F, at.batch, at.row, at.column);
            CHECK_THAT(host.element(problem.request(), number).expected, Catch::Matchers::WithinRel(plain, 1e-12));
            CHECK_THAT(kernels->element(problem.request(), number).expected, Catch::Matchers::WithinRel(plain, 1e-12));
        }
    }
}

TEST_CASE(
    "what the plain formula computes is found right, with every epilogue, batch and order, and a wrong element by its "
    "place") {
    HostReferenceContext context;
    const HostReference host(context.impl.device);
    for (const Case& epilogue : epilogues()) {
        for (const Case& batch : batches()) {
            for (const InputKind inputs : {InputKind::integers, InputKind::normal}) {
                INFO(epilogue.name << ", " << batch.name << (inputs == InputKind::normal ? ", normal" : ", integers"));
                const GemmSpec spec = spec_of(epilogue, batch);
                const float beta = spec.c ? -2.0F : 0.0F;
                const GuardedProblem problem(context.impl, spec, inputs, 3, 0.5F, beta);
                CHECK(problem.is_exact() ==
                      (inputs == InputKind::integers && spec.epilogue.activation <= Activation::relu));
                CHECK(host.check(problem.request()).wrong == static_cast<std::uint64_t>(spec.batch * 99));
                compute(spec, problem, 0.5F, beta);
                CHECK(problem.check_on_cpu().ok);
                CHECK(problem.check_on_cpu().largest_error <= 1);
                store_element(spec, reinterpret_cast<void*>(problem.arguments().d.address), spec.batch - 1, 8, 10, 5e4);
                const Verification verdict = problem.check_on_cpu();
                CHECK(verdict.wrong == 1);
                REQUIRE(verdict.first);
                CHECK(verdict.first->batch == spec.batch - 1);
                CHECK_THAT(verdict.message, ContainsSubstring("D[8, 10]"));
            }
        }
    }
}

TEST_CASE("the kernels judge batches and epilogues as the host does, in every layout", "[heavy]") {
    HostReferenceContext context;
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt}) {
        for (const Order order : {Order::row, Order::column}) {
            for (const InputKind inputs : {InputKind::integers, InputKind::normal}) {
                const GemmSpec spec = spec_of(epilogues().back(), batches()[1], order, layout);
                INFO(to_string(spec));
                const GuardedProblem problem(context.impl, spec, inputs, 3, 2, 1);
                compute(spec, problem, 2, 1);
                const Verification verdict = problem.check();
                INFO(verdict.message);
                CHECK(verdict.ok);
                CHECK_THAT(verdict.message, ContainsSubstring("all 3x9x11 elements are right"));
                CHECK(std::fabs(verdict.largest_error - problem.check_on_cpu().largest_error) < 1e-6);
                store_element(spec, reinterpret_cast<void*>(problem.arguments().d.address), 1, 0, 3, 5e4);
                CHECK_THAT(problem.check().message, ContainsSubstring("1 of 3x9x11 elements are wrong") &&
                                                        ContainsSubstring("first D[0, 3] of problem 1"));
            }
        }
    }
}

TEST_CASE("turned around, a batch with an epilogue is the same D with A and B and their factors swapped") {
    HostReferenceContext context;
    for (const Case& epilogue : epilogues()) {
        for (const Case& batch : batches()) {
            const GemmSpec spec = spec_of(epilogue, batch, Order::column, GemmLayout::nt);
            const GuardedProblem problem(context.impl, spec, InputKind::normal, 5, 1, 1);
            const PlainOperands operands = plain_operands(problem);
            PlainOperands swapped = operands;
            std::swap(swapped.a, swapped.b);
            std::swap(swapped.scale_a, swapped.scale_b);
            INFO(epilogue.name << ", " << batch.name);
            CHECK_THAT(plain_element(with_row_major_d(spec), swapped, 1, 1, spec.batch - 1, 7, 4),
                       Catch::Matchers::WithinRel(plain_element(spec, operands, 1, 1, spec.batch - 1, 4, 7), 1e-12));
        }
    }
}

TEST_CASE("a result that leaves a field out is found wrong") {
    HostReferenceContext context;
    const Case plain{"plain", [](GemmSpec&) {}};
    for (const Case& epilogue : epilogues()) {
        const GemmSpec spec = spec_of(epilogue, batches()[1]);
        GemmSpec without = spec_of(plain, batches()[1]);
        without.c = spec.c;
        const float beta = spec.c ? 1.0F : 0.0F;
        const GuardedProblem problem(context.impl, resolved(spec), InputKind::normal, 3, 1, beta);
        compute(resolved(without), problem, 1, beta);
        INFO(epilogue.name);
        CHECK(problem.check_on_cpu().wrong > 20);  // of 297; an e5m2 forgives an eighth of a value
    }
}

TEST_CASE("one problem's operands in place of another's are found wrong") {
    HostReferenceContext context;
    const GemmSpec spec = spec_of(epilogues().back(), batches()[1]);
    for (const auto stride : {&GemmSpec::batch_stride_a, &GemmSpec::batch_stride_b, &GemmSpec::batch_stride_c}) {
        const GuardedProblem problem(context.impl, spec, InputKind::integers, 3, 1, 1);
        GemmSpec shared = spec;
        shared.*stride = 0;
        compute(shared, problem, 1, 1);
        CHECK(problem.check_on_cpu().wrong > 20);
        CHECK(problem.check_on_cpu().first->batch == 1);
    }
}

TEST_CASE("operands of an epilogue that a kernel changes, and bytes between problems, are found") {
    HostReferenceContext context;
    for (const std::size_t batch : {std::size_t{4}, std::size_t{5}}) {  // far apart, side by side
        const GemmSpec spec = spec_of(epilogues().back(), batches()[batch]);
        const GuardedProblem problem(context.impl, spec, InputKind::integers, 3, 1, 1);
        compute(spec, problem, 1, 1);
        INFO(batches()[batch].name << ": " << problem.check().message);
        CHECK(problem.check().ok);
        const auto spoil = [](DevicePointer data, std::int64_t byte) {
            *(reinterpret_cast<std::byte*>(data.address) + byte) ^= std::byte{1};
        };
        const Check request = problem.request();
        spoil(request.bias.data, 3);
        spoil(request.scale_a.data, 4 * 18);  // the second problem's first
        spoil(request.residual.data, 2 * *spec.batch_stride_d);
        CHECK_THAT(problem.check().message,
                   ContainsSubstring("1 elements of the bias were changed, first the bias[0, 0]") &&
                       ContainsSubstring("A's scale factors[0, 0] of problem 1") &&
                       ContainsSubstring("the residual[0, 0] of problem 1"));
        CHECK(problem.check().ok);
        const std::int64_t behind_row =
            batch == 4 ? 11 + 8 * 11 : 2 * 21 + 11;  // of the first problem, of the last in a line
        spoil(request.d.data, behind_row);
        spoil(request.d.data, -1);
        if (batch == 5) spoil(request.d.data, 70 + 12);
        CHECK(problem.check().guard_damage == (batch == 5 ? 3 : 2));
        CHECK(problem.check().wrong == 0);
    }
}

TEST_CASE("on the emulator, bytes of any problem's D that were never written are told, and none that lie between") {
    ContextState context(Options{}, std::make_shared<EmulatorDevice>(find_arch("sm_80"), 0),
                         std::make_shared<FakeCompiler>());
    for (const std::size_t batch : {std::size_t{4}, std::size_t{5}}) {  // far apart, side by side
        const GemmSpec spec = spec_of(epilogues().back(), batches()[batch], Order::column);
        INFO(batches()[batch].name);
        const GuardedProblem problem(context, spec, InputKind::integers, 3, 1, 1);
        CHECK(problem.check().unwritten == spec.batch * 99);
        const Check request = problem.request();
        const auto copied = [&](const DeviceMatrix& matrix, std::int64_t elements) {
            std::vector<std::byte> bytes(static_cast<std::size_t>(elements * jitgemm::bytes(matrix.type)));
            context.device->copy_to_host(bytes.data(), matrix.data, bytes.size());
            return bytes;
        };
        const auto extent = [](const DeviceMatrix& matrix) {
            return (matrix.batch - 1) * matrix.batch_stride + (matrix.rows - 1) * matrix.row_stride +
                   (matrix.columns - 1) * matrix.column_stride + 1;
        };
        std::vector<std::vector<std::byte>> host;
        for (const DeviceMatrix& matrix : {request.a, request.b, request.c, request.bias, request.residual,
                                           request.scale_a, request.scale_b, request.scale_d})
            host.push_back(copied(matrix, extent(matrix)));
        std::vector<std::byte> d = copied(request.d, extent(request.d));
        compute_plainly(spec,
                        {host[0].data(), host[1].data(), host[2].data(), host[3].data(), host[4].data(), host[5].data(),
                         host[6].data(), host[7].data()},
                        1, 1, d.data());
        const std::int64_t last = (spec.batch - 1) * *spec.batch_stride_d;
        for (std::int64_t i = 0; i < spec.batch; ++i)  // every line of D by itself, but for one element
            for (std::int64_t line = 0; line < spec.n; ++line) {
                const auto first = static_cast<std::size_t>(i * *spec.batch_stride_d + line * spec.ldd);
                const std::size_t left_out = i * *spec.batch_stride_d == last && line == 7 ? 1 : 0;
                context.device->copy_to_device(DevicePointer{request.d.data.address + first}, d.data() + first,
                                               9 - left_out);
            }
        const Verification verdict = problem.check();
        CHECK(verdict.unwritten == 1);
        CHECK(verdict.wrong == 1);
        CHECK(verdict.guard_damage == 0);
        CHECK_THAT(verdict.message,
                   ContainsSubstring(fmt::format("first those of D[8, 7] of problem {}", spec.batch - 1)));
    }
}

TEST_CASE("activations in single precision with the hardware's tanh stay within the bound, other activations do not") {
    struct Approximation {
        Activation activation;
        float (*in_single)(float);
    };
    const auto gelu = [](float x) {
        const float t = std::tanh(0.7978846F * (x + 0.044715F * x * x * x)) * (1 - 0x1p-11F);
        return 0.5F * x * (1 + t);
    };
    const auto silu = [](float x) { return x * (0.5F + 0.5F * (std::tanh(0.5F * x) * (1 + 0x1p-11F))); };
    for (const Approximation& way : {Approximation{Activation::gelu, gelu}, Approximation{Activation::silu, silu}}) {
        GemmSpec spec{.m = 1, .n = 1, .k = 1, .a = DataType::f32};
        spec.epilogue.activation = way.activation;
        spec = resolved(spec);
        HostReferenceContext context;
        const GuardedProblem problem(context.impl, spec, InputKind::normal, 1, 1, 0);
        const HostReference host(context.impl.device);
        auto* const a = reinterpret_cast<float*>(problem.arguments().a.address);
        auto* const b = reinterpret_cast<float*>(problem.arguments().b.address);
        auto* const d = reinterpret_cast<float*>(problem.arguments().d.address);
        *b = 1;
        double largest = 0;
        for (int step = -1200; step < 1200; ++step) {
            const float x = 0.01F * static_cast<float>(step);
            *a = x;
            *d = way.in_single(x);
            largest = std::max(largest, host.check(problem.request()).largest_error);
        }
        CHECK(largest < 0.6);
        CHECK(largest > 0.1);  // no wider than need be
        *a = 1.5F;
        *d = way.activation == Activation::gelu ? silu(1.5F) : gelu(1.5F);
        CHECK(host.check(problem.request()).wrong == 1);
    }
}

TEST_CASE("small integers stay exact with what an epilogue adds") {
    GemmSpec spec{.m = 8, .n = 8, .k = 1024, .a = DataType::f16, .c = DataType::f16};
    spec.epilogue = {.bias = Bias::per_row, .residual = DataType::f16};
    for (const float beta : {0.0F, 1.0F, -4.0F}) {
        const IntegerInputs inputs = integer_inputs(resolved(spec), 1, beta);
        REQUIRE(inputs.exact);
        const std::int64_t terms = (1024 + inputs.group - 1) / inputs.group;
        const auto products = static_cast<double>(terms * inputs.range * inputs.range);
        CHECK(products + (2 + std::fabs(static_cast<double>(beta))) * inputs.range_c <= 0x1p24);
    }
    spec.epilogue.activation = Activation::relu;
    CHECK(integer_inputs(resolved(spec), 1, 1).exact);
    spec.epilogue.activation = Activation::gelu;
    CHECK_FALSE(integer_inputs(resolved(spec), 1, 1).exact);
}
