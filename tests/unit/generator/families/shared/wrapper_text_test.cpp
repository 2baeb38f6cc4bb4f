// A wrapper's comment says which lane holds which sum. The instruction table's layouts check it.

#include "generator/families/shared/wrapper_text.hpp"

#include "tests/catch.hpp"

#include <map>
#include <regex>
#include <string>

using namespace jitgemm;

namespace {

using Variables = std::map<char, int>;

/// The value of a sum as "16w + l / 4 + 8h" or "8i + 2(l % 4) + j".
int value_of(const std::string& sum, const Variables& variables) {
    static const std::regex kTerm(R"((\d*)(?:([a-z])(?: / (\d+))?|\(([a-z]) % (\d+)\)))");
    int value = 0;
    for (std::sregex_iterator term(sum.begin(), sum.end(), kTerm), end; term != end; ++term) {
        const std::smatch& found = *term;
        const int factor = found[1].length() == 0 ? 1 : std::stoi(found[1]);
        const int divisor = found[3].matched ? std::stoi(found[3]) : 1;
        value += factor * (found[4].matched ? variables.at(*found[4].first) % std::stoi(found[5])
                                            : variables.at(*found[2].first) / divisor);
    }
    return value;
}

/// The parts of the sentence "Lane l … holds in c[PLACE] the sum of row ROW, column COLUMN."
struct Rule {
    std::string place, row, column;
    bool is_of_pairs = false;
};

Rule rule_in(const std::string& wrapper) {
    static const std::regex kSentence(
        R"(Lane l[a-z ]* holds in c\[([^\]]+)\] the (sums?) of row ([^,]+), columns? (.+?)( and the next)?\.\n)");
    std::smatch found;
    REQUIRE(std::regex_search(wrapper, found, kSentence));
    REQUIRE(found[5].matched == (found[2] == "sums"));
    return {found[1], found[3], found[4], found[5].matched};
}

void check_rule(const MmaAtom& atom, const std::string& wrapper) {
    INFO(wrapper.substr(0, wrapper.find("__device__")));
    const Rule rule = rule_in(wrapper);
    int checked = 0;
    bool agrees = true;
    for (int thread = 0; thread < atom.threads(); ++thread)
        for (int i = 0; i < atom.shape.n / 8; ++i)
            for (int h = 0; h < (atom.shape.m > 8 ? 2 : 1); ++h)
                for (int j = 0; j < 2; ++j) {
                    const Variables at{{'w', thread / 32}, {'l', thread % 32}, {'i', i}, {'h', h}, {'j', j}};
                    const int place = value_of(rule.place, at);
                    const Coordinate wanted{value_of(rule.row, at),
                                            value_of(rule.column, at) + (rule.is_of_pairs ? j : 0)};
                    const int value = rule.is_of_pairs ? 2 * place + j : place;
                    agrees = agrees && atom.layout_c.coordinate(thread, value) == wanted;
                    ++checked;
                }
    CHECK(checked == atom.shape.m * atom.shape.n);
    CHECK(agrees);
}

}  // namespace

TEST_CASE("a wrapper of mma.sync says which lane holds which sum") {
    int pairs = 0;
    for (const MmaAtom& atom : mma_atom_table()) {
        if (bits(atom.accumulator) > 32) continue;  // no family has f64
        pairs += bits(atom.accumulator) == 16 ? 1 : 0;
        check_rule(atom, mma_wrapper(atom));
    }
    CHECK(pairs > 0);
}

TEST_CASE("a wrapper of wgmma says which lane holds which sum, and which bytes of an A in registers") {
    for (const WgmmaForm& form : wgmma_forms()) {
        if (form.n != 8 && form.n != 256) continue;
        const MmaAtom atom = wgmma_atom(form);
        const std::string wrapper = wgmma_wrapper(form, true, true);
        check_rule(atom, wrapper);
        if (!form.a_in_registers) continue;
        static const std::regex kBytes(
            R"(holds in a\[([^\]]+)\] four bytes of row (.+) of A, from byte (.+)\n// of K on\.\n)");
        std::smatch found;
        REQUIRE(std::regex_search(wrapper, found, kBytes));
        const int element_bits = bits(form.a);
        bool agrees = true;
        for (int thread = 0; thread < 128; ++thread)
            for (int i = 0; i < 2; ++i)
                for (int h = 0; h < 2; ++h) {
                    const Variables at{{'w', thread / 32}, {'l', thread % 32}, {'i', i}, {'h', h}};
                    const Coordinate wanted{value_of(found[2], at), value_of(found[3], at) * 8 / element_bits};
                    const int value = value_of(found[1], at) * 32 / element_bits;
                    agrees = agrees && atom.layout_a.coordinate(thread, value) == wanted;
                }
        CHECK(agrees);
    }
}
