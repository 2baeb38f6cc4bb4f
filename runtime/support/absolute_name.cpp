#include "runtime/support/absolute_name.hpp"

#include <filesystem>
#include <system_error>

namespace jitgemm {

std::string absolute_path(const std::string& path) {
    if (path.empty()) return path;
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(path, error);
    return error ? path : absolute.lexically_normal().string();
}

std::string absolute_unless_bare(const std::string& name) {
    return name.find('/') == std::string::npos ? name : absolute_path(name);
}

}  // namespace jitgemm
