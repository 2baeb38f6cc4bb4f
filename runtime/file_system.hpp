#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jitgemm {

/// The whole file, or nothing when there is none. Throws std::system_error naming the path when it is there but cannot
/// be read.
[[nodiscard]] std::optional<std::string> read_file(const std::string& path);

/// Whether what was written is on disk before a call returns, or whenever the system sees fit: a scratch file that a
/// power loss takes is no loss, and waiting for the disk costs more than small files do.
enum class Durability : std::uint8_t { synced, scratch };

/// Creates the file (it must not exist), writes and syncs it. Throws std::system_error naming the path; leaves nothing
/// then.
void write_new_file(const std::string& path, std::string_view data, mode_t mode = 0600,
                    Durability durability = Durability::synced);

/// Writes beside `path`, syncs and renames over it: readers see the old file or the new one, never a part.
void write_file_atomically(const std::string& path, std::string_view data, mode_t mode = 0600);

/// Makes renames and new names inside a folder durable. Throws std::system_error.
void sync_directory(const std::string& path);

/// Makes the folder and its missing parents, all of them 0700. Throws std::system_error.
void make_private_directories(const std::string& path);

/// Removes a file or a folder with all in it; does not follow links; failures are only logged.
void remove_tree(const std::string& path);

/// Sixteen hexadecimal digits that no other process or thread gets.
[[nodiscard]] std::string unique_suffix();

/// Size and modification time of what a path leads to.
struct FileStamp {
    std::uint64_t size = 0;
    std::int64_t mtime_ns = 0;
    friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
[[nodiscard]] std::optional<FileStamp> file_stamp(const std::string& path);

/// Why the folder at `path` cannot be trusted by this user (not a folder, someone else's); empty when it can be, or is
/// not there.
[[nodiscard]] std::string distrust(const std::string& path);

}  // namespace jitgemm
