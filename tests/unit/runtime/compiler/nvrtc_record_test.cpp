#include "runtime/compiler/nvrtc_record.hpp"

#include "jitgemm/error.hpp"
#include "runtime/cache/kernel_cache.hpp"
#include "runtime/compiler/compiler.hpp"
#include "runtime/compiler/nvrtc.hpp"
#include "runtime/compiler/nvrtc_build.hpp"
#include "tests/catch.hpp"
#include "tests/support/counting_compiler.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace jitgemm;
using namespace jitgemm::testing;
namespace fs = std::filesystem;

TEST_CASE("the NVRTC version is remembered as long as nothing changes") {
    const TemporaryFolder folder;
    const std::string library = folder / "libnvrtc.so.13";
    const std::string records = folder / "cache";
    const std::vector<std::string> candidates{folder / "earlier.so", library};
    put_text(library, "library");
    const auto remembered = [&] { return NvrtcRecord(records, candidates, 13).read(); };
    CHECK(remembered().version == 0);
    NvrtcRecord(records, candidates, 13).write({130, "0a"}, library);
    CHECK(remembered() == NvrtcIdentity{130, "0a"});
    CHECK(NvrtcRecord(records, candidates, 12).read().version == 0);
    CHECK(NvrtcRecord(records, {library}, 13).read().version == 0);

    SECTION("the library changed size") { put_text(library, "another library"); }
    SECTION("the library was replaced by one of the same size") {
        fs::last_write_time(library, fs::file_time_type::clock::now() + std::chrono::hours(1));
    }
    SECTION("the library is gone") { fs::remove(library); }
    SECTION("an earlier library appeared") { put_text(folder / "earlier.so", "x"); }
    SECTION("the record is damaged") {
        for (const auto& file : fs::directory_iterator(records)) put_text(file.path().string(), "{\"format\": 1");
    }
    SECTION("the record is of another kind") {
        for (const auto& file : fs::directory_iterator(records)) put_text(file.path().string(), "[]");
    }
    CHECK(remembered().version == 0);
    if (fs::exists(library)) {
        NvrtcRecord(records, candidates, 13).write({131, "0b"}, library);
        CHECK(remembered() == NvrtcIdentity{131, "0b"});
    }
}

TEST_CASE("without a folder nothing is remembered, and an unusable one does no harm") {
    const TemporaryFolder folder;
    put_text(folder / "library", "x");
    for (const std::string& records : {std::string(), folder / "library", std::string("/proc/none")}) {
        const NvrtcRecord record(records, {folder / "library"}, 0);
        record.write({130, "0a"}, folder / "library");
        CHECK(record.read().version == 0);
    }
}

TEST_CASE("a cache hit does not load NVRTC") {
    const TemporaryFolder folder;
    Options options;
    options.nvrtc_library = folder / "libnvrtc.so.13";  // no library: an attempt to load it would fail
    put_text(options.nvrtc_library, "not an ELF file");
    NvrtcRecord(folder / "cache", nvrtc_search_list(options, 0), 0).write({130, "0a"}, options.nvrtc_library);
    const CompileRequest request = request_of("kernel_a");
    CountingCompiler counting(130);
    counting.set_build("0a");
    static_cast<void>(KernelCache(folder / "cache", {}).get_or_compile(request, counting, request.body));

    const std::shared_ptr<Compiler> compiler = make_nvrtc_compiler(options, 0, folder / "cache");
    CHECK(compiler->nvrtc_version() == 130);
    CHECK(compiler->nvrtc_build() == "0a");
    KernelCache cache(folder / "cache", {});
    CHECK(cache.get_or_compile(request, *compiler, request.body).source == CacheSource::disk);
    CHECK_THROWS_AS(compiler->compile(request), CompileError);
}

TEST_CASE("with no NVRTC at all the cache serves, and a miss says what is missing") {
    const TemporaryFolder folder;
    Options options;
    options.nvrtc_library = folder / "none.so";
    const CompileRequest request = request_of("kernel_a");
    CountingCompiler counting(130);
    static_cast<void>(KernelCache(folder / "cache", {}).get_or_compile(request, counting, request.body));

    const std::shared_ptr<Compiler> compiler = make_nvrtc_compiler(options, 0, folder / "cache");
    CHECK(compiler->nvrtc_version() == 0);
    KernelCache cache(folder / "cache", {});
    CHECK(cache.get_or_compile(request, *compiler, request.body).source == CacheSource::disk);
    CHECK_THROWS_WITH(cache.get_or_compile(request_of("kernel_b", "other"), *compiler, {}),
                      Catch::Matchers::ContainsSubstring(options.nvrtc_library));
    CHECK_THROWS_AS(make_nvrtc_compiler(options, 12, folder / "cache")->compile(request), CompileError);
    KernelCache limited(folder / "cache", {});
    CHECK_THROWS_AS(limited.get_or_compile(request, *make_nvrtc_compiler(options, 12, folder / "cache"), {}),
                    CompileError);
}

TEST_CASE("a library's build is its linker's build id, else a hash of its bytes") {
    const TemporaryFolder folder;
    // The test itself has a build id, or a hash in its place; either follows the contents and not the place.
    const std::string own = build_of_library("/proc/self/exe");
    CHECK(own.size() >= 32);
    CHECK(own.find_first_not_of("0123456789abcdef") == std::string::npos);
    fs::copy_file("/proc/self/exe", folder / "copy");
    CHECK(build_of_library(folder / "copy") == own);

    put_text(folder / "one", "no ELF file");
    put_text(folder / "two", "no ELF file!");
    CHECK(build_of_library(folder / "one").size() == 32);
    CHECK(build_of_library(folder / "one") != build_of_library(folder / "two"));
    CHECK(build_of_library(folder / "none").empty());
    put_text(folder / "cut", text_in("/proc/self/exe").substr(0, 100));
    CHECK(build_of_library(folder / "cut").size() == 32);
}
