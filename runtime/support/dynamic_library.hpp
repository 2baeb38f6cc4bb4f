#pragma once

#include <string>
#include <vector>

namespace jitgemm {

/// A dlopen'ed library; closed with the object (move-only).
class DynamicLibrary {
public:
    DynamicLibrary() = default;
    DynamicLibrary(DynamicLibrary&& other) noexcept;
    DynamicLibrary& operator=(DynamicLibrary&& other) noexcept;
    ~DynamicLibrary();

    /// Tries the candidates in order (paths, or sonames for the system's search). `tried` receives one line for each:
    /// path and dlerror.
    [[nodiscard]] static DynamicLibrary open_first(const std::vector<std::string>& candidates,
                                                   std::vector<std::string>& tried);

    [[nodiscard]] explicit operator bool() const { return handle_ != nullptr; }
    [[nodiscard]] const std::string& path() const { return path_; }  ///< absolute path of the loaded library
    [[nodiscard]] void* symbol(const char* name) const;              ///< null when absent
    /// The same as a function pointer of the caller's type. Returns whether it is there.
    template <typename Function>
    bool find(const char* name, Function*& function) const {
        function = reinterpret_cast<Function*>(symbol(name));
        return function != nullptr;
    }
    void keep_loaded() const;  ///< never unloaded from now on, not even when the object goes

private:
    void* handle_ = nullptr;
    std::string path_;
};

}  // namespace jitgemm
