#include "runtime/cli/output.hpp"

#include "tests/catch.hpp"
#include "tests/support/child.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

using namespace jitgemm::cli;
using namespace jitgemm::testing;
using namespace std::chrono_literals;

namespace {

/// The steps' output on a stderr that is a file, in a process of its own.
std::string written_without_terminal(const std::function<void(Output&)>& steps) {
    const TemporaryFolder folder;
    const int status = in_child([&] {
        const int file = ::open((folder / "err").c_str(), O_WRONLY | O_CREAT, 0600);
        if (::dup2(file, STDERR_FILENO) < 0) return 1;
        Output output(false, 1s);
        steps(output);
        return 0;
    });
    CHECK(status == 0);
    return text_in(folder / "err");
}

}  // namespace

TEST_CASE("a step that takes long is told once where stderr is no terminal") {
    const std::string text = written_without_terminal([](Output& output) {
        output.progress("short");
        output.progress("long");
        std::this_thread::sleep_for(3300ms);
    });
    CHECK(text.find("short") == std::string::npos);
    CHECK_THAT(text, Catch::Matchers::ContainsSubstring("long ... "));
    CHECK(text.find("long") == text.rfind("long"));
    CHECK(text.find('\r') == std::string::npos);
    CHECK(text.ends_with('\n'));
}

TEST_CASE("what has ended is not told where stderr is no terminal") {
    const std::string text = written_without_terminal([](Output& output) {
        output.progress("step");
        output.progress("");
        std::this_thread::sleep_for(2200ms);
    });
    CHECK(text.empty());
}
