#include "generator/base/renderer.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"

#include <filesystem>
#include <string>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

using Files = std::map<std::string, std::string, std::less<>>;

const std::map<std::string, int, std::less<>> kMacros{{"GEMM_ZERO", 0}, {"GEMM_ONE", 1}, {"GEMM_STAGES", 4}};

std::string render_files(const Files& files, const Files& generated = {}) {
    return render(TemplateSet(files), "root.cu", {.macros = kMacros, .generated = generated});
}

std::string render_text(const std::string& text) { return render_files({{"root.cu", text}}); }

/// The message of the RenderError that rendering `files` gives.
std::string error_of(const Files& files) {
    try {
        (void)render_files(files);
    } catch (const RenderError& error) {
        return error.what();
    }
    return "no error";
}

std::string error_of_text(const std::string& text) { return error_of({{"root.cu", text}}); }

bool is_true(const std::string& condition) { return render_text("#if " + condition + "\nyes\n#endif\n") == "yes\n"; }

std::string ruler_of(const std::string& name) {
    const std::string start = "// ---- " + name + " ";
    return start + std::string(120 - start.size(), '-') + "\n";
}

}  // namespace

TEST_CASE("plain lines and system includes pass through") {
    const std::string text =
        "#include <cuda_fp16.h>\n// comment\nint a;\n\n    int b;  // end\n#define X 1\n#pragma unroll\n";
    REQUIRE(render_text(text) == text);
}

TEST_CASE("a last line without a newline gets one") { REQUIRE(render_text("int a;") == "int a;\n"); }

TEST_CASE("pragma once vanishes") {
    REQUIRE(render_text("#pragma once\nint a;\n# pragma  once // here too\n") == "int a;\n");
}

TEST_CASE("a quoted include is flattened under a ruler with its folder's name") {
    const std::string text = render_files({{"root.cu", "// top\n#include \"layouts/swizzle.cuh\"\n\nint kernel;\n"},
                                           {"layouts/swizzle.cuh", "#pragma once\nint swizzle;\n"}});
    REQUIRE(text == "// top\n\n" + ruler_of("layouts") + "int swizzle;\n\nint kernel;\n");
}

TEST_CASE("a template outside of folders has a ruler with its own name") {
    REQUIRE(render_files({{"root.cu", "#include \"a.cuh\"\n"}, {"a.cuh", "int a;\n"}}) == ruler_of("a") + "int a;\n");
}

TEST_CASE("a file is included once, wherever it is asked for") {
    const std::string text = render_files({{"root.cu", "#include \"a.cuh\"\n#include \"b.cuh\"\n#include \"a.cuh\"\n"},
                                           {"a.cuh", "int a;\n"},
                                           {"b.cuh", "#include \"a.cuh\"\nint b;\n"}});
    REQUIRE(text == ruler_of("a") + "int a;\n\n" + ruler_of("b") + "int b;\n");
}

TEST_CASE("a ruler that is there already becomes an empty line") {
    REQUIRE(render_text("// ---- x\nint a;\n// ---- x\nint b;\n") == ruler_of("x") + "int a;\n\nint b;\n");
}

TEST_CASE("a statement's text takes the place and the indentation of its line, as often as it stands there") {
    const std::string text = render_files(
        {{"root.cu", "// GEMM_NEST();\nint k() {\n    GEMM_WAIT();\n    GEMM_NONE();\n}\n#include \"x/a.cuh\"\n"},
         {"x/a.cuh", "int a() {\n        GEMM_WAIT();\n}\n#if GEMM_ZERO\nGEMM_UNKNOWN();\n#endif\n"}},
        {{"GEMM_NEST", "// for\n//     for\n"}, {"GEMM_NONE", ""}, {"GEMM_WAIT", "  if (x)\n    wait();\n\n  y();\n"}});
    REQUIRE(text == "// for\n//     for\nint k() {\n    if (x)\n      wait();\n\n    y();\n}\n\n" + ruler_of("x") +
                        "int a() {\n        if (x)\n          wait();\n\n        y();\n}\n");
    REQUIRE(error_of_text("a\n    GEMM_WAIT();\n") == "root.cu:2: there is no statement for GEMM_WAIT()");
    REQUIRE_THAT(error_of_text("    GEMM_WAIT(1);\n"), ContainsSubstring("would be left in the output"));
}

TEST_CASE("a statement may be the head of a function, with its first lines") {
    const std::string text = render_files({{"root.cu", "GEMM_KERNEL() {\n    work();\n}\n"}},
                                          {{"GEMM_KERNEL", "void gemm(int k) {\n    begin();\n"}});
    REQUIRE(text == "void gemm(int k) {\n    begin();\n    work();\n}\n");
    REQUIRE(error_of_text("GEMM_KERNEL() {\n}\n") == "root.cu:1: there is no statement for GEMM_KERNEL()");
    REQUIRE_THAT(error_of_text("GEMM_KERNEL() { work();\n}\n"), ContainsSubstring("would be left in the output"));
}

TEST_CASE("a file called .inl is included as often as it is asked for, but not by itself") {
    const std::string text = render_files({{"root.cu", "int k() {\n#include \"x/wait.inl\"\n}\n#include \"x/a.cuh\"\n"},
                                           {"x/a.cuh", "int a() {\n#include \"x/wait.inl\"\n}\n"},
                                           {"x/wait.inl", "    wait();\n"}});
    REQUIRE(text == "int k() {\n    wait();\n}\n\n" + ruler_of("x") + "int a() {\n    wait();\n}\n");
    REQUIRE(error_of({{"root.cu", "#include \"a.inl\"\n"}, {"a.inl", "#include \"a.inl\"\n"}}) ==
            "a.inl:1: \"a.inl\" includes itself: root.cu -> a.inl -> a.inl");
}

TEST_CASE("files of one folder that follow each other share a ruler") {
    const std::string text = render_files({{"root.cu", "#include \"x/outer.cuh\"\n#include \"y/b.cuh\"\n"},
                                           {"x/outer.cuh", "#include \"x/inner.cuh\"\n\nint outer;\n"},
                                           {"x/inner.cuh", "int inner;\n"},
                                           {"y/b.cuh", "int b;\n"}});
    REQUIRE(text == ruler_of("x") + "int inner;\n\nint outer;\n\n" + ruler_of("y") + "int b;\n");
}

TEST_CASE("after an include from another folder the ruler of what goes on comes again") {
    const std::string text =
        render_files({{"root.cu", "// ---- kernel\n#include \"x/outer.cuh\"\nint k;\n"},
                      {"x/outer.cuh", "int first;\n#include \"y/inner.cuh\"\n#include \"y/more.inl\"\n"},
                      {"y/inner.cuh", "int inner;\n"},
                      {"y/more.inl", "int second;\n"}});
    REQUIRE(text == ruler_of("kernel") + "\n" + ruler_of("x") + "int first;\n\n" + ruler_of("y") + "int inner;\n\n" +
                        ruler_of("x") + "int second;\n\n" + ruler_of("kernel") + "int k;\n");
}

TEST_CASE("what clang-format is told of a template is left out") {
    REQUIRE(render_files({{"root.cu", "int a;\n    // clang-format off\nint  b;\n// clang-format on\nint c;\n"}}) ==
            "int a;\nint  b;\nint c;\n");
}

TEST_CASE("an include name stands for the piece that is given") {
    const TemplateSet templates({{"root.cu", "#include \"copy_a.cuh\"\n#include \"copy_b.cuh\"\n#include \"c.cuh\"\n"},
                                 {"wide.cuh", "int wide;\n"},
                                 {"c.cuh", "int c;\n"}});
    const std::string text =
        render(templates, "root.cu",
               {.macros = {},
                .generated = {{"params.cuh", "int params;\n"}},
                .pieces = {{"copy_a.cuh", "wide.cuh"}, {"copy_b.cuh", "wide.cuh"}, {"c.cuh", "params.cuh"}}});
    REQUIRE(text == ruler_of("wide") + "int wide;\n\n" + ruler_of("params") + "int params;\n");
}

TEST_CASE("an include name that stands for nothing is left out, a template of that name too") {
    const TemplateSet templates({{"root.cu", "#include \"a.cuh\"\nint root;\n"}, {"a.cuh", "int a;\n"}});
    REQUIRE(render(templates, "root.cu", {.macros = {}, .generated = {}, .pieces = {{"a.cuh", ""}}}) == "int root;\n");
}

TEST_CASE("a macro that is left out has its default, which may follow from others") {
    const Files files{{"root.cu", "#if GEMM_TWICE == 8 && GEMM_OWN == 1\nyes\n#endif\n"},
                      {"defaults/params.cuh",
                       "#ifndef GEMM_OWN\n#define GEMM_OWN 1  // one\n#endif\n"
                       "#ifndef GEMM_STAGES\n#define GEMM_STAGES 2\n#endif\n"
                       "#define GEMM_TWICE (2 * GEMM_STAGES)\n"}};
    REQUIRE(render_files(files) == "yes\n");
    REQUIRE_THAT(error_of({{"root.cu", "a\n"}, {"defaults/params.cuh", "\n#define GEMM_X GEMM_Y\n"}}),
                 StartsWith("defaults/params.cuh:2: unknown macro 'GEMM_Y'"));
}

TEST_CASE("an empty file has no ruler") {
    REQUIRE(render_files({{"root.cu", "#include \"a.cuh\"\nint x;\n"}, {"a.cuh", "#if GEMM_ZERO\nint a;\n#endif\n"}}) ==
            "int x;\n");
}

TEST_CASE("a template's own ruler is drawn to full width, and replaces the one of its include") {
    const std::string text =
        render_files({{"root.cu", "#include \"a.cuh\"\n// ---- kernel\nint k;\n// ---- end ----\n"},
                      {"a.cuh", "// ---- parameters ---\nint a;\n"}});
    REQUIRE(text == ruler_of("parameters") + "int a;\n\n" + ruler_of("kernel") + "int k;\n\n" + ruler_of("end"));
}

TEST_CASE("generated text takes the place of a template of that name and is rendered too") {
    const std::string text =
        render_files({{"root.cu", "#include \"params.cuh\"\n"}, {"params.cuh", "int from_disk;\n"}},
                     {{"params.cuh", "#if GEMM_ONE\nint generated;\n#endif\n"}});
    REQUIRE(text == ruler_of("params") + "int generated;\n");
}

TEST_CASE("defaults are no stand-in for a generated include") {
    REQUIRE(error_of({{"root.cu", "#include \"params.cuh\"\n"}, {"defaults/params.cuh", "int a;\n"}}) ==
            "root.cu:1: there is no template \"params.cuh\"");
}

TEST_CASE("conditions on GEMM_ macros are resolved") {
    REQUIRE(render_text("#if GEMM_ONE\na\n#else\nb\n#endif\n") == "a\n");
    REQUIRE(render_text("#if GEMM_ZERO\na\n#else\nb\n#endif\n") == "b\n");
    REQUIRE(
        render_text("#if GEMM_ZERO\na\n#elif GEMM_STAGES == 4  // four\nb\n#elif GEMM_ONE\nc\n#else\nd\n#endif\n") ==
        "b\n");
    REQUIRE(render_text("#ifdef GEMM_ZERO\na\n#endif\n#ifndef GEMM_ZERO\nb\n#endif\n") == "a\n");
    REQUIRE(render_text("  #  if /* why */ GEMM_ONE\na\n  #endif // GEMM_ONE\n") == "a\n");
}

TEST_CASE("dead branches are neither followed nor checked") {
    REQUIRE(render_text("#if GEMM_ZERO\n#include \"absent.cuh\"\nGEMM_LEFT\n#if GEMM_UNKNOWN\n#elif "
                        "OTHER\n#else\n#endif\n#endif\na\n") == "a\n");
}

TEST_CASE("nested conditions") {
    REQUIRE(render_text("#if GEMM_ONE\n#if GEMM_ZERO\na\n#else\nb\n#endif\nc\n#else\nd\n#endif\n") == "b\nc\n");
    REQUIRE(render_text("#if GEMM_ZERO\n#if GEMM_ONE\na\n#endif\n#elif GEMM_ONE\nb\n#endif\n") == "b\n");
}

TEST_CASE("other conditions pass through, and GEMM_ ones inside them are resolved") {
    const std::string text = "#if __CUDA_ARCH__ >= 900\na\n#elif defined(X)\nb\n#else\nc\n#endif\n";
    REQUIRE(render_text(text) == text);
    REQUIRE(render_text("#ifdef X\n#if GEMM_ZERO\na\n#else\nb\n#endif\n#endif\n") == "#ifdef X\nb\n#endif\n");
    REQUIRE(render_text("#if GEMM_ZERO\n#if X\na\n#elif Y\n#else\n#endif\n#endif\nb\n") == "b\n");
}

TEST_CASE("operators of conditions") {
    REQUIRE(is_true("GEMM_STAGES == 4 && GEMM_ONE != 0"));
    REQUIRE(is_true("GEMM_ZERO || GEMM_STAGES >= 4"));
    REQUIRE(is_true("GEMM_ZERO && GEMM_ZERO || GEMM_ONE"));
    REQUIRE(is_true("GEMM_ONE || GEMM_ONE && GEMM_ZERO"));
    REQUIRE(is_true("!GEMM_ZERO && !(GEMM_STAGES < 4) && GEMM_STAGES <= 4 && GEMM_STAGES > -1"));
    REQUIRE(is_true("GEMM_STAGES - 1 - 1 == 2"));
    REQUIRE(is_true("2 + GEMM_STAGES * 3 == 14"));
    REQUIRE(is_true("(2 + GEMM_STAGES) * 3 == 18"));
    REQUIRE(is_true("GEMM_STAGES % 3 == +1 && 17 / GEMM_STAGES == 4"));
    REQUIRE(is_true("defined(GEMM_ZERO) && defined GEMM_ONE"));
    REQUIRE_FALSE(is_true("GEMM_STAGES == 3"));
    REQUIRE_FALSE(is_true("GEMM_ONE < GEMM_ZERO"));
    REQUIRE(is_true("!GEMM_ZERO == 1"));
    REQUIRE(is_true("GEMM_ONE || 1 / GEMM_ZERO"));
    REQUIRE_FALSE(is_true("GEMM_ZERO && 1 % GEMM_ZERO"));
}

TEST_CASE("blank lines left behind collapse into one") {
    REQUIRE(render_text("\n\na\n\n#if GEMM_ZERO\nx\n#endif\n\n\nb\n\n\n") == "a\n\nb\n");
}

TEST_CASE("an unknown macro is an error with file and line, even where it does not matter") {
    REQUIRE_THAT(
        error_of({{"root.cu", "\n#include \"a.cuh\"\n"}, {"a.cuh", "int a;\n\n#if GEMM_STAGE == 2\n#endif\n"}}),
        StartsWith("a.cuh:3: unknown macro 'GEMM_STAGE'") && ContainsSubstring("GEMM_STAGES"));
    REQUIRE_THAT(error_of_text("#if GEMM_ONE\n#elif GEMM_NEVER\n#endif\n"),
                 StartsWith("root.cu:2: unknown macro 'GEMM_NEVER'"));
    REQUIRE_THAT(error_of_text("#if GEMM_ONE || GEMM_NEVER\n#endif\n"),
                 StartsWith("root.cu:1: unknown macro 'GEMM_NEVER'"));
    REQUIRE_THAT(error_of_text("#ifndef GEMM_NEVER\n#endif\n"), StartsWith("root.cu:1: unknown macro 'GEMM_NEVER'"));
    REQUIRE_THAT(error_of_text("#if defined(GEMM_NEVER)\n#endif\n"),
                 StartsWith("root.cu:1: unknown macro 'GEMM_NEVER'"));
}

TEST_CASE("a GEMM_ name may not be left in the output, not even in a comment") {
    REQUIRE_THAT(error_of_text("a\nint x = GEMM_STAGES;\n"),
                 StartsWith("root.cu:2:") && ContainsSubstring("int x = GEMM_STAGES;"));
    REQUIRE_THAT(error_of_text("// see GEMM_ONE\n"), StartsWith("root.cu:1:"));
    REQUIRE_THAT(error_of_text("#define GEMM_X 1\n"), StartsWith("root.cu:1:"));
    REQUIRE_THAT(error_of_text("#if X\n#elif GEMM_ONE\n#endif\n"), StartsWith("root.cu:2:"));
}

TEST_CASE("a condition may not mix GEMM_ macros with others") {
    REQUIRE_THAT(error_of_text("#if GEMM_ONE && __CUDA_ARCH__ >= 800\n#endif\n"),
                 StartsWith("root.cu:1: '__CUDA_ARCH__'") && ContainsSubstring("GEMM_ONE && __CUDA_ARCH__ >= 800"));
    REQUIRE_THAT(error_of_text("#if GEMM_ZERO\n#elif X\n#endif\n"), StartsWith("root.cu:2: 'X'"));
    REQUIRE_THAT(error_of_text("#if GEMM_ONE && defined(X)\n#endif\n"), StartsWith("root.cu:1: 'X'"));
}

TEST_CASE("malformed conditions") {
    REQUIRE_THAT(error_of_text("#if GEMM_ONE ==\n#endif\n"), StartsWith("root.cu:1: a value is missing at the end"));
    REQUIRE_THAT(error_of_text("#if (GEMM_ONE\n#endif\n"), StartsWith("root.cu:1: ')' is missing"));
    REQUIRE_THAT(error_of_text("#if GEMM_ONE GEMM_ONE\n#endif\n"),
                 StartsWith("root.cu:1: 'GEMM_ONE' was not expected"));
    REQUIRE_THAT(error_of_text("#if GEMM_ONE == 0x1\n#endif\n"),
                 StartsWith("root.cu:1: '0x1' is not a decimal integer"));
    REQUIRE_THAT(error_of_text("#if GEMM_ONE == 010\n#endif\n"),
                 StartsWith("root.cu:1: '010' is not a decimal integer"));
    REQUIRE_THAT(error_of_text("#if GEMM_ONE && \\\n    GEMM_ONE\n#endif\n"),
                 StartsWith("root.cu:1: '\\' was not expected"));
    REQUIRE_THAT(error_of_text("#if 1 / GEMM_ZERO\n#endif\n"), StartsWith("root.cu:1: division by zero"));
    REQUIRE_THAT(error_of_text("#if GEMM_ZERO\n#elif\n#endif\n"), StartsWith("root.cu:2: a value is missing"));
}

TEST_CASE("unbalanced conditionals") {
    REQUIRE_THAT(error_of_text("a\n#if GEMM_ONE\n#if X\n#endif\n"), testing::Says("root.cu:2", "#if", "#endif"));
    REQUIRE_THAT(error_of_text("#endif\n"), testing::Says("root.cu:1", "#endif", "without", "#if"));
    REQUIRE_THAT(error_of_text("a\n#else\n"), testing::Says("root.cu:2", "#else", "without", "#if"));
    REQUIRE_THAT(error_of_text("#elif GEMM_ONE\n"), testing::Says("root.cu:1", "#elif", "without", "#if"));
    REQUIRE_THAT(error_of_text("#if GEMM_ONE\n#else\n#else\n#endif\n"), testing::Says("root.cu:3", "second", "#else"));
    REQUIRE_THAT(error_of_text("#if GEMM_ONE\n#else\n#elif GEMM_ONE\n#endif\n"),
                 testing::Says("root.cu:3", "#elif", "after", "#else"));
    REQUIRE_THAT(error_of({{"root.cu", "#if GEMM_ONE\n#include \"a.cuh\"\n"}, {"a.cuh", "#endif\n"}}),
                 testing::Says("a.cuh:1", "#endif", "without", "#if"));
}

TEST_CASE("includes that cannot be followed") {
    REQUIRE(error_of_text("a\n#include \"absent.cuh\"\n") == "root.cu:2: there is no template \"absent.cuh\"");
    REQUIRE(error_of({{"root.cu", "#include \"a.cuh\"\n"},
                      {"a.cuh", "#pragma once\n#include \"b.cuh\"\n"},
                      {"b.cuh", "#include \"a.cuh\"\n"}}) ==
            "b.cuh:1: \"a.cuh\" includes itself: root.cu -> a.cuh -> b.cuh -> a.cuh");
    REQUIRE_THAT(error_of({{"root.cu", "#if X\n#include \"a.cuh\"\n#endif\n"}, {"a.cuh", ""}}),
                 testing::Says("root.cu:2", "\"a.cuh\"", "inside an #if"));
    REQUIRE_THAT(error_of({{"other.cu", ""}}), testing::Says("root.cu:1", "template"));
}

TEST_CASE("the embedded templates are the files below templates/") {
    const TemplateSet on_disk = TemplateSet::from_directory(JITGEMM_SOURCE_DIR "/templates");
    REQUIRE(TemplateSet::embedded().files() == on_disk.files());
    REQUIRE(on_disk.find("mma_multistage/mma_multistage.cu") != nullptr);
    REQUIRE(on_disk.find("absent.cu") == nullptr);
}

TEST_CASE("a copy of a template set shares its texts") {
    // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): the copy is tested
    const TemplateSet copy = TemplateSet::embedded();
    const char* const name = "mma_multistage/mma_multistage.cu";
    REQUIRE(copy.find(name) == TemplateSet::embedded().find(name));
}

TEST_CASE("a template folder that cannot be read or holds nothing is refused by name") {
    REQUIRE_THROWS_WITH(TemplateSet::from_directory("/nonexistent/templates"),
                        ContainsSubstring("/nonexistent/templates"));
    const auto empty = std::filesystem::temp_directory_path() / "jitgemm-renderer-test-empty";
    std::filesystem::create_directories(empty);
    REQUIRE_THROWS_AS(TemplateSet::from_directory(empty.string()), RenderError);
    std::filesystem::remove_all(empty);
}
