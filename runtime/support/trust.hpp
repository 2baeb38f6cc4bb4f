#pragma once

#include <string>

/// \file Whether what lies on disk can have been put there by somebody else. distrust() of file_system.hpp asks all of
/// it about a folder.

namespace jitgemm {

/// Why nobody can trust what is at `path`: every user may write to it. Empty when they may not, or it is not there.
[[nodiscard]] std::string open_to_all(const std::string& path);

/// "PATH belongs to user 0, not to user 1000"; empty when it is the user's, or is not there.
[[nodiscard]] std::string foreign_owner(const std::string& path);

/// Why the folder is not this user's: it is no folder, or someone else's. Empty when it is, or is not there.
[[nodiscard]] std::string foreign_folder(const std::string& path);

}  // namespace jitgemm
