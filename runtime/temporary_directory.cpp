#include "runtime/temporary_directory.hpp"

#include "generator/error.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace jitgemm {

TemporaryDirectory::TemporaryDirectory(const std::string& prefix)
    : path_((std::filesystem::temp_directory_path() / (prefix + "-XXXXXX")).string()) {
    if (mkdtemp(path_.data()) == nullptr)
        throw Error(fmt::format("cannot make a temporary folder {}: {}", path_, std::strerror(errno)));
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;  // what is left there is of no use to anyone, and in the way of nobody
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace jitgemm
