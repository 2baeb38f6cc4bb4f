#pragma once

#include <string>

namespace jitgemm {

/// A path as it is from the root, so that a later chdir does not move it. An empty one stays.
[[nodiscard]] std::string absolute_path(const std::string& path);

/// The same of a program or a library, but for a name without a slash: PATH or the linker's search leads to it.
[[nodiscard]] std::string absolute_unless_bare(const std::string& name);

/// `~` and `~/...` with the home folder in its place. A shell does that; a Dockerfile or a program's text does not.
[[nodiscard]] std::string with_home(const std::string& path);

}  // namespace jitgemm
