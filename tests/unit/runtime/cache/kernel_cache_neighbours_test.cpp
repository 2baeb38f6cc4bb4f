#include "runtime/cache/cache_entry.hpp"
#include "runtime/cache/kernel_cache.hpp"
#include "tests/catch.hpp"
#include "tests/support/counting_compiler.hpp"
#include "tests/support/temporary_folder.hpp"

#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <string>

/// \file A cache folder that is not the cache's alone, a home say: nothing is removed but what the cache made.

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

const std::string kDigits16 = "0123456789abcdef";
const std::string kDigits32 = kDigits16 + kDigits16;

std::set<std::string> paths_in(const std::string& root) {
    std::set<std::string> paths;
    for (const auto& entry : fs::recursive_directory_iterator(root)) paths.insert(entry.path().string());
    return paths;
}

void put_file(const std::string& path, const std::string& text = "mine") {
    fs::create_directories(fs::path(path).parent_path());
    put_text(path, text);
}

/// Files that a user may have in a cache's folder. Most have nearly the names of the cache's own files.
void fill_with_own_things(const std::string& root) {
    for (const char* file :
         {"tmp/letter.txt", "tmp/build/main.o", "tmp/.tmp-x", "locks/bicycle", "failed/exam.cu", "failed/notes.txt",
          "nvrtc-notes.json", ".tmp-x", "compilers/gcc-12/bin", "compilers/notes", "tuning/records", "letter.txt"}) {
        put_file(root + "/" + file);
    }
    put_file(root + "/.tmp-" + kDigits16);
    put_file(root + "/tmp/" + kDigits32 + "-" + kDigits16 + "/letter.txt");
    put_file(root + "/tmp/" + kDigits32 + "-" + kDigits16 + "0/kernel.cu");
    put_file(root + "/tmp/" + kDigits32);
    put_file(root + "/locks/" + kDigits32);  // none of ours holds a byte
    put_file(root + "/locks/" + std::string(32, '1') + "/letter.txt");
    put_file(root + "/failed/" + kDigits32 + ".cu");
    put_file(root + "/nvrtc-" + kDigits16 + ".json/letter.txt");
    put_file(root + "/photos-" + kDigits32 + "/1.jpg");
    put_file(root + "/photos-" + std::string(32, '2') + "/meta.json");  // of another program
    put_file(root + "/photos-" + std::string(32, '3'));
    fs::create_directory(root + "/empty-" + kDigits32);
    fs::create_directory_symlink("photos-" + kDigits32, root + "/link-" + kDigits32);
}

/// Sets the last use of an entry that many days back.
void age(const std::string& directory, int days) {
    fs::last_write_time(directory + "/meta.json", fs::file_time_type::clock::now() - std::chrono::hours(24 * days));
}

}  // namespace

TEST_CASE("clearing and healing remove what the cache made, and nothing else") {
    const TemporaryFolder folder;
    const std::string root = folder / "home";
    fill_with_own_things(root);
    const std::set<std::string> mine = paths_in(root);

    CountingCompiler compiler;
    KernelCache cache(root, {});
    const CompileRequest request = request_of("kernel_a");
    REQUIRE_FALSE(cache.get_or_compile(request, compiler, request.body).directory.empty());
    const std::string key = cache_key(request, 130);
    put_file(root + "/tmp/" + key + "-" + kDigits16 + "/kernel.cu");
    put_file(root + "/locks/" + key, "");
    put_file(root + "/failed/kernel_b-" + kDigits32 + ".cu");
    put_file(root + "/failed/.kernel_b-" + kDigits32 + ".cu.tmp-" + kDigits16);
    put_file(root + "/nvrtc-" + std::string(16, '1') + ".json");
    put_file(root + "/.nvrtc-" + std::string(16, '1') + ".json.tmp-" + kDigits16);

    CHECK(cache.entries(false).size() == 1);
    SECTION("healing") {
        CHECK(cache.drop_damaged().removed == 1);
        CHECK(cache.entries(true).size() == 1);
    }
    SECTION("pruning") {
        CHECK(cache.prune({.bytes = 0, .age = {}}).removed == 1);
        CHECK_FALSE(fs::exists(root + "/tmp/" + key + "-" + kDigits16));
    }
    SECTION("clearing leaves nothing of the cache's") {
        const CacheRemoval removal = cache.clear();
        CHECK(removal.removed == 1);
        CHECK(removal.kept.empty());
        CHECK(paths_in(root) == mine);
    }
    const std::set<std::string> left = paths_in(root);
    for (const std::string& path : mine) {
        INFO(path);
        CHECK(left.contains(path));
    }
}

TEST_CASE("an entry that somebody put a file into stays, and is told") {
    const TemporaryFolder folder;
    const std::string root = folder / "cache";
    CountingCompiler compiler;
    KernelCache cache(root, {});
    const CompileRequest request = request_of("kernel_a");
    const std::string entry = cache.get_or_compile(request, compiler, request.body).directory;
    put_file(entry + "/kernel_edited.cu");

    SECTION("clearing") {
        const CacheRemoval removal = cache.clear();
        CHECK(removal.removed == 0);
        REQUIRE(removal.kept.size() == 1);
        CHECK_THAT(removal.kept.front(), ContainsSubstring("kernel_edited.cu"));
    }
    SECTION("rebuilding it when it is damaged") {
        put_text(entry + "/kernel.cubin", "x");
        CHECK(cache.get_or_compile(request, compiler, request.body).directory.empty());
        CHECK(cache.drop_damaged().kept.size() == 1);
    }
    CHECK(text_in(entry + "/kernel_edited.cu") == "mine");
    CHECK(fs::exists(entry + "/kernel.cu"));
}

TEST_CASE("a link in place of an entry is not followed when it is removed") {
    const TemporaryFolder folder;
    const std::string root = folder / "cache";
    CountingCompiler compiler;
    KernelCache cache(root, {});
    const CompileRequest request = request_of("kernel_a");
    const std::string entry = cache.get_or_compile(request, compiler, request.body).directory;
    fs::rename(entry, folder / "elsewhere");
    put_text(folder / "elsewhere/kernel.cubin", "damaged");
    fs::create_directory_symlink(folder / "elsewhere", entry);
    CHECK(cache.clear().removed == 0);
    CHECK(cache.get_or_compile(request, compiler, request.body).directory == entry);  // rebuilt
    CHECK_FALSE(fs::is_symlink(entry));
    CHECK(text_in(folder / "elsewhere/kernel.cubin") == "damaged");
}

TEST_CASE("pruning goes by the last use, then by size") {
    const TemporaryFolder folder;
    CountingCompiler compiler;
    KernelCache cache(folder / "cache", {});
    std::vector<std::string> entries;
    for (const char* name : {"kernel_a", "kernel_b", "kernel_c"}) {
        const CompileRequest request = request_of(name, name);
        entries.push_back(cache.get_or_compile(request, compiler, name).directory);
    }
    age(entries[0], 40);
    age(entries[1], 20);
    const std::int64_t each = cache.total_bytes() / 3;
    const std::chrono::hours month(24 * 30);

    SECTION("by age") { CHECK(cache.prune({.bytes = {}, .age = month}).removed == 1); }
    SECTION("by age, which the last mark tells to a day") {
        age(entries[0], 2);
        CHECK(cache.prune({.bytes = {}, .age = std::chrono::hours(24 * 20 - 12)}).removed == 0);
        CHECK(cache.prune({.bytes = {}, .age = std::chrono::hours(25)}).removed == 1);  // of 20 days
        age(entries[0], 1);  // no mark is due before a day is over
        static_cast<void>(cache.get_or_compile(request_of("kernel_a", "kernel_a"), compiler, "kernel_a"));
        CHECK(cache.prune({.bytes = {}, .age = std::chrono::hours(12)}).removed == 0);
        fs::remove_all(entries[0]);
    }
    SECTION("by size the one not used for longest goes") {
        const CacheRemoval removal = cache.prune({.bytes = 2 * each + each / 2, .age = {}});
        CHECK(removal.removed == 1);
        CHECK(removal.bytes == each);
    }
    SECTION("by both") {
        CHECK(cache.prune({.bytes = each + each / 2, .age = month}).removed == 2);
        CHECK_FALSE(fs::exists(entries[1]));
    }
    SECTION("a dry run removes nothing") {
        CHECK(cache.prune({.bytes = 0, .age = {}}, true).removed == 3);
        CHECK(fs::exists(entries[0]));
        CHECK(cache.prune({.bytes = {}, .age = month}).removed == 1);
    }
    SECTION("a hit counts as a use") {
        static_cast<void>(cache.get_or_compile(request_of("kernel_a", "kernel_a"), compiler, "kernel_a"));
        CHECK(cache.prune({.bytes = {}, .age = month}).removed == 0);
        CHECK(fs::exists(entries[0]));
        fs::remove_all(entries[0]);
    }
    SECTION("limits that nothing exceeds") {
        CHECK(cache.prune({.bytes = 4 * each, .age = 2 * month}).removed == 0);
        fs::remove_all(entries[0]);
    }
    CHECK_FALSE(fs::exists(entries[0]));
    CHECK(fs::exists(entries[2]));
}
