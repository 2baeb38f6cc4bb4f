#pragma once

#include "runtime/cache/cache_key.hpp"

#include <string>
#include <string_view>

/// \file The names of everything the cache makes. A cache folder may hold other things, even be a home: what is not
/// named exactly so is somebody else's and stays untouched.

namespace jitgemm {

/// "<kernel name>-<32 hexadecimal digits>"; characters that have no place in a file name become "_".
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
/// A file in failed/: "<entry>.cu", or one of these half written.
[[nodiscard]] bool is_failed_source_name(std::string_view text);
/// A version record (nvrtc_record.hpp): "nvrtc-<16 digits>.json", or one half written.
[[nodiscard]] bool is_record_name(std::string_view text);

/// A file in compilers/: "<NVRTC version>-<build>".
[[nodiscard]] std::string compiler_name(int nvrtc_version, std::string_view build);
struct NamedCompiler {
    int nvrtc_version = 0;  ///< 0: the name is no compiler's
    std::string build;
};
[[nodiscard]] NamedCompiler parse_compiler_name(std::string_view text);

}  // namespace jitgemm
