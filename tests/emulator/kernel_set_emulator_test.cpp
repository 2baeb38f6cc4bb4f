/// Sets of kernels in C++ and in C, on the emulator.

#include "jitgemm/jitgemm.h"
#include "jitgemm/jitgemm.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Catch::Matchers::ContainsSubstring;

constexpr std::int64_t kN = 20;
constexpr std::int64_t kK = 24;
constexpr std::int64_t kLastM = 70;

std::vector<float> small_integers(std::int64_t count, int period) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i % period - 2));
    return values;
}

/// Row-major A and B, and room for a D.
struct Operands {
    explicit Operands(std::int64_t m)
        : rows(m), a(small_integers(m * kK, 7)), b(small_integers(kK * kN, 5)), d(static_cast<std::size_t>(m * kN)) {}
    [[nodiscard]] int wrong() const {
        int count = 0;
        for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t column = 0; column < kN; ++column) {
                float sum = 0;
                for (std::int64_t p = 0; p < kK; ++p) sum += at(a, row * kK + p) * at(b, p * kN + column);
                count += at(d, row * kN + column) != sum;
            }
        return count;
    }
    static float at(const std::vector<float>& values, std::int64_t place) {
        return values[static_cast<std::size_t>(place)];
    }

    std::int64_t rows;
    std::vector<float> a, b, d;
};

struct DestroySet {
    void operator()(jg_context* context) const { jg_context_destroy(context); }
    void operator()(jg_kernel_set* set) const { jg_kernel_set_destroy(set); }
    void operator()(jg_kernel* kernel) const { jg_kernel_destroy(kernel); }
};

std::unique_ptr<jg_context, DestroySet> emulator() {
    jg_context* context = nullptr;
    REQUIRE(jg_context_create("device=emulator:sm_80; cache-dir=; cache-readonly=", &context) == JG_OK);
    return std::unique_ptr<jg_context, DestroySet>(context);
}

std::string said(jg_status status) { return std::to_string(status) + ": " + jg_last_error(); }

}  // namespace

TEST_CASE("a kernel set of the C interface computes exact products for each m") {
    const auto context = emulator();
    jg_kernel_set* made = nullptr;
    REQUIRE(said(jg_kernel_set_create(context.get(), "f32 tt 1 20 24", 1, kLastM, &made)) == "0: ");
    const std::unique_ptr<jg_kernel_set, DestroySet> set(made);
    for (const std::int64_t m : {1, 2, 3, 17, 64, 65, 70}) {
        Operands operands(m);
        jg_arguments arguments = JG_ARGUMENTS_INIT;
        arguments.a = operands.a.data(), arguments.b = operands.b.data(), arguments.d = operands.d.data();
        INFO("m=" << m);
        REQUIRE(said(jg_kernel_set_launch(set.get(), m, &arguments, nullptr)) == "0: ");
        CHECK(operands.wrong() == 0);

        operands.d.assign(operands.d.size(), 0);
        jg_kernel* kernel = nullptr;
        REQUIRE(said(jg_kernel_set_kernel(set.get(), m, &kernel)) == "0: ");
        const std::unique_ptr<jg_kernel, DestroySet> owned(kernel);
        REQUIRE(said(jg_kernel_launch(kernel, &arguments, nullptr)) == "0: ");
        CHECK(operands.wrong() == 0);
    }
    std::size_t size = 0;
    REQUIRE(jg_kernel_set_query(set.get(), "json", nullptr, &size) == JG_OK);
    std::string json(size, '?');
    REQUIRE(jg_kernel_set_query(set.get(), "json", json.data(), &size) == JG_OK);
    CHECK_THAT(json, ContainsSubstring("kernel-set-v1") && ContainsSubstring("\"last_m\": 70"));
}

TEST_CASE("the C interface refuses wrong ranges, an m outside and unknown questions about a kernel set") {
    const auto context = emulator();
    jg_kernel_set* made = nullptr;
    CHECK_THAT(said(jg_kernel_set_create(context.get(), "f32 tt 1 20 24", 5, 3, &made)), ContainsSubstring("5:3"));
    CHECK(made == nullptr);
    CHECK_THAT(said(jg_kernel_set_create(nullptr, "f32 tt 1 20 24", 1, 3, &made)),
               ContainsSubstring("context is NULL"));
    REQUIRE(jg_kernel_set_create(context.get(), "f32 tt 1 20 24", 1, 3, &made) == JG_OK);
    const std::unique_ptr<jg_kernel_set, DestroySet> set(made);
    jg_kernel* kernel = nullptr;
    CHECK_THAT(said(jg_kernel_set_kernel(set.get(), 4, &kernel)), ContainsSubstring("m is 4"));
    CHECK(kernel == nullptr);
    std::size_t size = 0;
    CHECK_THAT(said(jg_kernel_set_query(set.get(), "colour", nullptr, &size)), ContainsSubstring("'colour'"));
    CHECK_THAT(said(jg_kernel_set_launch(nullptr, 1, nullptr, nullptr)), ContainsSubstring("set is NULL"));
}

TEST_CASE("a kernel set of a context launches on the emulator for a row-major and a column-major D") {
    jitgemm::Options options;
    options.device = "emulator:sm_90a";
    jitgemm::Context context(options);
    for (const jitgemm::Order order : {jitgemm::Order::row, jitgemm::Order::column}) {
        const jitgemm::GemmSpec spec{
            .n = kN, .k = kK, .a = jitgemm::DataType::f32, .layout = jitgemm::GemmLayout::tt, .d_order = order};
        const jitgemm::GemmKernelSet set = context.kernels(spec, 1, 33);
        for (const std::int64_t m : {1, 2, 16, 33}) {
            Operands operands(m);
            jitgemm::DeviceBuffer a = context.allocate(operands.a.size() * sizeof(float));
            jitgemm::DeviceBuffer b = context.allocate(operands.b.size() * sizeof(float));
            jitgemm::DeviceBuffer d = context.allocate(operands.d.size() * sizeof(float));
            a.copy_from_host(operands.a.data(), a.size_bytes());
            b.copy_from_host(operands.b.data(), b.size_bytes());
            set.launch(m, {.a = a.data(), .b = b.data(), .d = d.data()});
            context.synchronize();
            std::vector<float> written(operands.d.size());
            d.copy_to_host(written.data(), d.size_bytes());
            for (std::int64_t row = 0; row < m; ++row)
                for (std::int64_t column = 0; column < kN; ++column) {
                    const std::int64_t place = order == jitgemm::Order::row ? row * kN + column : column * m + row;
                    operands.d[static_cast<std::size_t>(row * kN + column)] = Operands::at(written, place);
                }
            INFO("m=" << m << ", D by " << (order == jitgemm::Order::row ? "row" : "column"));
            CHECK(operands.wrong() == 0);
        }
    }
}

TEST_CASE("kernel sets of batches and groups: each m has a right kernel, whose strides follow from it") {
    using jitgemm::testing::on_emulator, jitgemm::testing::on_hopper;
    constexpr std::array kOnHopper{"bf16 tn 1 40 48 batch=3",
                                   "bf16 nn 1 24 40 batch=4 batch-inner=2",
                                   "bf16 tn 1 24 40 batch=3 d-layout=n batch-stride-b=0",
                                   "bf16 tn 1 40 48 groups=5",
                                   "bf16 tn 1 40 48 groups=5 source-rows=9",
                                   "bf16 nt 1 40 100 groups=3 ragged=k"};
    constexpr std::array kElsewhere{"f32 tt 1 20 24 batch=3 deterministic=batch_invariant",
                                    "bf16 tn 1 24 40 batch=3 pointers=yes", "f32 nn 1 20 24 groups=3",
                                    "bf16 tn 1 40 48 batch=2 epilogue='d = relu(acc + bias[b,n])'"};
    const auto check = [](jitgemm::Context& context, std::string_view text) {
        const jitgemm::GemmKernelSet set = context.kernels(jitgemm::parse_shape_line(text), 1, 40);
        for (const std::int64_t m : {1, 17, 40}) {
            const jitgemm::GemmKernel kernel = set.kernel(m);
            const jitgemm::Verification verdict = verify(state_of(context), kernel, {});
            INFO(text << ", m=" << m << ", " << kernel.info().name << "\n" << verdict.message);
            CHECK(kernel.spec().m == m);
            CHECK(verdict.ok);
        }
    };
    for (const std::string_view text : kOnHopper) check(on_hopper(), text);
    for (const std::string_view text : kElsewhere) check(on_emulator(), text);
}

TEST_CASE("kernel sets of batches and groups: what no m of the range may be is refused") {
    using jitgemm::testing::on_emulator;
    const auto reason = [](std::string_view text) -> std::string {
        try {
            static_cast<void>(on_emulator().kernels(jitgemm::parse_shape_line(text), 30, 40));
        } catch (const jitgemm::Error& error) {
            return error.what();
        }
        return "none";
    };
    CHECK_THAT(reason("bf16 tn 30 24 40 groups=3 group-rows=10"),
               ContainsSubstring("m is 40: m must be group_rows times the 3 groups"));
    // 35 rows of D fit between two problems of the batch.
    CHECK_THAT(reason("bf16 tn 30 24 40 batch=3 batch-stride-d=840"), ContainsSubstring("batch_stride_d is 840"));
}
