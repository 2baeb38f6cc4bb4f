#pragma once

#include <optional>
#include <string>
#include <vector>

namespace jitgemm {

/// The folders of PATH in their order. Empty and relative parts are left out, because they would mean the process's
/// current folder.
[[nodiscard]] std::vector<std::string> program_folders_from_environment();

/// A name with a slash is a path and is taken as it is. Any other name is looked up in the folders. Nothing if there is
/// no executable file.
[[nodiscard]] std::optional<std::string> find_program(const std::string& name, const std::vector<std::string>& folders);

}  // namespace jitgemm
