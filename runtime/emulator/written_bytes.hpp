#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace jitgemm::emulator {

/// For each byte of a buffer, whether it was written since its contents became undefined. At first none is. Several
/// threads of a launch may mark and ask at once.
class WrittenBytes {
public:
    explicit WrittenBytes(std::size_t bytes);

    void mark(std::size_t first, std::size_t bytes);
    void forget(std::size_t first, std::size_t bytes);
    [[nodiscard]] bool all(std::size_t first, std::size_t bytes) const;
    [[nodiscard]] bool any(std::size_t first, std::size_t bytes) const;
    /// The number of bytes that were not written.
    [[nodiscard]] std::size_t missing(std::size_t first, std::size_t bytes) const;

private:
    std::unique_ptr<std::atomic<std::uint64_t>[]> words_;  ///< a bit per byte
};

}  // namespace jitgemm::emulator
