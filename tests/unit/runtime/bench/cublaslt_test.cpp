#include "runtime/bench/cublaslt.hpp"

#include "generator/epilogue/epilogue_text.hpp"
#include "runtime/bench/cublaslt_library.hpp"
#include "runtime/bench/peer_scales.hpp"
#include "runtime/support/element_codec.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <functional>
#include <random>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;

namespace {

using Stored = ColumnMajorProblem::Stored;

/// Element (row, column) of op(X) as cuBLAS addresses it.
float element(const std::vector<float>& data, const Stored& matrix, std::int64_t row, std::int64_t column) {
    if (matrix.operation == cublaslt::Operation::transpose) std::swap(row, column);
    REQUIRE(row < matrix.rows);
    REQUIRE(column < matrix.columns);
    return data[static_cast<std::size_t>(column * matrix.leading_dimension + row)];
}

/// cuBLAS computes this, by its documentation: column-major D = op(A) · op(B).
std::vector<float> column_major_product(const ColumnMajorProblem& problem, std::int64_t k, const std::vector<float>& a,
                                        const std::vector<float>& b, std::size_t d_size) {
    std::vector<float> d(d_size, -1.0F);
    for (std::int64_t column = 0; column < problem.d.columns; ++column) {
        for (std::int64_t row = 0; row < problem.d.rows; ++row) {
            float sum = 0;
            for (std::int64_t i = 0; i < k; ++i)
                sum += element(a, problem.a, row, i) * element(b, problem.b, i, column);
            d[static_cast<std::size_t>(column * problem.d.leading_dimension + row)] = sum;
        }
    }
    return d;
}

std::size_t index(Order order, std::int64_t ld, std::int64_t row, std::int64_t column) {
    return static_cast<std::size_t>(order == Order::row ? row * ld + column : column * ld + row);
}

std::vector<float> row_major_product(const GemmSpec& spec, const std::vector<float>& a, const std::vector<float>& b,
                                     std::size_t d_size) {
    std::vector<float> d(d_size, -1.0F);
    for (std::int64_t row = 0; row < spec.m; ++row) {
        for (std::int64_t column = 0; column < spec.n; ++column) {
            float sum = 0;
            for (std::int64_t i = 0; i < spec.k; ++i)
                sum += a[index(order_a(spec.layout), spec.lda, row, i)] *
                       b[index(order_b(spec.layout), spec.ldb, i, column)];
            d[index(spec.d_order, spec.ldd, row, column)] = sum;
        }
    }
    return d;
}

std::vector<float> small_integers(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<float> values(count);
    std::ranges::generate(values, [&] { return static_cast<float>(random() % 7) - 3.0F; });
    return values;
}

GemmSpec float_problem(GemmLayout layout, Order d_order) {
    return resolved({.m = 5,
                     .n = 7,
                     .k = 4,
                     .a = DataType::f32,
                     .b = DataType::f32,
                     .d = DataType::f32,
                     .layout = layout,
                     .d_order = d_order,
                     .lda = 9,
                     .ldb = 10,
                     .ldd = 11});
}

}  // namespace

TEST_CASE("every layout becomes the column-major problem with the same result in memory") {
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt}) {
        for (const Order order : {Order::row, Order::column}) {
            INFO(to_string(layout) << ' ' << to_string(order));
            const GemmSpec spec = float_problem(layout, order);
            const ColumnMajorProblem problem = column_major_problem(spec);
            const std::vector<float> a = small_integers(200, 1), b = small_integers(200, 2);
            const std::vector<float>& first = problem.swapped ? b : a;
            const std::vector<float>& second = problem.swapped ? a : b;
            CHECK(column_major_product(problem, spec.k, first, second, 100) == row_major_product(spec, a, b, 100));
            CHECK(problem.swapped == (order == Order::row));
        }
    }
}

TEST_CASE("types and accumulators have their names in cuBLAS") {
    const auto mapped = [](DataType type, DataType accumulator, DataType d) {
        return column_major_problem(
            resolved({.m = 16, .n = 16, .k = 16, .a = type, .b = type, .d = d, .accumulator = accumulator}));
    };
    using cublaslt::ComputeType;
    using cublaslt::CudaType;
    CHECK(mapped(DataType::bf16, DataType::f32, DataType::bf16).compute == ComputeType::f32);
    CHECK(mapped(DataType::bf16, DataType::f32, DataType::f32).d.type == CudaType::r_32f);
    CHECK(mapped(DataType::f16, DataType::f16, DataType::f16).compute == ComputeType::f16);
    CHECK(mapped(DataType::f16, DataType::f16, DataType::f16).scale == CudaType::r_16f);
    CHECK(mapped(DataType::tf32, DataType::f32, DataType::f32).compute == ComputeType::f32_fast_tf32);
    CHECK(mapped(DataType::tf32, DataType::f32, DataType::f32).a.type == CudaType::r_32f);
    CHECK(mapped(DataType::f32, DataType::f32, DataType::f32).compute == ComputeType::f32);
    CHECK(mapped(DataType::s8, DataType::s32, DataType::s32).scale == CudaType::r_32i);
    CHECK(mapped(DataType::e4m3, DataType::f32, DataType::bf16).a.type == CudaType::r_8f_e4m3);
}

TEST_CASE("cuBLASLt adds 8-bit floats as fast as the kernel beside it") {
    GemmSpec spec{.m = 16, .n = 16, .k = 16, .a = DataType::e4m3, .b = DataType::e5m2};
    CHECK(!column_major_problem(resolved(spec)).adds_fast);
    spec.sums = Summation::fast;
    CHECK(column_major_problem(resolved(spec)).adds_fast);
    CHECK(!column_major_problem(resolved({.m = 16, .n = 16, .k = 16, .a = DataType::bf16})).adds_fast);
}

namespace {

GemmSpec scaled_problem(std::string_view text, Order d_order = Order::row) {
    return resolved({.m = 260,
                     .n = 384,
                     .k = 640,
                     .a = DataType::e4m3,
                     .b = DataType::e4m3,
                     .d_order = d_order,
                     .epilogue = EpilogueText(text)});
}

}  // namespace

TEST_CASE("cuBLASLt's modes of scales follow A and B, whichever comes first") {
    using cublaslt::ScaleMode;
    struct Case {
        const char* text;
        ScaleMode of_a, of_b;
    };
    for (const Case& one :
         {Case{"d = acc", ScaleMode::scalar, ScaleMode::scalar},
          Case{"r: f32[m]; c: f32[n]; d = acc * r[m] * c[n]", ScaleMode::vector, ScaleMode::vector},
          Case{"d = acc * x[m,k/128] * y[k/128,n]", ScaleMode::vector_128, ScaleMode::vector_128},
          Case{"d = acc * x[k/128,m] * y[n/128,k/128]", ScaleMode::vector_128, ScaleMode::block_128x128},
          Case{"d = acc * x[m/128,k/128] * y[n,k/128]", ScaleMode::block_128x128, ScaleMode::vector_128}}) {
        for (const Order order : {Order::row, Order::column}) {
            INFO(one.text << ' ' << to_string(order));
            const GemmSpec spec = scaled_problem(one.text, order);
            const ColumnMajorProblem problem =
                column_major_problem(spec, cublaslt_epilogue(*meaning_of(spec.epilogue, spec.d), order));
            CHECK((problem.swapped ? problem.scale_b : problem.scale_a) == one.of_a);
            CHECK((problem.swapped ? problem.scale_a : problem.scale_b) == one.of_b);
            CHECK(unserved_block_scales(spec).empty());
        }
    }
}

TEST_CASE("cuBLASLt serves pairs of scales of blocks of K, but not two of 128 by 128, and multiples of 4") {
    CHECK_FALSE(unserved_block_scales(scaled_problem("d = acc * x[m/128,k/128] * y[k/128,n/128]")).empty());
    CHECK_FALSE(unserved_block_scales(scaled_problem("d = acc * x[m,k/128]")).empty());
    CHECK_FALSE(unserved_block_scales(scaled_problem("d = acc * y[n/128,k/128]")).empty());
    GemmSpec odd = scaled_problem("d = acc * x[m,k/128] * y[n/128,k/128]");
    odd.m = 258;
    CHECK_FALSE(unserved_block_scales(odd).empty());
    odd.epilogue = "d = acc * x[m/128,k/128] * y[n,k/128]";
    CHECK(unserved_block_scales(odd).empty());
}

TEST_CASE("C lies as D does. Without C, D stands in") {
    GemmSpec spec = float_problem(GemmLayout::tn, Order::row);
    CHECK(column_major_problem(spec).c.leading_dimension == 11);
    spec.c = DataType::f16;
    spec.ldc = 0;
    spec.align_c = 0;
    const ColumnMajorProblem problem = column_major_problem(resolved(spec));
    CHECK(problem.c.leading_dimension == 7);
    CHECK(problem.c.type == cublaslt::CudaType::r_16f);
    CHECK_FALSE(problem.bias.has_value());
}

TEST_CASE(
    "a C of one row, or of one column where D is column-major, is cuBLAS's bias: an element for each row of its D") {
    for (const Order order : {Order::row, Order::column}) {
        GemmSpec spec = float_problem(GemmLayout::tn, order);
        spec.c = DataType::f16;
        spec.align_c = 0;
        spec.broadcast_c = true;
        spec = resolved(spec);
        const ColumnMajorProblem problem = column_major_problem(spec);
        CHECK(problem.bias == cublaslt::CudaType::r_16f);
        CHECK(problem.d.rows == operand_extents(spec).c);
        CHECK(problem.c.leading_dimension == problem.d.leading_dimension);
        CHECK(problem.c.type == problem.d.type);
    }
}

TEST_CASE("of a text, cuBLAS's C and bias are its operands") {
    for (const Order order : {Order::row, Order::column}) {
        GemmSpec spec = float_problem(GemmLayout::tn, order);
        const char* text = order == Order::row ? "bias: f16[n]; d = relu(acc + bias[n] + x[m,n])"
                                               : "bias: f16[m]; d = relu(acc + bias[m] + x[m,n])";
        spec.epilogue = EpilogueText(text).with("x", {.ld = 13});
        spec = resolved(spec);
        const ColumnMajorProblem problem =
            column_major_problem(spec, cublaslt_epilogue(*meaning_of(spec.epilogue, spec.d), order));
        CHECK(problem.epilogue == cublaslt::EpilogueCode::relu_bias);
        CHECK(problem.bias == cublaslt::CudaType::r_16f);
        CHECK(problem.reads_c);
        CHECK(problem.c.leading_dimension == 13);
        CHECK(problem.c.rows == problem.d.rows);
        CHECK(problem.c.type == cublaslt::CudaType::r_32f);
    }
}

TEST_CASE("cuBLAS is promised 256 bytes where an allocation gives them, else what the spec says") {
    GemmSpec spec{.m = 64, .n = 64, .k = 64, .align_b = 2};
    const ColumnMajorProblem problem = column_major_problem(resolved(spec));
    REQUIRE(problem.swapped);
    CHECK(problem.a.alignment == 2);  // our B
    CHECK(problem.b.alignment == 256);
    CHECK(problem.d.alignment == 256);
}

TEST_CASE("alpha and beta are passed in the scale type") {
    CHECK(scale_value(cublaslt::CudaType::r_32f, 1.0F)[0] == 0x3f800000);
    CHECK(scale_value(cublaslt::CudaType::r_16f, -2.0F)[0] == 0xc000);
    CHECK(scale_value(cublaslt::CudaType::r_32i, -3.0F)[0] == 0xfffffffd);
    CHECK_THROWS_AS(scale_value(cublaslt::CudaType::r_32i, 0.5F), Error);
}

TEST_CASE("a missing libcublasLt is reported with all that was looked for") {
    Options options;
    options.cuda_path = "/absent/cuda";
    options.wheel_directory = "/absent/wheels";
    const auto at_once = [](const std::function<void()>& step) { step(); };
    const auto looked_for = [&](const char* path, int newest_major) {
        return std::ranges::count(cublaslt_search_list(options, newest_major), path) == 1;
    };
    CHECK(looked_for("/absent/cuda/lib64/libcublasLt.so.12", 12));
    CHECK(looked_for("/absent/wheels/nvidia/cublas/lib/libcublasLt.so.12", 12));
    CHECK_FALSE(looked_for("libcublasLt.so.13", 12));  // the driver could not run it
    CHECK(looked_for("libcublasLt.so.13", 0));
    CHECK_THROWS_WITH(CublasLt::open({"/absent/one.so", "/absent/two.so"}, at_once),
                      ContainsSubstring("/absent/one.so") && ContainsSubstring("/absent/two.so") &&
                          ContainsSubstring("nvidia-cublas"));
    CHECK_THROWS_WITH(CublasLt::open({"libm.so.6"}, at_once), ContainsSubstring("has no cublasLtCreate"));
}
