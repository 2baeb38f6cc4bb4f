#include "runtime/tuning/store/wisdom.hpp"

#include "runtime/tuning/store/record_json.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tuning_records.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <iterator>

using namespace jitgemm;
using namespace jitgemm::testing;
using namespace jitgemm::tuning;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A line whose field says something else.
template <typename Value>
std::string line_with(const char* field, const Value& value) {
    Json json = winner_for(kTunedSpec);
    json[field] = value;
    return json_line(json) + "\n";
}

const std::string kHeader = "{\"jitgemm wisdom\":2}\n";

}  // namespace

TEST_CASE("wisdom holds what it was given, the same text whatever the order") {
    const std::vector<Winner> winners{winner_for(kTunedSpec, 3, 1.0 / 3), winner_for(kOtherSpec)};
    const std::string text = to_wisdom(winners);
    REQUIRE(text.starts_with(kHeader));
    REQUIRE(to_wisdom({winners[1], winners[0]}) == text);
    const Wisdom wisdom = parse_wisdom(text, "file");
    REQUIRE(wisdom.problems.empty());
    REQUIRE(to_wisdom(wisdom.winners) == text);
    REQUIRE(wisdom.winners.size() == 2);
    REQUIRE(wisdom.winners[1].median_us == 1.0 / 3);
}

TEST_CASE("a wisdom file is written as a whole") {
    const TemporaryFolder folder;
    write_wisdom(folder / "wisdom", {winner_for(kTunedSpec)});
    write_wisdom(folder / "wisdom", {winner_for(kTunedSpec), winner_for(kOtherSpec)});
    REQUIRE(read_wisdom(folder / "wisdom").winners.size() == 2);
    REQUIRE(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
    REQUIRE_THROWS_AS(write_wisdom(folder / "nowhere/wisdom", {}), WisdomError);
    REQUIRE_THROWS_WITH(read_wisdom(folder / "missing"), ContainsSubstring(folder / "missing"));
    REQUIRE_THROWS_AS(read_wisdom(folder.path()), WisdomError);
}

TEST_CASE("lines without the text that is sought are not read") {
    const std::string good = json_line(winner_for(kOtherSpec)) + "\n";
    const std::string text = kHeader + "no JSON\n" + good;
    REQUIRE(parse_wisdom(text, "file").problems.size() == 1);
    const Wisdom wisdom = parse_wisdom(text, "file", winner_for(kOtherSpec).kernel);
    REQUIRE(wisdom.problems.empty());
    REQUIRE(lines(wisdom.winners) == good);
    const Wisdom malformed = parse_wisdom(text, "file", "no JSON");
    REQUIRE(malformed.winners.empty());
    REQUIRE(malformed.problems.size() == 1);
    REQUIRE(malformed.problems.front().starts_with("file:2: "));  // counted with those that are passed over
    REQUIRE_THROWS_AS(parse_wisdom("no header\n", "file", "anything"), WisdomError);
}

TEST_CASE("each malformed line is named, the rest kept") {
    const std::string good = json_line(winner_for(kOtherSpec)) + "\n";
    const auto problem_of = [&](const std::string& bad) {
        const Wisdom wisdom = parse_wisdom(kHeader + good + bad, "w.jsonl");
        REQUIRE(lines(wisdom.winners) == good);
        REQUIRE(wisdom.problems.size() == 1);
        REQUIRE_THAT(wisdom.problems[0], ContainsSubstring("w.jsonl:3: "));
        REQUIRE(wisdom.problems[0].find('\n') == std::string::npos);
        return wisdom.problems[0];
    };
    REQUIRE_THAT(problem_of("{\"half\": "), ContainsSubstring("parse error"));
    REQUIRE_THAT(problem_of("some words"), ContainsSubstring("parse error"));
    REQUIRE_THAT(problem_of("{}"), Says("device_class", "missing"));
    REQUIRE_THAT(problem_of("[1, 2]"), ContainsSubstring("expected an object"));
    REQUIRE_THAT(problem_of(line_with("median_us", "fast")), ContainsSubstring("median_us is \"fast\""));
    REQUIRE_THAT(problem_of(line_with("median_us", -1)), ContainsSubstring("median_us is -1"));
    REQUIRE_THAT(problem_of(line_with("median_us", 1e308)), Says("median_us", "1e+308", "time"));
    REQUIRE_THAT(problem_of(line_with("cublaslt_us", -1)), Says("cublaslt_us", "-1", "time"));
    REQUIRE_THAT(problem_of(line_with("low_us", 1e9)), Says("low_us", "1e+09", "high_us"));
    REQUIRE_THAT(problem_of(line_with("candidates_timed", -3)), ContainsSubstring("candidates_timed is -3"));
    REQUIRE_THAT(problem_of(line_with("spec", "gemm-v1 m=-3 n=4 k=5")), ContainsSubstring("m is -3"));
    REQUIRE_THAT(problem_of(line_with("device_class", "")), Says("device_class", "empty"));
    REQUIRE_THAT(problem_of(line_with("kernel", "mma_onestage_tn")), ContainsSubstring("mma_onestage"));
    REQUIRE_THAT(problem_of(line_with("kernel", winner_for(kOtherSpec).kernel)), ContainsSubstring("another problem"));
    REQUIRE_THAT(problem_of(json_line(winner_for(kTunedSpec)).substr(0, 200)),
                 ContainsSubstring("parse error"));  // cut off
}

TEST_CASE("a file that is no wisdom is refused") {
    REQUIRE_THROWS_WITH(parse_wisdom("", "w"), ContainsSubstring("w is not a wisdom file"));
    REQUIRE_THROWS_WITH(parse_wisdom("[]\n", "w"), ContainsSubstring("w is not a wisdom file"));
    REQUIRE_THROWS_WITH(parse_wisdom("\x7f"
                                     "ELF\n",
                                     "w"),
                        ContainsSubstring("w is not a wisdom file"));
    REQUIRE_THROWS_WITH(parse_wisdom(json_line(winner_for(kTunedSpec)), "w"),
                        ContainsSubstring("w is not a wisdom file"));
    REQUIRE_THROWS_WITH(parse_wisdom("{\"jitgemm wisdom\":3}\n", "w"), ContainsSubstring("format 3"));
}

TEST_CASE("lines may end as elsewhere, be empty, or say the same problem twice") {
    const std::string text = "{\"jitgemm wisdom\": 2}\r\n\r\n" + json_line(winner_for(kTunedSpec, 1, 9)) + "\r\n\n" +
                             json_line(winner_for(kTunedSpec, 2, 8));
    const Wisdom wisdom = parse_wisdom(text, "w");
    REQUIRE(wisdom.problems.empty());
    REQUIRE(lines(wisdom.winners) == lines({winner_for(kTunedSpec, 2, 8)}));
    REQUIRE(parse_wisdom("{\"jitgemm wisdom\":1}", "w").winners.empty());
}

TEST_CASE("wisdom of the first format says not how its winners were searched, and is read so") {
    Json json = winner_for(kTunedSpec);
    json.erase("hot");
    json.erase("narrowed");
    const std::string line = json_line(json) + "\n";
    const Wisdom wisdom = parse_wisdom("{\"jitgemm wisdom\":1}\n" + line, "w");
    REQUIRE(wisdom.problems.empty());
    REQUIRE(wisdom.winners.at(0).narrowed == kNarrowedUnknown);
    REQUIRE_THAT(parse_wisdom(kHeader + line, "w").problems.at(0), ContainsSubstring("hot is missing"));
}

TEST_CASE("wisdom keeps winners of one problem that were searched otherwise") {
    Winner stale = winner_for(kTunedSpec, 2, 8);
    stale.versions.driver = 120;
    Winner narrowed = winner_for(kTunedSpec, 1, 7);
    narrowed.narrowed = "family=simt_naive";
    const std::vector<Winner> all{winner_for(kTunedSpec), stale, narrowed};
    REQUIRE(parse_wisdom(to_wisdom(all), "w").winners.size() == 3);
}
