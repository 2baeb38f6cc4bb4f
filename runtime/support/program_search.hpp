#pragma once

#include <optional>
#include <string>
#include <vector>

namespace jitgemm {

/// The folders of PATH in their order. Empty and relative parts are left out: they stand for whatever folder the
/// process is in, and a program that lies there is nobody's choice.
[[nodiscard]] std::vector<std::string> program_folders_from_environment();

/// A name with a slash is a path, and stands for itself. Another one is looked up in the folders. Nothing when no
/// executable file is there.
[[nodiscard]] std::optional<std::string> find_program(const std::string& name, const std::vector<std::string>& folders);

}  // namespace jitgemm
