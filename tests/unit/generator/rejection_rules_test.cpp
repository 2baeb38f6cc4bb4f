#include "generator/rejection_rules.hpp"
#include "tests/catch.hpp"

using namespace jitgemm;

TEST_CASE("reasons that differ in their numbers are one rule") {
    CHECK(rule_of("stages is 99: at most 8") == "stages is #: at most #");
    CHECK(rule_of("no number") == "no number");
    CHECK(rule_of("128x256") == "#x#");
}

TEST_CASE("of two reasons that all share, the one that never varies was asked for") {
    const std::vector<RejectedCandidate> rejected{{{}, {"1000 bytes, 800 are there", "stages is 99: at most 8"}},
                                                  {{}, {"2000 bytes, 800 are there", "stages is 99: at most 8"}}};
    CHECK(reasons_in_common(rejected) ==
          std::vector<std::string>{"stages is 99: at most 8", "1000 bytes, 800 are there"});
}

TEST_CASE("what all candidates have in common comes first, the rest with how many it concerns") {
    const std::vector<RejectedCandidate> rejected{
        {{}, {"a block takes 9000 bytes, 800 are there", "stages is 99: at most 8"}},
        {{}, {"stages is 99: at most 8", "warps are 32: at most 16", "warps are 64: at most 16"}},
        {{}, {"a block takes 7000 bytes, 800 are there", "stages is 99: at most 8"}}};
    CHECK(reasons_in_common(rejected) ==
          std::vector<std::string>{"stages is 99: at most 8",
                                   "a block takes 9000 bytes, 800 are there (2 of 3 candidates)",
                                   "warps are 32: at most 16 (1 of 3 candidates)"});
    CHECK(reasons_in_common({}).empty());
}

TEST_CASE("what families propose is told first, then why others propose nothing, in ten lines") {
    CandidateList list;
    list.rejected.push_back({{}, {"stages is 99: at most 8"}});
    list.unsupported = {"one needs sm_90a", "another multiplies f32"};
    const std::vector<std::string> all{"stages is 99: at most 8", "one needs sm_90a", "another multiplies f32"};
    CHECK(reasons_for_none(list) == all);
    list.unsupported.resize(9, "no kernel");
    CHECK(reasons_for_none(list).size() == 10);
    CHECK(reasons_for_none(list).back() == "no kernel");
    list.unsupported.resize(12, "no kernel");
    CHECK(reasons_for_none(list).size() == 10);
    CHECK(reasons_for_none(list).back() == "and 4 more");
    CHECK(reasons_for_none({}).empty());
}
