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

/// A hidden name in the folder of `path` that no other process or thread gets: ".<name>.tmp-<16 hexadecimal digits>", a
/// long name cut short.
[[nodiscard]] std::string name_beside(const std::string& path);

/// Writes beside `path`, syncs and renames over it: readers see the old file or the new one, never a part. For the
/// library's own files; those that a user names are write_output_file's.
void write_file_atomically(const std::string& path, std::string_view data, mode_t mode = 0600);

/// All of it, whatever the pieces the system takes. Throws std::system_error naming the path.
void write_all(int file, std::string_view data, const std::string& path);
void sync_file(int file, const std::string& path);

/// Makes renames and new names inside a folder durable. Throws std::system_error.
void sync_directory(const std::string& path);

/// Makes the folder and its missing parents, all of them 0700. Throws std::system_error.
void make_private_directories(const std::string& path);

/// Removes a file or a folder with all in it; does not follow links; failures are only logged.
void remove_tree(const std::string& path);

/// Sixteen hexadecimal digits that no other process or thread gets.
[[nodiscard]] std::string unique_suffix();

/// Of the path itself: a link to a folder or file is neither.
[[nodiscard]] bool is_folder(const std::string& path);
[[nodiscard]] bool is_file(const std::string& path);

/// Size and modification time of what a path leads to.
struct FileStamp {
    std::uint64_t size = 0;
    std::int64_t mtime_ns = 0;
    friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
[[nodiscard]] std::optional<FileStamp> file_stamp(const std::string& path);

/// Why the folder at `path` cannot be trusted by this user (no folder, someone else's, open to all users; see
/// trust.hpp). Empty when it can be, or is not there.
[[nodiscard]] std::string distrust(const std::string& path);

}  // namespace jitgemm
