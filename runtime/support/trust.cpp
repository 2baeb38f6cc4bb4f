#include "runtime/support/trust.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace jitgemm {

std::string open_to_all(const std::string& path) {
    struct stat status {};
    const bool open = ::stat(path.c_str(), &status) == 0 && (status.st_mode & S_IWOTH) != 0;
    return open ? fmt::format("all users may write to {}", path) : std::string();
}

std::string foreign_owner(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || status.st_uid == ::geteuid()) return {};
    return fmt::format("{} belongs to user {}, not to user {}", path, status.st_uid, ::geteuid());
}

std::string foreign_folder(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) return path + " is not a folder";
    return foreign_owner(path);
}

}  // namespace jitgemm
