/// Programs in C and Rust against libjitgemm.so: the examples, what docs/c.md shows, one that was compiled against the
/// first header.

#include "jitgemm/jitgemm.h"
#include "tests/catch.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

constexpr const char* kStrict = "cc -std=c99 -Wall -Wextra -Wconversion -pedantic -Werror";

struct Ran {
    int status = 0;
    std::string output;  ///< stdout and stderr
};

Ran run(const std::string& command) {
    std::FILE* const pipe = popen(("exec 2>&1; " + command).c_str(), "r");
    REQUIRE(pipe != nullptr);
    Ran ran;
    std::array<char, 4096> chunk{};
    while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), pipe))
        ran.output.append(chunk.data(), got);
    ran.status = pclose(pipe);
    return ran;
}

bool has(const std::string& program) { return run("command -v " + program).status == 0; }

std::string source(const std::string& path) { return std::string(JITGEMM_SOURCE_DIR) + "/" + path; }

fs::path library_folder() { return fs::path(JITGEMM_C_LIBRARY).parent_path(); }

std::string link_options() { return fmt::format("-L {0} -ljitgemm -Wl,-rpath,{0}", library_folder().string()); }

/// Of a program that was built by the command; it must succeed, as the build must.
std::string output_of_built(const TemporaryFolder& folder, const std::string& build) {
    const Ran built = run(fmt::format("{} -o {}", build, folder / "program"));
    INFO(build << "\n" << built.output);
    REQUIRE(built.status == 0);
    const Ran ran = run(fmt::format("JITGEMM_CACHE_DIR={} {}", folder / "cache", folder / "program"));
    INFO(ran.output);
    CHECK(ran.status == 0);
    return ran.output;
}

/// The blocks of C in a page, one after the other.
std::string samples_in(const std::string& page) {
    std::string samples;
    bool inside = false;
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("```"))
            inside = line == "```c";
        else if (inside)
            samples += "    " + line + "\n";
    }
    return samples;
}

/// The samples need these: matrices, a stream, a way to fail, a callback.
constexpr const char* kBefore = R"(#include <jitgemm/jitgemm.h>
#include <stdio.h>
#include <stdlib.h>
static int fail(const char *why) { fprintf(stderr, "%s\n", why); return 1; }
static void print_message(int32_t level, const char *message, void *user) {
    (void)user;
    printf("%d %s\n", (int)level, message);
}
int main(void) {
    static float a[64 * 32], b[32 * 48], c[64 * 48], d[64 * 48];
    void *stream = NULL;
    int i;
    for (i = 0; i < 64 * 32; ++i) a[i] = 1;
    for (i = 0; i < 32 * 48; ++i) b[i] = 2;
    for (i = 0; i < 64 * 48; ++i) c[i] = 4;
)";
constexpr const char* kBehind = R"(
    jg_kernel_destroy(fused);
    jg_kernel_destroy(with_c);
    jg_kernel_destroy(kernel);
    jg_context_destroy(context);
    printf("\nD[0] is %g, the workspace %d bytes\n", (double)d[0], (int)workspace);
    return 0;
}
)";

}  // namespace

TEST_CASE("C programs: the example runs, and says what is wrong with its options") {
    if (!has("cc")) SKIP_TEST("no C compiler 'cc'");
    const TemporaryFolder folder;
    const std::string build =
        fmt::format("{} -I {} {} {}", kStrict, source("include"), source("examples/c/gemm.c"), link_options());
    CHECK_THAT(output_of_built(folder, build), ContainsSubstring("f32_tt") &&
                                                   ContainsSubstring("\n0 of 660 elements are wrong") &&
                                                   ContainsSubstring("batch: 0 of 1980 elements are wrong") &&
                                                   ContainsSubstring("groups: 0 of 660 elements are wrong"));
    const Ran refused = run(folder / "program" + " devise=cuda");
    CHECK(refused.status != 0);
    CHECK_THAT(refused.output, ContainsSubstring("did you mean 'device'?"));
}

TEST_CASE("C programs: the example in Rust runs") {
    if (!has("rustc")) SKIP_TEST("no Rust compiler 'rustc'");
    const TemporaryFolder folder;
    const std::string build = fmt::format("rustc --edition 2021 -O -D warnings -L {0} -C link-arg=-Wl,-rpath,{0} {1}",
                                          library_folder().string(), source("examples/rust/gemm.rs"));
    CHECK_THAT(output_of_built(folder, build), ContainsSubstring("0 of 660 elements are wrong"));
}

TEST_CASE("C programs: what docs/c.md shows compiles and runs") {
    if (!has("cc")) SKIP_TEST("no C compiler 'cc'");
    const TemporaryFolder folder;
    const std::string samples = samples_in(text_in(source("docs/c.md")));
    put_text(folder / "samples.c", kBefore + samples + kBehind);
    INFO(samples);
    const std::string output = output_of_built(
        folder, fmt::format("{} -I {} {} {}", kStrict, source("include"), folder / "samples.c", link_options()));
    CHECK_THAT(output, ContainsSubstring("n is -48: a size cannot be negative") && ContainsSubstring("__global__"));
    CHECK_THAT(output, ContainsSubstring("D[0] is 66,"));  // 32 products of 2, and half of 4
    CHECK_THAT(output, ContainsSubstring("fused 128\n"));  // half of 32 products of 2, times 4
    for (const char* const function : {"jg_context_create", "jg_kernel_create", "jg_kernel_create_from_gemm",
                                       "jg_kernel_query", "jg_kernel_launch", "jg_last_error", "jg_set_log"})
        CHECK_THAT(samples, ContainsSubstring(function));
}

namespace {

/// The lines that a page shows under "Building against it".
std::vector<std::string> build_lines(const std::string& page) {
    std::vector<std::string> lines;
    std::istringstream text(page.substr(page.find("## Building against it")));
    bool inside = false;
    for (std::string line; std::getline(text, line);) {
        if (line.starts_with("```")) {
            if (inside) break;
            inside = true;
        } else if (inside) {
            lines.push_back(line);
        }
    }
    return lines;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
    return text;
}

/// As an installation has them: headers, libraries and what pkg-config reads.
void install(const fs::path& prefix) {
    fs::create_directories(prefix / "lib/pkgconfig");
    fs::create_directory_symlink("lib", prefix / "lib64");
    fs::create_directory_symlink(source("include"), prefix / "include");
    for (const char* const name : {"libjitgemm.so", "libjitgemm.so.0"})
        fs::create_symlink(fs::canonical(JITGEMM_C_LIBRARY), prefix / "lib" / name);
    fs::copy_file(library_folder() / "jitgemm-c.pc", prefix / "lib/pkgconfig/jitgemm-c.pc");
}

}  // namespace

TEST_CASE("C programs: each line of docs/c.md that builds one builds one that starts") {
    if (!has("cc") || !has("pkg-config")) SKIP_TEST("no 'cc' and 'pkg-config'");
    const TemporaryFolder folder;
    install(folder / "prefix");
    put_text(folder / "app.c", "#include <jitgemm/jitgemm.h>\nint main(void) { return jg_version()[0] != '0'; }\n");
    const std::vector<std::string> lines = build_lines(text_in(source("docs/c.md")));
    REQUIRE(lines.size() >= 2);
    for (const std::string& line : lines) {
        const std::string build = replaced(line, "PREFIX", folder / "prefix");
        const Ran built = run(fmt::format("cd {} && rm -f app && {}", folder / "", build));
        INFO(line << "\n" << built.output);
        REQUIRE(built.status == 0);
        const Ran ran = run(fmt::format("cd / && env -u LD_LIBRARY_PATH {}", folder / "app"));
        INFO(ran.output);
        CHECK(ran.status == 0);
    }
}

TEST_CASE("C programs: what NVRTC calls stays when the library is closed") {
    if (!has("cc")) SKIP_TEST("no C compiler 'cc'");
    const TemporaryFolder folder;
    put_text(folder / "close.c", R"(#include <dlfcn.h>
#include <jitgemm/jitgemm.h>
#include <string.h>
static void *find(void *library, const char *name, void *function) {
    void *const found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found;
}
int main(int count, char **words) {
    jg_status (*create)(const char *, jg_context **);
    jg_status (*kernel_create)(jg_context *, const char *, jg_kernel **);
    void (*kernel_destroy)(jg_kernel *);
    void (*destroy)(jg_context *);
    const char *(*version)(void);
    int repeat;
    for (repeat = 0; repeat < 2; ++repeat) {
        jg_context *context = NULL;
        jg_kernel *kernel = NULL;
        void *const library = dlopen(words[count - 1], RTLD_NOW | RTLD_LOCAL);
        if (!library || !find(library, "jg_context_create", &create) || !find(library, "jg_version", &version) ||
            !find(library, "jg_kernel_create", &kernel_create) ||
            !find(library, "jg_kernel_destroy", &kernel_destroy) ||
            !find(library, "jg_context_destroy", &destroy))
            return 1;
        if (create("device=emulator:sm_80; cache-dir=; cache-readonly=; family=simt_naive", &context) != JG_OK)
            return 2;
        if (kernel_create(context, "f32 tt 8 8 8", &kernel) != JG_OK) return 3;
        kernel_destroy(kernel);
        destroy(context);
        if (dlclose(library) != 0) return 4;
        if (dlopen(words[count - 1], RTLD_NOW | RTLD_NOLOAD) == NULL || version()[0] != '0') return 5;
    }
    return 0;
}
)");
    const Ran built = run(fmt::format("cc -std=c99 -Wall -Wextra -Werror -I {} {} -ldl -o {}", source("include"),
                                      folder / "close.c", folder / "close"));
    INFO(built.output);
    REQUIRE(built.status == 0);
    const Ran ran = run(fmt::format("{} {}", folder / "close", JITGEMM_C_LIBRARY));
    INFO(ran.output);
    CHECK(ran.status == 0);
}

TEST_CASE("C programs: one that was compiled against the first header runs with the library of today") {
    if (!has("cc")) SKIP_TEST("no C compiler 'cc'");
    const TemporaryFolder folder;
    const std::string first = source("tests/data/abi/0");
    CHECK(output_of_built(folder, fmt::format("{} -I {} {}/program.c {}", kStrict, first, first, link_options()))
              .empty());
    // The members that no kernel served are reserved today.
    std::string renamed;
    int number = 0;
    for (const char* member : {"batch", "batch_stride_a", "batch_stride_b", "batch_stride_c", "batch_stride_d", "bias",
                               "activation", "residual", "scale_a", "scale_b", "scale_d"})
        renamed += fmt::format(" -D{}=reserved_{}", member, ++number);
    const Ran against_today =
        run(fmt::format("{}{} -fsyntax-only -I {}/jitgemm {}/program.c", kStrict, renamed, source("include"), first));
    INFO(against_today.output);
    CHECK(against_today.status == 0);
}

TEST_CASE("C programs: the library may be called as the process ends") {
    if (!has("cc")) SKIP_TEST("no C compiler 'cc'");
    const TemporaryFolder folder;
    put_text(folder / "end.c", R"(#include <jitgemm/jitgemm.h>
#include <stdio.h>
#include <stdlib.h>
static jg_context *context;
static jg_kernel *kernel;
static void at_end(void) { /* what the thread had of its own is gone */
    jg_kernel *other = NULL;
    int invalid = jg_kernel_create(context, "none", &other) == JG_INVALID;
    printf("%d %s\n", invalid, jg_last_error());
    jg_kernel_destroy(kernel);
    jg_context_destroy(context);
}
int main(void) {
    atexit(at_end);
    if (jg_context_create("device=emulator:sm_80", &context) != JG_OK) return 1;
    if (jg_kernel_create(context, "f32 tt 8 8 8", &kernel) != JG_OK) return 1;
    return jg_kernel_tune(NULL) == JG_INVALID ? 0 : 1;
}
)");
    CHECK(output_of_built(
              folder, fmt::format("{} -I {} {} {}", kStrict, source("include"), folder / "end.c", link_options())) ==
          "1 the thread is ending: the text of its last error is gone\n");
}

TEST_CASE("C programs: the header is C99 and C++11 without an extension, beside its C++ twin, too") {
    if (!has("cc") || !has("c++")) SKIP_TEST("no compilers 'cc' and 'c++'");
    const TemporaryFolder folder;
    put_text(folder / "c.c",
             "#include <jitgemm/jitgemm.h>\nstatic const jg_gemm gemm = JG_GEMM_INIT;\nstatic const jg_arguments "
             "arguments = "
             "JG_ARGUMENTS_INIT;\nint main(void) { return gemm.m != 0 || arguments.alpha != 1; }\n");
    put_text(folder / "both.cpp",
             "#include <jitgemm/jitgemm.h>\n#include <jitgemm/jitgemm.hpp>\nint main() { jg_gemm gemm = JG_GEMM_INIT; "
             "return gemm.m != 0; }\n");
    for (const std::string& command :
         {fmt::format("{} -fsyntax-only -I {} {}", kStrict, source("include"), folder / "c.c"),
          fmt::format("c++ -x c++ -std=c++11 -Wall -Wextra -pedantic -Werror -fsyntax-only -I {} {}", source("include"),
                      folder / "c.c"),
          fmt::format("c++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I {} {}", source("include"),
                      folder / "both.cpp")}) {
        const Ran compiled = run(command);
        INFO(command << "\n" << compiled.output);
        CHECK(compiled.status == 0);
    }
}
