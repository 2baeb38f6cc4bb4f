#pragma once

#include <functional>
#include <map>
#include <string>

namespace jitgemm {

/// The files of templates/ by name, as they were when the library was built (cmake/embed.cmake writes the definition).
[[nodiscard]] std::map<std::string, std::string, std::less<>> embedded_templates();

}  // namespace jitgemm
