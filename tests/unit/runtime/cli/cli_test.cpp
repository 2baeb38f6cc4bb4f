#ifdef JITGEMM_TOOL

#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/tool.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::vector<std::string> kVerbs{
    "run",         "dump",          "list",        "bench",          "export",          "doctor",
    "explain",     "cache ls",      "kernels",     "cache info",     "cache why",       "cache verify",
    "cache clear", "layout kernel", "layout eval", "layout swizzle", "layout predicate"};

/// Wrong usage: exit 2, nothing on stdout, every phrase on stderr; with --json a document that says the same.
void check_refused(const std::string& arguments, const std::vector<std::string>& phrases) {
    const Tool tool;
    const ToolResult result = tool.run(arguments);
    INFO(arguments << "\n" << result.out << "\n" << result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.out.empty());
    for (const std::string& phrase : phrases) CHECK_THAT(result.err, ContainsSubstring(phrase));

    const nlohmann::json document = tool.json(arguments, 2);
    CHECK(document.at("exit_code") == 2);
    CHECK(!document.at("error").at("message").get<std::string>().empty());
}

}  // namespace

TEST_CASE("the tool: version, help of the tool and of each verb") {
    const Tool tool;
    const ToolResult version = tool.run("--version");
    CHECK(version.exit_code == 0);
    CHECK_THAT(version.out, ContainsSubstring("jitgemm 0."));
    CHECK(version.err.empty());

    const ToolResult help = tool.run("--help");
    CHECK(help.exit_code == 0);
    for (const std::string& verb : kVerbs) {
        CHECK_THAT(help.out, ContainsSubstring(verb.substr(0, verb.find(' '))));
        const ToolResult of_verb = tool.run(verb + " --help");
        INFO(verb << "\n" << of_verb.err);
        CHECK(of_verb.exit_code == 0);
        CHECK_THAT(of_verb.out, ContainsSubstring("--json"));
        CHECK(of_verb.err.empty());
    }
    CHECK(tool.run("help list").out == tool.run("list --help").out);
}

TEST_CASE("the tool: wrong usage exits with 2 and names the nearest word") {
    check_refused("", {"no verb"});
    check_refused("lst", {"'lst'", "did you mean 'list'"});
    check_refused("cache lss", {"'lss'", "did you mean 'ls'"});
    check_refused("list bf16 tn 64 64 64 --arhc sm_80", {"--arhc", "did you mean '--arch'"});
    check_refused("list bf16 tn 64 64 64 --limt=3", {"--limt", "did you mean '--limit'"});
    check_refused("dump bf16 tn 64 64 64 --emit ptxx", {"'ptxx'", "did you mean 'ptx'"});
    check_refused("dump bf16 tn 64 64 64 64", {"64"});
    check_refused("dump bf16 tn 64 64 64 --emit ptx --main", {"--main"});
    check_refused("list --m 64 --k 64", {"--n is missing"});
    check_refused("list bf16 tn 64 64 64 --m 32", {"--m"});
    check_refused("export bf16 tn 64 64 64 --arch sm_80", {"-o"});
    check_refused("run bf16 tn 64 64 64 --protocol stedy", {"did you mean 'steady'"});
    check_refused("run bf16 tn 64 64 64 --rounds 0", {"--rounds"});
}

TEST_CASE("the tool: unsound problems are refused with every reason") {
    check_refused("dump bf16 tn -1 64 64 --arch sm_80", {"m is -1", "negative"});
    check_refused("dump --m -1 --n -2 --k 64 --arch sm_80", {"m is -1", "n is -2"});
    check_refused("dump --m 99999999999999999999 --n 64 --k x --arch sm_80",
                  {"--m", "too large", "--k", "whole number"});
    check_refused("dump bf16 tn 3000000000 3000000000 3000000000 --arch sm_80", {"m is 3000000000", "k is 3000000000"});
    check_refused("dump bf16 tn 64 64 64 --lda 63 --ldd 10 --arch sm_80", {"lda is 63", "ldd is 10"});
    check_refused("dump bf17 tn 64 64 64 --arch sm_80", {"'bf17'", "did you mean 'bf16'"});
    check_refused("dump --m 64 --n 64 --k 64 --type bf61 --arch sm_80", {"--type is 'bf61'", "did you mean 'bf16'"});
    check_refused("dump bf16 nnn 64 64 64 --arch sm_80", {"'nnn'", "did you mean 'nn'"});
    check_refused("dump --m 64 --n 64 --k 64 --layout tm --d-layout r --arch sm_80",
                  {"--layout is 'tm'", "--d-layout is 'r'"});
    check_refused("dump bf16 tn 64 64 64 --acc-type f16 --arch sm_80", {"accumulator is f16", "bf16"});
    check_refused("dump bf16 tn 64 64 64 --align-a 3 --arch sm_80", {"align_a is 3"});
    check_refused("dump bf16 tn 64 64 64 --alpha nan --arch sm_80", {"--alpha", "finite"});
    check_refused("dump bf16 tn 64 64 64 --arch sm_9a", {"sm_9a", "sm_90a"});
    check_refused("dump bf16 tn 64 64 64 --gpu h20o", {"h20o", "h200"});
    check_refused("dump bf16 tn 64 64 64 --gpu h200 --arch sm_80", {"--gpu h200"});
}

TEST_CASE("the tool: unknown kernels, families and parameters, and kernels that do not fit") {
    const Tool tool;
    const nlohmann::json listed = tool.json("list bf16 tn 4096 4096 4096 --arch sm_80 --limit 1", 0);
    const auto name = listed.at("candidates").at(0).at("kernel").get<std::string>();

    check_refused("dump bf16 tn 64 64 64 --arch sm_80 --kernel mma_multistag_tn", {"mma_multistag"});
    check_refused("dump bf16 tn 64 64 64 --arch sm_80 --family mma_multistag", {"mma_multistage"});
    check_refused("dump bf16 tn 64 64 64 --arch sm_80 --param stagess=4", {"stagess", "stages"});
    check_refused("dump bf16 tn 64 64 64 --arch sm_80 --param stages", {"stages"});
    check_refused("dump f16 tn 4096 4096 4096 --arch sm_80 --kernel " + name, {name, "another problem"});

    const std::string too_deep = tool.json(
                                         "list bf16 tn 4096 4096 4096 --gpu h200 --family mma_multistage --param "
                                         "block=256x128x64,stages=4 --limit 1",
                                         0)
                                     .at("candidates")
                                     .at(0)
                                     .at("kernel")
                                     .get<std::string>();
    check_refused("dump bf16 tn 4096 4096 4096 --arch sm_86 --kernel " + too_deep, {"shared"});
}

TEST_CASE("the tool: list shows candidates in the heuristic's order and, asked why, the rejected with reasons") {
    const Tool tool;
    const nlohmann::json list = tool.json("list bf16 tn 4096 4096 4096 --gpu h200 --why --limit 0", 0);
    const auto& candidates = list.at("candidates");
    REQUIRE(candidates.size() > 1);
    CHECK(candidates.size() == list.at("accepted_count").get<std::size_t>());
    for (std::size_t i = 1; i < candidates.size(); ++i) {
        const auto predicted = [&](std::size_t at) {
            return candidates[at].at("predicted_microseconds").get<double>();
        };
        CHECK(predicted(i - 1) <= predicted(i));
        CHECK_FALSE(candidates[i].at("untimed").get<bool>());
    }
    REQUIRE(!list.at("rejected").empty());
    for (const auto& rejected : list.at("rejected")) CHECK(!rejected.at("reasons").empty());
    CHECK(list.at("gpu").at("arch") == "sm_90a");

    const ToolResult text = tool.run("list bf16 tn 4096 4096 4096 --gpu h200 --limit 2", "JITGEMM_INSTALLED_WISDOM=0");
    CHECK(text.exit_code == 0);
    CHECK_THAT(text.out, ContainsSubstring(candidates[1].at("kernel").get<std::string>()));
    CHECK_THAT(text.out, !ContainsSubstring(candidates[2].at("kernel").get<std::string>()));
    CHECK(text.err.empty());
}

TEST_CASE("the tool: a problem that no family serves is refused by every verb with the reason") {
    const Tool tool;
    const std::string emulator = " --device emulator:sm_80";
    const std::string why = "no kernel family multiplies tf32 yet";
    for (const std::string& verb :
         std::vector<std::string>{"list --gpu h200", "dump --arch sm_80", "explain --arch sm_80",
                                  "export --arch sm_80 -o '" + (tool.folder() / "exported") + "'", "run" + emulator,
                                  "tune --budget 1s" + emulator}) {
        INFO(verb);
        const ToolResult result = tool.run(verb + " --m 64 --n 64 --k 64 --type tf32");
        CHECK(result.exit_code == 2);
        CHECK_THAT(result.err + result.out, ContainsSubstring(why));
        const std::size_t once = result.err.find(why);
        CHECK((once == std::string::npos ||
               result.err.find(why, once + 1) == std::string::npos));  // no family repeats it
    }
    const nlohmann::json error = tool.json("list tf32 tn 1024 1024 1024 --gpu h200", 2).at("error");
    CHECK(error.at("kind") == "config");
    CHECK(!error.at("reasons").empty());
    const nlohmann::json list = tool.json("list tf32 tn 1024 1024 1024 --gpu h200 --why", 2);
    CHECK(list.at("candidates").empty());
    CHECK(!list.at("unsupported").empty());
}

TEST_CASE("the tool: dump writes the same file to stdout, to -o and into JSON") {
    const Tool tool;
    const std::string problem = "dump bf16 tn 1000 777 333 --arch sm_80";
    const ToolResult printed = tool.run(problem);
    CHECK(printed.exit_code == 0);
    CHECK(printed.err.empty());
    CHECK_THAT(printed.out, ContainsSubstring("extern \"C\" __global__"));

    const std::string file = tool.folder() / "kernel.cu";
    const ToolResult written = tool.run(problem + " -o '" + file + "'");
    CHECK(written.exit_code == 0);
    CHECK(written.out.empty());
    CHECK(text_in(file) == printed.out);

    const nlohmann::json document = tool.json(problem, 0);
    CHECK(document.at("text") == printed.out);
    CHECK(document.at("spec").at("m") == 1000);
    CHECK(!document.at("entries").empty());
    CHECK(tool.run(problem + " -o '" + (tool.folder() / "no/such/kernel.cu") + "'").exit_code == 2);
}

TEST_CASE("the tool: a kernel's name names its types and layout, so nothing else need be said") {
    const Tool tool;
    const std::string problem = "f16 nt 512 512 512 --acc-type f16 --arch sm_80";
    const auto name =
        tool.json("list " + problem + " --limit 1", 0).at("candidates").at(0).at("kernel").get<std::string>();
    const nlohmann::json dumped = tool.json("dump --m 512 --n 512 --k 512 --arch sm_80 --kernel " + name, 0);
    CHECK(dumped.at("kernel") == name);
    CHECK(dumped.at("spec").at("acc_type") == "f16");
}

TEST_CASE("the tool: the command in a dump's banner makes the same dump again") {
    const Tool tool;
    for (const std::string problem : {"bf16 tn 64 64 64", "f16 nt 100 200 300 --acc-type f16",
                                      "f16 nn 100 200 300 --d-layout n --c-type f32 --d-type bf16",
                                      "bf16 tt 100 200 301 --lda 400 --ldd 640 --align-a 2 --align-d 4",
                                      "f16 tn 23 1 26 --lda 33 --ldb 31", "f16 tn 64 40 24 --d-layout n --align-b 2"}) {
        const std::string text = tool.run("dump " + problem + " --arch sm_80").out;
        const std::string label = "//   command  jitgemm ";
        const std::size_t begin = text.find(label) + label.size();
        REQUIRE(begin > label.size());
        CHECK(tool.run(text.substr(begin, text.find('\n', begin) - begin)).out == text);
    }
}

TEST_CASE("the tool: C is read when beta or its type asks for it, and has D's type by default") {
    const Tool tool;
    const auto spec_of = [&](const std::string& options) {
        return tool.json("dump bf16 tn 64 64 64 --arch sm_80 " + options, 0).at("spec");
    };
    CHECK(spec_of("").at("c_type").is_null());
    CHECK(spec_of("--beta 0").at("c_type").is_null());
    CHECK(spec_of("--beta -0.5").at("c_type") == "bf16");
    CHECK(spec_of("--beta 1 --d-type f32").at("c_type") == "f32");
    CHECK(spec_of("--c-type f16").at("c_type") == "f16");
    CHECK(spec_of("--c-type none").at("c_type").is_null());
    CHECK_FALSE(spec_of("--c-type f16").contains("broadcast_c"));
    CHECK(spec_of("--beta 1 --broadcast-c yes").at("broadcast_c") == "yes");
    CHECK(spec_of("--beta 1 --broadcast-c yes").at("ldc") == 0);
}

TEST_CASE("the tool: a C that is said not to be there is not read all the same") {
    check_refused("dump bf16 tn 64 64 64 --arch sm_80 --c-type none --beta 1", {"--c-type is none", "--beta is 1"});
    const Tool tool;
    CHECK(tool.json("dump bf16 tn 64 64 64 --arch sm_80 --c-type none --beta 0", 0).at("spec").at("c_type").is_null());
}

TEST_CASE("the tool: a C of one row is a C") {
    check_refused("dump bf16 tn 64 64 64 --arch sm_80 --broadcast-c yes",
                  {"--broadcast-c", "no C is read", "--c-type"});
    check_refused("dump 'gemm-v2 m=64 n=64 k=64 broadcast-c=yes' --arch sm_80", {"broadcast_c is yes", "c is none"});
    check_refused("dump bf16 tn 64 64 64 --arch sm_80 --beta 1 --broadcast-c row",
                  {"--broadcast-c is 'row'", "one of no, yes"});
    check_refused("dump bf16 tn 64 80 64 --arch sm_80 --beta 1 --broadcast-c yes --ldc 64",
                  {"ldc is 64", "0 or at least its 80 elements"});
}

TEST_CASE("the tool: without GPU, --arch or --gpu it says on stderr what it assumes") {
    const Tool tool;
    const ToolResult result = tool.run("dump bf16 tn 64 64 64", "CUDA_VISIBLE_DEVICES=-1");
    CHECK(result.exit_code == 0);
    CHECK_THAT(result.err, ContainsSubstring("sm_80"));
}

TEST_CASE("the tool: without a GPU run and bench say so and exit with 1") {
    const Tool tool;
    for (const std::string verb : {"run --device cuda", "bench"}) {
        const ToolResult result = tool.run(verb + " bf16 tn 64 64 64", "CUDA_VISIBLE_DEVICES=-1");
        CHECK(result.exit_code == 1);
        CHECK(result.out.empty());
        CHECK_THAT(result.err, ContainsSubstring("jitgemm doctor"));
        CHECK(tool.json(verb + " bf16 tn 64 64 64", 1, "CUDA_VISIBLE_DEVICES=-1").at("error").at("kind") == "cuda");
    }
}

TEST_CASE("the tool: a shape file with bad lines is refused with file and line of each") {
    const Tool tool;
    const std::string file = tool.folder() / "shapes.txt";
    put_text(
        file,
        "# types\nbf16 tn 64 64 64\n\nbf16 tx 64 64 64\ne4m3 tn 64 64 64  # fine\nbf16 tn 64 64\nbf16 tn 64 -1 64\n");
    const ToolResult result = tool.run("bench --shapes '" + file + "'");
    INFO(result.err);
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, ContainsSubstring(file + ":4: ") && ContainsSubstring(file + ":6: ") &&
                               ContainsSubstring(file + ":7: "));
    CHECK_THAT(result.err, !ContainsSubstring(file + ":5: "));
    const std::string through_stdin = "bench --shapes /dev/stdin < '" + file + "'";
    CHECK_THAT(tool.run(through_stdin).err, ContainsSubstring("bad lines"));
    check_refused("bench --shapes /no/such/file", {"/no/such/file"});
    check_refused("bench --shapes '" + file + "' --m 3", {"--m"});
    check_refused("bench", {"--m is missing"});
}

TEST_CASE("the tool: doctor reports every check and fails where one that is required does") {
    const Tool tool;
    const nlohmann::json report = tool.json("doctor", 1, "CUDA_VISIBLE_DEVICES=-1");
    CHECK(report.at("ok") == false);
    CHECK(report.at("checks").size() >= 8);
    CHECK(report.at("gpus").empty());
    CHECK(report.at("tuning").at("winner_count") == 0);
    CHECK(report.at("tuning").at("usable") == true);
    put_text(tool.folder() / "tuning.sqlite", "no database");
    const nlohmann::json damaged =
        tool.json("doctor", 1, "CUDA_VISIBLE_DEVICES=-1 JITGEMM_TUNING_DIR='" + tool.folder().path() + "'");
    CHECK(damaged.at("tuning").at("usable") == false);
    CHECK_THAT(damaged.at("tuning").at("state"), ContainsSubstring("tuning.sqlite"));
    const ToolResult text = tool.run("doctor", "CUDA_VISIBLE_DEVICES=-1");
    CHECK(text.exit_code == 1);
    CHECK_THAT(text.out, ContainsSubstring("MISSING") && ContainsSubstring("generate"));
}

TEST_CASE("the tool: doctor says whether the read-only cache can be read") {
    const Tool tool;
    const auto check_of = [&](const std::string& folder) {
        const nlohmann::json report =
            tool.json("doctor", 1, "CUDA_VISIBLE_DEVICES=-1 JITGEMM_CACHE_READONLY='" + folder + "'");
        for (const nlohmann::json& check : report.at("checks"))
            if (check.at("name") == "read-only") return check;
        return nlohmann::json();
    };
    CHECK(check_of(tool.folder().path()).at("ok") == true);
    CHECK(check_of("/no/such/folder").at("ok") == false);
    CHECK_THAT(check_of("/no/such/folder").at("detail").get<std::string>(),
               ContainsSubstring("/no/such/folder: No such"));
    CHECK(check_of("").is_null());
}

TEST_CASE("the tool: doctor names each place that it looked into once") {
    const nlohmann::json checks =
        Tool().json("doctor", 1, "CUDA_VISIBLE_DEVICES=-1 CUDA_PATH=/usr/local/cuda").at("checks");
    const auto sass = std::ranges::find(checks, "sass", [](const nlohmann::json& check) { return check.at("name"); });
    REQUIRE(sass != checks.end());
    const std::string detail = sass->at("detail");
    const std::string place = "/usr/local/cuda/bin/cuobjdump";
    CHECK(detail.find(place) == detail.rfind(place));
}

TEST_CASE("the tool: doctor names the emulator as a device, which needs NVRTC and is not required") {
    const Tool tool;
    const auto check = [&](const std::string& name, const std::string& settings) {
        const nlohmann::json report = tool.json("doctor", 1, "CUDA_VISIBLE_DEVICES=-1 " + settings);
        for (const auto& row : report.at("checks"))
            if (row.at("name") == name) return row;
        return nlohmann::json();
    };
    const nlohmann::json emulator = check("emulator", "");
    CHECK(emulator.at("required") == false);
    CHECK(emulator.at("ok") == check("compile", "").at("ok"));
    if (emulator.at("ok") == true) {
        CHECK_THAT(emulator.at("detail"), ContainsSubstring("is right") && ContainsSubstring("sm_80") &&
                                              ContainsSubstring("sm_90a") && ContainsSubstring("--device emulator"));
        CHECK_THAT(tool.run("doctor", "CUDA_VISIBLE_DEVICES=-1").out, ContainsSubstring("run on the emulator here"));
    }
    CHECK(check("emulator", "JITGEMM_NVRTC=/no/such/libnvrtc.so").at("ok") == false);
}

TEST_CASE("the tool: doctor without NVRTC says what was looked for and which wheel would do") {
    const Tool tool;
    const ToolResult text = tool.run("doctor", "JITGEMM_NVRTC=/no/such/libnvrtc.so");
    CHECK(text.exit_code == 1);
    CHECK_THAT(text.out, Says("/no/such/libnvrtc.so") && ContainsSubstring("nvidia-cuda-nvrtc"));
}

TEST_CASE("the tool: Ctrl-C exits with 130, even while nothing moves") {
#ifdef __SANITIZE_THREAD__
    SKIP_TEST("the thread sanitizer holds a signal back until the blocked call returns, and this one never does");
#endif
    const Tool tool;
    // Nobody reads from the pipe, so opening it to write never ends; a tool that hangs is killed and fails the test.
    // The guard's sleep outlives it: whoever waits for all that hold the tests' output must not wait for that.
    const std::string pipe = tool.folder() / "pipe";
    const std::string script = "mkfifo '" + pipe + "'; env --default-signal=INT '" JITGEMM_TOOL "'" +
                               " dump bf16 tn 64 64 64 --arch sm_80 -o '" + pipe + "' 2>/dev/null & pid=$!; " +
                               "(sleep 60; kill -KILL $pid) >/dev/null 2>&1 & guard=$!; " +
                               "sleep 0.5; kill -INT $pid; wait $pid; code=$?; kill $guard; test $code = 130";
    // NOLINTNEXTLINE(bugprone-command-processor): a shell is what users type into
    CHECK(std::system(script.c_str()) == 0);
}

TEST_CASE("the tool: capitals and the words of other libraries mean the same") {
    const Tool tool;
    const nlohmann::json plain = tool.json("list bf16 tn 64 64 64 --gpu h200 --limit 1", 0);
    for (const char* line :
         {"BF16 TN 64 64 64", "bfloat16 tn 64 64 64", "--type BFloat16 --layout Tn --m 64 --n 64 --k 64"}) {
        INFO(line);
        CHECK(tool.json(std::string("list --gpu h200 --limit 1 ") + line, 0) == plain);
    }
    CHECK(tool.json("list bf16 tn 64 64 64 --gpu H200 --limit 1", 0) == plain);
    CHECK(nlohmann::json::parse(tool.run("list --gpu h200 --limit 1 --json -- bf16 tn 64 64 64").out) == plain);
    CHECK(tool.json("list fp16 nt 64 64 64 --arch SM_80 --limit 1", 0).at("spec").at("type") == "f16");
    CHECK(tool.json("list bf16 tn 64 64 64 --arch sm_80 --limit 1 --d-type float32", 0).at("spec").at("d_type") ==
          "f32");
    check_refused("list BF1 tn 64 64 64 --arch sm_80", {"'BF1'", "did you mean 'bf16'"});
}

TEST_CASE("the tool: a value that cannot be read is complained about by the option's name") {
    check_refused("run bf16 tn 64 64 64 --rounds x", {"--rounds is 'x': expected a number"});
    check_refused("list bf16 tn 64 64 64 --limit -1", {"--limit is -1", "0 means all"});
    check_refused("list bf16 tn 64 64 64 --arch", {"--arch takes a value, and none is given"});
    check_refused("list bf16 tn 64 64 64 --arch sm_80 --arch sm_90a", {"--arch takes one value, and 2 are given"});
    check_refused("list bf16 tn 64 64 64 --arch sm_80 --ldc 7 --align-c 3",
                  {"--ldc says how C lies, and no C is read", "--align-c says how C lies"});
}

TEST_CASE("the tool: an input file that cannot be read is wrong usage, and so is a bad name") {
    const Tool tool;
    const std::string folder = tool.folder().path();
    check_refused("bench --shapes '" + folder + "'", {folder, "is a folder"});
    check_refused("run --source '" + folder + "'", {folder, "is a folder"});
    const std::string loop = tool.folder() / "loop";
    std::filesystem::create_symlink("loop", loop);
    check_refused("run --source '" + loop + "'", {"cannot read " + loop});
    if (tool.json("doctor", 1, "CUDA_VISIBLE_DEVICES=-1").at("nvrtc").empty()) SKIP_TEST("no NVRTC here");
    check_refused("export bf16 tn 64 64 64 --arch sm_80 --name 1x -o '" + folder + "/out'",
                  {"'1x' cannot name C functions"});
}

TEST_CASE("the tool: where nothing serves, the reason that all candidates share comes first, and few lines in all") {
    const Tool tool;
    const ToolResult result = tool.run("dump bf16 tn 4096 4096 4096 --gpu h200 --param stages=99");
    CHECK(result.exit_code == 2);
    const std::string first = result.err.substr(result.err.find("\n  - "));
    INFO(result.err);
    CHECK_THAT(first.substr(0, first.find('\n', 1)), ContainsSubstring("stages"));
    CHECK(std::count(result.err.begin(), result.err.end(), '\n') < 12);
}

#endif
