// The epilogues of problems without a text: alpha, beta and C, with the arithmetic that kernels have.

#include "generator/epilogue/default_texts.hpp"

#include "jitgemm/error.hpp"
#include "tests/catch.hpp"

#include <string>
#include <vector>

using namespace jitgemm;

namespace {

std::vector<std::string> guards_of(const EpilogueParts& parts, const std::vector<int>& guards) {
    std::vector<std::string> names;
    for (const int guard : guards) names.push_back(parts.operands[static_cast<std::size_t>(guard)].name);
    return names;
}

}  // namespace

TEST_CASE("alpha guards acc and beta guards C in the default epilogues") {
    CHECK(guards_of(default_epilogue(DataType::f16, std::nullopt, false).parts(), {0}) ==
          std::vector<std::string>{"alpha"});
    for (const bool broadcasts : {false, true}) {
        const EpilogueParts parts = default_epilogue(DataType::f16, DataType::f32, broadcasts).parts();
        CHECK(guards_of(parts, parts.acc_guards) == std::vector<std::string>{"alpha"});
        REQUIRE(parts.operands.size() == 3);
        CHECK(parts.operands[2].name == "c");
        CHECK(parts.operands[2].type == DataType::f32);
        CHECK(parts.operands[2].index.row.has_value() != broadcasts);
        CHECK(guards_of(parts, parts.operands[2].guards) == std::vector<std::string>{"beta"});
    }
}

TEST_CASE("only a scaled sum with one guarded operand has a text by units") {
    CHECK(has_unit_text(read_epilogue("s: f32; d = s * acc + s * bias[n]")));
    CHECK_FALSE(has_unit_text(read_epilogue("d = alpha * acc + c[m,n]")));
    CHECK_FALSE(has_unit_text(read_epilogue("d = relu(alpha * acc)")));
    CHECK_FALSE(has_unit_text(read_epilogue("d = beta * c[m,n] + alpha * acc")));
    CHECK_FALSE(has_unit_text(read_epilogue("d = alpha * acc; e[m,n] = acc")));
    CHECK_THROWS_AS(render_by_unit(read_epilogue("d = relu(acc)"), FinishUnit::element), Error);
}
