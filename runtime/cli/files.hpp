#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace jitgemm::cli {

/// Most bytes of a text that is read: a device and some pipes never end.
inline constexpr std::size_t kMostTextBytes = std::size_t{64} << 20U;

/// Throws UsageError naming the file, and the line of a NUL byte, where a text is no UTF-8.
void check_encoding(std::string_view text, const std::string& name);

/// The whole text of a file, pipe or device, which should be `kind` ("shape file"). Throws UsageError when there is
/// none, when it is longer than kMostTextBytes, or when it does not begin as a text does.
[[nodiscard]] std::string file_text(const std::string& path, std::string_view kind);

/// Of a file to be written after seconds of compiling or minutes of measuring, before them: throws UsageError, naming
/// the option, where it is no name of a file or cannot be written. No file ("") is fine.
void check_output_file(std::string_view option, const std::string& file);

/// The same of a file without an option: `word` is what the help calls it.
void check_named_output_file(std::string_view word, const std::string& file);

/// Throws UsageError where two options name one file, by whatever names: the later one written would be all that is
/// left.
void check_different(std::string_view option, const std::string& file, std::string_view other_option,
                     const std::string& other);

}  // namespace jitgemm::cli
