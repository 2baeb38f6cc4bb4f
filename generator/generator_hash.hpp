#pragma once

#include <string_view>

namespace jitgemm {

/// 64 hexadecimal digits for the C++ code that writes parts of a kernel (parameters, instruction wrappers, layouts),
/// from the time of the build. Together with the templates' hash they identify the text of every kernel.
/// cmake/source_hash.cmake writes the definition.
[[nodiscard]] std::string_view generator_hash();

}  // namespace jitgemm
