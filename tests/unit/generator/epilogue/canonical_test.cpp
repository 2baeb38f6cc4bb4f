// The canonical form of an epilogue: one text for one meaning.

#include "generator/epilogue/canonical.hpp"

#include "generator/epilogue/epilogue.hpp"
#include "tests/catch.hpp"
#include "tests/support/random_epilogue.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace jitgemm;
using testing::mutated_epilogue;
using testing::random_epilogue;
using testing::respelled_epilogue;

namespace {

std::string canonical_of(const std::string& text) { return read_epilogue(text).text(); }

bool all_have_places(const std::vector<EpilogueProblem>& problems, const std::string& text) {
    const auto lines = std::ranges::count(text, '\n') + 1;
    return std::ranges::all_of(problems, [&](const EpilogueProblem& problem) {
        return problem.at.line >= 1 && problem.at.line <= lines && problem.at.column >= 1 && !problem.message.empty();
    });
}

}  // namespace

TEST_CASE("the canonical form declares operands and names what is used twice") {
    CHECK(canonical_of("bias: f32[n]; t = alpha*acc + bias[n]\npre[m,n] = t; d = silu(t) * up[m,n]") ==
          "bias: f32[n]; up: bf16[m,n]; pre: bf16[m,n]; t0 = alpha * acc + bias[n]; pre[m,n] = t0; "
          "d[m,n] = silu(t0) * up[m,n]");
    CHECK(canonical_of("scale: f32; d = (acc - (scale - 1)) / (2 * acc) * -acc") ==
          "scale: f32; d[m,n] = (acc - (scale - 1)) / (2 * acc) * -acc");
    CHECK(canonical_of("s[m,n/128] = max(abs(acc)) / 448; t = acc / s[m,n//128]; d = e4m3(t) * t") ==
          "s[m,n/128] = max(abs(acc)) / 448; t0 = acc / s[m,n/128]; d[m,n] = e4m3(t0) * t0");
    CHECK(canonical_of("t0 = acc * t1[n]; d = t0 * t0") == "t1: bf16[n]; t0 = acc * t1[n]; d[m,n] = t0 * t0");
    CHECK(canonical_of("d = left(acc + bias[n]) * right(acc)") ==
          "bias: bf16[n]; d[m,h] = (left(acc) + left(bias[n])) * right(acc)");
    CHECK(canonical_of("d = select(acc >= 0, f32(acc), fast(tanh(acc)) * -2)") ==
          "d[m,n] = select(acc >= 0, acc, fast(tanh(acc)) * -2)");
}

TEST_CASE("the canonical form of a random epilogue reads as itself") {
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        const std::string text = random_epilogue(seed);
        INFO(text);
        const Epilogue epilogue = read_epilogue(text);
        const Epilogue again = read_epilogue(epilogue.text());
        CHECK(again.text() == epilogue.text());
        CHECK(&again.parts() == &epilogue.parts());  // one value
    }
}

TEST_CASE("blanks, comments and names of local values don't change an epilogue") {
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        const std::string text = random_epilogue(seed);
        const std::string other = respelled_epilogue(text, seed);
        INFO(text << "\n" << other);
        CHECK(read_epilogue(other) == read_epilogue(text));
    }
}

TEST_CASE("epilogues of other meanings are not equal") {
    const std::vector<std::string> texts{
        "d = acc",
        "d = -acc",
        "d = acc * x[n]",
        "d = acc * x[m]",
        "d = acc + x[n]",
        "d = x[n] + acc",
        "d = acc * y[n]",
        "d = acc * 1",
        "d = acc * 2",
        "d = acc * -2",
        "d = left(acc)",
        "d = even(acc)",
        "d = right(acc)",
        "e[m,n] = acc",
        "e: f32[m,n]; e[m,n] = acc",
        "r[m] = sum(acc)",
        "r[n] = sum(acc)",
        "r[m] = max(acc)",
        "r[m] = sum(acc)*2",
        "r[m] = sum(acc)/2",
        "d = silu(acc)",
        "d = fast(silu(acc))",
        "d = bf16(acc)",
        "x: f32[n]; d = acc * x[n]",
        "d = acc - 1 - 2",
        "d = acc - (1 - 2)",
        "d = acc * 0 - 0",
        "d = acc * -0 - 0",
    };
    std::set<std::string> canonical;
    for (const std::string& text : texts) canonical.insert(canonical_of(text));
    CHECK(canonical.size() == texts.size());
}

TEST_CASE("an epilogue's hash is eight digits, and leads to it") {
    const Epilogue one = read_epilogue("scale: f32; d = scale * acc + bias[n]; pre[m,n] = acc");
    CHECK(one.hash().size() == 8);
    CHECK(one.hash().find_first_not_of("0123456789abcdef") == std::string::npos);
    CHECK(Epilogue::of_hash(one.hash()) == one);
    CHECK(one.hash() != read_epilogue("scale: f32; d = scale * acc + bias[m]; pre[m,n] = acc").hash());
    CHECK(one.hash() != read_epilogue("factor: f32; d = factor * acc + bias[n]; pre[m,n] = acc").hash());
    CHECK_FALSE(Epilogue::of_hash("00000000"));
}

TEST_CASE("the transposed epilogue exchanges m and n, and transposed again it is itself") {
    const auto transposed = [](const std::string& text) { return read_epilogue(text).transposed().text(); };
    CHECK(transposed("d = acc * x[n] + y[m] + z[m,n]; r[m] = sum(acc); q[m,n/8] = max(acc)") ==
          "x: bf16[m]; y: bf16[n]; z: bf16[m,n]; d[m,n] = acc * x[m] + y[n] + z[m,n]; r[n] = sum(acc); "
          "q[m/8,n] = max(acc)");
    const Epilogue pairs = read_epilogue("d = left(acc) * right(acc + bias[n]) + wide[h]").transposed();
    CHECK(pairs.parts().outputs[0].index == EpilogueIndex{EpiloguePlace{'h'}, EpiloguePlace{'n'}});
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        const Epilogue epilogue = read_epilogue(random_epilogue(seed));
        CHECK(epilogue.transposed().transposed() == epilogue);
    }
}

TEST_CASE("operands are guarded by the scalars of the launch that multiply them in each use") {
    const auto guards_of = [](const std::string& text, const std::string& name) {
        const EpilogueParts parts = read_epilogue("s: f32; u: f32; e[m,n] = acc * s * u; " + text).parts();
        std::set<std::string> guards;
        for (const EpilogueOperand& operand : parts.operands)
            if (operand.name == name)
                for (const int guard : operand.guards)
                    guards.insert(parts.operands[static_cast<std::size_t>(guard)].name);
        if (name == "acc")
            for (const int guard : parts.acc_guards)
                guards.insert(parts.operands[static_cast<std::size_t>(guard)].name);
        return guards;
    };
    using Names = std::set<std::string>;
    CHECK(guards_of("d = alpha * acc + beta * c[m,n]", "c") == Names{"beta"});
    CHECK(guards_of("d = c[m,n] * 2 * (s * u)", "c") == Names{"s", "u"});
    CHECK(guards_of("d = s * (c[m,n] - x[n]) + 1", "c") == Names{"s"});
    CHECK(guards_of("d = s * (c[m,n] - x[n]) + 1", "x") == Names{"s"});
    CHECK(guards_of("d = s * c[m,n] + c[m,n]", "c").empty());
    CHECK(guards_of("d = s * u * c[m,n] + -c[m,n] * s", "c") == Names{"s"});
    CHECK(guards_of("d = s * (c[n] + 2 * c[n])", "c") == Names{"s"});
    CHECK(guards_of("d = -s * c[n]", "c") == Names{"s"});
    CHECK(guards_of("z = s * 2; d = z * c[n]", "c") == Names{"s"});
    CHECK(guards_of("d = s * relu(c[m,n])", "c").empty());
    CHECK(guards_of("d = c[n] / 2 * s", "c").empty());
    CHECK(guards_of("d = s * c[m,n]; f[m,n] = u * c[m,n]", "c").empty());
    CHECK(guards_of("t = c[m,n] + 1; d = s * t; f[m,n] = s * u * t", "c") == Names{"s"});
    CHECK(guards_of("r[m] = sum(s * c[m,n] * acc)", "c") == Names{"s"});
    CHECK(guards_of("d = c[m,n] * v[0]", "c").empty());
    CHECK(guards_of("d = acc * s", "acc") == Names{"s"});
}

TEST_CASE("no mutated epilogue is read without a canonical form, or refused without a place") {
    std::vector<std::string> texts;
    for (std::uint64_t seed = 0; seed < 500; ++seed) texts.push_back(random_epilogue(seed));
    int read = 0;
    for (std::uint64_t seed = 0; seed < 100'000; ++seed) {
        const std::string text = mutated_epilogue(texts[seed % texts.size()], seed);
        const EpilogueReading reading = try_read_epilogue(text);
        INFO(text);
        if (reading.epilogue.has_value() != reading.problems.empty()) FAIL("neither read nor refused");
        if (!all_have_places(reading.problems, text)) FAIL("a problem lies outside of the text");
        if (!reading.epilogue) continue;
        ++read;
        if (seed % 10 == 0) CHECK(canonical_of(reading.epilogue->text()) == reading.epilogue->text());
    }
    CHECK(read > 1000);
    CHECK(read < 90'000);
}
