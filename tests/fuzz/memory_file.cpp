#include "tests/fuzz/memory_file.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace jitgemm::fuzz {

MemoryFile::MemoryFile(std::string_view bytes) : file_(::memfd_create("input", MFD_CLOEXEC)) {
    if (file_ < 0 || ::write(file_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
}

MemoryFile::~MemoryFile() { ::close(file_); }

std::string MemoryFile::path() const { return fmt::format("/proc/self/fd/{}", file_); }

}  // namespace jitgemm::fuzz
