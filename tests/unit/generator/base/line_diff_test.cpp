#include "generator/base/line_diff.hpp"

#include "tests/catch.hpp"

#include <random>
#include <string>

using namespace jitgemm;

namespace {

/// One of the two texts, from the diff.
std::string side_of(const std::vector<DiffLine>& diff, LineChange absent) {
    std::string text;
    for (const DiffLine& line : diff)
        if (line.change != absent) text += line.text + "\n";
    return text;
}

std::size_t count_of(const std::vector<DiffLine>& diff, LineChange change) {
    std::size_t count = 0;
    for (const DiffLine& line : diff) count += line.change == change ? 1 : 0;
    return count;
}

/// Lines in common, by trying both ways at every line: exponential, for a dozen lines.
std::size_t most_in_common(const std::vector<std::string_view>& a, std::size_t i,
                           const std::vector<std::string_view>& b, std::size_t j) {
    if (i == a.size() || j == b.size()) return 0;
    const std::size_t without = std::max(most_in_common(a, i + 1, b, j), most_in_common(a, i, b, j + 1));
    return a[i] == b[j] ? std::max(without, 1 + most_in_common(a, i + 1, b, j + 1)) : without;
}

std::string random_text(std::mt19937& random) {
    std::string text;
    const auto lines = random() % 8;
    for (unsigned line = 0; line < lines; ++line) text += std::string(1, static_cast<char>('a' + random() % 3)) + "\n";
    return text;
}

}  // namespace

TEST_CASE("line diff: a changed line is removed, then added, between the same ones") {
    const std::vector<DiffLine> diff = line_diff("one\ntwo\nthree\n", "one\n2\nthree\n");
    REQUIRE(diff == std::vector<DiffLine>{{LineChange::same, "one"},
                                          {LineChange::removed, "two"},
                                          {LineChange::added, "2"},
                                          {LineChange::same, "three"}});
}

TEST_CASE("line diff: empty texts, equal texts, a last line without its end") {
    REQUIRE(line_diff("", "").empty());
    REQUIRE(line_diff("a\n", "") == std::vector<DiffLine>{{LineChange::removed, "a"}});
    REQUIRE(line_diff("", "a") == std::vector<DiffLine>{{LineChange::added, "a"}});
    REQUIRE(line_diff("a\n\nb", "a\n\nb\n") ==
            std::vector<DiffLine>{{LineChange::same, "a"}, {LineChange::same, ""}, {LineChange::same, "b"}});
    REQUIRE(changed_hunks(line_diff("a\nb\n", "a\nb\n"), 3).empty());
}

TEST_CASE("line diff: both texts can be read back, and no diff is shorter") {
    std::mt19937 random(1);
    for (int i = 0; i < 300; ++i) {
        const std::string before = random_text(random);
        const std::string after = random_text(random);
        const std::vector<DiffLine> diff = line_diff(before, after);
        REQUIRE(side_of(diff, LineChange::added) == before);
        REQUIRE(side_of(diff, LineChange::removed) == after);
        REQUIRE(count_of(diff, LineChange::same) == most_in_common(lines_of(before), 0, lines_of(after), 0));
    }
}

TEST_CASE("line diff: hunks hold the changes with their context, and join where those meet") {
    const std::string before = "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    const std::string after = "0\nX\n2\n3\n4\n5\n6\n7\nY\n9\n";
    const auto hunks = changed_hunks(line_diff(before, after), 2);
    REQUIRE(hunks.size() == 2);
    REQUIRE(hunks[0].front() == DiffLine{LineChange::same, "0"});
    REQUIRE(hunks[0].back() == DiffLine{LineChange::same, "3"});
    REQUIRE(hunks[1].front() == DiffLine{LineChange::same, "6"});
    REQUIRE(hunks[1].back() == DiffLine{LineChange::same, "9"});
    REQUIRE(changed_hunks(line_diff(before, after), 3).size() == 1);
}
