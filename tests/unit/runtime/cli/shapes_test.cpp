#include "runtime/cli/shapes.hpp"
#include "runtime/cli/quantities.hpp"

#include "generator/base/spec_text.hpp"
#include "generator/epilogue/epilogue_text.hpp"
#include "jitgemm/error.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/files.hpp"
#include "runtime/cli/measurement.hpp"
#include "runtime/cli/shape_ranges.hpp"
#include "runtime/cli/tune/options.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tool.hpp"

#include <filesystem>
#include <fstream>

using namespace jitgemm;
using namespace jitgemm::cli;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

using Lines = std::vector<std::string>;

Lines expanded(std::string_view line) { return expand_shape_line(line, 1000); }

std::string complaint_about(std::string_view text) {
    try {
        static_cast<void>(parse_shapes(text, "shapes.txt", ProblemOptions()));
    } catch (const UsageError& error) {
        return error.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("shape files: a range of sizes is a problem for each") {
    REQUIRE(expanded("bf16 tn m=1:8:*2 n=64 k=32") ==
            Lines{"bf16 tn 1 64 32", "bf16 tn 2 64 32", "bf16 tn 4 64 32", "bf16 tn 8 64 32"});
    REQUIRE(expanded("f16 nn 64 100:400:150 32  # by steps") ==
            Lines{"f16 nn 64 100 32", "f16 nn 64 250 32", "f16 nn 64 400 32"});
    REQUIRE(expanded("f16 nn 5:7 1:3:+2 32") == Lines{"f16 nn 5 1 32", "f16 nn 5 3 32", "f16 nn 6 1 32",
                                                      "f16 nn 6 3 32", "f16 nn 7 1 32", "f16 nn 7 3 32"});
    REQUIRE(expanded("bf16 tn k=3 m=1 n=2") == Lines{"bf16 tn 1 2 3"});
    REQUIRE(expanded("bf16 tn 1:7:*2 8:8 8") == Lines{"bf16 tn 1 8 8", "bf16 tn 2 8 8", "bf16 tn 4 8 8"});
    REQUIRE(expanded("bf16 tn 1:9223372036854775807:*1000000 1 1").size() == 4);  // no step beyond the largest number
    REQUIRE(expanded("bf16 tn 9223372036854775806:9223372036854775807:2 1 1").size() == 1);
}

TEST_CASE("shape files: a line may end with an epilogue") {
    REQUIRE(expanded("bf16 tn m=1:2 n=64 k=32 epilogue='d = acc + x[m,n]  # its own' ld-x=72  # ours") ==
            Lines{"bf16 tn 1 64 32 epilogue='d = acc + x[m,n]  # its own' ld-x=72",
                  "bf16 tn 2 64 32 epilogue='d = acc + x[m,n]  # its own' ld-x=72"});
    const auto problems = parse_shapes("bf16 tn 8:16:8 64 32 epilogue='d = relu(acc + x[m,n])' ld-x=72 align-x=8\n",
                                       "shapes.txt", ProblemOptions());
    REQUIRE(problems.size() == 2);
    for (const ProblemRequest& problem : problems) {
        const EpilogueText same = EpilogueText("d = relu(acc + x[m,n])").with("x", {.ld = 72, .align = 8});
        CHECK(resolved(problem.spec).epilogue == canonical(same, problem.spec.d));
        CHECK(problem.spec.epilogue.layout_of("x") == EpilogueLayout{.ld = 72, .align = 8});
    }
    CHECK_THAT(complaint_about("bf16 tn 8 8 8 ld-x=72"), Says("ld-x", "no epilogue"));
    CHECK_THAT(complaint_about("bf16 tn 8 8 8 epilogue='d = nothing(acc)'"), Says("nothing"));
    CHECK_THAT(complaint_about("bf16 tn 8 8 8 epilogue='d = acc"), Says("quote"));
}

TEST_CASE("shape files: keys behind ranges hold for each size") {
    const auto problems = parse_shapes("bf16 tt k=16 m=8:24:8 n=32 batch=5 lda=80 batch-stride-a=16 d=f32\n",
                                       "shapes.txt", ProblemOptions());
    REQUIRE(problems.size() == 3);
    for (std::size_t i = 0; i < problems.size(); ++i)
        CHECK(problems[i].spec ==
              parse_spec_text("gemm-v8 layout=tt n=32 k=16 batch=5 lda=80 batch-stride-a=16 d=f32 m=" +
                              std::to_string(8 * (i + 1))));
    CHECK_THAT(complaint_about("bf16 tn 8:16 8 8 lda=8:16"), Says("shapes.txt:1", "lda", "8:16", "whole number"));
    CHECK_THAT(complaint_about("bf16 tn m=8:16 n=8 k=8 m=4"), Says("shapes.txt:1", "'m=4'", "repeats"));
    CHECK_THAT(complaint_about("bf16 tn 8 8 8 ldd=9 ldd=9"), Says("shapes.txt:1", "'ldd'", "twice"));
}

TEST_CASE("shape files: sets keep a range of m that counts by one, and expand all else") {
    const auto sets = [](std::string_view line) {
        Lines lines;
        for (const ShapeSet& set : expand_shape_sets(line, 10))
            lines.push_back(set.line + (set.last_m ? " to " + std::to_string(*set.last_m) : ""));
        return lines;
    };
    REQUIRE(sets("bf16 tn m=1:9223372036854775807 n=64 k=8:24:8") == Lines{"bf16 tn 1 64 8 to 9223372036854775807",
                                                                           "bf16 tn 1 64 16 to 9223372036854775807",
                                                                           "bf16 tn 1 64 24 to 9223372036854775807"});
    REQUIRE(sets("bf16 tn 1:3:2 8 8") == Lines{"bf16 tn 1 8 8", "bf16 tn 3 8 8"});
    REQUIRE(sets("bf16 tn 5 8 8") == Lines{"bf16 tn 5 8 8"});
    REQUIRE_THROWS_WITH(sets("bf16 tn 3:1 8 8"), ContainsSubstring("3:1") && ContainsSubstring("where it begins"));
    REQUIRE_THROWS_WITH(sets("bf16 tn 1:3 1:100 8"), ContainsSubstring("more than 10"));
}

TEST_CASE("shape files: m may be a range among keys behind their format") {
    REQUIRE(expanded("gemm-v2 n=64 m=1:5:2 k=32 c=bf16  # a bias") ==
            Lines{"gemm-v2 n=64 m=1 k=32 c=bf16", "gemm-v2 n=64 m=3 k=32 c=bf16", "gemm-v2 n=64 m=5 k=32 c=bf16"});
    const std::vector<ShapeSet> sets = expand_shape_sets("gemm-v1 m=2:9 n=64 k=32", 1);
    REQUIRE(sets.size() == 1);
    REQUIRE(sets[0].line == "gemm-v1 m=2 n=64 k=32");
    REQUIRE(sets[0].last_m == 9);
    REQUIRE_THROWS_WITH(expanded("gemm-v1 m=9:2 n=64 k=32"),
                        ContainsSubstring("9:2") && ContainsSubstring("before it begins"));
}

TEST_CASE("shape files: a line without ranges stays as it is, whatever is in it") {
    for (const char* line : {"bf16 tn 1 2 3", "  e4m3*e5m2 tn 1 2 3 # m=1:2", "bf16 tn 1 2", "some words"})
        REQUIRE(expanded(line) == Lines{line});
}

TEST_CASE("shape files: a range that is none is refused with the reason") {
    const auto refused = [](const char* sizes, const char* why) {
        INFO(sizes);
        REQUIRE_THROWS_WITH(expanded(std::string("bf16 tn ") + sizes), ContainsSubstring(why));
    };
    refused("1:8:*1 8 8", "a factor must be at least 2");
    refused("0:8:*2 8 8", "FIRST above 0");
    refused("1:8:0 8 8", "a step must be at least 1");
    refused("8:1 8 8", "must not end before it begins");
    refused("1:x 8 8", "expected FIRST:LAST");
    refused("1: 8 8", "expected FIRST:LAST");
    refused("-4:8 8 8", "expected FIRST:LAST");
    refused("1:8:*2:3 8 8", "expected FIRST:LAST");
    refused("1:99999999999999999999 8 8", "expected FIRST:LAST");
    refused("m=1:2 8 8", "name all sizes, or none");
    refused("m=1 m=2 k=3", "m stands twice");
    refused("m=1 n=2 q=3", "expected m=, n= or k=");
    refused("m=1 n= k=3", "no size");
    refused("1:4000 8 8", "more than 1000 sizes");
    refused("1:100 1:100 8", "more than 1000 problems");
}

TEST_CASE("shape files: problems in their order, comments and a byte-order mark left out") {
    const auto problems = parse_shapes(
        "\xEF\xBB\xBF"
        "bf16 tn 1 2 3\r\n\n# none\nf16 nn m=4:8:*2 n=5 k=6 # two\n",
        "shapes.txt", ProblemOptions());
    REQUIRE(problems.size() == 3);
    REQUIRE(problems[0].spec.a == DataType::bf16);
    REQUIRE(problems[1].spec.m == 4);
    REQUIRE(problems[2].spec.m == 8);
    REQUIRE(problems[2].spec.layout == GemmLayout::nn);
}

TEST_CASE("shape files: a line of groups names how their sizes are drawn") {
    const auto problems = parse_shapes(
        "bf16 tn 4096 64 64 groups=4\n"
        "bf16 tn 4096 64 64 groups=4 group-sizes=random\n"
        "bf16 tn m=4096 n=64 k=64 group-sizes=skewed:5 groups=4 # of seed 5\n",
        "shapes.txt", ProblemOptions());
    REQUIRE(problems.size() == 3);
    CHECK_FALSE(problems[0].group_draw.has_value());
    CHECK(problems[1].group_draw->sizes == GroupSizes::random);
    CHECK_FALSE(problems[1].group_draw->seed.has_value());
    CHECK(problems[2].group_draw->sizes == GroupSizes::skewed);
    CHECK(problems[2].group_draw->seed == 5);
    CHECK(problems[1].spec == problems[0].spec);
    CHECK_THAT(complaint_about("bf16 tn 1 2 3 groups=4 group-sizes=zipf\n"),
               ContainsSubstring("shapes.txt:1: group-sizes is 'zipf': it must be uniform, random or skewed"));
    CHECK_THAT(complaint_about("bf16 tn 1 2 3 groups=4 group-sizes=random:-1\n"), Says("random:-1", "whole number"));
    CHECK_THAT(complaint_about("bf16 tn 1 2 3 groups=4 group-sizes=random group-sizes=skewed\n"),
               ContainsSubstring("group-sizes stands twice"));
    CHECK_THAT(complaint_about("bf16 tn 1 2 3 group-sizes=random\n"), ContainsSubstring("the problem has no groups"));
    // The line's own sizes go before the option's, and tune has them, too.
    const TemporaryFolder folder;
    std::ofstream(folder / "shapes.txt") << "bf16 tn 64 64 64 groups=4\n"
                                            "bf16 tn 64 64 64 groups=2 group-sizes=skewed:5\n";
    TuneOptions tune;
    tune.shapes = folder / "shapes.txt";
    tune.group_sizes = "random:9";
    const std::vector<tuning::TuneProblem> tuned = tune.problems();
    REQUIRE(tuned.size() == 2);
    CHECK(tuned[0].group_sizes == GroupSizes::random);
    CHECK(tuned[0].seed == 9);
    CHECK(tuned[1].group_sizes == GroupSizes::skewed);
    CHECK(tuned[1].seed == 5);
    MeasurementOptions measurement;
    CHECK(measurement.timing(problems[2]).group_sizes == GroupSizes::skewed);
    CHECK(measurement.timing(problems[2]).seed == 5);
    CHECK(measurement.timing(problems[0]).group_sizes == GroupSizes::uniform);
    measurement.group_sizes = "random:9";
    CHECK(measurement.timing(problems[0]).group_sizes == GroupSizes::random);
    CHECK(measurement.timing(problems[0]).seed == 9);
}

TEST_CASE("shape files: what is no text is told so, in one line") {
    using namespace std::string_literals;
    REQUIRE(complaint_about("bf16 tn 1 2 3\nbf16 tn 4 \0 6\n"s) == "shapes.txt:2: a NUL byte: this is not a text file");
    REQUIRE(complaint_about("\xFF\xFE"
                            "b\0f\0"s) == "shapes.txt is UTF-16: save it as UTF-8");
    REQUIRE_THAT(complaint_about("bf16 tn 8:1 2 3\n"), ContainsSubstring("shapes.txt:1: '8:1'"));
    REQUIRE(complaint_about("# nothing\n") == "shapes.txt names no problem");
}

TEST_CASE("shape files: bad lines are told, but not a hundred thousand of them") {
    std::string text;
    for (int i = 0; i < 10'000; ++i) text += "some words\n";
    const std::string complaint = complaint_about(text);
    REQUIRE_THAT(complaint, ContainsSubstring("shapes.txt:50: ") && ContainsSubstring("and 9950 more"));
    REQUIRE(complaint.find("shapes.txt:51:") == std::string::npos);
}

TEST_CASE("durations: seconds, minutes, hours and their sums") {
    REQUIRE(parse_duration("budget", "90") == 90);
    REQUIRE(parse_duration("budget", "90s") == 90);
    REQUIRE(parse_duration("budget", "1.5h") == 5400);
    REQUIRE(parse_duration("budget", "1m30s") == 90);
    REQUIRE(parse_duration("budget", "1m0s") == 60);
    REQUIRE(parse_duration("budget", "2h1m1.5s") == 7261.5);
    REQUIRE(parse_duration("older-than", "90s", BareNumber::refused) == 90);
    REQUIRE_THROWS_WITH(parse_duration("older-than", "30", BareNumber::refused),
                        Says("--older-than", "'30'", "expected"));
    for (const char* bad : {"", "s", "1m30", "30s1m", "1m1m", "5x", "1h 5m", "nan", "inf", "1:30", "1ms", "0x10s"}) {
        INFO(bad);
        REQUIRE_THROWS_WITH(parse_duration("budget", bad), Says("expected", "90s", "5m", "1h", "1m30s"));
    }
    for (const char* none : {"0", "0s", "-5m", "0h0m"})
        REQUIRE_THROWS_WITH(parse_duration("budget", none), ContainsSubstring("expected a time above 0"));
}

namespace {

/// Options as a command line gives them.
class Given {
public:
    explicit Given(const std::vector<std::string>& words) {
        problem.declare_for_target(app_);
        app_.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes them from the back
    }
    ProblemOptions problem;

private:
    CLI::App app_;
};

std::string usage_error_of(const std::vector<std::string>& words) {
    try {
        static_cast<void>(Given(words).problem.problem());
    } catch (const Error& error) {
        return error.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("command line: keys behind their format name a problem, as one word or many") {
    const GemmSpec expected{.m = 64, .n = 48, .k = 32, .a = DataType::f16, .ldd = 50};
    CHECK(Given({"gemm-v1", "m=64", "n=48", "k=32", "a=f16", "ldd=50"}).problem.problem().spec == expected);
    CHECK(Given({"gemm-v1 m=64 n=48 k=32 a=f16 ldd=50"}).problem.problem().spec == expected);
    CHECK(Given({"gemm-v1 m=64 n=48 k=32 a=f16", "--ldd", "50"}).problem.problem().spec == expected);
    for (const GemmSpec& spec : {expected, resolved(expected), GemmSpec{.m = 8, .n = 8, .k = 8, .constant_b = true}})
        CHECK(Given({to_string(spec)}).problem.problem().spec == spec);
    CHECK(Given({"f16", "tn", "64", "48", "32", "ldd=50"}).problem.problem().spec == expected);
    CHECK(Given({"f16 tn 64 48 32", "--ldd", "50"}).problem.problem().spec == expected);
    const ProblemRequest with_c = Given({"gemm-v1 m=64 n=48 k=32 c=f32", "--beta", "0.5"}).problem.problem();
    CHECK(with_c.spec.c == DataType::f32);
    CHECK(with_c.beta == 0.5F);
    CHECK(Given({"gemm-v1 m=64 n=48 k=32", "--beta", "2"}).problem.problem().spec.c == DataType::bf16);
}

TEST_CASE("command line: what a text of a problem says is not said again") {
    CHECK(usage_error_of({"bf16 tn 64 48 32", "--k", "5"}) ==
          "the shape line and --k say the same thing: leave one out");
    CHECK(usage_error_of({"gemm-v1 m=64 n=48 k=32 ldd=50", "--ldd", "52"}) ==
          "the spec and --ldd say the same thing: leave one out");
    CHECK(usage_error_of({"gemm-v1 m=64 n=48 k=32 d=f32", "--d-type", "f32"}) ==
          "the spec and --d-type say the same thing: leave one out");
    CHECK(usage_error_of({"bf16 tn 64 48 32 ldd=50", "--ldd", "52"}) ==
          "the shape line and --ldd say the same thing: leave one out");
    CHECK(usage_error_of({"e4m3 tn 64 48 32", "--a-type", "e5m2"}) ==
          "the shape line and --a-type say the same thing: leave one out");
    CHECK(Given({"bf16 tn 64 48 32 epilogue='x[m,n] = acc; d = acc'", "--d-type", "f32"}).problem.problem().spec.d ==
          DataType::f32);  // the d of the epilogue is no key
    CHECK(usage_error_of({"gemm-v1 m=64 n=48 k=32", "--layout", "tt"}) ==
          "the spec and --layout say the same thing: leave one out");
    CHECK_THAT(usage_error_of({"gemm-v1 m=64 n=48 k=32 c=none", "--beta", "2"}), Says("beta", "2", "spec", "C"));
}

TEST_CASE("command line: a wrong text of a problem is told as elsewhere") {
    for (const char* text :
         {"gemm-v1 m=64 n=-48 k=32", "gemm-v7 m=1", "gemm-v1 m=64 q=5", "bf16 tn 1 2", "bf16 tn 1 -2 3"}) {
        std::string elsewhere;
        try {
            static_cast<void>(parse_spec_text(text));
        } catch (const SpecError& error) {
            elsewhere = error.what();
        }
        CHECK_FALSE(elsewhere.empty());
        CHECK(usage_error_of({text}) == elsewhere);
    }
}

TEST_CASE("shape files: a line may be keys behind their format") {
    const GemmSpec first{.m = 1, .n = 2, .k = 3, .a = DataType::f16};
    const auto problems =
        parse_shapes("gemm-v1 m=1 n=2 k=3 a=f16\nbf16 tn 4 5 6\n" + to_string(resolved(first)) + "  # once more\n",
                     "shapes.txt", ProblemOptions());
    REQUIRE(problems.size() == 3);
    CHECK(problems[0].spec == first);
    CHECK(problems[1].spec.m == 4);
    CHECK(problems[2].spec == resolved(first));
    CHECK(complaint_about("bf16 tn 1 2 3\ngemm-v1 m=1 n=-2 k=3\n") ==
          "the shape file has bad lines: shapes.txt:2: n is -2: a size cannot be negative");
    try {
        static_cast<void>(parse_shapes("bf16 tn 1 2 3\ngemm-v1 m=1 n=2 k=3 d=f32\n", "shapes.txt",
                                       Given({"--d-type", "f32"}).problem));
        FAIL("both say the type of D");
    } catch (const UsageError& error) {
        CHECK_THAT(error.what(), Says("shapes.txt:2", "--d-type", "same"));
    }
}

#ifdef JITGEMM_TOOL

TEST_CASE("the tool: a text that never ends, is a folder or is not there is wrong usage, whatever option reads it") {
    const Tool tool;
    const auto refused = [&](const std::string& file, const std::string& why) {
        for (const char* const reader : {"tune --shapes", "bench --shapes", "run --source"}) {
            const ToolResult refusal = tool.run(std::string(reader) + " '" + file + "'");
            INFO(reader << " " << file << "\n" << refusal.err);
            CHECK(refusal.exit_code == 2);
            CHECK_THAT(refusal.err, ContainsSubstring(why));
        }
    };
    refused("/dev/zero", "/dev/zero:1: a NUL byte");
    refused(tool.folder().path(), "is a folder");
    refused(tool.folder() / "missing", "No such file");
    const std::string endless = tool.folder() / "endless";
    put_text(endless, "");
    std::filesystem::resize_file(endless, kMostTextBytes + 1);
    refused(endless, "a NUL byte");
    put_text(endless, std::string(kMostTextBytes + 1, '#'));
    refused(endless, "64 MiB");
}

#endif
