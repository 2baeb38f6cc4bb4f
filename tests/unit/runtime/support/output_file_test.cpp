#include "runtime/support/output_file.hpp"

#include "jitgemm/error.hpp"
#include "runtime/support/file_system.hpp"
#include "tests/catch.hpp"
#include "tests/support/child.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <system_error>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

struct stat status_of(const std::string& path) {
    struct stat status {};
    ::lstat(path.c_str(), &status);
    return status;
}

std::size_t count_in(const std::string& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

std::string message_of(const std::string& path, const std::string& text = "text") {
    try {
        write_output_file(path, text);
    } catch (const std::system_error& error) {
        return error.what();
    }
    return {};
}

/// A reader of the pipe gets this from one short write. It opens the pipe before the writer and waits for nobody.
std::string through_pipe(const std::string& pipe, const std::string& text) {
    const FileDescriptor reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    write_output_file(pipe, text);
    std::string got(text.size() + 1, '\0');
    const ssize_t bytes = ::read(reader.number(), got.data(), got.size());
    got.resize(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
    return got;
}

}  // namespace

TEST_CASE("a named file: a new one has an ordinary file's mode, an old one keeps mode and owner") {
    const TemporaryFolder folder;
    const std::string file = folder / "file";
    const mode_t mask = ::umask(027);
    write_output_file(file, "new");
    ::umask(mask);
    CHECK(text_in(file) == "new");
    CHECK((status_of(file).st_mode & 07777U) == 0640);

    ::chmod(file.c_str(), 0604);
    const bool given = ::geteuid() == 0 && ::chown(file.c_str(), 65534, 65533) == 0;
    const struct stat before = status_of(file);
    write_output_file(file, "newer");
    const struct stat after = status_of(file);
    CHECK(text_in(file) == "newer");
    CHECK((after.st_mode & 07777U) == 0604);
    CHECK(after.st_uid == before.st_uid);
    CHECK(after.st_gid == before.st_gid);
    CHECK(after.st_ino != before.st_ino);  // renamed over: nobody read a part
    CHECK((!given || after.st_uid == 65534));
    CHECK(count_in(folder.path()) == 1);
}

TEST_CASE("a named file: links are followed, also to what is not there yet") {
    const TemporaryFolder folder;
    fs::create_directory(folder / "elsewhere");
    fs::create_symlink("elsewhere/file", folder / "second");
    fs::create_symlink("second", folder / "first");
    for (const char* text : {"made", "replaced"}) {
        write_output_file(folder / "first", text);
        CHECK(fs::read_symlink(folder / "first") == "second");
        CHECK(fs::read_symlink(folder / "second") == "elsewhere/file");
        CHECK_FALSE(fs::is_symlink(folder / "elsewhere/file"));
        CHECK(text_in(folder / "elsewhere/file") == text);
    }
    fs::create_symlink("circle", folder / "circle");
    CHECK_THAT(message_of(folder / "circle"), ContainsSubstring(folder / "circle"));
}

TEST_CASE("a named file: what has two names is one file afterwards, too") {
    const TemporaryFolder folder;
    put_text(folder / "one", "a longer old text");
    fs::create_hard_link(folder / "one", folder / "two");
    write_output_file(folder / "one", "new");
    CHECK(text_in(folder / "two") == "new");
    CHECK(fs::hard_link_count(folder / "one") == 2);
}

TEST_CASE("a named file: pipes and devices are written, not replaced") {
    const TemporaryFolder folder;
    const std::string pipe = folder / "pipe";
    ::mkfifo(pipe.c_str(), 0600);
    fs::create_symlink("pipe", folder / "link");
    CHECK(through_pipe(pipe, "text") == "text");
    CHECK(through_pipe(folder / "link", "more") == "more");
    CHECK(fs::is_fifo(pipe));

    const std::string device = folder / "null";
    if (::mknod(device.c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) SKIP_TEST("no right to make a device");
    CHECK(message_of(device).empty());
    CHECK(fs::is_character_file(device));
}

TEST_CASE("a named file: a full device is an error") {
    if (!fs::exists("/dev/full")) SKIP_TEST("no /dev/full");
    CHECK_THAT(message_of("/dev/full"), ContainsSubstring("cannot write /dev/full: No space left"));
    CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE("a named file: /dev/stdout and its like go on after what was written") {
    const TemporaryFolder folder;
    const FileDescriptor file(::open((folder / "file").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    write_all(file.number(), "before, ", "file");
    fs::create_symlink("/proc/self/fd/" + std::to_string(file.number()), folder / "stdout");
    const ino_t inode = status_of(folder / "file").st_ino;
    write_output_file(folder / "stdout", "by a link, ");
    write_output_file("/dev/fd/" + std::to_string(file.number()), "by a number, ");
    write_all(file.number(), "after", "file");
    CHECK(text_in(folder / "file") == "before, by a link, by a number, after");
    CHECK(status_of(folder / "file").st_ino == inode);
}

TEST_CASE("a named file: a failed write leaves the old file, nothing beside it, and names what the user named") {
    const TemporaryFolder folder;
    CHECK_THAT(message_of(folder / "none/file"), ContainsSubstring("cannot write " + (folder / "none/file: No such")));
    CHECK_THAT(message_of(folder.path()), ContainsSubstring("cannot write " + folder.path() + ":"));
    CHECK_THAT(message_of("/proc/file"), ContainsSubstring("cannot write /proc/file:"));
    CHECK_FALSE(message_of(folder / std::string(256, 'x')).empty());

    // A limit on the size of files fails a write half-way, as a full disk does.
    put_text(folder / "file", "old");
    const int status = in_child([&] {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{100, 100};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        const std::string message = message_of(folder / "file", std::string(1000, 'x'));
        const bool named = message.find("cannot write " + (folder / "file:")) == 0;
        return named && message.find(".tmp-") == std::string::npos ? 0 : 1;
    });
    CHECK(status == 0);
    CHECK(text_in(folder / "file") == "old");
    CHECK(count_in(folder.path()) == 1);
}

TEST_CASE("a named file: where nothing may be put beside it, it is written in place") {
    if (::geteuid() != 0) SKIP_TEST("only root can become somebody else");
    const TemporaryFolder folder;
    ::chmod(folder.path().c_str(), 0755);
    put_text(folder / "theirs", "a longer old text");
    ::chmod((folder / "theirs").c_str(), 0666);
    put_text(folder / "closed", "old");
    ::chmod((folder / "closed").c_str(), 0644);
    const int status = in_child([&] {
        if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 2;
        const bool written = message_of(folder / "theirs", "new").empty();
        return written && !message_of(folder / "closed").empty() && !message_of(folder / "new").empty() ? 0 : 1;
    });
    CHECK(status == 0);
    CHECK(text_in(folder / "theirs") == "new");
    CHECK(text_in(folder / "closed") == "old");
}

TEST_CASE("a named file: before the work it is said whether it can be written, and nothing changes") {
    const TemporaryFolder folder;
    put_text(folder / "file", "old");
    ::mkfifo((folder / "pipe").c_str(), 0600);
    for (const char* name : {"file", "pipe", "new"}) require_writable(folder / name);
    require_writable("/dev/null");
    CHECK(text_in(folder / "file") == "old");
    CHECK(count_in(folder.path()) == 2);

    const FileDescriptor reading(::open((folder / "file").c_str(), O_RDONLY | O_CLOEXEC));
    for (const std::string& path : {folder.path(), folder / "none/file", folder / "file/below", std::string("/proc/x"),
                                    "/dev/fd/" + std::to_string(reading.number()), std::string()}) {
        CHECK_THROWS_WITH(require_writable(path), ContainsSubstring("cannot write " + path));
    }
}

TEST_CASE("a named file: a stream empties it and keeps what it is") {
    const TemporaryFolder folder;
    put_text(folder / "file", "a longer old text");
    ::chmod((folder / "file").c_str(), 0604);
    fs::create_symlink("file", folder / "link");
    write_all(open_output_file(folder / "link").number(), "row\n", "file");
    CHECK(text_in(folder / "file") == "row\n");
    CHECK((status_of(folder / "file").st_mode & 07777U) == 0604);
    CHECK_THROWS_WITH(open_output_file(folder / "none/file"),
                      ContainsSubstring("cannot write " + (folder / "none/file")));
}
