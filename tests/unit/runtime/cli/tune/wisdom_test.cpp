#ifdef JITGEMM_TOOL

#include "runtime/tuning/store/wisdom.hpp"
#include "runtime/tuning/store/store.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/tool.hpp"
#include "tests/support/tuning_records.hpp"

#include <filesystem>

using namespace jitgemm;
using namespace jitgemm::testing;
using namespace jitgemm::tuning;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Where the tool keeps tuning results while JITGEMM_CACHE_DIR is set.
std::string store_of(const Tool& tool) { return tool.cache() + "/tuning"; }

void fill(const Tool& tool) {
    TuningStore store(store_of(tool));
    REQUIRE(store.add_winners({winner_for(kTunedSpec, 3), winner_for(kOtherSpec),
                               on_class(kEmulatorClass, winner_for(kTunedSpec))}) == 3);
}

}  // namespace

TEST_CASE("the tool: wisdom travels from one store to another") {
    const Tool giver;
    const Tool taker;
    fill(giver);
    const std::string file = giver.folder() / "wisdom.jsonl";
    const auto exported = giver.json("wisdom export '" + file + "'", 0);
    CHECK(exported.at("winner_count") == 3);
    const std::string first = text_in(file);
    CHECK(giver.run("wisdom export '" + file + "'").exit_code == 0);
    CHECK(text_in(file) == first);

    const auto imported = taker.json("wisdom import '" + file + "'", 0);
    CHECK(imported.at("imported") == 3);
    CHECK(imported.at("directory") == store_of(taker));
    CHECK(imported.at("problems").empty());
    const auto shown = taker.json("wisdom show", 0);
    CHECK(shown.at("winners") == giver.json("wisdom show", 0).at("winners"));
    CHECK(shown.at("winners").at(0).at("device_class") == kEmulatorClass);
    CHECK(shown.at("winners").at(0).at("spec").at("m") == 4096);
    CHECK(taker.json("wisdom show '" + file + "'", 0).at("winners") == shown.at("winners"));
    CHECK(taker.json("wisdom show --device-class " + kH200Class, 0).at("winners").size() == 2);
    const ToolResult text = taker.run("wisdom show");
    CHECK_THAT(text.out, ContainsSubstring(kH200Class + " (NVIDIA H200)"));
    CHECK_THAT(text.out, Says("1.20", "heuristic"));
}

TEST_CASE("the tool: without any folder, what comes with the library is shown, and the rest says what to set") {
    const Tool tool;
    const std::string nowhere = "env -u HOME -u XDG_DATA_HOME -u XDG_CACHE_HOME -u JITGEMM_CACHE_DIR";
    const auto shown = tool.json("wisdom show", 0, nowhere);
    CHECK(shown.at("directory").is_null());
    CHECK(shown.at("winners").empty());
    CHECK(shown.at("installed") == tool.json("wisdom show", 0).at("installed"));
    CHECK_FALSE(shown.at("installed").empty());
    CHECK_THAT(tool.run("wisdom show", nowhere).out, ContainsSubstring("JITGEMM_TUNING_DIR"));
    const ToolResult exported = tool.run("wisdom export '" + (tool.folder() / "w") + "'", nowhere);
    CHECK(exported.exit_code == 2);
    CHECK_THAT(exported.err, ContainsSubstring("JITGEMM_TUNING_DIR"));
    CHECK_THAT(tool.run("doctor", nowhere).out, ContainsSubstring("JITGEMM_CACHE_DIR"));
}

TEST_CASE("the tool: wisdom of one class is exported and imported alone") {
    const Tool tool;
    fill(tool);
    const std::string file = tool.folder() / "wisdom.jsonl";
    CHECK(tool.json("wisdom export '" + file + "' --device-class " + kEmulatorClass, 0).at("winner_count") == 1);
    CHECK(tool.json("wisdom import '" + file + "' --device-class sm_80", 0).at("imported") == 0);
}

TEST_CASE("the tool: a malformed line is named and the rest imported") {
    const Tool tool;
    const std::string file = tool.folder() / "wisdom.jsonl";
    put_text(file, to_wisdom({winner_for(kTunedSpec)}) + "{\"device_class\": 3}\n" +
                       to_wisdom({winner_for(kOtherSpec)}).substr(to_wisdom({}).size()));
    const ToolResult result = tool.run("wisdom import '" + file + "'");
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.err, ContainsSubstring(file + ":3: device_class is 3: expected text"));
    CHECK_THAT(result.out, Says("2", "imported", "1", "skipped"));
    CHECK(tool.json("wisdom show", 0).at("winners").size() == 2);
    CHECK(tool.json("wisdom import '" + file + "'", 1).at("problems").size() == 1);
}

TEST_CASE("the tool: one winner is one winner") {
    const Tool tool;
    const std::string file = tool.folder() / "wisdom.jsonl";
    put_text(file, to_wisdom({winner_for(kTunedSpec)}));
    CHECK_THAT(tool.run("wisdom import '" + file + "'").out, Says("1", "imported", "0", "skipped"));
    CHECK_THAT(tool.run("wisdom show").out, ContainsSubstring(": 1 winner\n"));
    CHECK_THAT(tool.run("wisdom export '" + file + "'").out, ContainsSubstring(": 1 winner\n"));
    CHECK_THAT(tool.run("wisdom forget --all").out, ContainsSubstring(": 1 winner forgotten\n"));
}

TEST_CASE("the tool: what is no wisdom is wrong usage, and nothing is made") {
    const Tool tool;
    const std::string file = tool.folder() / "other";
    put_text(file, "m,n,k\n1,2,3\n");
    const ToolResult result = tool.run("wisdom import '" + file + "'");
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, ContainsSubstring(file + " is not a wisdom file"));
    CHECK(tool.json("wisdom import '" + tool.folder().path() + "/missing'", 2).at("error").at("kind") == "usage");
    CHECK(tool.run("wisdom show '" + file + "'").exit_code == 2);
    CHECK(tool.run("wisdom import").exit_code == 2);
    CHECK_FALSE(std::filesystem::exists(store_of(tool)));
}

TEST_CASE("the tool: nothing to export is said, and no file written") {
    const Tool tool;
    const std::string file = tool.folder() / "wisdom.jsonl";
    const ToolResult result = tool.run("wisdom export '" + file + "'");
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.err, ContainsSubstring("nothing to export"));
    CHECK_FALSE(std::filesystem::exists(file));
    CHECK(tool.json("wisdom show", 0).at("winners").empty());
    CHECK_FALSE(std::filesystem::exists(store_of(tool)));
}

TEST_CASE("the tool: winners are forgotten by problem, by class, or all") {
    const Tool tool;
    CHECK(tool.json("wisdom forget --all", 0).at("forgotten") == 0);
    CHECK_FALSE(std::filesystem::exists(store_of(tool)));
    fill(tool);
    const ToolResult vague = tool.run("wisdom forget");
    CHECK(vague.exit_code == 2);
    CHECK_THAT(vague.err, ContainsSubstring("--all"));
    CHECK(tool.run("wisdom forget --all bf16 tn 4096 512 1024").exit_code == 2);
    CHECK(tool.json("wisdom forget bf16 tn 4096 512 1025", 0).at("forgotten") == 0);
    CHECK(tool.json("wisdom forget bf16 tn 4096 512 1024 --device-class " + kH200Class, 0).at("forgotten") == 1);
    CHECK(tool.json("wisdom forget --device-class " + kEmulatorClass, 0).at("forgotten") == 1);
    CHECK(tool.json("wisdom forget --all", 0).at("forgotten") == 1);
    CHECK(tool.json("wisdom show", 0).at("winners").empty());
}

TEST_CASE("the tool: clearing the cache leaves tuning results") {
    const Tool tool;
    fill(tool);
    CHECK(tool.run("cache clear").exit_code == 0);
    CHECK(tool.run("cache verify --drop").exit_code == 0);
    CHECK(tool.json("wisdom show", 0).at("winners").size() == 3);
}

TEST_CASE("the tool: list, explain and dump take the tuned kernel and say which it is") {
    const Tool tool;
    fill(tool);
    const std::string tuned = winner_for(kTunedSpec, 3).kernel;
    const std::string problem = " bf16 tn 4096 512 1024 --gpu h200";
    const auto explained = tool.json("explain --no-compile" + problem, 0);
    CHECK(explained.at("kernel") == tuned);
    CHECK(explained.at("choice").at("source") == "exact");
    CHECK(explained.at("free_choice").at("kernel") == winner_for(kTunedSpec).kernel);
    CHECK_THAT(tool.run("explain --no-compile" + problem).out, ContainsSubstring("Exact: tuned for this problem"));
    const auto listed = tool.json("list" + problem, 0);
    CHECK(listed.at("choice").at("source") == "exact");
    CHECK(listed.at("choice").at("kernel") == tuned);
    CHECK(listed.at("candidates").at(0).at("kernel") == winner_for(kTunedSpec).kernel);
    CHECK_THAT(tool.run("list" + problem).out, ContainsSubstring("chosen: " + tuned + "\n  exact: "));
    CHECK(tool.json("dump" + problem, 0).at("kernel") == tuned);

    const auto near_one = tool.json("explain --no-compile bf16 tn 4096 512 1088 --gpu h200", 0);
    CHECK(near_one.at("choice").at("source") == "nearest");
    CHECK(near_one.at("choice").at("tuned_spec").at("k") == 1024);
    const auto elsewhere = tool.json("explain --no-compile bf16 tn 4096 512 1024 --gpu h100", 0);
    CHECK(elsewhere.at("choice").at("source") == "heuristic");
    CHECK(elsewhere.at("choice").at("tuned_spec").is_null());
    const auto forced = tool.json("explain --no-compile --kernel " + tuned + problem, 0);
    CHECK(forced.at("choice").at("source") == "forced");
}

TEST_CASE("the tool: a wisdom file serves without a store") {
    const Tool tool;
    const std::string file = tool.folder() / "wisdom.jsonl";
    write_wisdom(file, {winner_for(kTunedSpec, 3)});
    const auto explained =
        tool.json("explain --no-compile bf16 tn 4096 512 1024 --gpu h200", 0, "JITGEMM_WISDOM='" + file + "'");
    CHECK(explained.at("kernel") == winner_for(kTunedSpec, 3).kernel);
}

#endif
