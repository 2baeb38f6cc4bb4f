// Intervals of an epilogue's values, and Python's own evaluation of the texts as their judge.

#include "runtime/verify/epilogue_value.hpp"

#include "tests/catch.hpp"
#include "tests/support/epilogue_cases.hpp"
#include "tests/support/random_epilogue.hpp"
#include "tests/support/temporary_folder.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

using namespace jitgemm;
using testing::EpilogueCase;
using testing::TemporaryFolder;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kUnboundedValue = std::numeric_limits<double>::infinity();

/// The first output for acc and values of the operands in their order of use.
Interval value_of(const std::string& text, double acc, const std::vector<double>& operands = {}) {
    EpilogueElement element{.acc = {exactly(acc), {}}, .operands = {}};
    for (const double operand : operands) element.operands.push_back({exactly(operand), {}});
    return epilogue_values(read_epilogue(text), element)[0];
}

Interval reduced(const EpilogueReduction& reduction, const std::vector<double>& values) {
    ReducedValue total(reduction);
    for (const double value : values) total.add(exactly(value));
    return total.result();
}

std::string judgement(const std::string& cases) {
    const TemporaryFolder folder;
    testing::put_text(folder / "cases.json", cases);
    const std::string command = "python3 " JITGEMM_SOURCE_DIR "/tests/support/epilogue_judge.py " +
                                (folder / "cases.json") + " > " + (folder / "out") + " 2>&1";
    return std::system(command.c_str()) == 0 ? testing::text_in(folder / "out")
                                             : "failed: " + testing::text_in(folder / "out");
}

bool has_python() {
    return std::system("python3 -c 'import sys; assert sys.version_info >= (3, 9)' 2> /dev/null") == 0;
}

}  // namespace

TEST_CASE("an epilogue's value is exact as long as no step rounds") {
    const Interval plain = value_of("d = alpha * acc + beta * c[m,n]", 3, {2, -0.5, 7});
    CHECK(plain.is_exact);
    CHECK(plain.is_number(2.5));
    for (const char* const text : {"d = max(acc, 1) - min(acc, 2)", "d = abs(-acc) * 0.25", "d = clamp(acc, -1, 2)",
                                   "d = select(acc > 2, acc, 0)", "d = relu(acc) / 4", "d = bf16(acc * 0.125)"})
        CHECK(value_of(text, 3).is_exact);
    for (const char* const text : {"d = acc / 7", "d = silu(acc)", "d = acc * 0.1 * 0.1", "d = acc + 1e-9"}) {
        INFO(text);
        CHECK_FALSE(value_of(text, 3).is_exact);
        CHECK(value_of(text, 3).low < value_of(text, 3).high);
    }
    CHECK(value_of("d = bf16(acc / 7)", 3).is_exact);  // all of the interval rounds to one number
    CHECK_FALSE(value_of("d = acc + 1", 16777217).is_exact);
}

TEST_CASE("an epilogue's interval holds f32's result with and without a fused product") {
    const float acc = 1.1f, alpha = 0.7f, c = 3.3f, beta = -1.9f;
    const Interval value = value_of("d = alpha * acc + beta * c[m,n]", acc, {alpha, beta, c});
    CHECK(value.contains(std::fmaf(beta, c, alpha * acc)));
    const float left = alpha * acc, right = beta * c;
    CHECK(value.contains(left + right));
    CHECK_FALSE(value.contains(left));
    CHECK(value.high - value.low < 4e-6);
}

TEST_CASE("a guarded operand is not read where its scalar is 0") {
    CHECK(value_of("d = alpha * acc + beta * c[m,n]", 2, {3, 0, kNan}).is_number(6));
    CHECK(value_of("d = alpha * acc + beta * c[m,n]", kNan, {0, 2, 5}).is_number(10));
    CHECK(value_of("d = alpha * acc + beta * c[m,n]", 2, {3, 1, kNan}).may_be_nan);
    CHECK(value_of("d = acc + beta * (x[n] - relu(x[n]))", 2, {0, kNan}).may_be_nan);
}

TEST_CASE("an epilogue's value keeps NaN and infinities in sight") {
    CHECK(value_of("d = relu(acc)", kNan).is_empty());
    CHECK(value_of("d = max(1, acc)", kNan).may_be_nan);
    CHECK(value_of("d = drelu(acc)", kNan).contains(0));
    CHECK(value_of("d = select(acc > 0, 1, 2)", kNan).is_number(2));
    CHECK(value_of("d = select(acc != acc, 1, 2)", kNan).is_number(1));
    CHECK(value_of("d = 1 / acc", 0).contains(kUnboundedValue));
    CHECK(value_of("d = sqrt(acc)", -1).may_be_nan);
    CHECK(value_of("d = exp(acc)", 100).contains(kUnboundedValue));
    CHECK(value_of("d = acc * 1e30 * 1e30", 1).contains(kUnboundedValue));
}

TEST_CASE("an undecided condition gives both values") {
    const Interval value = value_of("d = select(acc / 7 * 7 > 3, 5, 7)", 3);
    CHECK(value.low == 5);
    CHECK(value.high == 7);
    CHECK(value_of("d = select(acc / 3 > 2, 5, 7)", 3).is_number(7));
}

TEST_CASE("values are rounded to a type as they are stored") {
    CHECK(rounded_to(exactly(1.00390625), DataType::bf16).is_number(1));  // to even
    CHECK(rounded_to(exactly(1000), DataType::e4m3).is_number(448));
    CHECK(rounded_to(exactly(1e9), DataType::e5m2).is_number(57344));
    CHECK(rounded_to(exactly(-300), DataType::s8).is_number(-128));
    CHECK(rounded_to(exactly(2.5), DataType::s8).is_number(2));
    CHECK(rounded_to(exactly(1e6), DataType::f16).contains(kUnboundedValue));
    CHECK(rounded_to(exactly(kNan), DataType::s8).is_number(0));
    CHECK(rounded_to(exactly(kNan), DataType::f16).is_empty());
}

TEST_CASE("reductions are exact while their values are, and are scaled once") {
    const EpilogueReduction sum{.kind = ReductionKind::sum}, max{.kind = ReductionKind::max};
    CHECK(reduced(sum, {1, 2, -4.5}).is_exact);
    CHECK(reduced(sum, {1, 2, -4.5}).is_number(-1.5));
    CHECK_FALSE(reduced(sum, {0x1p24, 1, 1}).is_exact);
    CHECK(reduced(sum, {0x1p24, 1, 1}).contains(0x1p24));
    CHECK(reduced(max, {-1, -3}).is_number(-1));
    CHECK(reduced(max, {-1, kNan}).may_be_nan);
    const EpilogueReduction scale{.kind = ReductionKind::max, .scaled_by = '/', .number = 4, .is_read_back = true};
    CHECK(reduced(scale, {2, 6}).is_number(1.5));
    CHECK(reduced(scale, {0, 0}).is_number(1));
}

TEST_CASE("a reduction may be judged in parts") {
    for (const ReductionKind kind : {ReductionKind::sum, ReductionKind::max, ReductionKind::min}) {
        ReducedValue left({.kind = kind}), right({.kind = kind}), none({.kind = kind});
        for (const double value : {3.0, -7.0}) left.add(exactly(value));
        for (const double value : {0.5, -9.0}) right.add(exactly(value));
        none.add(left);
        none.add(right);
        none.add(ReducedValue({.kind = kind}));
        CHECK(none.result().is_number(kind == ReductionKind::sum ? -12.5 : kind == ReductionKind::max ? 3 : -9));
    }
}

TEST_CASE("the bound of a sum grows with the root of its values, and holds for sums in blocks") {
    ReducedValue total({.kind = ReductionKind::sum});
    std::vector<float> blocks(128, 0.0F);
    for (int i = 0; i < 128 * 128; ++i) {
        const float value = 1.0F / static_cast<float>(i + 1);
        total.add(exactly(value));
        blocks[static_cast<std::size_t>(i / 128)] += value;
    }
    float sum = 0;
    for (const float block : blocks) sum += block;
    CHECK(total.result().contains(sum));
    CHECK_FALSE(total.result().contains(sum + 0.001F));
}

TEST_CASE("Python evaluates 500 random epilogues to values within their intervals") {
    if (!has_python()) SKIP_TEST("no Python of version 3.9");
    nlohmann::json cases = nlohmann::json::array();
    for (std::uint64_t seed = 0; seed < 500; ++seed)
        cases.push_back(EpilogueCase(testing::random_epilogue(seed), seed).as_json());
    const std::string said = judgement(cases.dump());
    INFO(said);
    REQUIRE(said.starts_with("known: "));
    CHECK(std::stod(said.substr(7)) > 0.9);
}

TEST_CASE("the judge of epilogues sees a wrong interval") {
    if (!has_python()) SKIP_TEST("no Python of version 3.9");
    nlohmann::json one = EpilogueCase("d = silu(acc) + bias[n]", 1).as_json();
    one["outputs"]["d"][5][2] = one["outputs"]["d"][5][3];  // the lower end
    one["outputs"]["d"][5][3] = "1000";
    CHECK(judgement(nlohmann::json::array({one}).dump()).find("d[0, 5] is") != std::string::npos);
}
