#include "runtime/support/program_search.hpp"

#include <sys/stat.h>
#include <unistd.h>

namespace jitgemm {
namespace {

bool is_program(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::optional<std::string> find_program(const std::string& name, const std::vector<std::string>& folders) {
    if (name.find('/') != std::string::npos) return is_program(name) ? std::optional(name) : std::nullopt;
    for (const std::string& folder : folders)
        if (std::string path = folder + '/' + name; is_program(path)) return path;
    return std::nullopt;
}

}  // namespace jitgemm
