#pragma once

#include <string>

/// \file Whether somebody else could have put a file on disk. distrust() of file_system.hpp checks all of this for a
/// folder.

namespace jitgemm {

/// Why nobody can trust the file at `path`: every user may write to it. Empty if they may not, or if there is nothing.
[[nodiscard]] std::string open_to_all(const std::string& path);

/// "PATH belongs to user 0, not to user 1000"; empty if it is the user's, or if there is nothing.
[[nodiscard]] std::string foreign_owner(const std::string& path);

/// Why the folder is not this user's: it is no folder, or somebody else's. Empty if it is, or if there is nothing.
[[nodiscard]] std::string foreign_folder(const std::string& path);

}  // namespace jitgemm
