#pragma once

#include "generator/error.hpp"
#include "runtime/cache_meta.hpp"
#include "runtime/file_system.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace jitgemm {

/// An entry that is there but must not be used; what() says why.
class DamagedEntry : public Error {
public:
    using Error::Error;
};

/// "<kernel name>-<32 hexadecimal digits>"; characters that have no place in a file name become "_".
[[nodiscard]] std::string entry_name(const std::string& kernel_name, const KeyFields& key);
/// The part before the key.
[[nodiscard]] std::string entry_prefix(const std::string& kernel_name);
[[nodiscard]] bool is_entry_name(std::string_view text);
/// The last 32 digits of an entry's name.
[[nodiscard]] std::string_view key_in_entry_name(std::string_view entry);

/// meta.json of an entry. Throws DamagedEntry.
[[nodiscard]] CacheMeta read_entry_meta(const std::string& directory);

/// The binary that belongs to `meta`. Throws DamagedEntry.
[[nodiscard]] CompiledKernel read_entry_binary(const std::string& directory, const CacheMeta& meta);

/// The kernel of an entry that must have this key; nothing when there is no entry. Reads two files. Throws
/// DamagedEntry.
[[nodiscard]] std::optional<CompiledKernel> load_entry(const std::string& directory, const KeyFields& wanted);

/// Makes the folder with all files of an entry, each synced if so asked. Throws std::system_error.
void write_entry(const std::string& directory, const CompiledKernel& kernel, const KeyFields& key,
                 const std::string& kernel_cu, Durability durability = Durability::synced);

/// Checks everything that can be checked without a request, kernel.cu too. Throws DamagedEntry.
void verify_entry(const std::string& directory);

}  // namespace jitgemm
