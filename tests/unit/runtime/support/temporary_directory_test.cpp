#include "runtime/support/temporary_directory.hpp"

#include "jitgemm/error.hpp"
#include "runtime/support/file_system.hpp"
#include "tests/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/without_locks.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

/// TMPDIR as given while the object lives.
class TemporaryRootIs {
public:
    explicit TemporaryRootIs(const std::string& root) {
        if (const char* const now = std::getenv("TMPDIR")) before_ = now;  // NOLINT(concurrency-mt-unsafe)
        ::setenv("TMPDIR", root.c_str(), 1);                               // NOLINT(concurrency-mt-unsafe)
    }
    TemporaryRootIs(const TemporaryRootIs&) = delete;
    TemporaryRootIs& operator=(const TemporaryRootIs&) = delete;
    ~TemporaryRootIs() {
        if (before_)
            ::setenv("TMPDIR", before_->c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
        else
            ::unsetenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe)
    }

private:
    std::optional<std::string> before_;
};

int count_in(const std::string& folder) {
    return static_cast<int>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// A process that makes a folder of that prefix, puts something into it, says so and waits to be killed.
pid_t start_owner(const std::string& prefix, const std::string& ready) {
    const pid_t child = ::fork();
    if (child != 0) return child;
    const TemporaryDirectory own(prefix);
    fs::create_directory(own.path() + "/kernel");
    put_text(own.path() + "/kernel/binary", "x");
    put_text(ready, "");
    while (true) ::pause();
}

void wait_for_file(const std::string& path) {
    for (int i = 0; i < 1000 && !fs::exists(path); ++i) ::usleep(10'000);
    REQUIRE(fs::exists(path));
}

}  // namespace

TEST_CASE("what a killed owner left of a temporary folder goes with the next one. A living owner's stays") {
    const TemporaryFolder root;
    const TemporaryFolder marks;
    const TemporaryRootIs here(root.path());
    const pid_t owner = start_owner("mine", marks / "ready");
    wait_for_file(marks / "ready");
    fs::create_directory(root / "mine-abcdef");      // without a lock: nobody knows whose it is
    fs::create_directory(root / "mine-too-abcdef");  // of another prefix,
    put_text(root / "mine-too-abcdef/jitgemm-owner.lock", "");
    {
        const TemporaryDirectory beside("mine");
        CHECK(count_in(root.path()) == 4);
    }
    CHECK(count_in(root.path()) == 3);
    REQUIRE(::kill(owner, SIGKILL) == 0);
    ::waitpid(owner, nullptr, 0);
    CHECK(count_in(root.path()) == 3);
    { const TemporaryDirectory next("mine"); }
    CHECK(count_in(root.path()) == 2);
    CHECK(fs::exists(root / "mine-abcdef"));
    CHECK(fs::exists(root / "mine-too-abcdef"));
}

TEST_CASE("a link in the place of a temporary folder is not followed") {
    const TemporaryFolder root;
    const TemporaryFolder elsewhere;
    const TemporaryRootIs here(root.path());
    put_text(elsewhere / "jitgemm-owner.lock", "");
    put_text(elsewhere / "kept", "x");
    fs::create_directory_symlink(elsewhere.path(), root / "mine-abcdef");
    { const TemporaryDirectory next("mine"); }
    CHECK(fs::exists(elsewhere / "kept"));
}

TEST_CASE("a temporary folder needs no locks, and leaves nothing without them") {
    const TemporaryFolder root;
    const TemporaryRootIs here(root.path());
    const WithoutLocks none(ENOSYS);
    {
        const TemporaryDirectory own("mine");
        CHECK(is_folder(own.path()));
        const TemporaryDirectory other("mine");
        CHECK(count_in(root.path()) == 2);
    }
    CHECK(count_in(root.path()) == 0);
}

TEST_CASE("a folder for temporary files that is not there is named, with the variable that names it") {
    const TemporaryFolder root;
    put_text(root / "file", "");
    for (const std::string& nowhere : {root / "missing", root / "file"}) {
        const TemporaryRootIs here(nowhere);
        CHECK_THROWS_WITH(TemporaryDirectory("mine"), ContainsSubstring("TMPDIR") && ContainsSubstring(nowhere));
    }
}
