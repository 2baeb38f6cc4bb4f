#pragma once

#include "runtime/cache/cache_key.hpp"

#include <string>
#include <string_view>

/// \file The names of everything that the cache makes. A cache folder may hold other things, and may even be a home
/// folder. A file with another name belongs to somebody else and stays untouched.

namespace jitgemm {

/// "<kernel name>-<32 hexadecimal digits>". Characters that a file name cannot have become "_".
[[nodiscard]] std::string entry_name(const std::string& kernel_name, const KeyFields& key);
/// The part before the key.
[[nodiscard]] std::string entry_prefix(const std::string& kernel_name);
[[nodiscard]] bool is_entry_name(std::string_view text);
/// The last 32 digits of an entry's name.
[[nodiscard]] std::string_view key_in_entry_name(std::string_view entry);

/// A file in locks/: the 32 digits of a key.
[[nodiscard]] bool is_lock_name(std::string_view text);
/// A folder in tmp/: "<key>-<16 digits>".
[[nodiscard]] bool is_temporary_name(std::string_view text);
/// A file in failed/: "<entry>.cu", or a half-written one.
[[nodiscard]] bool is_failed_source_name(std::string_view text);
/// A version record (nvrtc_record.hpp): "nvrtc-<16 digits>.json", or a half-written one.
[[nodiscard]] bool is_record_name(std::string_view text);

/// A file in compilers/: "<NVRTC version>-<build>".
[[nodiscard]] std::string compiler_name(int nvrtc_version, std::string_view build);
struct NamedCompiler {
    int nvrtc_version = 0;  ///< 0: the name is not a compiler's
    std::string build;
};
[[nodiscard]] NamedCompiler parse_compiler_name(std::string_view text);

}  // namespace jitgemm
