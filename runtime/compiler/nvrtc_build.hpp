#pragma once

#include <string>

namespace jitgemm {

/// The facts by which two NVRTCs make different binaries.
struct NvrtcIdentity {
    int version = 0;    ///< 10 · major + minor; 0: not known
    std::string build;  ///< hexadecimal digits, which differ between patch levels of one version
    friend bool operator==(const NvrtcIdentity&, const NvrtcIdentity&) = default;
};

/// A text that differs between builds of a shared library, wherever the file lies: the linker's build id, else a hash
/// of all bytes. Empty if the file cannot be read.
[[nodiscard]] std::string build_of_library(const std::string& path);

}  // namespace jitgemm
