/// Kernels through the C interface, on the emulator.

#include "jitgemm/jitgemm.h"
#include "jitgemm/jitgemm.hpp"
#include "tests/catch.hpp"
#include "tests/support/c_interface.hpp"
#include "tests/support/says.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cfenv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace {

using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

/// A variable of the environment, put back afterwards.
class Variable {
public:
    Variable(const char* name, const char* value) : name_(name) {
        if (const char* const before = std::getenv(name)) before_ = before;
        ::setenv(name, value, 1);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;
    ~Variable() {
        if (before_)
            ::setenv(name_, before_->c_str(), 1);
        else
            ::unsetenv(name_);
    }

private:
    const char* name_;
    std::optional<std::string> before_;
};

/// Shared, so that a kernel is compiled once.
jg_context* shared_context() {
    static const OwnedContext context = new_context();
    return context.get();
}

std::string answer(const jg_kernel* kernel, const char* what) {
    std::size_t size = 0;
    REQUIRE(jg_kernel_query(kernel, what, nullptr, &size) == JG_OK);
    std::string text(size, '?');
    REQUIRE(jg_kernel_query(kernel, what, text.data(), &size) == JG_OK);
    REQUIRE(size == text.size());
    return text;
}

std::string text_answer(const jg_kernel* kernel, const char* what) {
    std::string text = answer(kernel, what);
    REQUIRE_FALSE(text.empty());
    REQUIRE(text.back() == '\0');
    text.pop_back();
    return text;
}

/// Row-major f32 matrices of small integers, D's and C's rows `pitch` apart: D = alpha A B + beta C is exact.
struct Problem {
    std::size_t m, n, k, pitch;
    std::vector<float> a, b, c, d;

    Problem(std::size_t rows, std::size_t columns, std::size_t depth, std::size_t ldd, int seed = 0)
        : m(rows),
          n(columns),
          k(depth),
          pitch(ldd),
          a(small_integers(m * k, 7 + seed)),
          b(small_integers(k * n, 5)),
          c(small_integers(m * ldd, 3)),
          d(m * ldd, -1.0F) {}
    static std::vector<float> small_integers(std::size_t count, int period) {
        std::vector<float> values(count);
        int next = 0;
        for (float& value : values) value = static_cast<float>(next++ % period - 2);
        return values;
    }
    [[nodiscard]] float expected(std::size_t row, std::size_t column, float alpha, float beta) const {
        float sum = 0;
        for (std::size_t p = 0; p < k; ++p) sum += a[row * k + p] * b[p * n + column];
        return alpha * sum + (beta == 0 ? 0 : beta * c[row * pitch + column]);
    }
    /// The gaps between rows must be as they were.
    [[nodiscard]] int wrong(float alpha, float beta) const {
        int count = 0;
        for (std::size_t row = 0; row < m; ++row)
            for (std::size_t column = 0; column < pitch; ++column)
                count += d[row * pitch + column] != (column < n ? expected(row, column, alpha, beta) : -1.0F);
        return count;
    }
    [[nodiscard]] jg_arguments arguments(float alpha = 1, float beta = 0) {
        jg_arguments given = JG_ARGUMENTS_INIT;
        given.a = a.data();
        given.b = b.data();
        given.c = c.data();
        given.d = d.data();
        given.alpha = alpha;
        given.beta = beta;
        return given;
    }
};

jg_status launch(const OwnedKernel& kernel, const jg_arguments& arguments) {
    const jg_status status = jg_kernel_launch(kernel.get(), &arguments, nullptr);
    UNSCOPED_INFO(jg_last_error());
    return status;
}

}  // namespace

TEST_CASE("a context is of the device that JITGEMM_DEVICE names, unless its options name one") {
    const Variable variable("JITGEMM_DEVICE", "emulator:sm_90a");
    const auto arch = [](const char* options) {
        const OwnedContext context = new_context(options);
        const OwnedKernel kernel = new_kernel(context.get(), "f32 tn 8 8 8");
        return nlohmann::json::parse(answer(kernel.get(), "json").c_str()).at("arch").get<std::string>();
    };
    CHECK(arch("cache-dir=") == "sm_90a");
    CHECK(arch(kOptions) == "sm_80");
    const Variable wrong("JITGEMM_DEVICE", "emul");
    jg_context* context = nullptr;
    CHECK(jg_context_create(nullptr, &context) != JG_OK);
    CHECK_THAT(jg_last_error(), ContainsSubstring("JITGEMM_DEVICE"));
}

TEST_CASE("C API: a kernel multiplies arrays of the program's own, and leaves the gaps between rows") {
    Problem problem(33, 20, 50, 24);
    const OwnedKernel kernel =
        new_kernel(shared_context(), "gemm-v1 m=33 n=20 k=50 a=f32 layout=tt c=f32 ldc=24 ldd=24");
    REQUIRE(launch(kernel, problem.arguments(2, 0.5F)) == JG_OK);
    CHECK(problem.wrong(2, 0.5F) == 0);

    problem.d = problem.c;
    jg_arguments in_place = problem.arguments(1, 1);
    in_place.c = problem.d.data();
    REQUIRE(launch(kernel, in_place) == JG_OK);
    for (std::size_t row = 0; row < problem.m; ++row)  // C's gaps are what D's were
        for (std::size_t column = problem.n; column < 24; ++column) problem.d[row * 24 + column] = -1;
    CHECK(problem.wrong(1, 1) == 0);
}

TEST_CASE("C API: a C of one row is added to each row") {
    Problem problem(33, 20, 50, 20);
    const OwnedKernel kernel = new_kernel(shared_context(), "gemm-v1 m=33 n=20 k=50 a=f32 layout=tt c=f32");
    const std::vector<float> row(problem.c.begin(), problem.c.begin() + 20);
    jg_arguments arguments = problem.arguments(2, 0.5F);
    arguments.c = row.data();
    arguments.broadcast_c = 1;
    REQUIRE(launch(kernel, arguments) == JG_OK);
    for (std::size_t i = 0; i < problem.c.size(); ++i) problem.c[i] = row[i % 20];
    CHECK(problem.wrong(2, 0.5F) == 0);
    jg_gemm gemm = JG_GEMM_INIT;
    gemm.m = 33;
    gemm.n = 20;
    gemm.k = 50;
    gemm.a = gemm.c = "f32";
    gemm.layout = "tt";
    gemm.broadcast_c = "yes";
    jg_kernel* of_row = nullptr;
    REQUIRE(jg_kernel_create_from_gemm(shared_context(), &gemm, &of_row) == JG_OK);
    for (const std::int64_t said_again : {0, 1}) {
        std::ranges::fill(problem.d, -1.0F);
        arguments.broadcast_c = said_again;
        CHECK(jg_kernel_launch(of_row, &arguments, nullptr) == JG_OK);
        CHECK(problem.wrong(2, 0.5F) == 0);
    }
    jg_kernel_destroy(of_row);
    arguments.broadcast_c = 2;
    CHECK(launch(kernel, arguments) == JG_INVALID);
    CHECK_THAT(jg_last_error(), Says("jg_arguments.broadcast_c", "2", "expected", "0", "1"));
    arguments.broadcast_c = 1;
    arguments.beta = 0;
    const OwnedKernel without_c = new_kernel(shared_context(), "f32 tt 33 20 50");
    CHECK(launch(without_c, arguments) == JG_INVALID);
    CHECK_THAT(jg_last_error(), Says("broadcast_c", "spec", "C"));
}

namespace {

constexpr const char* kGated = "epilogue='scale: f32; d = relu(scale * acc + bias[n]) * up[m,n]'";

/// Of relu(2 * A B + bias) * up.
int wrong_gated(const Problem& problem, const std::vector<float>& bias) {
    int count = 0;
    for (std::size_t row = 0; row < problem.m; ++row)
        for (std::size_t column = 0; column < problem.n; ++column) {
            const float up = problem.c[row * problem.pitch + column];
            const float gate = problem.expected(row, column, 2, 0) + bias[column];
            count += problem.d[row * problem.pitch + column] != std::max(gate, 0.0F) * up;
        }
    return count;
}

}  // namespace

TEST_CASE("C API: a launch gives operands of the epilogue by their names") {
    Problem problem(33, 20, 50, 24);
    const std::vector<float> bias = Problem::small_integers(20, 9);
    jg_gemm gemm = JG_GEMM_INIT;
    gemm.m = 33, gemm.n = 20, gemm.k = 50, gemm.ldd = 24;
    gemm.a = "f32", gemm.layout = "tt";
    gemm.epilogue = "scale: f32; d = relu(scale * acc + bias[n]) * up[m,n]";
    jg_kernel* packed = nullptr;
    REQUIRE(jg_kernel_create_from_gemm(shared_context(), &gemm, &packed) == JG_OK);
    const OwnedKernel kernel =
        new_kernel(shared_context(), fmt::format("gemm-v3 m=33 n=20 k=50 a=f32 layout=tt ldd=24 {} ld-up=24", kGated));
    const auto give = [&](jg_arguments& arguments, std::initializer_list<jg_operand> operands) {
        arguments.operands = operands.begin();
        arguments.operand_count = operands.size();
    };
    jg_arguments arguments = problem.arguments();
    const auto operands = {jg_operand{"up", problem.c.data(), 0}, {"scale", nullptr, 2}, {"bias", bias.data(), 0}};
    give(arguments, operands);
    REQUIRE(launch(kernel, arguments) == JG_OK);
    CHECK(wrong_gated(problem, bias) == 0);

    Problem tight(33, 20, 50, 20);
    std::vector<float> spread(33 * 24);
    const auto operands_of_tight = {
        jg_operand{"bias", bias.data(), 0}, {"scale", nullptr, 2}, {"up", tight.c.data(), 0}};
    arguments = tight.arguments();
    arguments.d = spread.data();
    give(arguments, operands_of_tight);
    REQUIRE(jg_kernel_launch(packed, &arguments, nullptr) == JG_OK);
    for (std::size_t i = 0; i < tight.d.size(); ++i) tight.d[i] = spread[i / 20 * 24 + i % 20];
    CHECK(wrong_gated(tight, bias) == 0);
    jg_kernel_destroy(packed);
}

TEST_CASE("C API: a launch gives outputs of the epilogue by their names") {
    Problem problem(33, 20, 50, 20);
    const OwnedKernel kernel =
        new_kernel(shared_context(),
                   "gemm-v3 m=33 n=20 k=50 a=f32 layout=tt epilogue='d = 2 * acc; pre[m,n] = acc + up[m,n]' ld-pre=23");
    std::vector<float> pre(33 * 23, -1.0F);
    const auto said = [&](std::vector<jg_operand> operands, jg_status expected) {
        jg_arguments arguments = problem.arguments();
        arguments.operands = operands.data();
        arguments.operand_count = operands.size();
        CHECK(launch(kernel, arguments) == expected);
        return std::string(expected == JG_OK ? "" : jg_last_error());
    };
    const jg_operand up{"up", problem.c.data(), 0};
    said({up, {"pre", pre.data(), 0}}, JG_OK);
    int wrong = 0;
    for (std::size_t row = 0; row < 33; ++row)
        for (std::size_t column = 0; column < 23; ++column) {
            const bool is_padding = column >= 20;
            const float of_pre =
                is_padding ? -1.0F : problem.expected(row, column, 1, 0) + problem.c[row * 20 + column];
            wrong += pre[row * 23 + column] != of_pre;
            wrong += !is_padding && problem.d[row * 20 + column] != problem.expected(row, column, 2, 0);
        }
    CHECK(wrong == 0);
    CHECK_THAT(said({up}, JG_INVALID), Says("pre is null"));
    CHECK_THAT(said({up, {"pre", problem.d.data(), 0}}, JG_INVALID), Says("pre", "overlaps", "D"));
    CHECK_THAT(said({up, {"pre", problem.c.data(), 0}}, JG_INVALID), Says("pre", "overlaps", "up"));
}

TEST_CASE("C API: an output may be exactly a matrix that is read") {
    Problem problem(24, 16, 40, 16);
    const OwnedKernel kernel = new_kernel(
        shared_context(), "gemm-v3 m=24 n=16 k=40 a=f32 layout=tt epilogue='d = acc; total[m,n] = acc + x[m,n]'");
    const std::vector<float> before = problem.c;
    const auto both = {jg_operand{"x", problem.c.data(), 0}, {"total", problem.c.data(), 0}};
    jg_arguments arguments = problem.arguments();
    arguments.operands = both.begin();
    arguments.operand_count = both.size();
    REQUIRE(launch(kernel, arguments) == JG_OK);
    int wrong = 0;
    for (std::size_t i = 0; i < before.size(); ++i)
        wrong += problem.c[i] != problem.expected(i / 16, i % 16, 1, 0) + before[i];
    CHECK(wrong == 0);
}

TEST_CASE("C API: operands that don't fit the epilogue are named with the rule") {
    Problem problem(8, 8, 8, 8);
    const OwnedKernel kernel =
        new_kernel(shared_context(), fmt::format("gemm-v3 m=8 n=8 k=8 a=f32 layout=tt {}", kGated));
    const jg_operand up{"up", problem.c.data(), 0}, bias{"bias", problem.c.data(), 0}, scale{"scale", nullptr, 1};
    const auto said = [&](std::vector<jg_operand> operands, float alpha = 1) {
        jg_arguments arguments = problem.arguments(alpha);
        arguments.operands = operands.data();
        arguments.operand_count = operands.size();
        CHECK(launch(kernel, arguments) == JG_INVALID);
        CHECK(std::ranges::count(problem.d, -1.0F) == 64);
        return std::string(jg_last_error());
    };
    CHECK_THAT(said({up, bias}), Says("scale missing", "epilogue"));
    CHECK_THAT(said({up, scale}), Says("bias is null"));
    CHECK_THAT(said({up, scale, bias, {"gate", problem.c.data(), 0}}), Says("gate", "no operand", "of that name"));
    CHECK_THAT(said({up, bias, {"scale", problem.c.data(), 0}}), Says("scale has an address", "scale[0]"));
    CHECK_THAT(said({up, bias, scale}, 2), Says("alpha is 2", "the epilogue has no alpha"));
    CHECK_THAT(said({up, scale, bias, bias}),
               ContainsSubstring("jg_arguments.operands[3].name is 'bias', as of an operand before it"));
    CHECK_THAT(said({up, scale, {nullptr, problem.c.data(), 0}}),
               ContainsSubstring("jg_arguments.operands[2].name is NULL"));
    CHECK_THAT(said(std::vector<jg_operand>(17, up)),
               ContainsSubstring("operand_count is 17: a launch has at most 16"));
    const char* const odd = reinterpret_cast<const char*>(problem.c.data()) + 2;
    CHECK_THAT(said({up, scale, {"bias", odd, 0}}),
               ContainsSubstring("bias at 0x") && ContainsSubstring("less aligned than the 4 bytes"));
    CHECK_THAT(said({{"up", problem.d.data() + 1, 0}, scale, bias}), Says("overlaps up"));

    jg_arguments arguments = problem.arguments();
    arguments.operand_count = 1;
    CHECK(launch(kernel, arguments) == JG_INVALID);
    CHECK_THAT(jg_last_error(), ContainsSubstring("jg_arguments.operands is NULL, but operand_count is 1"));
    arguments.operands = &up;
    const OwnedKernel plain = new_kernel(shared_context(), "f32 tt 8 8 8");
    CHECK(launch(plain, arguments) == JG_INVALID);
    CHECK_THAT(jg_last_error(), ContainsSubstring("'up' is given, but the spec has no epilogue"));
    const OwnedKernel scaled =
        new_kernel(shared_context(), "gemm-v3 m=8 n=8 k=8 a=f32 layout=tt epilogue='d = alpha * acc'");
    const jg_operand alpha{"alpha", nullptr, 2};
    arguments.operands = &alpha;
    CHECK(launch(scaled, arguments) == JG_INVALID);
    CHECK_THAT(jg_last_error(), Says("alpha is among the operands", "a place of its own"));
    arguments = problem.arguments(2);
    CHECK(launch(scaled, arguments) == JG_OK);
    CHECK(problem.wrong(2, 0) == 0);
}

TEST_CASE("C API: a program that knows no operands launches a kernel without them") {
    Problem problem(8, 8, 8, 8);
    jg_arguments arguments = problem.arguments();
    arguments.size = offsetof(jg_arguments, operands);
    arguments.operand_count = 99;  // behind the program's struct
    CHECK(launch(new_kernel(shared_context(), "f32 tt 8 8 8"), arguments) == JG_OK);
    CHECK(problem.wrong(1, 0) == 0);
    const OwnedKernel fused =
        new_kernel(shared_context(), "gemm-v3 m=8 n=8 k=8 a=f32 layout=tt epilogue='d = acc + x[m]'");
    CHECK(launch(fused, arguments) == JG_INVALID);
    CHECK_THAT(jg_last_error(), ContainsSubstring("x is null"));
}

TEST_CASE("C API: what is not read may be null, and nothing is done where there is nothing to do") {
    Problem problem(8, 8, 8, 8);
    const OwnedKernel with_c = new_kernel(shared_context(), "gemm-v1 m=8 n=8 k=8 a=f32 layout=tt c=f32");
    jg_arguments arguments = problem.arguments(0, 2);
    arguments.a = arguments.b = nullptr;
    REQUIRE(launch(with_c, arguments) == JG_OK);
    CHECK(problem.wrong(0, 2) == 0);
    arguments = problem.arguments(1, 0);
    arguments.c = nullptr;
    REQUIRE(launch(with_c, arguments) == JG_OK);
    CHECK(problem.wrong(1, 0) == 0);

    const jg_arguments nothing = JG_ARGUMENTS_INIT;
    CHECK(launch(new_kernel(shared_context(), "f32 tt 0 8 8"), nothing) == JG_OK);
    CHECK(launch(new_kernel(shared_context(), "f32 tt 8 0 8"), nothing) == JG_OK);
    const OwnedKernel no_k = new_kernel(shared_context(), "f32 tt 8 8 0");
    arguments = nothing;
    arguments.d = problem.d.data();
    CHECK(launch(no_k, arguments) == JG_OK);
    CHECK(std::ranges::count(problem.d, 0.0F) == 64);
}

TEST_CASE("C API: a launch that breaks rules is told all of them and writes nothing") {
    Problem problem(8, 8, 8, 8);
    const OwnedKernel kernel = new_kernel(shared_context(), "f32 tt 8 8 8");
    jg_arguments arguments = problem.arguments(1, 1);
    arguments.a = nullptr;
    arguments.b = reinterpret_cast<const char*>(problem.b.data()) + 1;
    CHECK(launch(kernel, arguments) == JG_INVALID);
    const std::string said = jg_last_error();
    CHECK_THAT(said, ContainsSubstring("A is null") && ContainsSubstring("B at 0x") && ContainsSubstring("beta"));
    CHECK(std::ranges::count(problem.d, -1.0F) == 64);
    arguments = problem.arguments();
    arguments.size = 8;
    CHECK(launch(kernel, arguments) == JG_INVALID);
    CHECK_THAT(jg_last_error(), Says("jg_arguments.size", "8"));
    CHECK(jg_kernel_launch(kernel.get(), nullptr, nullptr) == JG_INVALID);
    CHECK(std::string(jg_last_error()) == "jg_arguments is NULL");
}

TEST_CASE("C API: what can't be made is told with the rule") {
    jg_kernel* kernel = nullptr;
    const auto said = [&](const char* spec, jg_status expected) {
        kernel = reinterpret_cast<jg_kernel*>(&kernel);
        CHECK(jg_kernel_create(shared_context(), spec, &kernel) == expected);
        CHECK(kernel == nullptr);
        return std::string(jg_last_error());
    };
    CHECK_THAT(said("f32 tt 8 -8 8", JG_INVALID), Says("n", "-8", "negative"));
    CHECK_THAT(said("fp23 tt 8 8 8", JG_INVALID), ContainsSubstring("'fp23'"));
    CHECK_THAT(said("gemm-v2 m=8 n=8 k=8 batch=2", JG_INVALID),
               ContainsSubstring("batch is '2'") && ContainsSubstring("no kernel serves"));
    CHECK_THAT(said("tf32 tt 8 8 8", JG_NO_KERNEL), ContainsSubstring("multiplies tf32"));
    CHECK_THAT(said("f32 tt 8192 8192 8192", JG_NO_KERNEL), ContainsSubstring("too large for the emulator"));
    const OwnedContext without_nvrtc = new_context(std::string(kOptions) + "; nvrtc=/no/libnvrtc.so");
    CHECK(jg_kernel_create(without_nvrtc.get(), "f32 tt 8 8 8", &kernel) == JG_COMPILE_FAILED);
    CHECK_THAT(jg_last_error(), ContainsSubstring("/no/libnvrtc.so"));
    const OwnedContext forced = new_context(std::string(kOptions) + "; param=stages=3,no_such=1");
    CHECK(jg_kernel_create(forced.get(), "f32 tt 8 8 8", &kernel) == JG_NO_KERNEL);
    CHECK_THAT(jg_last_error(), ContainsSubstring("no_such"));
}

TEST_CASE("C API: a kernel answers what it is, in one form with its C++ twin") {
    const OwnedKernel kernel = new_kernel(shared_context(), "f32 tt 33 20 50");
    jitgemm::Options options = jitgemm::Options::from_environment();
    options.device = "emulator:sm_80";
    options.cache_directory = options.readonly_cache_directory = {};
    jitgemm::Context context(options);
    const jitgemm::GemmKernel twin = context.kernel(jitgemm::parse_shape_line("f32 tt 33 20 50"));
    CHECK(text_answer(kernel.get(), "name") == twin.info().name);
    CHECK(text_answer(kernel.get(), "source") == twin.source());
    CHECK(text_answer(kernel.get(), "spec") == to_string(twin.spec()));
    CHECK_THAT(answer(kernel.get(), "cubin"), ContainsSubstring(".entry"));  // the emulator's is PTX

    std::uint64_t workspace = ~std::uint64_t{0};
    std::size_t size = sizeof workspace;
    REQUIRE(jg_kernel_query(kernel.get(), "workspace", &workspace, &size) == JG_OK);
    CHECK(workspace == twin.workspace_bytes());

    const auto json = nlohmann::json::parse(text_answer(kernel.get(), "json"));
    CHECK(json.at("kernel") == twin.info().name);
    CHECK(json.at("m") == 33);
    CHECK(json.at("type") == "f32");
    CHECK(json.at("arch") == "sm_80");
    CHECK(json.at("threads") == twin.info().threads);
    CHECK(json.at("workspace_bytes") == workspace);

    size = 3;
    char small[3] = {'a', 'b', 'c'};
    CHECK(jg_kernel_query(kernel.get(), "name", small, &size) == JG_INVALID);
    CHECK(size == twin.info().name.size() + 1);
    CHECK_THAT(jg_last_error(), ContainsSubstring(fmt::format("name needs {} bytes, but the buffer has 3", size)));
    CHECK(small[0] == 'a');
    CHECK(jg_kernel_query(kernel.get(), "nmae", nullptr, &size) == JG_INVALID);
    CHECK_THAT(jg_last_error(), ContainsSubstring("unknown query 'nmae'") && Says("did you mean", "'name'"));
}

TEST_CASE("C API: a problem as text and as a struct is one kernel") {
    jg_gemm gemm = JG_GEMM_INIT;
    gemm.m = 33;
    gemm.n = 20;
    gemm.k = 50;
    gemm.a = "f32";
    gemm.layout = "tt";
    jg_kernel* made = nullptr;
    REQUIRE(jg_kernel_create_from_gemm(shared_context(), &gemm, &made) == JG_OK);
    const OwnedKernel from_struct(made);
    const OwnedKernel from_text = new_kernel(shared_context(), "f32 tt 33 20 50");
    CHECK(text_answer(from_struct.get(), "spec") == text_answer(from_text.get(), "spec"));
    CHECK(text_answer(from_struct.get(), "name") == text_answer(from_text.get(), "name"));
    const std::string printed = text_answer(from_text.get(), "spec");
    for (const std::string& again : {printed, " " + printed + "  # as it was printed"}) {
        const OwnedKernel from_printed = new_kernel(shared_context(), again);
        CHECK(text_answer(from_printed.get(), "spec") == printed);
        CHECK(text_answer(from_printed.get(), "name") == text_answer(from_text.get(), "name"));
    }
    for (const char* wrong : {"f32 tt 33 -20 50", "gemm-v1 m=33 n=-20 k=50 a=f32"}) {
        CHECK(jg_kernel_create(shared_context(), wrong, &made) == JG_INVALID);
        CHECK_THAT(jg_last_error(), Says("n", "-20", "negative"));
    }
    gemm.size = 3;
    CHECK(jg_kernel_create_from_gemm(shared_context(), &gemm, &made) == JG_INVALID);
    CHECK(made == nullptr);
}

TEST_CASE("C API: a kernel outlives its context") {
    Problem problem(8, 8, 8, 8);
    OwnedContext context = new_context();
    const OwnedKernel kernel = new_kernel(context.get(), "f32 tt 8 8 8");
    context.reset();
    REQUIRE(launch(kernel, problem.arguments()) == JG_OK);
    CHECK(problem.wrong(1, 0) == 0);
    CHECK_THAT(text_answer(kernel.get(), "source"), ContainsSubstring("__global__"));
}

TEST_CASE("C API: a kernel whose options fix it is tuned at once, and one without a tool to tune it says so") {
    const OwnedContext fixed = new_context(std::string(kOptions) + "; family=simt_hierarchical");
    CHECK(jg_kernel_tune(new_kernel(fixed.get(), "f32 tt 8 8 8").get()) == JG_OK);
    const TemporaryFolder folder;
    const OwnedContext context =
        new_context(std::string(kOptions) + "; tool=/no/jitgemm; tuning-seconds=1; tuning-dir=" + folder.path());
    const OwnedKernel kernel = new_kernel(context.get(), "f32 tt 8 8 8");
    CHECK(jg_kernel_tune(kernel.get()) == JG_FAILED);
    CHECK_FALSE(std::string(jg_last_error()).empty());
    Problem problem(8, 8, 8, 8);
    REQUIRE(launch(kernel, problem.arguments()) == JG_OK);
}

#ifdef JITGEMM_FAKE_WORKER
TEST_CASE("C API: tuning changes all kernels of the problem, also when their context is gone") {
    const TemporaryFolder folder;  // the tool's processes are scripted: they measure nothing
    put_text(folder / "script.json", R"({"emulator": "sm_80"})");
    const std::string tool = folder / "tool";
    put_text(tool,
             fmt::format("#!/bin/sh\nexec '{}' --script '{}' \"$@\"\n", JITGEMM_FAKE_WORKER, folder / "script.json"));
    std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
    OwnedContext context = new_context(fmt::format("{}; tool={}; tuning-seconds=5; installed-wisdom=0; tuning-dir={}",
                                                   kOptions, tool, folder / "tuned"));
    const OwnedKernel kernel = new_kernel(context.get(), "f32 tt 24 16 24");
    const OwnedKernel same = new_kernel(context.get(), "f32 tt 24 16 24");
    context.reset();
    const jg_status status = jg_kernel_tune(kernel.get());
    INFO(jg_last_error());
    REQUIRE(status == JG_OK);
    for (const OwnedKernel* const each : {&kernel, &same})
        CHECK(nlohmann::json::parse(text_answer(each->get(), "json")).at("choice") == "exact");
    Problem problem(24, 16, 24, 16);
    REQUIRE(launch(same, problem.arguments()) == JG_OK);
    CHECK(problem.wrong(1, 0) == 0);
}
#endif

TEST_CASE("C API: a caller's workspace is taken, one that is too small is not") {
    const OwnedContext context = new_context(std::string(kOptions) + "; family=mma_multistage; param=split_k=2");
    const OwnedKernel kernel = new_kernel(context.get(), "gemm-v1 m=16 n=16 k=256 a=bf16 d=f32");
    std::uint64_t bytes = 0;
    std::size_t size = sizeof bytes;
    REQUIRE(jg_kernel_query(kernel.get(), "workspace", &bytes, &size) == JG_OK);
    REQUIRE(bytes > 0);
    const std::vector<std::uint16_t> ones(16 * 256, 0x3f80);  // of bf16
    std::vector<float> d(256);
    std::vector<float> workspace(bytes / sizeof(float) + 4);
    jg_arguments arguments = JG_ARGUMENTS_INIT;
    arguments.a = arguments.b = ones.data();
    arguments.d = d.data();
    REQUIRE(launch(kernel, arguments) == JG_OK);
    CHECK(std::ranges::count(d, 256.0F) == 256);
    std::ranges::fill(workspace, 7.0F);
    arguments.workspace = workspace.data();
    arguments.workspace_bytes = bytes;
    std::ranges::fill(d, 0.0F);
    REQUIRE(launch(kernel, arguments) == JG_OK);
    CHECK(std::ranges::count(d, 256.0F) == 256);
    const auto behind = workspace.end() - 4;
    CHECK(std::count(workspace.begin(), behind, 7.0F) < static_cast<std::ptrdiff_t>(workspace.size()) / 2);
    CHECK(std::count(behind, workspace.end(), 7.0F) == 4);  // sums lie in the caller's memory, and nowhere else
    for (const std::int64_t dependent_launch : {JG_DEPENDENT_OFF, JG_DEPENDENT_AUTO}) {
        arguments.dependent_launch = dependent_launch;
        std::ranges::fill(d, 0.0F);
        REQUIRE(launch(kernel, arguments) == JG_OK);
        CHECK(std::ranges::count(d, 256.0F) == 256);
    }
    arguments.dependent_launch = JG_DEPENDENT_ON;  // of a kernel for sm_80
    CHECK(launch(kernel, arguments) == JG_INVALID);
    CHECK_THAT(jg_last_error(), Says("dependent_launch", "nothing"));
    arguments.dependent_launch = 3;
    CHECK(launch(kernel, arguments) == JG_INVALID);
    CHECK_THAT(jg_last_error(), Says("jg_arguments.dependent_launch", "3", "expected", "JG_DEPENDENT_AUTO"));
    arguments.dependent_launch = JG_DEPENDENT_AUTO;
    arguments.workspace_bytes = bytes - 1;
    CHECK(launch(kernel, arguments) == JG_INVALID);
    CHECK_THAT(jg_last_error(), ContainsSubstring("workspace"));
    arguments.workspace_bytes = bytes;
    std::vector<float> one(256 + bytes / sizeof(float));
    arguments.workspace = one.data();
    const std::size_t floats = bytes / sizeof(float);
    for (float* const within : {one.data() + 4, one.data() + (floats - 4)}) {
        arguments.d = within;
        CHECK(launch(kernel, arguments) == JG_INVALID);
        CHECK_THAT(jg_last_error(), ContainsSubstring("overlaps"));
    }
    arguments.d = d.data();
    arguments.workspace = one.data() + 1;
    CHECK(launch(kernel, arguments) == JG_INVALID);
    CHECK_THAT(jg_last_error(), ContainsSubstring("aligned"));
}

TEST_CASE("C API: a misaligned workspace is refused by a kernel that needs none, which leaves an aligned one alone") {
    const OwnedContext context = new_context();
    const OwnedKernel kernel = new_kernel(context.get(), "f32 tt 24 16 24");
    std::uint64_t bytes = 0;
    std::size_t size = sizeof bytes;
    REQUIRE(jg_kernel_query(kernel.get(), "workspace", &bytes, &size) == JG_OK);
    REQUIRE(bytes == 0);
    Problem problem(24, 16, 24, 16);
    alignas(16) std::array<unsigned char, 64> room{};
    jg_arguments arguments = problem.arguments();
    arguments.workspace = room.data();
    arguments.workspace_bytes = room.size();
    REQUIRE(launch(kernel, arguments) == JG_OK);
    CHECK(problem.wrong(1, 0) == 0);
    CHECK(std::ranges::count(room, 0) == 64);
    arguments.workspace = room.data() + 8;
    arguments.workspace_bytes = 48;
    CHECK(launch(kernel, arguments) == JG_INVALID);
    CHECK_THAT(jg_last_error(), ContainsSubstring("aligned"));
}

namespace {

/// Sums are rounded up and, where the processor can, denormals are zeros: as programs of much arithmetic have it.
class UnusualArithmetic {
public:
    UnusualArithmetic() {
        std::fegetenv(&before_);
        std::fesetround(FE_UPWARD);
#if defined(__SSE2__)
        _mm_setcsr(_mm_getcsr() | 0x8040U);
#endif
    }
    UnusualArithmetic(const UnusualArithmetic&) = delete;
    UnusualArithmetic& operator=(const UnusualArithmetic&) = delete;
    ~UnusualArithmetic() { std::fesetenv(&before_); }

private:
    std::fenv_t before_{};
};

}  // namespace

TEST_CASE("C API: what a program says of its arithmetic changes no result, and stays") {
    for (const float scale : {0.1F, 1e-40F}) {
        Problem usual(24, 16, 24, 16);
        for (float& value : usual.a) value *= scale;
        Problem unusual = usual;
        REQUIRE(launch(new_kernel(new_context().get(), "f32 tt 24 16 24"), usual.arguments()) == JG_OK);
        CHECK(std::ranges::count(usual.d, 0.0F) < 24);
        {
            const UnusualArithmetic arithmetic;
            REQUIRE(launch(new_kernel(new_context().get(), "f32 tt 24 16 24"), unusual.arguments()) == JG_OK);
            CHECK(std::fegetround() == FE_UPWARD);
        }
        CHECK(std::memcmp(usual.d.data(), unusual.d.data(), usual.d.size() * sizeof(float)) == 0);
    }
}

TEST_CASE("C API: sixteen threads make, launch, ask and destroy at once", "[threads]") {
    const OwnedContext context = new_context();
    std::atomic<int> failures = 0;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 16; ++thread)
        threads.emplace_back([&, thread] {
            for (int repeat = 0; repeat < 2; ++repeat) {
                Problem problem(static_cast<std::size_t>(24 + thread % 4), 16, 24, 16, thread);
                jg_kernel* kernel = nullptr;
                const std::string spec = fmt::format("f32 tt {} 16 24", problem.m);
                const jg_arguments arguments = problem.arguments();
                std::size_t size = 0;
                bool fine = jg_kernel_create(context.get(), spec.c_str(), &kernel) == JG_OK;
                fine = fine && jg_kernel_query(kernel, "json", nullptr, &size) == JG_OK;
                fine = fine && jg_kernel_launch(kernel, &arguments, nullptr) == JG_OK && problem.wrong(1, 0) == 0;
                jg_kernel_destroy(kernel);
                failures += fine ? 0 : 1;
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(failures == 0);
}

TEST_CASE("C: a prepared weight gives the same bits, and another form is refused") {
    const OwnedContext context = new_context("device=emulator:sm_90a; cache-dir=; cache-readonly=");
    const OwnedKernel plain = new_kernel(context.get(), "s8 tt 40 48 80");
    const OwnedKernel kernel = new_kernel(context.get(), "s8 tt 40 48 80 prepared=b");
    std::vector<std::int8_t> a(40 * 80), b(80 * 48);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::int8_t>(i * 7 % 23);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<std::int8_t>(i * 5 % 19);
    std::vector<std::int32_t> expected(40 * 48), d(40 * 48);
    jg_arguments arguments = JG_ARGUMENTS_INIT;
    arguments.a = a.data();
    arguments.b = b.data();
    arguments.d = expected.data();
    REQUIRE(jg_kernel_launch(plain.get(), &arguments, nullptr) == JG_OK);

    std::uint64_t bytes = 0;
    std::size_t size = sizeof bytes;
    REQUIRE(jg_kernel_query(kernel.get(), "prepared-b", &bytes, &size) == JG_OK);
    CHECK(bytes == 48 * 128);
    CHECK(jg_kernel_query(plain.get(), "prepared-b", &bytes, &size) == JG_INVALID);
    jg_prepared* made = nullptr;
    REQUIRE(jg_kernel_prepare(kernel.get(), 'b', b.data(), nullptr, 0, nullptr, &made) == JG_OK);
    const std::unique_ptr<jg_prepared, Destroy> prepared(made);
    std::array<char, 100> form{};
    size = form.size();
    REQUIRE(jg_prepared_form(made, form.data(), &size) == JG_OK);
    CHECK(std::string(form.data()) == "s8, 48 lines of k=80, K contiguous, pitch 128");
    std::fill(b.begin(), b.end(), std::int8_t{1});  // no longer read
    arguments.b = nullptr;
    arguments.d = d.data();
    REQUIRE(jg_kernel_launch_prepared(kernel.get(), &arguments, nullptr, made, nullptr) == JG_OK);
    CHECK(d == expected);

    CHECK(jg_kernel_launch(kernel.get(), &arguments, nullptr) == JG_INVALID);
    CHECK_THAT(jg_last_error(), ContainsSubstring("prepared_b is not given"));
    const OwnedKernel other = new_kernel(context.get(), "s8 tt 40 48 96 prepared=b");
    CHECK(jg_kernel_launch_prepared(other.get(), &arguments, nullptr, made, nullptr) == JG_INVALID);
    CHECK_THAT(jg_last_error(), ContainsSubstring("k=80") && ContainsSubstring("k=96"));
    CHECK(jg_kernel_prepare(kernel.get(), 'c', b.data(), nullptr, 0, nullptr, &made) == JG_INVALID);
    CHECK_THAT(jg_last_error(), ContainsSubstring("operand is 'c'"));
    CHECK(made == nullptr);
}

TEST_CASE("C: arrays of addresses of the program's own matrices, and a null among them") {
    const OwnedKernel kernel =
        new_kernel(shared_context(), "gemm-v8 m=9 n=12 k=10 a=f32 layout=tt c=f32 ldc=16 ldd=16 batch=3 pointers=yes");
    std::vector<Problem> problems;
    for (int i = 0; i < 3; ++i) problems.emplace_back(9, 12, 10, 16, i);
    std::array<const void*, 3> a{}, b{}, c{};
    std::array<void*, 3> d{};
    for (std::size_t i = 0; i < 3; ++i) {
        a[i] = problems[i].a.data();
        b[i] = problems[i].b.data();
        c[i] = problems[i].c.data();
        d[i] = problems[i].d.data();
    }
    jg_arguments arguments = JG_ARGUMENTS_INIT;
    arguments.a = static_cast<const void*>(a.data());
    arguments.b = static_cast<const void*>(b.data());
    arguments.c = static_cast<const void*>(c.data());
    arguments.d = static_cast<void*>(d.data());
    arguments.beta = 0.5F;
    REQUIRE(launch(kernel, arguments) == JG_OK);
    for (const Problem& problem : problems) CHECK(problem.wrong(1, 0.5F) == 0);
    c[1] = nullptr;
    CHECK(launch(kernel, arguments) == JG_INVALID);
    CHECK_THAT(jg_last_error(), Says("C of problem 1 is null"));
    arguments.beta = 0;
    arguments.c = nullptr;
    REQUIRE(launch(kernel, arguments) == JG_OK);
    for (const Problem& problem : problems) CHECK(problem.wrong(1, 0) == 0);
}
