#include "runtime/support/file_system.hpp"

#include "tests/catch.hpp"
#include "tests/support/temporary_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <set>
#include <system_error>

using namespace jitgemm;
using testing::put_text;
using testing::TemporaryFolder;
using testing::text_in;

namespace {

unsigned mode_of(const std::string& path) {
    struct stat status {};
    ::stat(path.c_str(), &status);
    return status.st_mode & 07777U;
}

}  // namespace

TEST_CASE("reading: the whole file, nothing, or an error") {
    const TemporaryFolder folder;
    const std::string text("a\0b\n", 4);
    put_text(folder / "file", text);
    CHECK(read_file(folder / "file") == text);
    CHECK(read_file(folder / "none") == std::nullopt);
    CHECK(read_file(folder / "file/below") == std::nullopt);
    CHECK_THROWS_AS(read_file(folder.path()), std::system_error);
    ::mkfifo((folder / "pipe").c_str(), 0600);
    CHECK_THROWS_AS(read_file(folder / "pipe"), std::system_error);
    put_text(folder / "sparse", "");
    REQUIRE(::truncate((folder / "sparse").c_str(), std::int64_t{1} << 40) == 0);
    CHECK_THROWS_AS(read_file(folder / "sparse"), std::system_error);
}

TEST_CASE("a new file must be new, and a failed write leaves none") {
    const TemporaryFolder folder;
    write_new_file(folder / "file", "text");
    CHECK(text_in(folder / "file") == "text");
    CHECK(mode_of(folder / "file") == 0600);
    CHECK_THROWS_AS(write_new_file(folder / "file", "other"), std::system_error);
    CHECK(text_in(folder / "file") == "text");
    CHECK_THROWS_WITH(write_new_file(folder / "none/file", "x"),
                      Catch::Matchers::ContainsSubstring(folder / "none/file"));
}

TEST_CASE("an atomic write replaces, or leaves the old file and nothing beside it") {
    const TemporaryFolder folder;
    const std::string longest(255, 'n');
    write_file_atomically(folder / longest, "old");
    write_file_atomically(folder / longest, "new");
    CHECK(text_in(folder / longest) == "new");
    std::filesystem::create_directory(folder / "taken");
    CHECK_THROWS_AS(write_file_atomically(folder / "taken", "x"), std::system_error);
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
}

TEST_CASE("folders are made private, with their parents") {
    const TemporaryFolder folder;
    make_private_directories(folder / "one/two");
    make_private_directories(folder / "one/two");
    CHECK(mode_of(folder / "one") == 0700);
    CHECK(mode_of(folder / "one/two") == 0700);
    put_text(folder / "file", "x");
    CHECK_THROWS_AS(make_private_directories(folder / "file"), std::system_error);
}

TEST_CASE("suffixes are unique") {
    std::set<std::string> suffixes;
    for (int i = 0; i < 1000; ++i) suffixes.insert(unique_suffix());
    CHECK(suffixes.size() == 1000);
    CHECK(suffixes.begin()->size() == 16);
}

TEST_CASE("a stamp changes with the file") {
    const TemporaryFolder folder;
    CHECK(file_stamp(folder / "file") == std::nullopt);
    put_text(folder / "file", "x");
    const std::optional<FileStamp> before = file_stamp(folder / "file");
    REQUIRE(before);
    put_text(folder / "file", "xy");
    CHECK(file_stamp(folder / "file") != before);
}

TEST_CASE("a folder is trusted when it is this user's own") {
    const TemporaryFolder folder;
    CHECK(distrust(folder.path()).empty());
    CHECK(distrust(folder / "none").empty());
    put_text(folder / "file", "x");
    CHECK_THAT(distrust(folder / "file"), Catch::Matchers::ContainsSubstring("is not a folder"));
    const bool root = ::geteuid() == 0;
    if (root && ::chown(folder.path().c_str(), 65534, 65534) != 0) SKIP_TEST("no right to give a folder away");
    CHECK_THAT(distrust(root ? folder.path() : "/usr"), Catch::Matchers::ContainsSubstring("belongs to user"));
}
