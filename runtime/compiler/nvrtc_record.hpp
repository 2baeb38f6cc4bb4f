#pragma once

#include "runtime/compiler/nvrtc_build.hpp"

#include <string>
#include <vector>

namespace jitgemm {

/// Remembers on disk which NVRTC a search finds. A cache hit then need not load the library (100 MB, 5 to 10 ms). The
/// key is path, size and time of the library, and of every candidate before and after it (search_fingerprint).
class NvrtcRecord {
public:
    /// An empty directory remembers nothing.
    NvrtcRecord(std::string directory, const std::vector<std::string>& candidates, int newest_major);

    /// Version 0 if nothing is remembered or anything has changed since.
    [[nodiscard]] NvrtcIdentity read() const;
    /// Failures are only logged: without a record the next process loads the library.
    void write(const NvrtcIdentity& identity, const std::string& library) const;

private:
    std::string directory_;
    std::string path_;
    std::string fingerprint_;
};

}  // namespace jitgemm
