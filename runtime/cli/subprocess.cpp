#include "runtime/cli/subprocess.hpp"

#include "jitgemm/error.hpp"
#include "runtime/support/file_descriptor.hpp"
#include "runtime/support/program_search.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace jitgemm::cli {
namespace {

std::string read_all(const FileDescriptor& pipe) {
    std::string text;
    std::array<char, 1 << 16> buffer;
    ssize_t count = 0;
    while ((count = read(pipe.number(), buffer.data(), buffer.size())) != 0) {
        if (count < 0 && errno != EINTR) throw Error("cannot read from a pipe");
        if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return text;
}

int wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::optional<ProgramResult> run_program(const std::vector<std::string>& words) {
    const auto program = find_program(words.front(), program_folders_from_environment());
    if (!program) return std::nullopt;
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);

    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw Error("cannot create a pipe");
    const FileDescriptor ours(ends[0]);
    FileDescriptor childs(ends[1]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, childs.number(), STDOUT_FILENO);
    pid_t child = 0;
    const int error = posix_spawn(&child, program->c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return std::nullopt;
    childs = {};  // or the end of what the child writes would never come
    std::string output = read_all(ours);
    return ProgramResult{wait_for(child), std::move(output)};
}

}  // namespace jitgemm::cli
