// The rules of an epilogue's text: what breaks them is named, each with its place.

#include "generator/epilogue/check.hpp"

#include "generator/epilogue/epilogue.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"

#include <string>
#include <vector>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Wrong {
    std::string text;
    int line;
    int column;
    std::vector<std::string> words;  ///< of the message: values and key words of the rule
};

const std::vector<Wrong>& wrong_names() {
    static const std::vector<Wrong> kWrong{
        {"d = geul(acc)", 1, 5, {"'geul'", "not a function", "abs, clamp", "did you mean gelu?"}},
        {"d = acc + bais", 1, 11, {"'bais'", "neither assigned before nor declared", "bais: f32"}},
        {"bias: f32; d = acc * bias + bais", 1, 29, {"'bais'", "did you mean 'bias'?"}},
        {"d = acc + relu", 1, 11, {"'relu'", "relu(x)"}},
        {"d = acc * m", 1, 11, {"'m'", "no value"}},
        {"acc = 1; d = acc", 1, 1, {"'acc'", "language itself"}},
        {"alpha[n] = acc", 1, 1, {"'alpha'", "language itself"}},
        {"d = acc * alpha[n]", 1, 11, {"'alpha'", "language itself"}},
        {"m = acc; d = m", 1, 1, {"'m'", "language itself"}},
        {"silu: f32[n]; d = acc", 1, 1, {"'silu'", "language itself"}},
        {"for = acc; d = acc", 1, 1, {"'for'", "Python"}},
        {"d = acc + float[n]", 1, 11, {"'float'", "C++"}},
        {"d = acc + args[n]", 1, 11, {"'args'", "kernels"}},
        {"d = acc + GEMM_K[n]", 1, 11, {"'GEMM_K'", "kernels"}},
        {"d = acc + ElementD[n]", 1, 11, {"'ElementD'", "kernels"}},
        {"d = acc + counters[n]", 1, 11, {"'counters'", "kernels"}},
        {"d = up[m,n] + acc * ld_up[m,n]", 1, 21, {"'ld_up'", "kernels"}},
        {"ldx: f32; d = x[m,n] + acc * ldx", 1, 1, {"'ldx'", "kernels"}},
        {"k: f32; d = k * acc", 1, 1, {"'k'", "kernels"}},
        {"d = k * acc", 1, 5, {"'k'", "kernels"}},
        {"_t = acc; d = acc", 1, 1, {"'_t'", "begins with a letter"}},
        {"t__0 = acc; d = acc", 1, 1, {"'t__0'", "side by side"}},
        {std::string(65, 'x') + " = acc; d = acc", 1, 1, {"65", "at most 64"}},
    };
    return kWrong;
}

const std::vector<Wrong>& wrong_uses() {
    static const std::vector<Wrong> kWrong{
        {"bias: f32[n]; d = acc + bias[m]", 1, 25, {"bias", "declared as [n]", "read as [m]"}},
        {"bias: f32[n]; d = acc + bias", 1, 25, {"bias", "declared as [n]", "without an index"}},
        {"s: f32; d = acc * s[0]", 1, 19, {"s", "declared without an index", "read as [0]"}},
        {"d = acc * x[n] + x[m]", 1, 18, {"x", "[n]", "[m]"}},
        {"d = acc; d = relu(acc)", 1, 10, {"d is assigned twice"}},
        {"t = acc; t = relu(acc); d = t", 1, 10, {"t is assigned twice"}},
        {"x: f32[n]; x: f32[m]; d = acc * x[n]", 1, 12, {"x", "declared twice"}},
        {"d = d + acc", 1, 5, {"d is what the text stores", "c[m,n]"}},
        {"t = t + acc; d = t", 1, 5, {"t has no value before"}},
        {"aux[m,n] = acc; d = aux[m,n]", 1, 21, {"aux is an output", "read again"}},
        {"d = acc; e[m,n] = d", 1, 19, {"d is an output"}},
        {"t = acc; d = t[m,n]", 1, 14, {"t is a local value", "without an index"}},
        {"x[m,n] = x[m,n] + acc", 1, 1, {"x is read and assigned", "different names"}},
        {"d = acc * x[n]; x = acc; e[m,n] = x", 1, 17, {"x is read and assigned"}},
        {"t = acc", 1, 1, {"nothing is stored", "Assign d"}},
        {"", 1, 1, {"nothing is stored"}},
        {"t = acc; d = acc", 1, 1, {"t is assigned and never used"}},
        {"up: bf16[m,n]; d = acc", 1, 1, {"up is declared and never used"}},
        {"x: f32; x = acc; d = x", 1, 9, {"x is declared and assigned as a local value"}},
        {"d[m,n] = up[m,n]", 1, 1, {"acc is never used"}},
        {"s: bf16; d = acc * s", 1, 1, {"s is bf16", "f32", "s: bf16[0]"}},
        {"d: f32[m,n]; d = acc", 1, 14, {"declared as f32", "D is bf16"}},
        {"pre: f32[m,h]; pre[m,n] = acc", 1, 16, {"pre", "declared as [m,h]", "assigned as [m,n]"}},
        {"d = relu(acc, 1)", 1, 5, {"relu takes 1 argument", "has 2"}},
        {"d = clamp(acc, 1)", 1, 5, {"clamp takes 3 arguments", "has 2"}},
        {"d = bf16(acc, 1)", 1, 5, {"bf16 takes 1 argument", "has 2"}},
        {"d = select(acc, 1, 2)", 1, 12, {"first argument of select", "comparison"}},
        {"d = acc > 0", 1, 9, {"'>'", "select"}},
        {"d = 1 + (acc > 0) * 2", 1, 14, {"'>'", "select"}},
        {"d = fast(relu(acc))", 1, 5, {"fast takes one call", "silu"}},
        {"d = fast(acc)", 1, 5, {"fast takes one call"}},
    };
    return kWrong;
}

const std::vector<Wrong>& wrong_indices() {
    static const std::vector<Wrong> kWrong{
        {"d = acc + bias[j]", 1, 11, {"'bias[j]'", "b, m, n, h or k", "n/128"}},
        {"d = acc * x[k]", 1, 11, {"'x[k]'", "[m,k/128]"}},
        {"d = acc + bias[1]", 1, 11, {"'bias[1]'", "0 alone"}},
        {"d = acc + bias[]", 1, 11, {"'bias[]'"}},
        {"d = acc + bias[n/0]", 1, 11, {"'bias[n/0]'"}},
        {"d = acc + bias[n,m]", 1, 11, {"'bias[n,m]'", "in this order"}},
        {"d = acc + bias[n,n]", 1, 11, {"'bias[n,n]'", "each once"}},
        {"d = acc + x[n,h]", 1, 11, {"'x[n,h]'", "one of them"}},
        {"d = acc + x[n,b]", 1, 11, {"'x[n,b]'", "this order"}},
        {"d = acc + x[b/2,n]", 1, 11, {"'x[b/2,n]'", "over nothing"}},
        {"d = acc + max(acc)", 1, 11, {"max of one value is a reduction", "alone on the right side"}},
        {"t = sum(acc); d = t", 1, 5, {"sum of one value is a reduction", "index"}},
        {"r[n] = sum(bias[n])", 1, 1, {"sum has nothing to go over", "bias[n] has no m"}},
        {"r[m] = sum(acc * 0 + 1); d = acc; q[m] = max(row[m])", 1, 35, {"max has nothing to go over", "no n"}},
        {"r[m,n] = sum(acc)", 1, 1, {"sum has nothing to go over", "r[m,n]"}},
        {"d = sum(acc)", 1, 1, {"d is a matrix", "r[m] = sum(x)"}},
        {"d = min(acc)", 1, 1, {"d is a matrix", "r[m] = min(x)", "min(x, 0)"}},
        {"d = 1 + max(acc)", 1, 9, {"reduction", "max(x, 0)"}},
        {"r[m] = acc", 1, 1, {"r[m] has one element for many", "sum(x)"}},
        {"r: bf16[m]; r[m] = sum(acc)", 1, 13, {"r is bf16", "f32"}},
        {"r[m] = sum(acc); d = acc * r[m]", 1, 28, {"r is an output", "reduction over a block"}},
        {"s[m,n/48] = max(abs(acc)); d = acc / s[m,n/48]", 1, 38, {"48 columns", "32, 64 or 128"}},
        {"s[m,n/64] = max(acc); d = acc / s[m,n/32]", 1, 33, {"s[m,n/64]", "s[m,n/32]"}},
        {"s[m,n/64] = max(acc); r[m] = sum(acc / s[m,n/64])", 1, 23, {"read back", "another reduction"}},
        {"d = even(acc) + acc", 1, 15, {"even(acc) has pairs of columns (h)", "acc has columns (n)"}},
        {"d = left(acc) * odd(acc)", 1, 17, {"left(acc)", "odd(acc)", "left and right, or even and odd"}},
        {"d = left(left(acc))", 1, 5, {"left(acc) has pairs of columns (h) already"}},
        {"d = left(acc) * right(x[m])", 1, 17, {"x[m] has no columns (n)"}},
        {"d[m,n] = left(acc)", 1, 1, {"left(acc) has pairs", "d[m,n] has columns (n)"}},
        {"d[m,h] = acc", 1, 1, {"acc has columns (n)", "d[m,h] has pairs"}},
        {"d = acc; e[m,h] = x[m,h]", 1, 10, {"h is the column of a pair", "no left"}},
        {"d = left(acc); e[m,n] = acc", 1, 16, {"e[m,n] has columns (n)", "left(x) or right(x)"}},
        {"d = left(acc) * left(bias[n]) + bias_1[h]", 1, 1, {"bias_1", "another name"}},
    };
    return kWrong;
}

const std::vector<Wrong>& wrong_grammar() {
    static const std::vector<Wrong> kWrong{
        {"d = ", 1, 5, {"a value is missing", "end of the statement"}},
        {"d = acc +\ne[m,n] = acc", 1, 10, {"a value is missing"}},
        {"d = acc\n  + 1", 2, 3, {"name", "missing before '+'"}},
        {"d = (acc", 1, 9, {"')' is missing"}},
        {"d = acc)", 1, 8, {"')' was not expected"}},
        {"d = x[m", 1, 8, {"']' is missing"}},
        {"d acc", 1, 3, {"'=' or ':' is missing before 'acc'"}},
        {"d == acc", 1, 3, {"missing before '=='"}},
        {"d = acc acc", 1, 9, {"'acc' was not expected"}},
        {"d = --acc", 1, 6, {"a value is missing before '-'"}},
        {"d = acc // 2", 1, 9, {"'//' was not expected"}},
        {"d = acc ** 2", 1, 10, {"a value is missing before '*'"}},
        {"d = select(0 < acc < 1, 1, 2)", 1, 20, {"'<' follows a comparison"}},
        {"d = relu()", 1, 10, {"a value is missing before ')'"}},
        {"d = acc * 1e99", 1, 11, {"1e99", "larger than any f32"}},
        {"d = acc * 1e400", 1, 11, {"1e400", "larger than any f32"}},
        {"d = acc * 0x10", 1, 11, {"'0x10' is not a number"}},
        {"d = acc * 007", 1, 11, {"'007' is not a number"}},
        {"d = acc * 1.2.3", 1, 11, {"'1.2.3' is not a number"}},
        {"d = acc $ 2", 1, 9, {"'$'", "language"}},
        {"d = acc \xc3\xb7 2", 1, 9, {"0xc3", "language"}},
        {"d = acc \xc3\xb7 2 $", 1, 9, {"0xc3"}},
        {"d = acc  # \xc3\xb7\xe2\x88\x91\ne = \xc3\xb7 + geul(acc)", 2, 5, {"0xc3"}},
        {"up: bf6[m,n]; d = acc", 1, 5, {"'bf6' is not a type", "did you mean 'bf16'?"}},
        {"up: tf32; d = acc", 1, 5, {"'tf32' is not a type"}},
        {"d = " + std::string(300, '(') + "acc", 1, 261, {"nested deeper"}},
        {std::string(20000, ' '), 1, 1, {"20000", "at most 16384"}},
    };
    return kWrong;
}

void check_all(const std::vector<Wrong>& table) {
    for (const Wrong& wrong : table) {
        INFO(wrong.text.substr(0, 100));
        const EpilogueReading reading = try_read_epilogue(wrong.text);
        CHECK_FALSE(reading.epilogue);
        REQUIRE(!reading.problems.empty());
        CHECK(reading.problems[0].at == TextPosition{wrong.line, wrong.column});
        for (const std::string& word : wrong.words) CHECK_THAT(reading.problems[0].message, ContainsSubstring(word));
    }
}

}  // namespace

TEST_CASE("an epilogue's text names what breaks the rules of names") { check_all(wrong_names()); }
TEST_CASE("an epilogue's text names values that are used wrongly") { check_all(wrong_uses()); }
TEST_CASE("an epilogue's text names wrong indices, reductions and pairs") { check_all(wrong_indices()); }
TEST_CASE("an epilogue's text names what can't be read") { check_all(wrong_grammar()); }

TEST_CASE("all errors of an epilogue's text are reported at once, in its order") {
    const EpilogueReading reading =
        try_read_epilogue("t = acc +\nx[m,k] = acc; d = geul(t)\n  e[m,n] = acc + bais * 1e99");
    REQUIRE(reading.problems.size() == 4);
    CHECK(reading.problems[0].at == TextPosition{1, 10});
    CHECK(reading.problems[1].at == TextPosition{2, 1});
    CHECK(reading.problems[2].at == TextPosition{2, 19});
    CHECK(reading.problems[3].at == TextPosition{3, 25});
}

TEST_CASE("columns of an epilogue's text count characters") {
    const EpilogueReading reading = try_read_epilogue("d = \xc3\xb7 \xe2\x88\x91 acc + geul(acc)");
    REQUIRE(reading.problems.size() == 3);
    CHECK(reading.problems[1].at == TextPosition{1, 7});
    CHECK(reading.problems[2].at == TextPosition{1, 15});
}

TEST_CASE("a number that is too small for an f32 is 0") {
    for (const char* const text : {"d = acc + 1e-99", "d = acc + 1e-400", "d = acc + 0.5e-999"})
        CHECK(read_epilogue(text) == read_epilogue("d = acc + 0"));
}

TEST_CASE("a name that no text can have is one problem, however often it is used") {
    CHECK(try_read_epilogue("k: f32; d = k * acc + k").problems.size() == 1);
    CHECK(try_read_epilogue("for = acc; d = for + for").problems.size() == 1);
}

TEST_CASE("a statement that can't be read makes no names unknown") {
    CHECK(try_read_epilogue("t = (acc; d = t; e[m,n] = t").problems.size() == 1);
    CHECK(try_read_epilogue("t = geul(acc); d = t + t").problems.size() == 1);
}

TEST_CASE("the error of an epilogue lists each rule with its place") {
    try {
        static_cast<void>(read_epilogue("d = geul(acc) + bais"));
        FAIL("was read");
    } catch (const SpecError& error) {
        REQUIRE(error.reasons().size() == 2);
        CHECK_THAT(error.reasons()[0], ContainsSubstring("line 1, column 5"));
        CHECK_THAT(error.reasons()[1], ContainsSubstring("line 1, column 17"));
    }
}

TEST_CASE("an epilogue's types are declared, or the caller's, or D's, or f32") {
    const Epilogue epilogue = read_epilogue(
        "up: e4m3[m,n]; d = acc * up[m,n] * res[m,n] + bias[n] * s[0] * q[m,n/8] * "
        "alpha; aux[m,n] = acc; r[m] = sum(acc)",
        {.d = DataType::f16, .given = {{"res", DataType::f32}}});
    const auto type_of = [&](const std::string& name) {
        for (const EpilogueOperand& operand : epilogue.parts().operands)
            if (operand.name == name) return operand.type;
        for (const EpilogueOutput& output : epilogue.parts().outputs)
            if (output.name == name && output.type) return *output.type;
        return DataType::tf32;
    };
    CHECK(type_of("up") == DataType::e4m3);
    CHECK(type_of("res") == DataType::f32);
    CHECK(type_of("bias") == DataType::f16);
    CHECK(type_of("aux") == DataType::f16);
    for (const char* const name : {"s", "q", "alpha", "r"}) CHECK(type_of(name) == DataType::f32);
    CHECK(type_of("d") == DataType::tf32);  // D's
}

TEST_CASE("an epilogue's limits name the architecture") {
    const Epilogue quantised = read_epilogue("d = e4m3(acc)");
    CHECK(epilogue_limits(quantised, "sm_89", 89).empty());
    REQUIRE(epilogue_limits(quantised, "sm_80", 80).size() == 1);
    CHECK_THAT(epilogue_limits(quantised, "sm_80", 80)[0], ContainsSubstring("e4m3 needs sm_89, not sm_80"));
}
