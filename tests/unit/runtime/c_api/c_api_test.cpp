/// The C interface as far as it needs no kernel: tests/emulator/c_api_emulator_test.cpp has the rest.

#include "generator/base/gemm_spec_fields.hpp"
#include "jitgemm/jitgemm.h"
#include "jitgemm/jitgemm.hpp"
#include "runtime/c_api/gemm_struct.hpp"
#include "runtime/c_api/options_text.hpp"
#include "runtime/c_api/sized_struct.hpp"
#include "runtime/c_api/status.hpp"
#include "runtime/support/log.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <new>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;

namespace {

template <typename Exception>
jg_status status_of(const Exception& exception) {
    return c_api::guarded([&] { throw exception; });  // NOLINT(bugprone-exception-copy-constructor-throws)
}

std::string error_of(const std::string& options) {
    jg_context* context = nullptr;
    CHECK(jg_context_create(options.c_str(), &context) == JG_INVALID);
    CHECK(context == nullptr);
    return jg_last_error();
}

Options read(const std::string& text) {
    Options options;
    c_api::read_options(options, text);
    return options;
}

}  // namespace

TEST_CASE("C is told the class of an error as a status and the whole of it as text") {
    CHECK(status_of(SpecError("no problem", {"m is -1", "n is -2"})) == JG_INVALID);
    CHECK_THAT(jg_last_error(),
               ContainsSubstring("no problem") && ContainsSubstring("m is -1") && ContainsSubstring("n is -2"));
    CHECK(status_of(c_api::InvalidArgument("kernel is NULL")) == JG_INVALID);
    CHECK(status_of(ConfigError("no kernel", {"a reason"})) == JG_NO_KERNEL);
    CHECK(status_of(RenderError("gemm.cu:3: unknown name")) == JG_COMPILE_FAILED);
    CHECK(status_of(CompileError("refused", "gemm.cu(7): error")) == JG_COMPILE_FAILED);
    CHECK(std::string(jg_last_error()) == "refused\ngemm.cu(7): error");
    CHECK(status_of(CompileError("refused: the log", "the log")) == JG_COMPILE_FAILED);
    CHECK(std::string(jg_last_error()) == "refused: the log");
    CHECK(status_of(KernelNotReady("not loaded", "a kernel")) == JG_NOT_READY);
    CHECK(status_of(CudaError("cuMemAlloc: out of memory", "CUDA_ERROR_OUT_OF_MEMORY", "cuMemAlloc")) ==
          JG_CUDA_FAILED);
    CHECK(status_of(std::bad_alloc()) == JG_OUT_OF_MEMORY);
    CHECK(std::string(jg_last_error()) == "out of memory");
    CHECK(status_of(Error("no folder of templates")) == JG_FAILED);
    CHECK(status_of(std::runtime_error("a file")) == JG_FAILED);
    CHECK(status_of(7) == JG_FAILED);
    CHECK(c_api::guarded([] {}) == JG_OK);
    CHECK(std::string(jg_last_error()).empty());
}

TEST_CASE("the version is the library's") { CHECK(std::string(jg_version()) == kVersion); }

TEST_CASE("each thread has an error of its own", "[threads]") {
    CHECK(jg_kernel_tune(nullptr) == JG_INVALID);
    std::vector<std::string> texts(8);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < texts.size(); ++i)
        threads.emplace_back([&texts, i] {
            texts[i] = jg_last_error();
            for (int repeat = 0; repeat < 100; ++repeat) {
                jg_context* context = nullptr;
                static_cast<void>(jg_context_create(fmt::format("none-{}=1", i).c_str(), &context));
            }
            texts[i] += jg_last_error();
        });
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < texts.size(); ++i)
        CHECK_THAT(texts[i], Catch::Matchers::StartsWith(fmt::format("unknown option 'none-{}'", i)));
    CHECK(std::string(jg_last_error()) == "kernel is NULL");
}

TEST_CASE("what is null is named, and nothing is destroyed") {
    jg_context* context = nullptr;
    jg_kernel* kernel = nullptr;
    const jg_gemm gemm = JG_GEMM_INIT;
    const jg_arguments arguments = JG_ARGUMENTS_INIT;
    std::size_t size = 0;
    const auto said = [](jg_status status) {
        CHECK(status == JG_INVALID);
        return std::string(jg_last_error());
    };
    CHECK(said(jg_context_create(nullptr, nullptr)) == "context is NULL");
    CHECK(said(jg_kernel_create(context, "f32 tn 1 1 1", nullptr)) == "kernel is NULL");
    CHECK(said(jg_kernel_create(nullptr, "f32 tn 1 1 1", &kernel)) == "context is NULL");
    CHECK(said(jg_kernel_create_from_gemm(nullptr, &gemm, &kernel)) == "context is NULL");
    CHECK(said(jg_kernel_tune(nullptr)) == "kernel is NULL");
    CHECK(said(jg_kernel_query(nullptr, "name", nullptr, &size)) == "kernel is NULL");
    CHECK(said(jg_kernel_launch(nullptr, &arguments, nullptr)) == "kernel is NULL");
    jg_context_destroy(nullptr);
    jg_kernel_destroy(nullptr);
    CHECK(std::string(jg_last_error()).empty());
}

// ---- options --------------------------------------------------------------------------------------------------------

TEST_CASE("options are read from text, by the names of variables and command line") {
    const Options options = read(
        " device = emulator:sm_90a ;; log=debug;cache-dir=;tuning-seconds=2.5;installed-wisdom=0;"
        "param=stages=4,block=128x256x64;wisdom=/opt/wisdom.jsonl; emulator-limit=0;");
    CHECK(options.device == "emulator:sm_90a");
    CHECK(options.log_level == "debug");
    CHECK(options.cache_directory.empty());
    CHECK(options.tuning_seconds == 2.5);
    CHECK_FALSE(options.installed_wisdom);
    CHECK(options.parameters == "stages=4,block=128x256x64");
    CHECK(options.wisdom == "/opt/wisdom.jsonl");
    CHECK(options.emulator_gflop == 0);
    CHECK(read("templates=here").template_directory == (std::filesystem::current_path() / "here").string());
    CHECK(read("").device == "cuda");
}

TEST_CASE(
    "programs and libraries are named by an option as by their variable: a bare name stays, a path is made absolute") {
    const std::string here = std::filesystem::current_path().string();
    CHECK(read("tool=bin/jitgemm").tool == here + "/bin/jitgemm");
    CHECK(read("tool=jitgemm-0.1").tool == "jitgemm-0.1");
    CHECK(read("nvrtc=./libnvrtc.so.13").nvrtc_library == here + "/libnvrtc.so.13");
    CHECK(read("nvrtc=libnvrtc.so.13").nvrtc_library == "libnvrtc.so.13");
    CHECK(read("nvrtc=").nvrtc_library.empty());
}

TEST_CASE("in an option ~/ is the home folder, as in a variable") {
    const char* const home = std::getenv("HOME");
    if (home == nullptr || *home != '/') SKIP_TEST("no HOME here");
    CHECK(read("cache-dir=~/cache").cache_directory == std::string(home) + "/cache");
    CHECK(read("tool=~/bin/jitgemm").tool == std::string(home) + "/bin/jitgemm");
    CHECK(read("wisdom=here/~/w.jsonl").wisdom == (std::filesystem::current_path() / "here/~/w.jsonl").string());
}

TEST_CASE("a request names its problem once and says what a miss does") {
    jg_context* context = nullptr;
    REQUIRE(jg_context_create("device=emulator:sm_80; cache-dir=; tuning-dir=", &context) == JG_OK);
    jg_kernel* kernel = nullptr;
    jg_gemm gemm = JG_GEMM_INIT;
    gemm.m = gemm.n = gemm.k = 64;
    jg_request request = JG_REQUEST_INIT;
    const auto status = [&] { return jg_kernel_request(context, &request, &kernel); };
    CHECK(status() == JG_INVALID);
    CHECK_THAT(jg_last_error(), ContainsSubstring("both NULL"));
    request.spec = "bf16 tn 64 64 64";
    request.gemm = &gemm;
    CHECK(status() == JG_INVALID);
    CHECK_THAT(jg_last_error(), ContainsSubstring("both set"));
    request.gemm = nullptr;
    request.on_miss = "never";
    CHECK(status() == JG_INVALID);
    CHECK_THAT(jg_last_error(), ContainsSubstring("on_miss") && ContainsSubstring("serve"));
    request.on_miss = "fail";
    CHECK(status() == JG_NOT_READY);
    CHECK_THAT(jg_last_error(), ContainsSubstring("is not loaded"));
    request.spec = nullptr;
    request.gemm = &gemm;
    CHECK(status() == JG_NOT_READY);
    CHECK(kernel == nullptr);
    request.size = 3;
    CHECK(status() == JG_INVALID);
    jg_context_destroy(context);
}

TEST_CASE("every field of Options has a key") {
    // Another field makes this binding ill-formed: give it a key, then add it here.
    [[maybe_unused]] const auto& [device, cache, readonly_cache, nvrtc, cuda_path, wheels, templates, log_level, tuning,
                                  tool, tuning_seconds, wisdom, installed_wisdom, on_miss, math, background_threads,
                                  remembered_problems, kernel, family, parameters, emulator_gflop] = Options{};
    CHECK(c_api::option_keys().size() == 21);
    std::set<std::string_view> keys;
    for (const c_api::OptionKey& option : c_api::option_keys()) {
        INFO(option.key);
        CHECK(keys.insert(option.key).second);
        Options usual;
        Options changed;
        const bool is_level = option.key == "log";
        const bool is_switch = option.key == "installed-wisdom";
        const bool is_policy = option.key == "on-miss";
        const bool is_math = option.key == "math";
        option.read(changed, is_level ? "trace" : is_switch ? "0" : is_policy ? "serve" : is_math ? "f16x3" : "17");
        const auto fields = [](const Options& o) {
            return std::tie(o.device, o.cache_directory, o.readonly_cache_directory, o.nvrtc_library, o.cuda_path,
                            o.wheel_directory, o.template_directory, o.log_level, o.tuning_directory, o.tool,
                            o.tuning_seconds, o.wisdom, o.installed_wisdom, o.on_miss, o.math, o.background_threads,
                            o.remembered_problems, o.kernel, o.family, o.parameters, o.emulator_gflop);
        };
        CHECK(fields(usual) != fields(changed));
    }
}

TEST_CASE("a wrong option is named, with the nearest or the rule") {
    CHECK_THAT(error_of("devise=cuda"),
               ContainsSubstring("unknown option 'devise'") && testing::Says("did you mean", "'device'"));
    CHECK_THAT(error_of("device"), testing::Says("option", "'device'", "key=value"));
    CHECK_THAT(error_of("log=loud"), testing::Says("'loud'", "expected"));
    CHECK_THAT(error_of("tuning-seconds=soon"), ContainsSubstring("expected a number from 0"));
    CHECK_THAT(error_of("emulator-limit=-1"), testing::Says("emulator-limit", "'-1'"));
    CHECK_THAT(error_of("installed-wisdom=no"), ContainsSubstring("expected 0 or 1"));
    CHECK_THAT(error_of("on-miss=never"),
               ContainsSubstring("option on-miss is 'never': expected one of wait, serve, fail"));
    CHECK_THAT(error_of("math=tf33"), testing::Says("option math", "'tf33'", "ieee", "f16x3", "bf16x3", "tf32"));
    CHECK_THAT(error_of("background-threads=-1"), ContainsSubstring("expected a whole number from 0"));
    CHECK_THAT(error_of("device=gpu"), ContainsSubstring("unknown device 'gpu'"));
    CHECK_THAT(error_of("device=emulator:sm_99"), ContainsSubstring("unknown architecture 'sm_99'"));
}

// ---- structs --------------------------------------------------------------------------------------------------------

TEST_CASE("jg_gemm has a member for each field of a spec, reserved ones, and nothing else") {
    std::map<std::string_view, const c_api::GemmMember*> members;
    std::size_t bytes = sizeof(jg_gemm::size);
    for (const c_api::GemmMember& member : c_api::gemm_members()) {
        CHECK(members.emplace(member.key, &member).second);
        bytes += member.bytes;
    }
    for (const GemmSpecField& field : gemm_spec_fields()) {
        INFO(field.key);
        CHECK(members.contains(field.key));
    }
    CHECK(members.size() == gemm_spec_fields().size());
    for (const c_api::ReservedMember& member : c_api::reserved_members()) bytes += member.bytes;
    CHECK(bytes == sizeof(jg_gemm));
}

TEST_CASE("a reserved member of jg_gemm is 0, or what earlier programs set that says nothing") {
    jg_gemm gemm = JG_GEMM_INIT;
    gemm.m = gemm.n = gemm.k = 8;
    const std::string plain = c_api::text_of(&gemm);
    gemm.reserved_1 = 1;
    gemm.reserved_5 = JG_SAME;
    gemm.reserved_6 = gemm.reserved_11 = "none";
    CHECK(c_api::text_of(&gemm) == plain);
    gemm.reserved_1 = 4;
    CHECK_THROWS_WITH(c_api::text_of(&gemm), ContainsSubstring("reserved_1 is 4") && ContainsSubstring("must be 0"));
    gemm.reserved_1 = 0;
    gemm.reserved_11 = "tensor";
    CHECK_THROWS_WITH(c_api::text_of(&gemm),
                      ContainsSubstring("reserved_11 is tensor") && ContainsSubstring("no kernel serves"));
}

namespace {

/// A value of each member that is not the usual one, and the same in the text of a spec.
void set_member(jg_gemm& gemm, const c_api::GemmMember& member, std::string& text) {
    static const std::map<std::string_view, const char*> kWords{{"a", "f16"},
                                                                {"b", "f16"},
                                                                {"c", "f32"},
                                                                {"d", "f32"},
                                                                {"acc", "f16"},
                                                                {"layout", "tt"},
                                                                {"d-layout", "n"},
                                                                {"constant-a", "yes"},
                                                                {"constant-b", "yes"},
                                                                {"broadcast-c", "yes"},
                                                                {"deterministic", "batch_invariant"},
                                                                {"epilogue", "d = relu(acc)"},
                                                                {"sums", "fast"},
                                                                {"math", "f16x3"},
                                                                {"ragged", "k"},
                                                                {"symmetric", "yes"},
                                                                {"prepared", "b"},
                                                                {"pointers", "yes"}};
    auto* const place = reinterpret_cast<std::byte*>(&gemm) + member.offset;
    if (const auto found = kWords.find(member.key); found != kWords.end()) {
        std::memcpy(place, static_cast<const void*>(&found->second), sizeof found->second);
        text = fmt::format("gemm-v9 m=3 n=4 k=5 {}='{}'", member.key, found->second);
        return;
    }
    const std::int64_t value = 16;
    std::memcpy(place, &value, sizeof value);
    text = member.key == "m"   ? "gemm-v9 m=16 n=4 k=5"
           : member.key == "n" ? "gemm-v9 m=3 n=16 k=5"
           : member.key == "k" ? "gemm-v9 m=3 n=4 k=16"
                               : fmt::format("gemm-v9 m=3 n=4 k=5 {}=16", member.key);
}

jg_gemm small() {
    jg_gemm gemm = JG_GEMM_INIT;
    gemm.m = 3;
    gemm.n = 4;
    gemm.k = 5;
    return gemm;
}

std::string size_error(const jg_gemm& gemm) {
    try {
        static_cast<void>(c_api::text_of(&gemm));
        return "none";
    } catch (const c_api::InvalidArgument& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("a struct and its text are the same spec, member by member") {
    jg_gemm gemm = JG_GEMM_INIT;
    CHECK(parse_gemm_spec(c_api::text_of(&gemm)) == GemmSpec{});
    gemm = small();
    CHECK(parse_gemm_spec(c_api::text_of(&gemm)) == GemmSpec{.m = 3, .n = 4, .k = 5});
    for (const c_api::GemmMember& member : c_api::gemm_members()) {
        INFO(member.key);
        gemm = small();
        std::string text;
        set_member(gemm, member, text);
        CHECK(parse_gemm_spec(c_api::text_of(&gemm)) == parse_gemm_spec(text));
        CHECK_FALSE(parse_gemm_spec(text) == GemmSpec{.m = 3, .n = 4, .k = 5});
    }
    gemm = small();
    gemm.batch_stride_b = JG_SAME;
    CHECK(parse_gemm_spec(c_api::text_of(&gemm)).batch_stride_b == 0);
    gemm = small();
    gemm.a = "f16";
    CHECK(parse_gemm_spec(c_api::text_of(&gemm)).d == DataType::f16);
    gemm.a = "f16 m=7";
    CHECK_THROWS_WITH(c_api::text_of(&gemm), testing::Says("a", "'f16 m=7'", "blanks"));
}

TEST_CASE("the epilogue of a struct has blanks and lines, but no quote") {
    jg_gemm gemm = small();
    gemm.epilogue = "t = acc + bias[n]\nd = relu(t)";
    const EpilogueText epilogue = parse_gemm_spec(c_api::text_of(&gemm)).epilogue;
    CHECK(epilogue.text() == "t = acc + bias[n]\nd = relu(t)");
    gemm.epilogue = "d = relu(acc)  # the model's' m=7";
    CHECK_THROWS_WITH(c_api::text_of(&gemm), testing::Says("epilogue", "the model's'", "quote"));
}

TEST_CASE("structs end with their last member: a later one must not lie in what is padding now") {
    CHECK(offsetof(jg_arguments, row_index) + sizeof(jg_arguments::row_index) == sizeof(jg_arguments));
    CHECK(offsetof(jg_gemm, outer_stride_d) + sizeof(jg_gemm::outer_stride_d) == sizeof(jg_gemm));
}

TEST_CASE("a struct says its size: an older one is taken, a newer one while it sets nothing new") {
    jg_gemm gemm = small();
    CHECK(size_error(gemm) == "none");
    for (const std::size_t wrong : {std::size_t{0}, sizeof(jg_gemm) - 1, std::numeric_limits<std::size_t>::max()}) {
        gemm.size = wrong;
        CHECK_THAT(size_error(gemm),
                   ContainsSubstring(
                       fmt::format("jg_gemm.size is {}: expected sizeof(jg_gemm), here {}", wrong, sizeof(jg_gemm))));
    }
    struct Newer {
        jg_gemm known;
        std::int64_t newer;
    } newer{small(), 0};
    newer.known.size = sizeof newer;
    CHECK(size_error(newer.known) == "none");
    newer.newer = 1;
    CHECK_THAT(size_error(newer.known), ContainsSubstring(fmt::format("has byte {} set, of a field that jitgemm {}",
                                                                      offsetof(Newer, newer), kVersion)));

    struct First {
        std::size_t size;
        std::int64_t old;
    };
    struct Second {
        std::size_t size;
        std::int64_t old;
        std::int64_t appended;
    };
    const First first{sizeof(First), 7};
    const Second read = c_api::read_struct(reinterpret_cast<const Second*>(&first), "second",
                                           offsetof(Second, old) + sizeof(std::int64_t));
    CHECK(read.old == 7);
    CHECK(read.appended == 0);
}

// ---- the log --------------------------------------------------------------------------------------------------------

namespace {

struct Heard {
    std::vector<std::pair<std::int32_t, std::string>> messages;
    jg_status from_within = JG_OK;
};

void listen(std::int32_t level, const char* message, void* user) {
    auto& heard = *static_cast<Heard*>(user);
    heard.messages.emplace_back(level, message);
    log().error("nobody is told");
    heard.from_within = jg_set_log(nullptr, nullptr);
}

}  // namespace

TEST_CASE("the log goes to a callback of C's, and back") {
    Heard heard;
    REQUIRE(jg_set_log(listen, &heard) == JG_OK);
    log().warn("spills");
    log().debug("below the level");
    REQUIRE(jg_set_log(nullptr, nullptr) == JG_OK);
    CHECK(heard.messages == std::vector<std::pair<std::int32_t, std::string>>{{JG_LOG_WARNING, "spills"}});
    CHECK(heard.from_within == JG_FAILED);
}

TEST_CASE("messages of many threads reach a callback one at a time", "[threads]") {
    struct Count {
        int messages = 0;
    } count;
    const auto add = [](std::int32_t, const char*, void* user) { ++static_cast<Count*>(user)->messages; };
    REQUIRE(jg_set_log(add, &count) == JG_OK);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([] {
            for (int repeat = 0; repeat < 100; ++repeat) log().warn("a message");
        });
    for (std::thread& thread : threads) thread.join();
    REQUIRE(jg_set_log(nullptr, nullptr) == JG_OK);
    CHECK(count.messages == 800);
}

// ---- the shared library ---------------------------------------------------------------------------------------------

namespace {

std::string output_of(const std::string& command) {
    std::FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string output;
    std::array<char, 4096> chunk{};
    while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), pipe)) output.append(chunk.data(), got);
    CHECK(pclose(pipe) == 0);
    return output;
}

/// The last word of each line.
std::set<std::string> last_words(const std::string& text) {
    std::set<std::string> words;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) words.insert(line.substr(line.rfind(' ') + 1));
    return words;
}

}  // namespace

TEST_CASE("libjitgemm.so exports the functions of jitgemm.h under one version, and nothing else") {
    const std::string library = JITGEMM_C_LIBRARY;
    std::set<std::string> declared{"JITGEMM_0"};
    const std::string header = testing::text_in(JITGEMM_SOURCE_DIR "/include/jitgemm/jitgemm.h");
    for (std::size_t at = header.find("\nJG_API "); at != std::string::npos; at = header.find("\nJG_API ", at + 1)) {
        const std::size_t parenthesis = header.find('(', at);
        const std::size_t name = header.find_last_of(" *", parenthesis) + 1;
        declared.insert(header.substr(name, parenthesis - name) + "@@JITGEMM_0");
    }
    CHECK(declared.size() > 1 + 8);  // the header was read
    CHECK(last_words(output_of("nm -D --defined-only --with-symbol-versions " + library)) == declared);
    CHECK_THAT(output_of("readelf -d " + library), ContainsSubstring("soname: [libjitgemm.so.0]"));
}
