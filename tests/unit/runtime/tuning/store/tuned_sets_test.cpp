#include "runtime/tuning/store/tuned_sets.hpp"

#include "runtime/support/output_file.hpp"
#include "runtime/tuning/store/wisdom.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tool.hpp"
#include "tests/support/tuning_records.hpp"

#include <nlohmann/json.hpp>

using namespace jitgemm;
using namespace jitgemm::testing;
using namespace jitgemm::tuning;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::int64_t kFirst = 1, kLast = 700;
const GemmSpec kAnyRows{.n = 2048, .k = 1024};

/// A set that nobody would choose: it has one kernel for all rows.
TunedSet lone_kernel(const std::string& device_class = kH200Class) {
    KernelSetOptions options;
    options.most_bodies = 1;
    const KernelSet set = build_kernel_set(kAnyRows, kFirst, kLast, find_gpu("h200"), {}, options);
    return {device_class, h200_facts().versions, "", set};
}

TunedSets sets_in(const std::string& directory, const std::string& wisdom,
                  const Versions& today = h200_facts().versions) {
    return {directory, wisdom, [](std::string_view name) { return name == kH200Class; }, [today] { return today; }};
}

std::optional<KernelSet> found_in(const TunedSets& sets, std::int64_t last_m = kLast) {
    return sets.find(lone_kernel().set.spec, kFirst, last_m, find_gpu("h200"), {});
}

}  // namespace

TEST_CASE("a kernel set is found in a store's folder and in a wisdom file") {
    const TemporaryFolder folder;
    const TunedSet tuned = lone_kernel();
    REQUIRE(tuned.set.body_count() == 1);
    CHECK_FALSE(found_in(sets_in(folder / "store", "")));
    store_set(folder / "store", tuned);
    store_set(folder / "store", lone_kernel(kEmulatorClass));
    CHECK(found_in(sets_in(folder / "store", "")) == tuned.set);

    CHECK(stored_sets(folder / "store").size() == 2);
    write_wisdom(folder / "wisdom", {winner_for(kTunedSpec)}, stored_sets(folder / "store", kH200Class));
    const Wisdom wisdom = read_wisdom(folder / "wisdom");
    CHECK(wisdom.problems.empty());
    CHECK(wisdom.winners.size() == 1);
    REQUIRE(wisdom.sets.size() == 1);
    CHECK(wisdom.sets[0].set == tuned.set);
    CHECK(wisdom.sets[0].device_class == kH200Class);
    CHECK(found_in(sets_in("", folder / "wisdom")) == tuned.set);
    CHECK_FALSE(found_in(sets_in("", folder / "wisdom"), kLast - 1));
    Versions others = h200_facts().versions;
    others.templates += "x";
    CHECK_FALSE(found_in(sets_in("", folder / "wisdom", others)));

    CHECK(forget_sets(folder / "store", kEmulatorClass) == 1);
    CHECK(found_in(sets_in(folder / "store", "")) == tuned.set);
    CHECK(forget_sets(folder / "store") == 1);
    CHECK_FALSE(found_in(sets_in(folder / "store", "")));
}

TEST_CASE("a damaged kernel set in a wisdom file is named and skipped") {
    const TunedSet tuned = lone_kernel();
    Json other_format = json_of(tuned), no_class = json_of(tuned), no_kernels = json_of(tuned), number = json_of(tuned);
    other_format["format"] = "tuned-kernel-set-v9";
    no_class["device_class"] = "";
    no_kernels["set"].erase("kernels");
    number["set"] = 3;
    std::string text = to_wisdom({}, {tuned});
    for (const Json& json : {other_format, no_class, no_kernels, number}) text += json_line(json) + "\n";
    const Wisdom wisdom = parse_wisdom(text, "file");
    CHECK(wisdom.sets.size() == 1);
    REQUIRE(wisdom.problems.size() == 4);
    CHECK_THAT(wisdom.problems[0], ContainsSubstring("file:3: ") && ContainsSubstring("tuned-kernel-set-v9"));
    CHECK_THAT(wisdom.problems[1], ContainsSubstring("file:4: device_class is empty"));
}

#ifdef JITGEMM_TOOL

TEST_CASE("the tool: kernel sets travel with wisdom, and serve from its file") {
    const Tool giver;
    const Tool taker;
    const std::string file = giver.folder() / "wisdom.jsonl";
    const std::string request = "kernels bf16 tn m=1:700 n=2048 k=1024 --gpu h200";
    CHECK(giver.json("wisdom export '" + file + "'", 1).contains("error"));
    const TunedSet tuned = lone_kernel();
    store_set(giver.cache() + "/tuning", tuned);
    CHECK(giver.json("wisdom export '" + file + "'", 0).at("set_count") == 1);
    const auto usual = taker.json(request, 0);
    CHECK(usual.at("kernels").size() > 1);
    const auto from_file = taker.json(request, 0, "JITGEMM_WISDOM='" + file + "'");
    CHECK(from_file.at("kernels").size() == tuned.set.kernels.size());
    CHECK(from_file == giver.json(request, 0));

    CHECK(taker.json("wisdom import '" + file + "'", 0).at("imported_sets") == 1);
    CHECK(taker.json(request, 0) == from_file);
    CHECK_THAT(taker.run("wisdom show").out, Says("kernel set", kH200Class, "m=1:700"));
    CHECK(taker.json("wisdom show '" + file + "'", 0).at("sets").size() == 1);
    CHECK(taker.json("wisdom forget --all", 0).at("forgotten_sets") == 1);
    CHECK(taker.json(request, 0) == usual);
}

#endif
