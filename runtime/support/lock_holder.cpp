#include "runtime/support/lock_holder.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <fstream>
#include <sstream>

namespace jitgemm {
namespace {

/// "fd:01:1835010", as /proc/locks names a file.
std::string file_in_proc_locks(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return {};
    return fmt::format("{:02x}:{:02x}:{}", major(status.st_dev), minor(status.st_dev), status.st_ino);
}

/// 0: nobody, or a process of another container.
int locking_process(const std::string& path) {
    const std::string wanted = file_in_proc_locks(path);
    std::ifstream locks("/proc/locks");
    for (std::string line; std::getline(locks, line);) {
        std::istringstream words(line);
        std::string number, kind, strictness, access, file;
        int process = 0;
        if (words >> number >> kind >> strictness >> access >> process >> file && file == wanted && kind == "FLOCK")
            return process;
    }
    return 0;
}

/// A field of /proc/PID/status.
std::string status_field(int process, const std::string& name) {
    std::ifstream status(fmt::format("/proc/{}/status", process));
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with(name + ":\t")) return line.substr(name.size() + 2);
    }
    return {};
}

bool is_stopped(int process) {
    const std::string state = status_field(process, "State");
    return state.starts_with('T') || state.starts_with('t');
}

}  // namespace

std::string lock_holder(const std::string& path) {
    const int process = locking_process(path);
    if (process <= 0) return "another process";
    return fmt::format("process {} ({}){}", process, status_field(process, "Name"),
                       is_stopped(process) ? ", which is stopped" : "");
}

}  // namespace jitgemm
