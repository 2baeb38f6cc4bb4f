/// The promises of the maths of f32: the page's table has the same bounds, and each bound the same numbers.

#include "generator/base/math_promise.hpp"
#include "tests/catch.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>

#include <cmath>
#include <sstream>
#include <string>
#include <utility>

namespace {

using namespace jitgemm;
using jitgemm::testing::text_in;

void replace_all(std::string& text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
}

/// The cell that the page's table has for a math, in the letters of a terminal; empty without one.
std::string bound_on_page(Math math) {
    std::string page = text_in(JITGEMM_SOURCE_DIR "/docs/single-precision.md");
    page.erase(0, page.find("## Promises"));
    std::istringstream lines(page.substr(0, page.find("\n## ", 1)));
    for (std::string line; std::getline(lines, line);) {
        const std::size_t cell = line.find(" | ");
        if (cell == std::string::npos || line.substr(0, cell).find(fmt::format("`{}`", to_string(math))) == line.npos)
            continue;
        std::string bound = line.substr(cell + 3);
        for (const auto& [from, to] :
             {std::pair{"\u00b7", "*"}, {"\u03a3", "S"}, {"max a", "max_a"}, {"max b", "max_b"}})
            replace_all(bound, from, to);
        return bound;
    }
    return {};
}

/// "2^-20", or "1.001*2^-10".
std::string power_text(double number) {
    const int exponent = static_cast<int>(std::floor(std::log2(number)));
    const double factor = std::ldexp(number, -exponent);
    return factor == 1 ? fmt::format("2^{}", exponent) : fmt::format("{}*2^{}", factor, exponent);
}

}  // namespace

TEST_CASE("promises of maths: the page has the same bounds") {
    CHECK(math_promises().size() == 5);
    for (const MathPromise& promise : math_promises()) {
        INFO(to_string(promise.math));
        CHECK(bound_on_page(promise.math).starts_with(promise.bound));
    }
    CHECK(promise_of(Math::ieee) == nullptr);
    CHECK(bound_on_page(Math::ieee).empty());
}

TEST_CASE("promises of maths: the numbers are those of the text") {
    for (const MathPromise& promise : math_promises()) {
        INFO(to_string(promise.math));
        std::string text;
        if (promise.in_norm)
            text = "1e-4*S";
        else
            text = fmt::format("({} + K*{})*S", power_text(promise.relative), power_text(promise.per_k));
        if (promise.largest != 0) text += fmt::format(" + {}*K*max_a*max_b", power_text(promise.largest));
        if (promise.tiny != 0) text += fmt::format(" + {}*K*(max_a + max_b)", power_text(promise.tiny));
        CHECK(promise.bound.starts_with(text));
        CHECK((promise.in_norm || promise.bound == text));
    }
}
