#include "runtime/support/temporary_directory.hpp"

#include "runtime/support/file_system.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <stdlib.h>

namespace jitgemm {

TemporaryDirectory::TemporaryDirectory(const std::string& prefix)
    : path_((std::filesystem::temp_directory_path() / (prefix + "-XXXXXX")).string()) {
    if (mkdtemp(path_.data()) == nullptr)
        throw std::system_error(errno, std::generic_category(), "cannot create " + path_);
}

TemporaryDirectory::~TemporaryDirectory() { remove_tree(path_); }

}  // namespace jitgemm
