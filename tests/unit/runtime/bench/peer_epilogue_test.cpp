#include "runtime/bench/peer_epilogue.hpp"

#include "generator/epilogue/epilogue_text.hpp"
#include "tests/catch.hpp"

#include <string>

using namespace jitgemm;
using cublaslt::EpilogueCode;

namespace {

std::optional<CublasLtEpilogue> form_of_text(std::string_view text, Order d_order = Order::row) {
    return cublaslt_epilogue(read_epilogue(text), d_order);
}

}  // namespace

TEST_CASE("cuBLASLt computes activation(alpha * acc + beta * C + bias) alone, however a text writes it") {
    struct Case {
        const char* text;
        EpilogueCode code;
        const char* c;
        const char* bias;
    };
    for (const Case& one :
         {Case{"d = relu(acc)", EpilogueCode::relu, "", ""}, Case{"d = gelu(acc)", EpilogueCode::gelu, "", ""},
          Case{"d = acc + bias[n]", EpilogueCode::bias, "", "bias"},
          Case{"d = relu(b1[n] + acc)", EpilogueCode::relu_bias, "", "b1"},
          Case{"t = acc + bias[n]; d = gelu(t)", EpilogueCode::gelu_bias, "", "bias"},
          Case{"d = fast(gelu(acc + bias[n]))", EpilogueCode::gelu_bias, "", "bias"},
          Case{"d = acc + x[m,n]", EpilogueCode::none, "x", ""},
          Case{"d = acc + bias[n] + x[m,n]", EpilogueCode::bias, "x", "bias"},
          Case{"d = relu(x[m,n] + (bias[n] + 0.5 * acc))", EpilogueCode::relu_bias, "x", "bias"},
          Case{"d = alpha * acc + beta * c[m,n]", EpilogueCode::none, "c", ""}}) {
        INFO(one.text);
        const auto form = form_of_text(one.text);
        REQUIRE(form.has_value());
        CHECK(form->code() == one.code);
        CHECK(form->c == one.c);
        CHECK(form->bias == one.bias);
    }
}

TEST_CASE("cuBLASLt scales rows and columns where a text has both") {
    for (const char* text :
         {"r: f32[m]; c: f32[n]; d = acc * r[m] * c[n]", "r: f32[m]; c: f32[n]; d = c[n] * acc * r[m]",
          "r: f32[m]; c: f32[n]; d = acc * (r[m] * c[n])"}) {
        INFO(text);
        const auto form = form_of_text(text);
        REQUIRE(form.has_value());
        CHECK(form->row_scale == "r");
        CHECK(form->column_scale == "c");
    }
    const auto with_bias = form_of_text("r: f32[m]; c: f32[n]; d = acc * r[m] * c[n] + bias[n]");
    REQUIRE(with_bias.has_value());
    CHECK(with_bias->bias == "bias");
    for (const char* text : {"r: f32[m]; d = acc * r[m]", "c: f32[n]; d = acc * c[n]", "d = acc * r[m] * c[n]",
                             "r: f32[m]; q: f32[m]; c: f32[n]; d = acc * r[m] * q[m] * c[n]"}) {
        INFO(text);
        CHECK_FALSE(form_of_text(text).has_value());
    }
}

TEST_CASE("cuBLASLt scales blocks of K where a text scales both A and B") {
    for (const char* text : {"d = acc * x[m,k/128] * y[n/128,k/128]", "d = acc * y[k/128,n] * x[k/128,m/128]",
                             "d = relu(0.5 * (acc * x[k/128,m] * y[n,k/128]) + bias[n])"}) {
        INFO(text);
        const auto form = form_of_text(text);
        REQUIRE(form.has_value());
        CHECK(form->scales_blocks);
        CHECK(form->row_scale == "x");
        CHECK(form->column_scale == "y");
    }
    CHECK_FALSE(form_of_text("r: f32[m]; c: f32[n]; d = acc * r[m] * c[n]")->scales_blocks);
    for (const char* text : {"d = acc * x[m,k/128]", "d = silu(acc * x[m,k/128] * y[n,k/128])",
                             "r: f32[m]; c: f32[n]; d = acc * x[m,k/128] * y[n,k/128] * r[m] * c[n]"}) {
        INFO(text);
        CHECK_FALSE(form_of_text(text).has_value());
    }
}

TEST_CASE("a factor of cuBLASLt's form is a number or a scalar of the launch") {
    GemmArguments arguments;
    arguments.beta = 3;
    arguments.operands = {{"half", 0.5F}};
    const auto form = form_of_text("half: f32; d = half * acc + x[m,n] * beta");
    REQUIRE(form.has_value());
    CHECK(form->alpha.value(arguments) == 0.5F);
    CHECK(form->beta.value(arguments) == 3.0F);
    CHECK(form_of_text("d = 0.25 * acc")->alpha.value(arguments) == 0.25F);
    CHECK(form_of_text("d = acc + x[m,n]")->beta.value(arguments) == 1.0F);
}

TEST_CASE("what has no place in cuBLASLt's form is left to a pass") {
    for (const char* text :
         {"d = silu(acc + bias[n])", "d = gelu_erf(acc + bias[n])", "d = acc * x[m,n]", "d = acc + bias[n] + more[n]",
          "d = acc + x[m,n] + y[m,n]", "d = acc + 2 * bias[n]", "d = acc + acc", "d = acc - bias[n]", "d = acc + 1",
          "d = relu(acc) + bias[n]", "d = bf16(acc + bias[n]) + x[m,n]", "s: f32[0]; d = acc + s[0]",
          "d[m,h] = silu(left(acc)) * right(acc)", "d = relu(acc); pre: bf16[m,n]; pre[m,n] = acc"}) {
        INFO(text);
        CHECK_FALSE(form_of_text(text).has_value());
    }
}

TEST_CASE("cuBLASLt's bias goes along the lines of D") {
    CHECK(form_of_text("d = acc + bias[n]", Order::row).has_value());
    CHECK(form_of_text("d = acc + bias[m]", Order::column).has_value());
    CHECK_FALSE(form_of_text("d = acc + bias[m]", Order::row).has_value());
    CHECK_FALSE(form_of_text("d = acc + bias[n]", Order::column).has_value());
}

TEST_CASE("a pass is judged by the text of rounded sums, and cuBLASLt's gelu by its fast form") {
    const auto rounded = [](std::string_view text, DataType type) {
        return with_rounded_sums(read_epilogue(text), type);
    };
    CHECK(rounded("d = silu(acc + bias[n]) * up[m,n]", DataType::bf16) ==
          read_epilogue("d = silu(bf16(acc) + bias[n]) * up[m,n]"));
    CHECK(rounded("d = acc * sigmoid(acc)", DataType::f16) == read_epilogue("d = f16(acc) * sigmoid(f16(acc))"));
    CHECK(rounded("d[m,h] = silu(left(acc)) * right(acc)", DataType::bf16) ==
          read_epilogue("d[m,h] = silu(bf16(left(acc))) * bf16(right(acc))"));
    CHECK(rounded("d = x[m,n] * acc", DataType::bf16).parts().acc_guards.empty());
    CHECK(with_fast_gelu(read_epilogue("d = gelu(acc + bias[n])")) == read_epilogue("d = fast(gelu(acc + bias[n]))"));
    CHECK(with_fast_gelu(read_epilogue("d = relu(acc)")) == read_epilogue("d = relu(acc)"));
}

TEST_CASE("a text for judging keeps how the operands lie") {
    const EpilogueText asked = EpilogueText("d = acc + x[m,n]").with("x", {.ld = 96});
    const Epilogue rounded = with_rounded_sums(*meaning_of(asked, DataType::bf16), DataType::bf16);
    const EpilogueText text = text_of(rounded, asked);
    CHECK(text.layout_of("x").ld == 96);
    CHECK(*meaning_of(text, DataType::f32) == rounded);  // a canonical text says its types itself
}
