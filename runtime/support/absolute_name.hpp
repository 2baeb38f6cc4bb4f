#pragma once

#include <string>

namespace jitgemm {

/// A path from the root, so that a later chdir does not change it. An empty one stays empty.
[[nodiscard]] std::string absolute_path(const std::string& path);

/// The same for a program or a library. A name without a slash stays: PATH or the linker's search leads to it.
[[nodiscard]] std::string absolute_unless_bare(const std::string& name);

/// Replaces the `~` of `~` and `~/...` by the home folder. A shell does that; a Dockerfile or a program's text does
/// not.
[[nodiscard]] std::string with_home(const std::string& path);

}  // namespace jitgemm
