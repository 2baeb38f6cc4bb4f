#pragma once

#include <functional>
#include <map>
#include <string>

namespace jitgemm {

/// The files of templates/ by name, from the time of the build. cmake/embed.cmake writes the definition.
[[nodiscard]] std::map<std::string, std::string, std::less<>> embedded_templates();

}  // namespace jitgemm
