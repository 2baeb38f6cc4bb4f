#pragma once

#include <string>
#include <string_view>

namespace jitgemm::fuzz {

/// An input as a file that lives in memory, for readers that take a path.
class MemoryFile {
public:
    explicit MemoryFile(std::string_view bytes);
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile();
    [[nodiscard]] std::string path() const;

private:
    int file_;
};

}  // namespace jitgemm::fuzz
