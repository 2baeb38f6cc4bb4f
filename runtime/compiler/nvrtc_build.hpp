#pragma once

#include <string>

namespace jitgemm {

/// An NVRTC as far as two of them make different binaries.
struct NvrtcIdentity {
    int version = 0;    ///< 10 · major + minor; 0: none is known
    std::string build;  ///< hexadecimal digits; patch levels of one version differ here
    friend bool operator==(const NvrtcIdentity&, const NvrtcIdentity&) = default;
};

/// What tells a shared library from other builds of it, wherever it lies: the build id that its linker put in, else a
/// hash of all its bytes; empty where it cannot be read.
[[nodiscard]] std::string build_of_library(const std::string& path);

}  // namespace jitgemm
