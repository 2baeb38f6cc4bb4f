#include "runtime/support/dynamic_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <utility>

namespace jitgemm {
namespace {

std::string last_error() {
    const char* text = dlerror();
    return text == nullptr ? "unknown dlopen error" : text;
}

/// dlerror already begins with the file's name in most cases; a line must always do so.
std::string failure_line(const std::string& candidate, const std::string& error) {
    return error.starts_with(candidate) ? error : candidate + ": " + error;
}

std::string loaded_path(void* handle, const std::string& candidate) {
    link_map* map = nullptr;
    const bool known =
        dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 && map != nullptr && map->l_name[0] != '\0';
    std::error_code ignored;
    const std::filesystem::path path = std::filesystem::absolute(known ? map->l_name : candidate, ignored);
    return ignored ? candidate : path.string();
}

}  // namespace

DynamicLibrary::DynamicLibrary(DynamicLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}

DynamicLibrary& DynamicLibrary::operator=(DynamicLibrary&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(path_, other.path_);
    return *this;
}

DynamicLibrary::~DynamicLibrary() {
    if (handle_ != nullptr) dlclose(handle_);
}

DynamicLibrary DynamicLibrary::open_first(const std::vector<std::string>& candidates, std::vector<std::string>& tried) {
    DynamicLibrary library;
    for (const std::string& candidate : candidates) {
        library.handle_ = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library.handle_ == nullptr) {
            tried.push_back(failure_line(candidate, last_error()));
            continue;
        }
        library.path_ = loaded_path(library.handle_, candidate);
        break;
    }
    return library;
}

void* DynamicLibrary::symbol(const char* name) const { return handle_ == nullptr ? nullptr : dlsym(handle_, name); }

void DynamicLibrary::keep_loaded() const {
    if (handle_ != nullptr) dlopen(path_.c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace jitgemm
