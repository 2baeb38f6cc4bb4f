#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace jitgemm::cli {

/// Most bytes of a text that is read, because devices and some pipes never end.
inline constexpr std::size_t kMostTextBytes = std::size_t{64} << 20U;

/// Throws UsageError if a text is not UTF-8, with the file, or with the line of a NUL byte.
void check_encoding(std::string_view text, const std::string& name);

/// The whole text of a file, pipe or device, which should be a `kind` ("shape file"). Throws UsageError if there is
/// none, if it is longer than kMostTextBytes, or if its beginning is not text.
[[nodiscard]] std::string file_text(const std::string& path, std::string_view kind);

/// Checks a file before long work whose result it takes. Throws UsageError with the option if the name is not a file's
/// or if the file cannot be written. No file ("") is fine.
void check_output_file(std::string_view option, const std::string& file);

/// The same for a file without an option. `word` is its name in the help.
void check_named_output_file(std::string_view word, const std::string& file);

/// Throws UsageError if two options name one file, under any names, because the later one would overwrite the other.
void check_different(std::string_view option, const std::string& file, std::string_view other_option,
                     const std::string& other);

}  // namespace jitgemm::cli
