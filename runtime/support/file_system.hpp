#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jitgemm {

/// The whole file, or nothing if there is none. Throws std::system_error with the path if it exists and cannot be read.
[[nodiscard]] std::optional<std::string> read_file(const std::string& path);

/// Whether data is on disk before a call returns, or later. A scratch file may be lost in a power failure, and waiting
/// for the disk costs more than writing a small file.
enum class Durability : std::uint8_t { synced, scratch };

/// Creates the file (it must not exist), writes and syncs it. Throws std::system_error with the path, and then leaves
/// no file.
void write_new_file(const std::string& path, std::string_view data, mode_t mode = 0600,
                    Durability durability = Durability::synced);

/// A hidden name in the folder of `path` that no other process or thread gets: ".<name>.tmp-<16 hexadecimal digits>". A
/// long name is cut short.
[[nodiscard]] std::string name_beside(const std::string& path);

/// Writes beside `path`, syncs and renames over it. Readers see the old file or the new one, never a part. It is for
/// the library's own files; write_output_file writes those that a user names.
void write_file_atomically(const std::string& path, std::string_view data, mode_t mode = 0600);

/// Writes all data, in as many pieces as the system wants. Throws std::system_error with the path.
void write_all(int file, std::string_view data, const std::string& path);
void sync_file(int file, const std::string& path);

/// Makes renames and new names inside a folder durable. Throws std::system_error.
void sync_directory(const std::string& path);

/// Makes the folder and its missing parents, all with mode 0700. Throws std::system_error.
void make_private_directories(const std::string& path);

/// Removes a file or a folder with its contents. It does not follow links. Failures are only logged.
void remove_tree(const std::string& path);

/// Sixteen hexadecimal digits that no other process or thread gets.
[[nodiscard]] std::string unique_suffix();

/// Asks about the path itself: a link to a folder or file is neither.
[[nodiscard]] bool is_folder(const std::string& path);
[[nodiscard]] bool is_file(const std::string& path);

/// Size and modification time of the file at a path.
struct FileStamp {
    std::uint64_t size = 0;
    std::int64_t mtime_ns = 0;
    friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
[[nodiscard]] std::optional<FileStamp> file_stamp(const std::string& path);

/// Why this user cannot trust the folder at `path` (it is no folder, somebody else's, or open to all users; see
/// trust.hpp). Empty if the user can, or if there is nothing.
[[nodiscard]] std::string distrust(const std::string& path);

}  // namespace jitgemm
