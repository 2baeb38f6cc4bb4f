#include "generator/text/nearest_name.hpp"
#include "tests/catch.hpp"

#include <array>

using namespace jitgemm;

namespace {

constexpr std::array<std::string_view, 8> kTypes{"f16", "bf16", "f32", "tf32", "e4m3", "e5m2", "s8", "s32"};
constexpr std::array<std::string_view, 4> kLayouts{"tn", "nn", "nt", "tt"};
constexpr std::array<std::string_view, 6> kVerbs{"dump", "list", "run", "bench", "export", "cache"};

}  // namespace

TEST_CASE("edit_distance counts single steps, a swap of neighbours among them") {
    CHECK(edit_distance("", "") == 0);
    CHECK(edit_distance("", "abc") == 3);
    CHECK(edit_distance("bf16", "bf16") == 0);
    CHECK(edit_distance("bf6", "bf16") == 1);
    CHECK(edit_distance("bf166", "bf16") == 1);
    CHECK(edit_distance("bx16", "bf16") == 1);
    CHECK(edit_distance("fb16", "bf16") == 1);
    CHECK(edit_distance("kitten", "sitting") == 3);
    CHECK(edit_distance("ca", "abc") == 3);  // what tells optimal string alignment from unrestricted distance
}

TEST_CASE("edit_distance is symmetric and obeys the triangle inequality on these names") {
    for (const auto a : kTypes) {
        for (const auto b : kTypes) {
            CHECK(edit_distance(a, b) == edit_distance(b, a));
            CHECK((edit_distance(a, b) == 0) == (a == b));
        }
    }
}

TEST_CASE("nearest_hint offers the closest name, or nothing where none is close") {
    CHECK(nearest_hint("bf6", kTypes) == "; did you mean 'bf16'?");
    CHECK(nearest_hint("fp16", kTypes) == "; did you mean 'f16'?");
    CHECK(nearest_hint("BF16", kTypes) == "; did you mean 'bf16'?");
    CHECK(nearest_hint("Bnech", kVerbs) == "; did you mean 'bench'?");
    CHECK(nearest_hint("e4m2", kTypes) == "; did you mean 'e4m3'?");
    CHECK(nearest_hint("bnech", kVerbs) == "; did you mean 'bench'?");
    CHECK(nearest_hint("exprot", kVerbs) == "; did you mean 'export'?");
    CHECK(nearest_hint("quux", kVerbs).empty());
    CHECK(nearest_hint("xx", kLayouts).empty());
    CHECK(nearest_hint("", kTypes).empty());
    CHECK(nearest_hint("bf16", {}).empty());
}

TEST_CASE("join_names lists in order") {
    CHECK(join_names(kLayouts) == "tn, nn, nt, tt");
    CHECK(join_names({}).empty());
}
