#include "runtime/cache/cache_entry.hpp"
#include "runtime/cache/kernel_cache.hpp"
#include "tests/catch.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/child.hpp"
#include "tests/support/counting_compiler.hpp"
#include "tests/support/temporary_folder.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

/// \file Folders the cache cannot use. Root may do anything to any folder, so these tests use obstacles that stop root
/// as well.

using namespace jitgemm;
using namespace jitgemm::testing;
namespace fs = std::filesystem;

namespace {

/// Three kernels through one cache: all are compiled, nothing is stored, the log says so once.
void works_without(const std::string& root, const std::string& reason) {
    CapturedLog log;
    CountingCompiler compiler;
    KernelCache cache(root, {});
    for (const char* name : {"kernel_a", "kernel_b", "kernel_c"}) {
        const CompileRequest request = request_of(name, name);
        const KernelCache::Result result = cache.get_or_compile(request, compiler, request.body);
        CHECK(result.source == CacheSource::compiled);
        CHECK(result.directory.empty());
        CHECK(result.kernel.binary == CountingCompiler::binary_of(request));
    }
    CHECK(compiler.compiles() == 3);
    CHECK(log.lines_with("working without the kernel cache") == 1);
    CHECK_THAT(log.text(), Catch::Matchers::ContainsSubstring(reason));
    CHECK(cache.entries(true).empty());
    CHECK(cache.clear().removed == 0);
}

ino_t inode_of(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

unsigned mode_of(const std::string& path) {
    struct stat status {};
    ::stat(path.c_str(), &status);
    return status.st_mode & 07777U;
}

}  // namespace

TEST_CASE("an empty root is no cache and says nothing") {
    CapturedLog log;
    CountingCompiler compiler;
    KernelCache cache({}, {});
    const CompileRequest request = request_of("kernel_a");
    CHECK(cache.get_or_compile(request, compiler, {}).directory.empty());
    CHECK(cache.get_or_compile(request, compiler, {}).source == CacheSource::compiled);
    CHECK(log.text().empty());
}

TEST_CASE("a file in place of the cache folder") {
    TemporaryFolder folder;
    put_text(folder / "file", "x");
    works_without(folder / "file", folder / "file");
    works_without(folder / "file/below", folder / "file");
}

TEST_CASE("a place where nobody can make a folder") { works_without("/proc/jitgemm-cache", "/proc/jitgemm-cache"); }

TEST_CASE("an unwritable cache folder") {
    if (::geteuid() == 0) SKIP_TEST("root may write to any folder");
    TemporaryFolder folder;
    fs::create_directory(folder / "cache");
    ::chmod((folder / "cache").c_str(), 0500);
    works_without(folder / "cache", folder / "cache");
}

TEST_CASE("someone else's cache folder is neither read nor written") {
    TemporaryFolder folder;
    std::string root = "/usr";  // for anyone but root that is someone else's
    if (::geteuid() == 0) {
        root = folder / "cache";
        CountingCompiler compiler;
        const CompileRequest request = request_of("kernel_a", "kernel_a");
        static_cast<void>(KernelCache(root, {}).get_or_compile(request, compiler, request.body));
        if (::chown(root.c_str(), 65534, 65534) != 0) SKIP_TEST("no right to give a folder away");
    }
    works_without(root, "belongs to user");
}

TEST_CASE("an entry of someone else's is not used") {
    if (::geteuid() != 0) SKIP_TEST("only root can give an entry away");
    TemporaryFolder folder;
    CountingCompiler compiler;
    CapturedLog log;
    const CompileRequest request = request_of("kernel_a");
    KernelCache cache(folder / "cache", {});
    const std::string entry = cache.get_or_compile(request, compiler, request.body).directory;
    if (::chown(entry.c_str(), 65534, 65534) != 0) SKIP_TEST("no right to give a folder away");
    CHECK(cache.get_or_compile(request, compiler, request.body).source == CacheSource::compiled);
    CHECK(cache.get_or_compile(request, compiler, request.body).source == CacheSource::disk);
}

TEST_CASE("an entry of someone else's is not used without NVRTC either") {
    if (::geteuid() != 0) SKIP_TEST("only root can give an entry away");
    TemporaryFolder folder;
    CountingCompiler compiler;
    const CompileRequest request = request_of("kernel_a");
    KernelCache cache(folder / "cache", {});
    const std::string entry = cache.get_or_compile(request, compiler, request.body).directory;
    compiler.set_version(0);
    CHECK(cache.get_or_compile(request, compiler, request.body).source == CacheSource::disk);
    if (::chown(entry.c_str(), 65534, 65534) != 0) SKIP_TEST("no right to give a folder away");
    CHECK_THROWS_AS(cache.get_or_compile(request, compiler, request.body), CompileError);
    fs::remove_all(folder / "cache/compilers");
    CHECK_THROWS_AS(cache.get_or_compile(request, compiler, request.body), CompileError);
}

// [heavy]: a sanitizer opens files of its own, and the child here may open none.
TEST_CASE("an error that passes is no damage: the entry stays", "[heavy]") {
    TemporaryFolder folder;
    const std::string root = folder / "cache";
    CountingCompiler compiler;
    const CompileRequest request = request_of("kernel_a");
    static_cast<void>(KernelCache(root, {}).get_or_compile(request, compiler, request.body));
    const int status = in_child([&] {
        const int first_free = ::dup(0);
        ::close(first_free);
        const auto descriptors = static_cast<rlim_t>(first_free);
        const rlimit limit{descriptors, descriptors};  // as a program has that opened as many files as it may
        ::setrlimit(RLIMIT_NOFILE, &limit);
        KernelCache cache(root, {});
        if (cache.get_or_compile(request, compiler, request.body).kernel.binary != CountingCompiler::binary_of(request))
            return 1;
        return cache.drop_damaged().removed == 0 ? 0 : 2;
    });
    CHECK(status == 0);
    KernelCache cache(root, {});
    CHECK(cache.get_or_compile(request, compiler, request.body).source == CacheSource::disk);
    CHECK(cache.entries(true).size() == 1);
}

TEST_CASE("an entry that cannot be read just now is told apart from a damaged one") {
    if (::geteuid() != 0) SKIP_TEST("only root can become somebody else");
    TemporaryFolder folder;
    ::chmod(folder.path().c_str(), 0777);
    const std::string root = folder / "cache";
    const CompileRequest request = request_of("kernel_a");
    const int status = in_child([&] {
        if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 1;
        CapturedLog log;
        CountingCompiler compiler;
        KernelCache cache(root, {});
        const std::string entry = cache.get_or_compile(request, compiler, request.body).directory;
        ::chmod((entry + "/kernel.cubin").c_str(), 0);
        const CacheEntry described = cache.entries(true).front();
        if (described.damaged || described.state.find("cannot open") != 0) return 2;
        static_cast<void>(cache.get_or_compile(request, compiler, request.body));
        static_cast<void>(cache.drop_damaged());
        ::chmod((entry + "/kernel.cubin").c_str(), 0600);
        return cache.get_or_compile(request, compiler, request.body).source == CacheSource::disk ? 0 : 3;
    });
    CHECK(status == 0);
}

TEST_CASE("without a lock the folder of a living writer stays, and what it published too") {
    TemporaryFolder folder;
    const std::string root = folder / "cache";
    const CompileRequest request = request_of("kernel_a");
    const std::string key = cache_key(request, 130);
    fs::create_directories(root + "/locks/" + key);  // a folder in its place: as where locks are not supported
    const std::string writing = root + "/tmp/" + key + "-0123456789abcdef";
    fs::create_directories(writing);
    put_text(writing + "/kernel.cu", "half");

    CapturedLog log;
    CountingCompiler compiler;
    ino_t inode = 0;
    compiler.before_result = [&] {  // the other writer is done first
        const std::string entry = root + "/" + entry_name(request.name, key_fields(request, 130));
        write_entry(entry, CountingCompiler().compile(request), key_fields(request, 130), request.body);
        inode = inode_of(entry);
    };
    KernelCache cache(root, {});
    const std::string entry = cache.get_or_compile(request, compiler, request.body).directory;
    CHECK(fs::exists(writing));
    REQUIRE_FALSE(entry.empty());
    CHECK(inode_of(entry) == inode);
    CHECK(std::distance(fs::directory_iterator(root + "/tmp"), {}) == 1);
    CHECK(log.text().empty());
}

TEST_CASE("without locks every result of many writers is stored", "[threads]") {
    TemporaryFolder folder;
    const std::string root = folder / "cache";
    constexpr int kKeys = 50;
    std::vector<CompileRequest> requests;
    for (int i = 0; i < kKeys; ++i) {
        requests.push_back(request_of("kernel", std::to_string(i)));
        fs::create_directories(root + "/locks/" + cache_key(requests.back(), 130));
    }
    std::atomic<int> stored = 0;
    std::vector<std::thread> writers;
    for (int i = 0; i < 4; ++i) {
        writers.emplace_back([&] {
            CountingCompiler compiler;
            KernelCache cache(root, {}, Durability::scratch);
            for (const CompileRequest& request : requests)
                stored += cache.get_or_compile(request, compiler, request.body).directory.empty() ? 0 : 1;
        });
    }
    for (std::thread& writer : writers) writer.join();
    CHECK(stored == 4 * kKeys);
    CHECK(fs::is_empty(root + "/tmp"));
    CHECK(KernelCache(root, {}).entries(true).size() == kKeys);
}

TEST_CASE("a cache folder that others may read or write is made private") {
    TemporaryFolder folder;
    const std::string root = folder / "cache";
    CountingCompiler compiler;
    KernelCache cache(root, {});
    const CompileRequest request = request_of("kernel_a");
    fs::create_directory(root);
    ::chmod(root.c_str(), 0777);
    CHECK_FALSE(cache.get_or_compile(request, compiler, request.body).directory.empty());
    CHECK(mode_of(root) == 0700);
}

TEST_CASE("a folder with other things in it keeps its mode") {
    TemporaryFolder folder;
    const std::string root = folder / "shared";
    fs::create_directory(root);
    put_text(root + "/letter.txt", "hello");
    SECTION("others may write: not used as a cache") {
        ::chmod(root.c_str(), 01777);
        works_without(root, "choose a folder for the cache alone");
        CHECK(mode_of(root) == 01777);
    }
    SECTION("others may only read: used") {
        ::chmod(root.c_str(), 0755);
        CountingCompiler compiler;
        const CompileRequest request = request_of("kernel_a");
        const std::string entry = KernelCache(root, {}).get_or_compile(request, compiler, request.body).directory;
        CHECK(mode_of(root) == 0755);
        CHECK(mode_of(entry) == 0700);
    }
}

TEST_CASE("a full disk leaves no half entry") {
    // A limit on the size of files fails a write half-way, as a full disk does, for root too.
    TemporaryFolder folder;
    const std::string root = folder / "cache";
    const int status = in_child([&] {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{600, 600};  // kernel.cu fits, the binary does not
        ::setrlimit(RLIMIT_FSIZE, &limit);
        CapturedLog log;
        CountingCompiler compiler;
        KernelCache cache(root, {});
        bool all_compiled = true;
        for (const char* name : {"kernel_a", "kernel_b"}) {
            const KernelCache::Result result = cache.get_or_compile(request_of(name, name), compiler, name);
            all_compiled = all_compiled && result.directory.empty() && result.source == CacheSource::compiled;
        }
        return all_compiled && log.lines_with("working without the kernel cache") == 1 ? 0 : 1;
    });
    CHECK(status == 0);
    KernelCache cache(root, {});
    CHECK(cache.entries(true).empty());
    CHECK(fs::is_empty(root + "/tmp"));
    CountingCompiler compiler;
    CHECK_FALSE(cache.get_or_compile(request_of("kernel_a", "kernel_a"), compiler, "kernel_a").directory.empty());
}

TEST_CASE("entries of a cache that can no longer be written still serve") {
    TemporaryFolder folder;
    const std::string root = folder / "cache";
    CountingCompiler compiler;
    const CompileRequest request = request_of("kernel_a");
    static_cast<void>(KernelCache(root, {}).get_or_compile(request, compiler, request.body));
    // Files where the cache makes its folders stop every write, root's too.
    fs::remove_all(root + "/tmp");
    put_text(root + "/tmp", "x");
    CapturedLog log;
    KernelCache cache(root, {});
    CHECK(cache.get_or_compile(request, compiler, request.body).source == CacheSource::disk);
    CHECK(log.text().empty());
    const CompileRequest other = request_of("kernel_b", "other");
    CHECK(cache.get_or_compile(other, compiler, other.body).directory.empty());
    CHECK(log.lines_with("working without the kernel cache") == 1);
}

TEST_CASE("a cache folder removed under a running program is made again") {
    TemporaryFolder folder;
    const std::string root = folder / "cache";
    CountingCompiler compiler;
    const CompileRequest request = request_of("kernel_a");
    KernelCache cache(root, {});
    static_cast<void>(cache.get_or_compile(request, compiler, request.body));
    fs::remove_all(root);
    CHECK_FALSE(cache.get_or_compile(request, compiler, request.body).directory.empty());
    CHECK(cache.get_or_compile(request, compiler, request.body).source == CacheSource::disk);
}
