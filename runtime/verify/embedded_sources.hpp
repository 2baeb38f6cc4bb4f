#pragma once

#include <functional>
#include <map>
#include <string>

namespace jitgemm {

/// The .cu and .cuh files of runtime/ by name ("reference_kernels.cu"), from the time of the build. cmake/embed.cmake
/// writes the definition.
[[nodiscard]] std::map<std::string, std::string, std::less<>> embedded_sources();

}  // namespace jitgemm
