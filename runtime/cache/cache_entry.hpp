#pragma once

#include "jitgemm/error.hpp"
#include "runtime/cache/cache_meta.hpp"
#include "runtime/cache/cache_names.hpp"
#include "runtime/support/file_system.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace jitgemm {

/// An entry that exists but must not be used. what() gives the reason.
class DamagedEntry : public Error {
public:
    using Error::Error;
};

/// An entry that cannot be read now: no memory, no file descriptor, a file server that is gone. It may be sound.
class UnreadableEntry : public Error {
public:
    using Error::Error;
};

/// Whether a folder with an entry's name holds an entry's files: meta.json beside a source or a binary.
[[nodiscard]] bool holds_entry(const std::string& directory);

/// The name of a file at an entry's path that belongs to no entry; empty if there is none. The cache must not remove a
/// folder with such a file.
[[nodiscard]] std::string foreign_file_in(const std::string& directory);

/// Removes the files of an entry, meta.json first, and then its folder. If it is cut short, the rest is no entry. It
/// does not follow links. Failures are only logged.
void remove_entry_files(const std::string& directory);

/// The owner that an entry must have: the user in the user's own folder, anybody in a read-only folder.
enum class EntryOwner : std::uint8_t { user, anybody };
/// Why an entry cannot be trusted: another user owns it or one of its files, or all users may write to one of them.
/// Empty if it can. The checksums find damage; they do not stop a person who wants to change a kernel.
[[nodiscard]] std::string entry_distrust(const std::string& directory, EntryOwner owner);
/// Throws the distrust as DamagedEntry.
void require_trusted_entry(const std::string& directory, EntryOwner owner);

/// meta.json of an entry. This and the next functions throw DamagedEntry and UnreadableEntry.
[[nodiscard]] CacheMeta read_entry_meta(const std::string& directory);

/// The binary that belongs to `meta`.
[[nodiscard]] CompiledKernel read_entry_binary(const std::string& directory, const CacheMeta& meta);

/// The kernel of an entry that must have this key; nothing if there is no entry. Reads two files.
[[nodiscard]] std::optional<CompiledKernel> load_entry(const std::string& directory, const KeyFields& wanted);

/// Makes the folder with all files of an entry. Each is synced if `durability` asks for it. Throws std::system_error.
void write_entry(const std::string& directory, const CompiledKernel& kernel, const KeyFields& key,
                 const std::string& kernel_cu, Durability durability = Durability::synced);

/// Checks everything that can be checked without a request, kernel.cu too.
void verify_entry(const std::string& directory);

/// A use is only marked if the last mark is older than this: most hits write nothing.
constexpr std::int64_t kMarkSeconds = std::int64_t{24} * 60 * 60;
/// Seconds since 1970 of the last write or mark of meta.json. The last use is less than kMarkSeconds later.
[[nodiscard]] std::int64_t last_use(const std::string& directory);
/// Marks an entry whose last mark is older than kMarkSeconds. Does nothing if that is not allowed.
void mark_used(const std::string& directory);

}  // namespace jitgemm
