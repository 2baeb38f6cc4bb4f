#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm::tuning {

/// How a store keeps transactions whole.
enum class Journal : std::uint8_t {
    wal,       ///< write-ahead log: readers do not wait for a writer; needs memory shared between all processes
    rollback,  ///< for file systems that several hosts mount, which share no memory
};

/// Whether several hosts may see this file system: `magic` is statfs's f_type (statfs(2), linux/magic.h).
[[nodiscard]] bool is_network_file_system(std::uint64_t magic);

struct StoreLocation {
    std::string path;
    Journal journal = Journal::wal;
};
/// Where a process on `host` writes: `tuning.sqlite`, or on a network file system `tuning-HOST.sqlite`.
[[nodiscard]] StoreLocation store_location(const std::string& directory, std::uint64_t file_system_magic,
                                           std::string_view host);
/// The same for this host and the folder as it is mounted here; it must be there. Throws TuningStoreError.
[[nodiscard]] StoreLocation store_location(const std::string& directory);

/// All stores of a folder, sorted by name: this host's, other hosts', one left from when the folder lay elsewhere.
[[nodiscard]] std::vector<std::string> store_files(const std::string& directory);

}  // namespace jitgemm::tuning
