#pragma once

#include "tests/support/temporary_folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

namespace jitgemm::testing {

/// PATH as given while the object lives.
class SearchPath {
public:
    explicit SearchPath(const std::string& path) : before_(std::getenv("PATH")) {  // NOLINT(concurrency-mt-unsafe)
        ::setenv("PATH", path.c_str(), 1);                                         // NOLINT(concurrency-mt-unsafe)
    }
    SearchPath(const SearchPath&) = delete;
    SearchPath& operator=(const SearchPath&) = delete;
    ~SearchPath() { ::setenv("PATH", before_.c_str(), 1); }  // NOLINT(concurrency-mt-unsafe)

private:
    std::string before_;
};

/// The process's folder while the object lives.
class InFolder {
public:
    explicit InFolder(const std::string& folder) : before_(std::filesystem::current_path()) {
        std::filesystem::current_path(folder);
    }
    InFolder(const InFolder&) = delete;
    InFolder& operator=(const InFolder&) = delete;
    ~InFolder() { std::filesystem::current_path(before_); }

private:
    std::filesystem::path before_;
};

/// A shell script that may be executed.
inline void put_program(const std::string& path, const std::string& script) {
    put_text(path, "#!/bin/sh\n" + script);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

}  // namespace jitgemm::testing
