#pragma once

#include <string>
#include <string_view>

namespace jitgemm::cli {

/// The whole file, also of a pipe. Throws UsageError when there is none.
[[nodiscard]] std::string file_text(const std::string& path);

/// Of a file to be written after seconds of compiling or minutes of measuring, before them: throws UsageError, naming the
/// option, where it is no name of a file or cannot be written. No file ("") is fine.
void check_output_file(std::string_view option, const std::string& file);

/// Throws UsageError where two options name one file, by whatever names: the later one written would be all that is left.
void check_different(std::string_view option, const std::string& file, std::string_view other_option,
                     const std::string& other);

}  // namespace jitgemm::cli
