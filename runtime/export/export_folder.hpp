#pragma once

#include <string>
#include <utility>
#include <vector>

namespace jitgemm {

/// Names and contents, in the order in which they are written.
using ExportFiles = std::vector<std::pair<std::string, std::string>>;

/// A new folder appears whole or not at all. An existing folder keeps its mode, owner and other contents. Throws Error
/// if it is not empty (unless forced) or cannot be written.
void write_export_folder(const ExportFiles& files, const std::string& directory, bool force);

/// The names in a folder, sorted.
[[nodiscard]] std::vector<std::string> files_in(const std::string& directory);

/// Throws the errors of write_export_folder about this folder. It is called before the compile.
void require_export_folder(const std::string& directory, bool force);

}  // namespace jitgemm
