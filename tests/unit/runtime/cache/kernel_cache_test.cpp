#include "runtime/cache/kernel_cache.hpp"

#include "runtime/cache/cache_entry.hpp"
#include "tests/catch.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/counting_compiler.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/without_locks.hpp"

#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <iostream>

using namespace jitgemm;
using namespace jitgemm::testing;
namespace fs = std::filesystem;

namespace {

const std::string kBanner = "// banner\n";

/// A cache in a folder of its own with one request and a compiler.
struct Fixture {
    TemporaryFolder folder;
    std::string root = folder / "cache";
    CountingCompiler compiler;
    CompileRequest request = request_of("kernel_a");

    KernelCache::Result get(const std::string& readonly = {}) {
        KernelCache cache(root, readonly);
        return cache.get_or_compile(request, compiler, kBanner + request.body);
    }
};

unsigned mode_of(const std::string& path) {
    struct stat status {};
    ::stat(path.c_str(), &status);
    return status.st_mode & 07777U;
}

bool nothing_left_over(const std::string& root) { return fs::is_empty(root + "/tmp") && fs::is_empty(root + "/locks"); }

void flip_byte(const std::string& path, std::size_t at) {
    std::string text = text_in(path);
    text.at(at) = static_cast<char>(text.at(at) ^ 1);
    put_text(path, text);
}

}  // namespace

TEST_CASE("a kernel is compiled once and then read from disk, with all that is known of it") {
    Fixture f;
    const KernelCache::Result first = f.get();
    CHECK(first.source == CacheSource::compiled);
    const KernelCache::Result second = f.get();
    CHECK(second.source == CacheSource::disk);
    CHECK(f.compiler.compiles() == 1);
    CHECK(second.directory == first.directory);
    CHECK(second.kernel.binary == CountingCompiler::binary_of(f.request));
    CHECK(second.kernel.report == first.kernel.report);
    CHECK(second.kernel.log == first.kernel.log);
    CHECK(second.kernel.compile_ms == 12.5);
    CHECK(second.kernel.nvrtc_version == 130);
    CHECK(second.kernel.arch == "sm_90a");
}

TEST_CASE("a cache on a file system without locks stores its kernels, and leaves no lock files") {
    Fixture f;
    const WithoutLocks none(ENOLCK);
    CHECK(f.get().source == CacheSource::compiled);
    CHECK(f.get().source == CacheSource::disk);
    CHECK(nothing_left_over(f.root));
}

TEST_CASE("an entry is a folder named by kernel and key, private to the user, with three files") {
    Fixture f;
    const std::string directory = f.get().directory;
    CHECK(directory == f.root + "/kernel_a-" + cache_key(f.request, 130));
    CHECK(text_in(directory + "/kernel.cu") == kBanner + f.request.body);
    CHECK(text_in(directory + "/kernel.cubin") == CountingCompiler::binary_of(f.request));
    CHECK(fs::exists(directory + "/meta.json"));
    CHECK(mode_of(f.root) == 0700);
    CHECK(mode_of(directory) == 0700);
    CHECK(mode_of(directory + "/kernel.cubin") == 0600);
    CHECK(nothing_left_over(f.root));
}

TEST_CASE("PTX is stored as kernel.ptx") {
    Fixture f;
    f.request.arch = "compute_80";
    CHECK(fs::exists(f.get().directory + "/kernel.ptx"));
    CHECK(KernelCache(f.root, {}).entries(false).front().is_ptx);
    CHECK(f.get().source == CacheSource::disk);
}

TEST_CASE("the key is body, options, arch and NVRTC version, and not the name") {
    const CompileRequest request = request_of("kernel_a");
    const std::string key = cache_key(request, 130);
    CHECK(key.size() == 32);
    CHECK(cache_key(request_of("kernel_b"), 130) == key);
    CHECK(cache_key(request_of("kernel_a", "other"), 130) != key);
    CHECK(cache_key(request, 129) != key);
    CompileRequest changed = request;
    changed.arch = "sm_80";
    CHECK(cache_key(changed, 130) != key);
    changed = request;
    changed.options = {"--std=c++17 --ptxas-options=-v"};
    CHECK(cache_key(changed, 130) != key);
}

TEST_CASE("a damaged entry is rebuilt") {
    Fixture f;
    const std::string directory = f.get().directory;
    const std::string meta = directory + "/meta.json";
    const std::string cubin = directory + "/kernel.cubin";
    CapturedLog log;

    SECTION("flipped bit in the cubin") { flip_byte(cubin, 700); }
    SECTION("truncated cubin") { fs::resize_file(cubin, 100); }
    SECTION("empty cubin") { fs::resize_file(cubin, 0); }
    SECTION("no cubin") { fs::remove(cubin); }
    SECTION("a folder in place of the cubin") {
        fs::remove(cubin);
        fs::create_directory(cubin);
    }
    SECTION("truncated meta.json") { fs::resize_file(meta, fs::file_size(meta) / 2); }
    SECTION("empty meta.json") { fs::resize_file(meta, 0); }
    SECTION("no meta.json") { fs::remove(meta); }
    SECTION("meta.json that is something else") { put_text(meta, "[1, 2]"); }
    SECTION("a changed figure in meta.json") {
        std::string text = text_in(meta);
        const std::size_t at = text.find("\"registers\": 40");
        REQUIRE(at != std::string::npos);
        text.replace(at, 15, "\"registers\": 41");
        put_text(meta, text);
    }
    SECTION("a file in place of the entry") {
        fs::remove_all(directory);
        put_text(directory, "x");
    }
    SECTION("an empty folder in place of the entry") {
        fs::remove_all(directory);
        fs::create_directory(directory);
    }

    const KernelCache::Result rebuilt = f.get();
    CHECK(rebuilt.source == CacheSource::compiled);
    CHECK(rebuilt.kernel.binary == CountingCompiler::binary_of(f.request));
    CHECK(log.lines_with("rebuilding a damaged cache entry") == 1);
    CHECK(f.get().source == CacheSource::disk);
    CHECK(f.compiler.compiles() == 2);
    CHECK(nothing_left_over(f.root));
}

TEST_CASE("swapped files are noticed") {
    Fixture f;
    const CompileRequest other = request_of("kernel_b", "another body");
    const std::string mine = f.get().directory;
    KernelCache cache(f.root, {});
    const std::string theirs = cache.get_or_compile(other, f.compiler, other.body).directory;
    CapturedLog log;
    const auto take = [&](const std::string& file) {
        fs::copy_file(theirs + file, mine + file, fs::copy_options::overwrite_existing);
    };

    SECTION("cubin") { take("/kernel.cubin"); }
    SECTION("meta.json") { take("/meta.json"); }
    SECTION("both, consistent with each other") {
        take("/kernel.cubin");
        take("/meta.json");
    }
    CHECK(cache.entries(true).front().state != "ok");
    const KernelCache::Result rebuilt = f.get();
    CHECK(rebuilt.source == CacheSource::compiled);
    CHECK(rebuilt.kernel.binary == CountingCompiler::binary_of(f.request));
    CHECK(cache.entries(true).front().state == "ok");
}

TEST_CASE("verify notices an edited kernel.cu and a renamed entry") {
    Fixture f;
    const std::string directory = f.get().directory;
    const KernelCache cache(f.root, {});
    SECTION("edited body") {
        put_text(directory + "/kernel.cu", kBanner + f.request.body + " ");
        CHECK_THAT(cache.entries(true).front().state, Catch::Matchers::ContainsSubstring("kernel.cu"));
    }
    SECTION("one flipped bit of the banner") {
        flip_byte(directory + "/kernel.cu", 0);
        CHECK(cache.entries(true).front().damaged);
        CHECK_THAT(cache.entries(true).front().state, Catch::Matchers::ContainsSubstring("kernel.cu"));
    }
    SECTION("renamed") {
        fs::rename(directory, f.root + "/kernel_a-" + std::string(32, '0'));
        CHECK(cache.entries(true).front().state != "ok");
    }
}

TEST_CASE("the read-only layer serves and is never written") {
    Fixture shared;
    static_cast<void>(shared.get());
    Fixture f;
    const KernelCache::Result hit = f.get(shared.root);
    CHECK(hit.source == CacheSource::disk);
    CHECK(hit.directory.starts_with(shared.root));
    CHECK_FALSE(fs::exists(f.root));

    const std::string cubin = hit.directory + "/kernel.cubin";
    flip_byte(cubin, 10);
    const std::string damaged = text_in(cubin);
    CHECK(f.get(shared.root).source == CacheSource::compiled);
    CHECK(text_in(cubin) == damaged);
    CHECK(f.get(shared.root).directory.starts_with(f.root));
}

TEST_CASE("the read-only layer alone is enough") {
    Fixture shared;
    static_cast<void>(shared.get());
    CountingCompiler compiler;
    KernelCache cache({}, shared.root);
    CHECK(cache.get_or_compile(shared.request, compiler, {}).source == CacheSource::disk);
    CHECK(compiler.compiles() == 0);
}

TEST_CASE("without any NVRTC an entry that matches every other key field is used") {
    Fixture f;
    f.compiler.set_version(129);
    static_cast<void>(f.get());
    f.compiler.set_version(130);
    static_cast<void>(f.get());
    f.compiler.set_version(0);

    SECTION("the newest of them") { CHECK(f.get().kernel.nvrtc_version == 130); }
    SECTION("in the read-only layer too") {
        KernelCache cache({}, f.root);
        CHECK(cache.get_or_compile(f.request, f.compiler, {}).kernel.nvrtc_version == 130);
    }
    SECTION("but none too new for the driver") {
        f.compiler.set_newest_major(12);
        CHECK(f.get().kernel.nvrtc_version == 129);
        f.compiler.set_newest_major(11);
        CHECK_THROWS_AS(f.get(), CompileError);
    }
    SECTION("and none of another body, arch or options") {
        f.request.body += " ";
        CHECK_THROWS_AS(f.get(), CompileError);
    }
    CHECK(f.compiler.compiles() <= 3);
}

TEST_CASE("without any NVRTC entries are found by name, and by a listing where their makers are not known") {
    Fixture f;
    f.compiler.set_build("0a");
    const std::string directory = f.get().directory;
    CHECK(directory == f.root + "/kernel_a-" + cache_key(f.request, 130, "0a"));
    f.compiler.set_version(0);
    CHECK(f.get().source == CacheSource::disk);
    fs::remove_all(f.root + "/compilers");  // entries that were copied here, say
    CHECK(f.get().source == CacheSource::disk);
}

TEST_CASE("without any NVRTC a hit does not read the whole folder") {
    Fixture f;
    static_cast<void>(f.get());
    // A damaged neighbour of the same kernel: whoever lists the folder reads it and says so.
    fs::create_directory(f.root + "/kernel_a-" + std::string(32, '0'));
    put_text(f.root + "/kernel_a-" + std::string(32, '0') + "/meta.json", "{}");
    put_text(f.root + "/kernel_a-" + std::string(32, '0') + "/kernel.cu", "x");
    f.compiler.set_version(0);
    CapturedLog log("debug");
    CHECK(f.get().source == CacheSource::disk);
    CHECK(log.lines_with(std::string(32, '0')) == 0);
}

TEST_CASE("a patch level of NVRTC is another compiler") {
    Fixture f;
    f.compiler.set_build("0a");
    const std::string older = f.get().directory;
    f.compiler.set_build("0b");
    CHECK(f.get().source == CacheSource::compiled);
    CHECK(f.get().directory != older);
    f.compiler.set_build("0a");
    CHECK(f.get().directory == older);
    const KernelCache cache(f.root, {});
    CHECK(cache.explain_miss(f.request, 130, "0c").front().second == std::vector<std::string>{"nvrtc_build"});
}

TEST_CASE("entries of the first format are left alone and are no damage") {
    const TemporaryFolder folder;
    KeyFields fields = key_fields(request_of("kernel_a"), 130);
    fields.format = 1;
    CompiledKernel kernel;
    kernel.name = "kernel_a";
    kernel.arch = "sm_90a";
    kernel.binary = "binary";
    write_entry(folder / entry_name("kernel_a", fields), kernel, fields, request_of("kernel_a").body);
    CHECK(KernelCache(folder.path(), {}).entries(true).front().state == "ok");
}

TEST_CASE("a compile by another NVRTC than was announced is stored under the one that did it") {
    Fixture f;
    struct Updated : CountingCompiler {
        int nvrtc_version() override { return 129; }
    } updated;
    KernelCache cache(f.root, {});
    const KernelCache::Result result = cache.get_or_compile(f.request, updated, kBanner + f.request.body);
    CHECK(result.directory == f.root + "/kernel_a-" + cache_key(f.request, 130));
    CHECK(f.get().source == CacheSource::disk);
}

TEST_CASE("a refused source is kept with its line numbers") {
    Fixture f;
    f.compiler.before_result = [] { throw CompileError("refused", "kernel.cu(1): error"); };
    try {
        static_cast<void>(f.get());
        FAIL("no exception");
    } catch (const CompileError& error) {
        const std::string message = error.what();
        const std::string file = message.substr(message.find("source: ") + 8);
        CHECK(text_in(file) == f.request.body);
        CHECK(error.log() == "kernel.cu(1): error");
    }
    CHECK(nothing_left_over(f.root));
    KernelCache cache(f.root, {});
    CHECK(cache.entries(false).empty());
    CHECK(cache.clear().removed == 0);
    CHECK_FALSE(fs::exists(f.root + "/failed"));
}

TEST_CASE("names that are too long or hold a slash make sound entries") {
    Fixture f;
    f.request.name = std::string(300, 'x') + "/../y";
    CHECK(f.get().source == CacheSource::compiled);
    CHECK(f.get().source == CacheSource::disk);
    f.request = request_of("../../evil");
    const std::string directory = f.get().directory;
    CHECK(fs::path(directory).parent_path() == f.root);
    CHECK(f.get().source == CacheSource::disk);
}

TEST_CASE("listing, sizes and clearing leave tuning/ alone") {
    Fixture f;
    const std::string directory = f.get().directory;
    fs::create_directories(f.root + "/tuning");
    put_text(f.root + "/tuning/records", "precious");
    put_text(f.root + "/nvrtc-0123456789abcdef.json", "{}");
    KernelCache cache(f.root, {});

    const std::vector<CacheEntry> entries = cache.entries(true);
    REQUIRE(entries.size() == 1);
    CHECK(entries[0].name == "kernel_a");
    CHECK(entries[0].arch == "sm_90a");
    CHECK(entries[0].nvrtc_version == 130);
    CHECK(entries[0].registers == 40);
    CHECK(entries[0].spill_bytes == 12);
    CHECK(entries[0].compile_ms == 12.5);
    CHECK(entries[0].state == "ok");
    CHECK(entries[0].bytes == cache.total_bytes());
    CHECK(cache.total_bytes() > static_cast<std::int64_t>(CountingCompiler::binary_of(f.request).size()));

    fs::create_directory(f.root + "/tmp/" + cache_key(f.request, 130) + "-0123456789abcdef");
    CHECK(cache.clear().removed == 1);
    CHECK_FALSE(fs::exists(directory));
    CHECK(cache.total_bytes() == 0);
    CHECK(text_in(f.root + "/tuning/records") == "precious");
    CHECK_FALSE(fs::exists(f.root + "/nvrtc-0123456789abcdef.json"));
    CHECK(nothing_left_over(f.root));
}

TEST_CASE("clearing what is not there does nothing") {
    TemporaryFolder folder;
    KernelCache missing(folder / "none", {});
    CHECK(missing.clear().removed == 0);
    CHECK(missing.drop_damaged().removed == 0);
    CHECK_FALSE(fs::exists(folder / "none"));
    KernelCache none({}, {});
    CHECK(none.clear().removed == 0);
    CHECK(none.entries(true).empty());
}

TEST_CASE("damaged entries and left-overs are dropped, sound ones stay") {
    Fixture f;
    const std::string sound = f.get().directory;
    f.request.body += " ";
    const std::string damaged = f.get().directory;
    flip_byte(damaged + "/kernel.cubin", 0);
    fs::create_directory(f.root + "/tmp/" + std::string(32, '1') + "-0123456789abcdef");
    KernelCache cache(f.root, {});
    CHECK(cache.drop_damaged().removed == 2);
    CHECK(fs::exists(sound));
    CHECK_FALSE(fs::exists(damaged));
    CHECK(nothing_left_over(f.root));
}

TEST_CASE("a miss is explained field by field") {
    Fixture f;
    static_cast<void>(f.get());
    const KernelCache cache(f.root, {});
    CompileRequest asked = f.request;
    CHECK(cache.explain_miss(asked, 130).front().second.empty());
    CHECK(cache.explain_miss(asked, 129).front().second == std::vector<std::string>{"nvrtc_version"});
    asked.options.emplace_back("-lineinfo");
    asked.arch = "sm_80";
    CHECK(cache.explain_miss(asked, 130).front().second == std::vector<std::string>{"arch", "options"});
    asked.body += " ";
    CHECK(cache.explain_miss(asked, 0).front().second == std::vector<std::string>{"body", "arch", "options"});
    CHECK(cache.explain_miss(request_of("kernel_b"), 130).empty());
}

TEST_CASE("a compiler log with bytes that are no UTF-8 is stored") {
    Fixture f;
    struct Latin1 : CountingCompiler {
        CompiledKernel compile(const CompileRequest& request) override {
            CompiledKernel kernel = CountingCompiler::compile(request);
            kernel.log = "gr\xfc\xdf";
            return kernel;
        }
    } compiler;
    KernelCache cache(f.root, {});
    CHECK_FALSE(cache.get_or_compile(f.request, compiler, {}).directory.empty());
    CHECK(cache.get_or_compile(f.request, compiler, {}).source == CacheSource::disk);
}

TEST_CASE("a hit takes well under a millisecond") {
    Fixture f;
    f.request.body.append(40'000, 'x');
    KernelCache cache(f.root, {});
    static_cast<void>(cache.get_or_compile(f.request, f.compiler, f.request.body));
    constexpr int kRounds = 200;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kRounds; ++i) static_cast<void>(cache.get_or_compile(f.request, f.compiler, f.request.body));
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    std::cout << "cache hit: " << time.count() / kRounds << " us\n";
    CHECK(f.compiler.compiles() == 1);
    CHECK(time.count() / kRounds < 10'000);  // generous: sanitizers, busy machines
}
