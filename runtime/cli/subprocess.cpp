#include "runtime/cli/subprocess.hpp"

#include "jitgemm/error.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace jitgemm::cli {
namespace {

/// A pipe whose read end is ours and whose write end becomes a child's stdout.
class OutputPipe {
public:
    OutputPipe() {
        if (pipe2(ends_.data(), O_CLOEXEC) != 0) throw Error("cannot create a pipe");
        posix_spawn_file_actions_init(&actions_);
        posix_spawn_file_actions_adddup2(&actions_, ends_[1], STDOUT_FILENO);
    }
    ~OutputPipe() {
        posix_spawn_file_actions_destroy(&actions_);
        close(ends_[0]);
        close_write_end();
    }
    OutputPipe(const OutputPipe&) = delete;
    OutputPipe& operator=(const OutputPipe&) = delete;

    [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }

    [[nodiscard]] std::string read_all() {
        close_write_end();
        std::string text;
        std::array<char, 1 << 16> buffer;
        ssize_t count = 0;
        while ((count = read(ends_[0], buffer.data(), buffer.size())) != 0) {
            if (count < 0 && errno != EINTR) throw Error("cannot read from a pipe");
            if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
        }
        return text;
    }

private:
    void close_write_end() {
        if (ends_[1] >= 0) close(ends_[1]);
        ends_[1] = -1;
    }

    std::array<int, 2> ends_{-1, -1};
    posix_spawn_file_actions_t actions_{};
};

int wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::optional<ProgramResult> run_program(const std::vector<std::string>& words) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);

    OutputPipe pipe;
    pid_t child = 0;
    if (posix_spawnp(&child, arguments.front(), pipe.actions(), nullptr, arguments.data(), environ) != 0)
        return std::nullopt;
    std::string output = pipe.read_all();
    return ProgramResult{wait_for(child), std::move(output)};
}

}  // namespace jitgemm::cli
