#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm::tuning {

/// The way in which a store keeps transactions whole.
enum class Journal : std::uint8_t {
    wal,       ///< write-ahead log: readers do not wait for a writer; it needs memory that all processes share
    rollback,  ///< for file systems that several hosts mount: hosts share no memory
};

/// Whether several hosts may use this file system. `magic` is statfs's f_type (statfs(2), linux/magic.h).
[[nodiscard]] bool is_network_file_system(std::uint64_t magic);

struct StoreLocation {
    std::string path;
    Journal journal = Journal::wal;
};
/// The file to which a process on `host` writes: `tuning.sqlite`, or `tuning-HOST.sqlite` on a network file system.
[[nodiscard]] StoreLocation store_location(const std::string& directory, std::uint64_t file_system_magic,
                                           std::string_view host);
/// The same for this host and the folder's file system here. The folder must exist. Throws TuningStoreError.
[[nodiscard]] StoreLocation store_location(const std::string& directory);

/// All stores of a folder, sorted by name: this host's, other hosts', and one from a former place of the folder.
[[nodiscard]] std::vector<std::string> store_files(const std::string& directory);

}  // namespace jitgemm::tuning
