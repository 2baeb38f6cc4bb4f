#pragma once

#include <string>
#include <string_view>

namespace jitgemm::cli {

/// The whole file, also of a pipe. Throws UsageError when there is none.
[[nodiscard]] std::string file_text(const std::string& path);

/// Writes beside `path` and renames, so that the file is what it was or whole; a pipe or device is written through.
void write_file(const std::string& path, std::string_view bytes);

/// Of a file to be written after minutes of measuring, before them: throws UsageError, naming the option, where it is no
/// name of a file or its folder does not exist. No file ("") is fine.
void check_output_file(std::string_view option, const std::string& file);

}  // namespace jitgemm::cli
