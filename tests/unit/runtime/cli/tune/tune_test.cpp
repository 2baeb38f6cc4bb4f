#if defined(JITGEMM_TOOL) && defined(JITGEMM_FAKE_WORKER)

#include "generator/heuristics.hpp"
#include "runtime/tuning/search/search.hpp"
#include "runtime/tuning/store/records.hpp"
#include "runtime/tuning/store/store.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/tool.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <sstream>

#include <sys/resource.h>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;
using Json = nlohmann::json;

namespace {

const GemmSpec kSpec = resolved(parse_shape_line("bf16 tn 1024 1024 1024"));
const std::string kNoneInstalled =
    "JITGEMM_INSTALLED_WISDOM=0";  // such problems have winners that come with the library

/// The tool with a scripted device in place of a GPU.
class TunedTool {
public:
    /// `script` without its log: fields of the fake worker's script.
    explicit TunedTool(const Json& script = Json::object()) { plant(script); }
    void plant(Json script) const {
        script["log"] = log();
        if (!script.contains("noise")) script["noise"] = 0;
        put_text(tool.folder() / "script.json", script.dump());
    }
    [[nodiscard]] std::string log() const { return tool.folder() / "log"; }
    [[nodiscard]] std::string words(const std::string& arguments) const {
        return fmt::format("tune --workers 2 --worker '{} --script {}' {}", JITGEMM_FAKE_WORKER,
                           tool.folder() / "script.json", arguments);
    }
    [[nodiscard]] Json json(const std::string& arguments, int exit_code = 0, const std::string& settings = "") const {
        return tool.json(words(arguments), exit_code, settings);
    }
    [[nodiscard]] ToolResult run(const std::string& arguments, const std::string& settings = "") const {
        return tool.run(words(arguments), settings);
    }
    /// How many turns it had; each is counted when it begins.
    [[nodiscard]] int turns() const {
        int sum = 0;
        for (const auto& [line, count] : executed("time ")) sum += count;
        return sum;
    }
    /// Runs tune and sends it a signal, `seconds` after the device has begun `more_turns` more turns. This moment does
    /// not depend on the speed of the machine. Returns the tool's exit status, or 128 + the signal's number if it died
    /// of it.
    int signalled(const char* signal, int more_turns, double seconds, const std::string& arguments,
                  const char* before = "") const {
        // A shell makes what it runs in the background deaf to INT; env undoes that. What is killed leaves its
        // temporary folder behind: in the test's own.
        const std::string script = fmt::format(
            "JITGEMM_CACHE_DIR='{}' TMPDIR='{}' {} env --default-signal=INT '{}' {} --quiet >/dev/null 2>&1 & "
            "turns() {{ grep -c '^time ' '{}' 2>/dev/null || true; }}; "
            "while kill -0 $! 2>/dev/null && n=$(turns) && [ \"${{n:-0}}\" -lt {} ]; do sleep 0.005; done; "
            "sleep {}; kill -s {} $!; wait $!",
            tool.cache(), tool.folder().path(), before, JITGEMM_TOOL, words(arguments), log(), turns() + more_turns,
            seconds, signal);
        const int status = std::system(("exec 2>/dev/null; " + script).c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    [[nodiscard]] std::string store() const { return tool.cache() + "/tuning"; }
    /// That sweeps have in the test's folder for temporary files.
    [[nodiscard]] int scratch_folders() const {
        int count = 0;
        for (const auto& entry : std::filesystem::directory_iterator(tool.folder().path()))
            count += entry.path().filename().string().starts_with("jitgemm-tune-") ? 1 : 0;
        return count;
    }

    /// How often the device did each thing: "time KERNEL ROUND" → count.
    [[nodiscard]] std::map<std::string, int> executed(const std::string& what) const {
        std::map<std::string, int> counts;
        std::istringstream text(std::filesystem::exists(log()) ? text_in(log()) : "");
        for (std::string line; std::getline(text, line);)
            if (line.starts_with(what)) ++counts[line];
        return counts;
    }

    /// The kernel that the device timed `turn` turns after its first.
    [[nodiscard]] std::string kernel_of_turn(int turn) const {
        std::istringstream text(text_in(log()));
        for (std::string what, kernel, line; std::getline(text, line);) {
            std::istringstream(line) >> what >> kernel;
            if (what == "time" && turn-- == 0) return kernel;
        }
        return {};
    }

    Tool tool;
};

/// Samples in the only sweep of a store; 0 where there is none yet. Those of each kernel must be rounds 0, 1, 2 ...
int recorded_in(const std::string& directory) {
    if (!std::filesystem::exists(directory)) return 0;
    std::size_t recorded = 0;
    const tuning::TuningStore store(directory);
    for (const tuning::ProblemRecord& problem : store.read_sweep(1)) {
        for (const tuning::Trial& trial : problem.trials) {
            for (std::size_t i = 0; i < trial.samples.size(); ++i) CHECK(trial.samples[i].round == static_cast<int>(i));
            recorded += trial.samples.size();
        }
    }
    return static_cast<int>(recorded);
}

const Json& winner_in(const Json& document, std::size_t problem = 0) {
    return document.at("problems").at(problem).at("winner");
}

int verdicts(const Json& document, const char* verdict) {
    return document.at("problems").at(0).at("verdicts").value(verdict, 0);
}

}  // namespace

TEST_CASE("the tool: tune finds a kernel, and later requests get it") {
    const TunedTool tuned;
    const Json document = tuned.json("bf16 tn 1024 1024 1024");
    const Json& winner = winner_in(document);
    CHECK(winner.at("complete") == true);
    CHECK(winner.at("median_us") <= winner.at("heuristic_us"));
    CHECK(winner.at("speedup_over_heuristic") >= 1.0);
    CHECK(winner.at("cublaslt_us").is_number());
    CHECK(document.at("stopped_by") == "none");

    const Json explained = tuned.tool.json("explain bf16 tn 1024 1024 1024 --gpu h200", 0);
    CHECK(explained.at("choice").at("source") == "exact");
    CHECK(explained.dump().find(winner.at("kernel").get<std::string>()) != std::string::npos);
    CHECK(tuned.tool.json("explain bf16 tn 1024 1024 1088 --gpu h200", 0).at("choice").at("source") == "nearest");
    CHECK(tuned.tool.json("explain bf16 nt 1024 1024 1024 --gpu h200", 0, kNoneInstalled).at("choice").at("source") ==
          "heuristic");
    CHECK(tuned.tool.json("explain bf16 tn 1024 1024 1024 --gpu a100", 0).at("choice").at("source") == "heuristic");
}

TEST_CASE("the tool: a sweep kept to one family serves those who keep to it, and no plain request that has better") {
    const TunedTool tuned;
    const std::string shape = "bf16 tn 1024 1024 1024";
    const Json narrowed = tuned.json(shape + " --family simt_naive");
    CHECK(winner_in(narrowed).at("narrowed") == "family=simt_naive");
    CHECK(winner_in(narrowed).at("speedup_over_heuristic") < 1.0);
    const auto source = [&](const std::string& arguments) {
        return tuned.tool.json("explain --no-compile --gpu h200 " + shape + arguments, 0, kNoneInstalled)
            .at("choice")
            .at("source");
    };
    CHECK(source("") == "heuristic");
    CHECK(source(" --family simt_naive") == "exact");
    const Json whole = tuned.json(shape);
    CHECK(source("") == "exact");
    CHECK(winner_in(tuned.json(shape + " --max-candidates 1")).at("narrowed") == "max-candidates=1");
    const Json explained = tuned.tool.json("explain --no-compile --gpu h200 " + shape, 0);
    CHECK(explained.at("kernel") == winner_in(whole).at("kernel"));
    CHECK(tuned.tool.json("wisdom show", 0).at("winners").size() == 3);
    CHECK_THAT(tuned.tool.run("wisdom show").out, Says("narrowed", "family=simt_naive"));
}

TEST_CASE("the tool: tune takes --device as every verb does") {
    const TunedTool tuned;
    CHECK(winner_in(tuned.json("bf16 tn 512 512 512 --max-candidates 2 --device 0")).is_object());
    CHECK(winner_in(tuned.json("bf16 tn 512 512 576 --max-candidates 2 --device cuda:0")).is_object());
}

TEST_CASE("the tool: tune writes its rows to stdout where it is asked to, and the rest to stderr") {
    const TunedTool tuned;
    const ToolResult result = tuned.run("bf16 tn 512 512 512 --max-candidates 2 --csv -");
    CHECK(result.exit_code == 0);
    CHECK(result.out.starts_with("shape,spec,kernel,"));
    CHECK(result.out.find("TFLOP/s") == std::string::npos);
    CHECK_THAT(result.err, ContainsSubstring("TFLOP/s"));
}

namespace {

/// Time that ended children have computed. Other work of the machine hardly changes it.
double children_cpu_seconds() {
    rusage usage{};
    ::getrusage(RUSAGE_CHILDREN, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

}  // namespace

TEST_CASE("the tool: a budget holds for a long shape file, too") {
    const TunedTool tuned;
    std::string shapes;
    for (int line = 0; line < 100'000; ++line) shapes += fmt::format("bf16 tn {} 512 512\n", 8 * (1 + line % 4000));
    put_text(tuned.tool.folder() / "shapes.txt", shapes);
    const double before = children_cpu_seconds();
    const std::string file = tuned.tool.folder() / "shapes.txt";
    const Json document = tuned.json("--quiet --budget 1s --shapes '" + file + "'", 1);
    CHECK(document.at("problems").size() == 4000);
    CHECK(document.at("stopped_by") == "budget");
    CHECK(children_cpu_seconds() - before <
          20);  // 54 when each problem's search space was made and each line compared with all before it
}

TEST_CASE("the tool: whatever is wrong with a candidate is its verdict, and tune goes on") {
    const tuning::SearchSpace space = tuning::search_space(problem_of(kSpec), find_gpu("h200"), {});
    REQUIRE(space.kernels.size() > 12);
    const auto rule = [&](std::size_t kernel, const char* when, const char* fault) {
        return Json{{"name", space.kernels[kernel]}, {when, fault}};
    };
    Json rules = Json::array({rule(0, "compile", "fail"), rule(1, "compile", "abort"), rule(2, "verify", "wrong"),
                              rule(3, "verify", "nan"), rule(4, "verify", "segv"), rule(5, "verify", "unfit"),
                              rule(6, "time", "abort"), rule(7, "compile", "hang")});
    rules.push_back({{"name", space.kernels[8]}, {"spill_bytes", 64}});
    const TunedTool tuned(Json{{"kernels", rules}});
    const std::string csv = tuned.tool.folder() / "all.csv";
    const Json document =
        tuned.json("bf16 tn 1024 1024 1024 --strategy exhaustive --compile-timeout 1 --csv '" + csv + "'");
    CHECK(verdicts(document, "compile_failed") == 2);
    CHECK(verdicts(document, "compile_timeout") == 1);
    CHECK(verdicts(document, "wrong") == 2);
    CHECK(verdicts(document, "crashed") == 2);
    CHECK(verdicts(document, "unfit") == 1);
    CHECK(winner_in(document).at("complete") == true);
    CHECK(winner_in(document).at("heuristic_us").is_null());
    for (std::size_t i = 0; i < 8; ++i) CHECK(winner_in(document).at("kernel") != space.kernels[i]);
    const std::string rows = text_in(csv);
    CHECK_THAT(rows, ContainsSubstring("compile_timeout"));
    CHECK_THAT(rows, ContainsSubstring(space.kernels[2]));
}

TEST_CASE("the tool: a worker that somebody kills is nobody's verdict, and the same command tries its kernel again") {
    const tuning::SearchSpace space = tuning::search_space(problem_of(kSpec), find_gpu("h200"), {});
    const auto rules = [&](const std::string& fault) {
        Json all = Json::array();
        std::size_t kernel = 1;
        for (const char* const when : {"compile", "verify", "time"})
            all.push_back({{"name", space.kernels[kernel++]}, {when, fault}});
        return Json{{"kernels", all}};
    };
    const std::string asked = "bf16 tn 1024 1024 1024 --max-candidates 6";
    SECTION("once") {
        const Json document = TunedTool(rules("kill once")).json(asked);
        CHECK(document.at("problems").at(0).at("verdicts").size() == 1);
        CHECK(verdicts(document, "fine") == 6);
        CHECK(winner_in(document).at("complete") == true);
    }
    SECTION("again and again") {
        const TunedTool tuned(rules("kill"));
        const Json killed = tuned.json(asked);
        CHECK(verdicts(killed, "no_memory") == 3);
        CHECK(verdicts(killed, "fine") == 3);
        CHECK(winner_in(killed).at("complete") == false);
        tuned.plant({{"kernels", Json::array()}});
        const Json spared = tuned.json(asked + " --resume");
        CHECK(spared.at("resumed") == true);
        CHECK(spared.at("was_finished") == false);
        CHECK(verdicts(spared, "fine") == 6);
        CHECK(winner_in(spared).at("complete") == true);
    }
}

TEST_CASE("the tool: a kernel that hangs is ended by the watchdog") {
    const tuning::SearchSpace space = tuning::search_space(problem_of(kSpec), find_gpu("h200"), {});
    const Json rule{{"name", space.kernels[0]}, {"verify", "hang"}};
    const TunedTool tuned(Json{{"kernels", Json::array({rule})}});
    const Json document = tuned.json("bf16 tn 1024 1024 1024 --max-candidates 6 --watchdog 1");
    CHECK(verdicts(document, "hung") == 1);
    CHECK(winner_in(document).is_object());
}

TEST_CASE("the tool: tune killed at any moment loses nothing and measures nothing twice", "[heavy]") {
    constexpr int kKills = 100;
    const std::string asked = "bf16 tn 1024 1024 1024 --strategy exhaustive --max-candidates 160 --no-cublaslt";
    const TunedTool undisturbed;
    const Json expected = undisturbed.json(asked);
    const int turns_needed = undisturbed.turns();
    REQUIRE(turns_needed > 200);

    // So slow that it takes longer than all the killed runs together.
    const TunedTool tuned(Json{{"turn_ms", 1}, {"timing_ms", 30}, {"compile_ms", 2}});
    int seen = 0;
    for (int kill = 0; kill < kKills; ++kill) {
        if (kill % 4 == 0)  // as it starts
            tuned.signalled("KILL", 0, 0.003 * kill, asked);
        else  // among its turns
            tuned.signalled("KILL", 1 + kill % 3, 0.001 * (kill * 37 % 30), asked);
        const int recorded = recorded_in(tuned.store());
        CHECK(recorded >= seen);  // what was recorded once stays recorded
        seen = recorded;
    }
    REQUIRE(seen < turns_needed);
    REQUIRE(seen > kKills / 3);
    const Json document = tuned.json(asked);
    CHECK(document.at("resumed") == true);
    CHECK(winner_in(document).at("kernel") == winner_in(expected).at("kernel"));
    CHECK(winner_in(document).at("complete") == true);

    CHECK(recorded_in(tuned.store()) >= turns_needed);
    CHECK(recorded_in(tuned.store()) <=
          turns_needed + 2 * kKills);  // the heuristic's kernel in both parts of a cut round
    // Done again was the turn under way at each kill, and the one before while a commit takes less than a turn.
    CHECK(tuned.turns() <= recorded_in(tuned.store()) + 2 * kKills);
}

TEST_CASE("the tool: tune killed in the middle of a round keeps the turns before") {
    constexpr int kKills = 6;
    constexpr int kKernels = 16;
    constexpr int kLost = 2;  // the turn under way, and the one before while a commit takes less than a turn's 100 ms
    const std::string asked =
        fmt::format("bf16 tn 1024 1024 1024 --max-candidates {} --strategy exhaustive --no-cublaslt", kKernels);
    const TunedTool tuned(Json{{"timing_ms", 100}});
    int lost = 0;
    int cut_rounds = 0;
    for (int kill = 0; kill < kKills; ++kill) {
        const int recorded = recorded_in(tuned.store());
        const int turns = tuned.turns();
        tuned.signalled("KILL", 5 + 2 * kill, 0.015 * kill, asked);
        const int taken = tuned.turns() - turns;
        const int kept = recorded_in(tuned.store()) - recorded;
        INFO("kill " << kill << ": " << taken << " turns, " << kept << " kept");
        CHECK(kept <= taken);
        cut_rounds += recorded_in(tuned.store()) % kKernels != 0 ? 1 : 0;
        lost += taken - kept;
    }
    CHECK(cut_rounds > kKills / 2);  // or the test would show nothing
    CHECK(lost <= kKills * kLost);   // all together: one commit may meet a busy disk
    const Json document = tuned.json(asked);
    CHECK(document.at("resumed") == true);
    CHECK(winner_in(document).at("complete") == true);
    CHECK(tuned.turns() == recorded_in(tuned.store()) + lost);  // nothing but what was lost was measured twice
}

TEST_CASE("the tool: what asks tune to end does so after the turn under way, with all turns kept and nothing left") {
    const char* const signal = GENERATE("INT", "TERM", "HUP");
    INFO(signal);
    const std::string asked = "bf16 tn 1024 1024 1024 --max-candidates 24";
    const TunedTool tuned(Json{{"timing_ms", 400}});
    CHECK(tuned.signalled(signal, 6, 0.1, asked) == 130);
    CHECK(tuned.turns() == 6);  // the third of a round's eight
    CHECK(recorded_in(tuned.store()) == 6);
    CHECK(tuned.scratch_folders() == 0);
}

TEST_CASE("the tool: what a killed tune leaves in the temporary folder goes with the next one") {
    const std::string asked = "bf16 tn 1024 1024 1024 --max-candidates 2";
    const TunedTool tuned(Json{{"timing_ms", 50}});
    CHECK(tuned.signalled("KILL", 2, 0, asked) == 128 + SIGKILL);
    CHECK(tuned.scratch_folders() == 1);
    static_cast<void>(tuned.json(asked, 0, fmt::format("TMPDIR='{}'", tuned.tool.folder().path())));
    CHECK(tuned.scratch_folders() == 0);
}

TEST_CASE("the tool: tune names a folder for temporary files that is not there") {
    const Json error = TunedTool().json("bf16 tn 64 64 64", 1, "TMPDIR=/nonexistent/tmp").at("error");
    CHECK_THAT(error.at("message").get<std::string>(),
               ContainsSubstring("TMPDIR") && ContainsSubstring("/nonexistent/tmp"));
}

TEST_CASE("the tool: a hangup that whoever started tune has ignored does not end it") {
    const TunedTool tuned(Json{{"timing_ms", 20}});
    CHECK(tuned.signalled("HUP", 3, 0, "bf16 tn 1024 1024 1024 --max-candidates 2", "nohup") == 0);
}

TEST_CASE("the tool: a crash in the middle of a round costs no other kernel its turn") {
    const std::string asked = "bf16 tn 1024 1024 1024 --max-candidates 12 --no-cublaslt";
    const TunedTool healthy;
    static_cast<void>(healthy.json(asked));
    const Json rule{{"name", healthy.kernel_of_turn(5)}, {"time", "segv"}};
    const TunedTool tuned(Json{{"kernels", Json::array({rule})}});
    const Json document = tuned.json(asked);
    CHECK(verdicts(document, "crashed") == 1);
    for (const auto& [turn, count] : tuned.executed("time ")) CHECK(count == 1);
    CHECK(recorded_in(tuned.store()) == tuned.turns() - 1);
}

TEST_CASE("the tool: Ctrl-C ends tune with what it has, and the same command goes on") {
    const TunedTool tuned(Json{{"turn_ms", 20}});
    CHECK(tuned.signalled("INT", 10, 0, "bf16 tn 1024 1024 1024") == 130);
    const Json document = tuned.json("bf16 tn 1024 1024 1024");
    CHECK(document.at("resumed") == true);
    CHECK(winner_in(document).at("complete") == true);
}

TEST_CASE("the tool: a finished sweep is reported again without measuring") {
    const TunedTool tuned;
    const Json first = tuned.json("bf16 tn 512 512 512");
    const auto turns = tuned.executed("time ");
    const Json again = tuned.json("bf16 tn 512 512 512 --resume");
    CHECK(again.at("was_finished") == true);
    CHECK(winner_in(again).at("kernel") == winner_in(first).at("kernel"));
    CHECK(tuned.executed("time ") == turns);
    CHECK_THAT(tuned.run("bf16 tn 512 512 512 --resume").out, ContainsSubstring("nothing was measured"));
}

TEST_CASE("the tool: throttled rounds are repeated and count once") {
    const std::string asked = "bf16 tn 1024 1024 1024 --max-candidates 8 --no-cublaslt";
    const TunedTool calm;
    const Json expected = calm.json(asked);
    const TunedTool tuned(Json{{"throttle", {{"rounds", 2}, {"reasons", 64}}}});
    const Json document = tuned.json(asked);
    CHECK(winner_in(document).at("kernel") == winner_in(expected).at("kernel"));
    CHECK(tuned.turns() == calm.turns() + 2);  // the first rounds are of the heuristic's kernel alone
    CHECK(recorded_in(tuned.store()) == calm.turns());
}

TEST_CASE("the tool: a throttled round is measured again, a noisy clock does not crown noise") {
    const TunedTool tuned(
        Json{{"noise", 0.02}, {"throttle", {{"rounds", 2}, {"reasons", 64}}}, {"clock_noise_mhz", 200}});
    const std::string asked = "bf16 tn 1024 1024 1024 --strategy exhaustive --max-candidates 200";
    const Json document = tuned.json(asked);
    const TunedTool truth;
    const double best = winner_in(truth.json(asked)).at("median_us");
    CHECK(winner_in(document).at("median_us").get<double>() < 1.05 * best);
}

TEST_CASE("the tool: a page, rows and progress") {
    const TunedTool tuned;
    const std::string page = tuned.tool.folder() / "report.html";
    const std::string csv = tuned.tool.folder() / "all.csv";
    put_text(tuned.tool.folder() / "shapes.txt", "bf16 tn 1024 1024 1024\nf16 nn 512 256 128\n");
    const std::string measurements = tuned.tool.folder() / "all.json";
    const ToolResult result = tuned.run(fmt::format("--shapes '{}' --report '{}' --csv '{}' --measurements '{}'",
                                                    tuned.tool.folder() / "shapes.txt", page, csv, measurements));
    CHECK(result.exit_code == 0);
    CHECK_THAT(result.out, ContainsSubstring("f16 nn 512 256 128"));
    CHECK_THAT(result.out, ContainsSubstring("over the heuristic"));
    CHECK_THAT(text_in(page), ContainsSubstring("<html"));
    CHECK_THAT(text_in(csv), ContainsSubstring("f16"));
    std::size_t samples = 0;
    const Json written = Json::parse(text_in(measurements));
    for (const Json& problem : written.at("problems"))
        for (const Json& trial : problem.at("trials")) samples += trial.at("samples").size();
    CHECK(samples > 0);
    CHECK(samples == tuned.executed("time ").size());

    const ToolResult lines = tuned.run("bf16 tn 768 768 768 --json");
    std::istringstream progress(lines.err);
    int problems = 0;
    for (std::string line; std::getline(progress, line);)
        if (line.starts_with('{')) problems += Json::parse(line).at("event") == "problem" ? 1 : 0;
    CHECK(problems == 1);
    CHECK(tuned.run("bf16 tn 640 640 640 --json --quiet").err.empty());
}

TEST_CASE("the tool: parts of a split sweep have stores of their own, and merge joins them") {
    const TunedTool tuned;
    put_text(tuned.tool.folder() / "shapes.txt", "bf16 tn 512 512 512\nbf16 tn 640 512 512\nbf16 tn 768 512 512\n");
    const std::string shapes = fmt::format("--shapes '{}' ", tuned.tool.folder() / "shapes.txt");
    CHECK(tuned.json(shapes + "--shard 0/2").at("problems").size() == 2);
    CHECK(tuned.json(shapes, 0, "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2").at("problems").size() == 1);
    CHECK(tuned.tool.json("wisdom show", 0).at("winners").empty());
    const Json merged = tuned.tool.json("tune merge", 0);
    CHECK(merged.at("merged").size() == 2);
    CHECK(tuned.tool.json("wisdom show", 0).at("winners").size() == 3);
    CHECK(tuned.tool.json("tune merge", 0).at("merged").at(0).at("winners") == 0);
}

TEST_CASE("the tool: mpirun splits a sweep over its processes") {
    if (std::system("command -v mpirun >/dev/null") != 0) SKIP_TEST("no mpirun here");
    const TunedTool tuned;
    std::string shapes;
    for (int m = 1; m <= 6; ++m) shapes += fmt::format("bf16 tn {} 512 512\n", 128 * m);
    put_text(tuned.tool.folder() / "shapes.txt", shapes);
    const std::string command = fmt::format(
        "JITGEMM_CACHE_DIR='{}' OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
        "mpirun --oversubscribe -n 4 '{}' {} >'{}' 2>&1",
        tuned.tool.cache(), JITGEMM_TOOL,
        tuned.words(fmt::format("--shapes '{}' --quiet --devices 0", tuned.tool.folder() / "shapes.txt")),
        tuned.tool.folder() / "output");
    INFO(text_in(tuned.tool.folder() / "script.json"));
    const int status = std::system(command.c_str());
    INFO(text_in(tuned.tool.folder() / "output"));
    REQUIRE(status == 0);
    CHECK(tuned.tool.json("tune merge", 0).at("merged").size() == 4);
    CHECK(tuned.tool.json("wisdom show", 0).at("winners").size() == 6);
    for (const auto& [turn, count] : tuned.executed("time ")) CHECK(count == 1);
}

TEST_CASE("the tool: refresh measures again what other versions measured") {
    const TunedTool tuned;
    static_cast<void>(tuned.json("bf16 tn 512 512 512"));
    CHECK(tuned.json("--refresh").at("problems").empty());
    {
        tuning::TuningStore store(tuned.store());
        tuning::Winner old = store.winners().at(0);
        old.versions.templates = "of long ago";
        REQUIRE(store.forget({}, {}) == 1);
        REQUIRE(store.add_winners({old}) == 1);
    }
    const Json document = tuned.json("--refresh");
    CHECK(document.at("problems").size() == 1);
    CHECK(document.at("problems").at(0).at("trials") <= 2);
    CHECK(tuned.json("--refresh").at("problems").empty());
}

TEST_CASE("the tool: a GPU that is not there is told by tune as by others") {
    const Json error = Tool().json("tune bf16 tn 64 64 64 --device cuda:99", 1).at("error");
    CHECK(error.at("kind") == "cuda");
    CHECK(error.at("message").get<std::string>().find("did not start") == std::string::npos);
}

TEST_CASE("the tool: tune refuses what makes no sense, and measures nothing") {
    const TunedTool tuned;
    const auto refused = [&](const std::string& arguments, const std::string& word) {
        const ToolResult result = tuned.run(arguments);
        INFO(arguments << "\n" << result.err);
        CHECK(result.exit_code == 2);
        CHECK_THAT(result.err, ContainsSubstring(word));
    };
    refused("bf16 tn 512 512 512 --budget 0", "--budget is '0'");
    refused("bf16 tn 512 512 512 --budget 5x", "--budget is '5x'");
    refused("bf16 tn 512 512 512 --strategy modle", "model");
    refused("bf16 tn 512 512 512 --family mma_multistag", "mma_multistage");
    refused("bf16 tn 512 512 512 --protocol warm", "steady");
    refused("bf16 tn 512 512 512 groups=4 --group-sizes even", "--group-sizes is 'even': it must be uniform, random");
    refused("bf16 tn 512 512 512 groups=4 --group-sizes random:x", "--group-sizes is 'random:x'");
    refused("bf16 tn 512 512 512 group-sizes=random", "group-sizes is random, but the problem has no groups");
    refused("bf16 tn 512 512 512 --shard 2/2", "--shard is '2/2'");
    refused("bf16 tn 512 512 512 --devices 0,0", "twice");
    refused("bf16 tn 512 512 512 --devices gpu", "gpu");
    refused("bf16 tn 512 512 512 --resume --restart", "contradict");
    refused("bf16 tn 512 512 512 --max-candidates -1", "--max-candidates is -1");
    refused("bf16 tn 512 512 512 --max-candidates 0", "--max-candidates is 0: it must be at least 1");
    refused("bf16 tn 512 512 512 --json --csv -", "both write to stdout");
    refused("bf16 tn 512 512 512 --param stages=99", "stages");
    refused("bf16 tn 512 512 512 --report /nonexistent/page.html", "--report");
    refused("bf16 tn 512 512 512 --alpha 0", "--alpha is 0");
    refused("bf16 tn 512 512 512 --alpha -0.0", "--alpha is 0");
    refused("bf16 tn 512 512 512 --c-type bf16 --beta 0", "--beta is 0");
    refused("", "no problem");
    const ToolResult crowd = Tool().run("tune bf16 tn 512 512 512 --device emulator --workers 99999");
    CHECK(crowd.exit_code == 2);
    CHECK_THAT(crowd.err, Says("--workers", "99999", "at most", "1024"));
    CHECK(tuned.executed("time ").empty());
}

TEST_CASE("the tool: where the device or the worker cannot start, tune says why") {
    const Tool tool;
    const ToolResult nothing = tool.run("tune bf16 tn 64 64 64 --worker /nonexistent/program");
    CHECK(nothing.exit_code == 1);
    CHECK_THAT(nothing.err, ContainsSubstring("/nonexistent/program"));
    const ToolResult no_gpu = tool.run("tune bf16 tn 64 64 64", "CUDA_VISIBLE_DEVICES=-1");
    CHECK(no_gpu.exit_code == 1);
    CHECK_THAT(no_gpu.err, ContainsSubstring("--device emulator:sm_80"));
}

#endif
