#if defined(JITGEMM_TOOL) && defined(JITGEMM_FAKE_WORKER)

#include "generator/kernel_set.hpp"
#include "runtime/tuning/store/store.hpp"
#include "tests/catch.hpp"
#include "tests/support/tool.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

const std::string kRange = "bf16 tn m=1:300 n=512 k=512";
const std::string kPlain = "JITGEMM_INSTALLED_WISDOM=0";

/// `jitgemm kernels tune` with a scripted H200.
class SetTool {
public:
    explicit SetTool(Json script = Json::object()) { plant(std::move(script)); }
    void plant(Json script) const {
        script["log"] = log();
        if (!script.contains("noise")) script["noise"] = 0;
        put_text(tool.folder() / "script.json", script.dump());
    }
    [[nodiscard]] std::string log() const { return tool.folder() / "log"; }
    [[nodiscard]] std::string words(const std::string& more = {}) const {
        return fmt::format("kernels tune {} --workers 2 --worker '{} --script {}' {}", kRange, JITGEMM_FAKE_WORKER,
                           tool.folder() / "script.json", more);
    }
    [[nodiscard]] Json tuned(const std::string& more = {}) const { return tool.json(words(more), 0, kPlain); }
    [[nodiscard]] KernelSet set(const std::string& range = kRange, const std::string& settings = {}) const {
        return parse_kernel_set(tool.json("kernels " + range + " --gpu h200", 0, kPlain + " " + settings).dump());
    }
    /// How often the device timed a kernel.
    [[nodiscard]] std::size_t turns() const {
        std::size_t count = 0;
        std::istringstream text(fs::exists(log()) ? text_in(log()) : "");
        for (std::string line; std::getline(text, line);) count += line.starts_with("time ") ? 1 : 0;
        return count;
    }
    [[nodiscard]] std::size_t recorded() const {
        std::size_t samples = 0;
        const tuning::TuningStore store(tool.cache() + "/tuning");
        for (const tuning::ProblemRecord& problem : store.read_sweep(1))
            for (const tuning::Trial& trial : problem.trials) samples += trial.samples.size();
        return samples;
    }
    [[nodiscard]] std::string folder() const { return tool.cache() + "/tuning/kernel-sets"; }
    [[nodiscard]] std::string only_file() const {
        std::string only;
        for (const auto& entry : fs::directory_iterator(folder())) {
            CHECK(only.empty());
            only = entry.path().string();
        }
        return only;
    }

    Tool tool;
};

std::set<std::string> names_of(const KernelSet& set) {
    std::set<std::string> names;
    for (const SetKernel& kernel : set.kernels) names.insert(kernel_name(kernel.id));
    return names;
}

}  // namespace

TEST_CASE("the tool: kernels tune chooses by measured times, and later requests for the range get that set") {
    const SetTool bench;
    const KernelSet predicted = bench.set();
    const std::string slow = kernel_name(predicted.kernels[predicted.range_of(200).kernel].id);
    bench.plant({{"spread", 0}, {"kernels", Json::array({Json{{"name", slow}, {"factor", 3}}})}});
    const Json document = bench.tuned();
    const KernelSet tuned = parse_kernel_set(document.at("set").dump());
    CHECK(document.at("stopped_by") == "none");
    CHECK(document.at("times") > document.at("points"));
    CHECK_FALSE(names_of(tuned).contains(slow));
    for (std::int64_t m = 1; m <= 300; ++m) REQUIRE(tuned.find(m) != nullptr);

    CHECK(bench.set() == tuned);
    CHECK(bench.only_file() == document.at("stored").get<std::string>());
    CHECK(bench.set("bf16 tn m=1:301 n=512 k=512") != tuned);          // another range
    CHECK(names_of(bench.set(kRange + " --most 10")).contains(slow));  // limits choose again
    CHECK(names_of(bench.set(kRange, "JITGEMM_TUNING_DIR=/nonexistent")).contains(slow));
}

TEST_CASE("the tool: a kernel that gives wrong results anywhere is in no tuned set") {
    const SetTool bench;
    const KernelSet predicted = bench.set();
    const std::string wrong = kernel_name(predicted.kernels[predicted.range_of(200).kernel].id);
    bench.plant({{"spread", 0}, {"kernels", Json::array({Json{{"name", wrong}, {"verify", "wrong"}}})}});
    CHECK_FALSE(names_of(parse_kernel_set(bench.tuned().at("set").dump())).contains(wrong));
}

TEST_CASE("the tool: kernels tune measures nothing twice, also when it was killed") {
    const SetTool bench(Json{{"timing_ms", 2}});
    const std::string script = fmt::format(
        "exec 2>/dev/null; JITGEMM_CACHE_DIR='{}' TMPDIR='{}' {} '{}' {} --quiet >/dev/null 2>&1 & "
        "turns() {{ grep -c '^time ' '{}' || true; }}; "
        "while kill -0 $! && n=$(turns) && [ \"${{n:-0}}\" -lt 150 ]; do sleep 0.005; done; "
        "kill -s KILL $!; wait $!",
        bench.tool.cache(), bench.tool.folder().path(), kPlain, JITGEMM_TOOL, bench.words(), bench.log());
    static_cast<void>(std::system(script.c_str()));
    CHECK_FALSE(fs::exists(bench.folder()));
    const std::size_t kept = bench.recorded(), measured = bench.turns();
    CHECK(kept > 0);

    const Json document = bench.tuned();
    CHECK(bench.set() == parse_kernel_set(document.at("set").dump()));
    const std::size_t all = bench.recorded();
    CHECK(all > kept);
    const std::size_t turns = bench.turns();
    CHECK(turns == measured + (all - kept));  // what was measured and not yet written is measured again
    CHECK(bench.tuned() == document);         // all is known
    CHECK(bench.recorded() == all);
    CHECK(bench.turns() == turns);
    static_cast<void>(bench.tuned("--restart"));
    CHECK(bench.turns() > turns + all / 2);
}

TEST_CASE("the tool: two kernels tune at once on one store leave one sound set and all times") {
    const SetTool bench(Json{{"timing_ms", 1}});
    const std::string command = fmt::format("'{}' {} --json", JITGEMM_TOOL, bench.words());
    const std::string script = fmt::format(
        "export JITGEMM_CACHE_DIR='{}' TMPDIR='{}' {}; cd '{}'; {} >one 2>one.err & {} >two 2>two.err; other=$?; "
        "wait $! && exit $other",
        bench.tool.cache(), bench.tool.folder().path(), kPlain, bench.tool.folder().path(), command, command);
    REQUIRE(std::system(script.c_str()) == 0);
    const KernelSet stored = parse_kernel_set(Json::parse(text_in(bench.only_file())).at("set").dump());
    CHECK(bench.set() == stored);
    std::size_t times = 0;
    for (const char* name : {"one", "two"}) {
        const Json document = Json::parse(text_in(bench.tool.folder() / name));
        CHECK(document.at("stopped_by") == "none");
        CHECK(document.at("stored") == bench.only_file());
        CHECK(parse_kernel_set(document.at("set").dump()) == stored);
        times = document.at("times");
    }
    const std::size_t turns = bench.turns();
    const Json again = bench.tuned();
    CHECK(bench.turns() == turns);  // the store has what the two have measured
    CHECK(again.at("times") == times);
    CHECK(parse_kernel_set(again.at("set").dump()) == stored);
}

TEST_CASE("the tool: a damaged or stale tuned set is passed over, with a word") {
    const SetTool bench;
    const KernelSet predicted = bench.set();
    const KernelSet tuned = parse_kernel_set(bench.tuned().at("set").dump());
    REQUIRE(tuned != predicted);
    const std::string file = bench.only_file();
    const std::string text = text_in(file);
    const auto damaged = [&](const std::string& contents, const std::string& phrase) {
        put_text(file, contents);
        const ToolResult result = bench.tool.run("kernels " + kRange + " --gpu h200 --json", kPlain);
        INFO(result.err);
        CHECK(result.exit_code == 0);
        CHECK(parse_kernel_set(result.out) != tuned);
        CHECK_THAT(result.err, ContainsSubstring(phrase));
    };
    damaged(text.substr(0, text.size() / 2), "is no tuned kernel set");
    damaged("", "is no tuned kernel set");
    damaged("{}", "its format is ''");
    Json json = Json::parse(text);
    json["set"]["kernels"][0]["name"] = "nobody_bf16_tn";
    damaged(json.dump(), "is no tuned kernel set");
    json = Json::parse(text);
    json["versions"]["templates"] = "other";
    damaged(json.dump(), "");
    json = Json::parse(text);
    json["device_class"] = "sm_80-108sm-40MB-80GB-2050GBs-1400MHz";
    damaged(json.dump(), "");
    put_text(file, text);
    CHECK(bench.set() == tuned);
}

TEST_CASE("the tool: kernels tune refuses what it can't tune, with the value") {
    const SetTool bench;
    const auto refused = [&](const std::string& words, const std::string& phrase) {
        const ToolResult result = bench.tool.run("kernels tune " + words);
        INFO(words << "\n" << result.err);
        CHECK(result.exit_code == 2);
        CHECK_THAT(result.err, ContainsSubstring(phrase));
    };
    refused("bf16 tn m=0:10 n=8 k=8", "0:10");
    refused("bf16 tn m=1:8 n=8 k=8 --most 0", "--most is 0");
    refused("bf16 tn m=1:8 n=8 k=8 --budget soon", "soon");
    refused("bf16 tn m=1:8 n=8 k=8 --watchdog 0", "--watchdog is 0");
    CHECK_THAT(bench.tool.run("kernels tune --help").out, ContainsSubstring("--restart"));
}

#endif
