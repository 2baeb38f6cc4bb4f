#pragma once

#include "jitgemm/error.hpp"
#include "runtime/cache/cache_meta.hpp"
#include "runtime/cache/cache_names.hpp"
#include "runtime/support/file_system.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace jitgemm {

/// An entry that is there but must not be used; what() says why.
class DamagedEntry : public Error {
public:
    using Error::Error;
};

/// An entry that cannot be read just now: no memory, no file descriptor, a file server that is gone. It may be sound.
class UnreadableEntry : public Error {
public:
    using Error::Error;
};

/// Whether the folder, whose name is an entry's, holds what an entry does: meta.json beside a source or a binary.
[[nodiscard]] bool holds_entry(const std::string& directory);

/// A name in what lies at the path of an entry that no entry holds; empty when there is none. What has one is not the
/// cache's to remove.
[[nodiscard]] std::string foreign_file_in(const std::string& directory);

/// Removes the files of an entry, meta.json first, and then its folder, and nothing else: what is left when it is cut
/// short is no entry. Does not follow links; failures are only logged.
void remove_entry_files(const std::string& directory);

/// Whose an entry has to be: the user's in the user's own folder, anybody's in a folder that is only read.
enum class EntryOwner : std::uint8_t { user, anybody };
/// Why an entry cannot be trusted: someone else owns it or a file of it, or all users may write to one of them. Empty
/// when it can. The checksums find damage; they do not stop a person who means to change a kernel.
[[nodiscard]] std::string entry_distrust(const std::string& directory, EntryOwner owner);
/// Throws it as DamagedEntry.
void require_trusted_entry(const std::string& directory, EntryOwner owner);

/// meta.json of an entry. Throws DamagedEntry, UnreadableEntry, as do those that follow.
[[nodiscard]] CacheMeta read_entry_meta(const std::string& directory);

/// The binary that belongs to `meta`.
[[nodiscard]] CompiledKernel read_entry_binary(const std::string& directory, const CacheMeta& meta);

/// The kernel of an entry that must have this key; nothing when there is no entry. Reads two files.
[[nodiscard]] std::optional<CompiledKernel> load_entry(const std::string& directory, const KeyFields& wanted);

/// Makes the folder with all files of an entry, each synced if so asked. Throws std::system_error.
void write_entry(const std::string& directory, const CompiledKernel& kernel, const KeyFields& key,
                 const std::string& kernel_cu, Durability durability = Durability::synced);

/// Checks everything that can be checked without a request, kernel.cu too.
void verify_entry(const std::string& directory);

/// A use is marked where the last mark is older than that: most hits write nothing.
constexpr std::int64_t kMarkSeconds = std::int64_t{24} * 60 * 60;
/// Seconds since 1970 when meta.json was written or last marked: the last use is less than kMarkSeconds later.
[[nodiscard]] std::int64_t last_use(const std::string& directory);
/// Marks an entry whose last mark is older than kMarkSeconds; where that is not allowed, nothing happens.
void mark_used(const std::string& directory);

}  // namespace jitgemm
