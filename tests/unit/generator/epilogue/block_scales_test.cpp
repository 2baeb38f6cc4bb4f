/// Texts with scales of blocks of K: texts that are refused, the canonical form, the transposed product, the layout.

#include "generator/base/operand.hpp"
#include "generator/epilogue/epilogue.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "tests/catch.hpp"

#include <string>
#include <vector>

namespace {

using namespace jitgemm;

std::string complaint(std::string_view text) {
    const EpilogueReading reading = try_read_epilogue(text);
    return reading.epilogue ? "" : to_string(reading.problems.front());
}

}  // namespace

TEST_CASE("scales of blocks are factors of acc, in any order and grouping") {
    for (const char* text : {"d = acc * x[m,k/128]", "d = x[k/128,n/128] * acc", "d = acc * (x[m,k/128] * y[k/128,n])",
                             "t = acc * y[n/128,k/128] * x[m/128,k/128]; d = t * t + bias[n]",
                             "s = x[m,k/128] * acc; d = silu(s); pre[m,n] = s; r[m] = sum(s)",
                             "d = acc * x[m,k/128] * y[b,n/128,k/128]", "d = acc * x[b,k/128,m] * y[b,k/128,n]"}) {
        INFO(text);
        CHECK(complaint(text).empty());
        const Epilogue meaning = read_epilogue(text);
        CHECK(has_block_scales(meaning.parts()));
        CHECK(read_epilogue(meaning.text()) == meaning);
        CHECK(read_epilogue(meaning.transposed().text()) == meaning.transposed());
        CHECK(meaning.transposed().transposed() == meaning);
    }
}

TEST_CASE("the canonical form keeps what a scaled sum stands beside") {
    for (const char* text : {"d = y[m] / (acc * x[m,k/128])", "d = y[m] - acc * x[m,k/128]", "d = -(acc * x[m,k/128])",
                             "d = y[m] * (acc * x[m,k/128])"}) {
        INFO(text);
        const Epilogue meaning = read_epilogue(text);
        CHECK(read_epilogue(meaning.text()) == meaning);
    }
    CHECK_FALSE(read_epilogue("d = y[m] / (acc * x[m,k/128])") == read_epilogue("d = y[m] / acc * x[m]"));
}

TEST_CASE("scales of blocks are factors of both sums of a pair") {
    for (const char* text :
         {"t = acc * x[m,k/128] * y[n/128,k/128]; d[m,h] = silu(left(t)) * right(t)",
          "d[m,h] = even(acc * y[k/128,n]) + odd(y[k/128,n] * acc) * 2", "d[m,h] = 2 / left(acc * x[m,k/128])"}) {
        INFO(text);
        CHECK(complaint(text).empty());
        const Epilogue meaning = read_epilogue(text);
        CHECK(has_block_scales(meaning.parts()));
        CHECK(read_epilogue(meaning.text()) == meaning);
        CHECK(meaning.transposed().transposed() == meaning);
    }
}

TEST_CASE("scales of blocks that stand elsewhere are refused") {
    for (const char* text :
         {"d = acc + x[m,k/128]", "d = acc * x[m,k/128] + acc", "d = x[m,k/128] * bias[n]",
          "d = acc * x[m,k/128] * x[m,k/128]", "d = acc * bias[n] * x[m,k/128]",
          "d = acc * x[m,k/128]; e[m,n] = acc * y[k/128,n]", "d = silu(acc) * x[m,k/128]",
          "d = acc * x[m,k/128] * y[k/128,m]", "x: f16[m,k/128]; d = acc * x[m,k/128]",
          "d[m,h] = left(acc) * right(acc) * x[m,k/128]", "d[m,h] = left(acc * x[m,k/128]) * right(acc)",
          "d[m,h] = left(acc * x[m,k/128]) * left(acc) + right(acc * x[m,k/128])", "d = acc; r[m,k/128] = sum(acc)"}) {
        INFO(text);
        CHECK_FALSE(complaint(text).empty());
    }
    for (const char* index : {"k/128", "m,k", "m,k/64", "m/64,k/128", "m,n,k/128", "k/128,k/128", "b,k/128", "h,k/128",
                              "m,b,k/128", "b/2,m,k/128", "b,b,k/128", "b,m,n,k/128"}) {
        INFO(index);
        CHECK(complaint("d = acc * x[" + std::string(index) + "]").find(index) != std::string::npos);
    }
}

TEST_CASE("scales of blocks lie as their index is written") {
    GemmSpec spec{.m = 200, .n = 300, .k = 1000, .a = DataType::e4m3};
    spec.epilogue = "d = acc * x[m,k/128] * y[k/128,n/128]";
    const auto check = [](const GemmOperand& operand, std::int64_t rows, std::int64_t columns) {
        CHECK(operand.order == Order::row);
        CHECK(operand.rows == rows);
        CHECK(operand.columns == columns);
        CHECK(operand.leading_dimension() == columns);
    };
    for (const Order order : {Order::row, Order::column}) {
        spec.d_order = order;
        for (const GemmSpec& turned : {resolved(spec), with_row_major_d(resolved(spec))}) {
            const OperandList operands = gemm_operands(turned);
            check(*operands.find("x"), 200, 8);
            check(*operands.find("y"), 8, 3);
        }
    }
    spec.epilogue = spec.epilogue.with("x", {.ld = 12});
    CHECK(gemm_operands(resolved(spec)).find("x")->extent() == 199 * 12 + 8);
    spec.epilogue = spec.epilogue.with("x", {.ld = 7});
    CHECK_FALSE(problems(spec).empty());
}

TEST_CASE("problems and groups have scales of blocks behind one another, or at a stride") {
    GemmSpec spec{.m = 200, .n = 300, .k = 1000, .a = DataType::e4m3};
    spec.epilogue = "d = acc * x[b,m,k/128] * y[b,n/128,k/128]";
    spec.batch = 5;
    CHECK(gemm_operands(resolved(spec)).find("x")->extent() == 5 * 200 * 8);
    spec.epilogue = spec.epilogue.with("y", {.batch_stride = 0});
    CHECK(gemm_operands(resolved(spec)).find("y")->extent() == 3 * 8);
    spec.epilogue = "d = acc * x[m,k/128] * y[b,n/128,k/128]";
    spec.batch = 1;
    spec.groups = 7;
    CHECK(gemm_operands(resolved(spec)).find("x")->extent() == 200 * 8);
    CHECK(gemm_operands(resolved(spec)).find("y")->extent() == 7 * 3 * 8);
    spec.epilogue = spec.epilogue.with("y", {.ld = 9, .batch_stride = 30});
    CHECK(gemm_operands(resolved(spec)).find("y")->extent() == 6 * 30 + 2 * 9 + 8);
    CHECK(gemm_operands(resolved(spec)).find("y")->alignment == 4);
}

TEST_CASE("scales of A are for rows of all groups") {
    GemmSpec spec{.m = 200, .n = 300, .k = 1000, .a = DataType::e4m3, .groups = 7};
    const auto complaint_about = [&](std::string_view text) {
        spec.epilogue = text;
        const std::vector<std::string> reasons = problems(spec);
        return reasons.size() == 1 ? reasons.front() : std::to_string(reasons.size());
    };
    CHECK(complaint_about("d = acc * x[m,k/128] * y[n,k/128]") == "0");
    CHECK(complaint_about("d = acc * x[m/128,k/128]").find("x has the index [m/128,k/128]") == 0);
    CHECK(complaint_about("d = acc * x[k/128,m/128]").find("one row") != std::string::npos);
    CHECK(complaint_about("d = acc * x[b,m,k/128]").find("x has the index [b,m,k/128]") == 0);
    CHECK(complaint_about("d = acc * x[b,k/128,m]").find("stands beside n alone") != std::string::npos);
}
