#include "runtime/cache/kernel_cache.hpp"
#include "tests/catch.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/counting_compiler.hpp"
#include "tests/support/temporary_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

/// \file What others than its owner could write is never launched. The modes are looked at, so root is told, too.

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

/// A cache folder with one entry.
struct FilledCache {
    FilledCache() : root(folder / "cache") {
        CountingCompiler compiler;
        entry = KernelCache(root, {}).get_or_compile(request, compiler, request.body).directory;
    }

    TemporaryFolder folder;
    CompileRequest request = request_of("kernel_a");
    std::string root;
    std::string entry;
};

void open_to_all_users(const std::string& path) { REQUIRE(::chmod(path.c_str(), 0777) == 0); }

unsigned rights_of_others(const std::string& path) {
    struct stat status {};
    ::stat(path.c_str(), &status);
    return status.st_mode & 077U;
}

CacheSource source_of(KernelCache& cache, const CompileRequest& request) {
    CountingCompiler compiler;
    return cache.get_or_compile(request, compiler, request.body).source;
}

}  // namespace

TEST_CASE("what all users could write in the own cache is made again, with a warning: an entry, a file of it") {
    const FilledCache filled;
    const std::string part = GENERATE("", "/kernel.cubin", "/meta.json");
    const bool folder_too = GENERATE(false, true);
    INFO(part << ' ' << folder_too);
    open_to_all_users(filled.entry + part);
    if (folder_too) open_to_all_users(filled.root);
    CapturedLog log;
    KernelCache cache(filled.root, {});
    if (!folder_too) {
        CHECK(cache.entries(true).front().damaged);
        CHECK_FALSE(cache.explain_miss(filled.request, 130).front().second.empty());
    }
    CHECK(source_of(cache, filled.request) == CacheSource::compiled);
    CHECK_THAT(log.text(), ContainsSubstring("all users may write to " + filled.entry + part));
    CHECK((log.text().find("all users could write to " + filled.root) != std::string::npos) == folder_too);
    CHECK(rights_of_others(filled.root) == 0);
    CHECK(rights_of_others(filled.entry) == 0);
    CHECK(source_of(cache, filled.request) == CacheSource::disk);
}

TEST_CASE("entries that nobody else could write stay when their folder was open to all users") {
    const FilledCache filled;
    open_to_all_users(filled.root);
    CapturedLog log;
    KernelCache cache(filled.root, {});
    CHECK(source_of(cache, filled.request) == CacheSource::disk);
    CHECK_THAT(log.text(), ContainsSubstring("all users could write to " + filled.root));
    CHECK(rights_of_others(filled.root) == 0);
}

TEST_CASE("what all users may write in the read-only cache is not read, with one warning") {
    const FilledCache filled;
    const std::string part = GENERATE("", "/ENTRY", "/ENTRY/kernel.cubin");
    const std::string place = part.empty() ? filled.root : filled.entry + part.substr(std::string("/ENTRY").size());
    INFO(place);
    CapturedLog log;
    CHECK(KernelCache({}, filled.root).explain_miss(filled.request, 130).front().second.empty());
    open_to_all_users(place);
    KernelCache cache({}, filled.root);
    CHECK(source_of(cache, filled.request) == CacheSource::compiled);
    CHECK(source_of(cache, filled.request) == CacheSource::compiled);
    CHECK(log.lines_with("all users may write to " + place) == 1);
    for (const auto& [directory, differs] : cache.explain_miss(filled.request, 130)) CHECK_FALSE(differs.empty());
    REQUIRE(::chmod(place.c_str(), 0755) == 0);
    CHECK(source_of(cache, filled.request) == CacheSource::disk);
}

TEST_CASE("a read-only cache and its entries may belong to anybody") {
    if (::geteuid() != 0) SKIP_TEST("only root can give a folder away");
    const FilledCache filled;
    for (const fs::directory_entry& file : fs::recursive_directory_iterator(filled.root))
        if (::chown(file.path().c_str(), 65534, 65534) != 0) SKIP_TEST("no right to give a folder away");
    REQUIRE(::chown(filled.root.c_str(), 65534, 65534) == 0);
    KernelCache cache({}, filled.root);
    CHECK(source_of(cache, filled.request) == CacheSource::disk);
}

TEST_CASE("a file of someone else's in an entry of one's own is not used") {
    if (::geteuid() != 0) SKIP_TEST("only root can give a file away");
    const FilledCache filled;
    if (::chown((filled.entry + "/kernel.cubin").c_str(), 65534, 65534) != 0) SKIP_TEST("no right to give a file away");
    CapturedLog log;
    KernelCache cache(filled.root, {});
    CHECK(source_of(cache, filled.request) == CacheSource::compiled);
    CHECK_THAT(log.text(), ContainsSubstring("belongs to user 65534"));
}

TEST_CASE("the refusal of someone else's cache folder names what works there") {
    if (::geteuid() != 0) SKIP_TEST("only root can give a folder away");
    const FilledCache filled;
    if (::chown(filled.root.c_str(), 65534, 65534) != 0) SKIP_TEST("no right to give a folder away");
    CapturedLog log;
    KernelCache cache(filled.root, {});
    CHECK(source_of(cache, filled.request) == CacheSource::compiled);
    CHECK_THAT(log.text(), ContainsSubstring("belongs to user 65534") && ContainsSubstring("JITGEMM_CACHE_DIR") &&
                               ContainsSubstring("JITGEMM_CACHE_READONLY=" + filled.root));
    CHECK(cache.distrusted().find("JITGEMM_CACHE_DIR") != std::string::npos);
    // Both ways work.
    CHECK(fs::path(KernelCache(filled.root + "/NAME", {}).root()).parent_path() == filled.root);
    KernelCache below(filled.root + "/NAME", filled.root);
    CHECK(source_of(below, filled.request) == CacheSource::disk);
    CHECK(source_of(below, request_of("kernel_b", "other")) == CacheSource::compiled);
    CHECK(source_of(below, request_of("kernel_b", "other")) == CacheSource::disk);
}
