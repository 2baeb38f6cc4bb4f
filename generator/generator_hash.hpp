#pragma once

#include <string_view>

namespace jitgemm {

/// 64 hexadecimal digits for the C++ that writes parts of a kernel (parameters, instruction wrappers, layouts), as it
/// was when the library was built: with the hash of the templates it stands for the text of every kernel
/// (cmake/source_hash.cmake writes the definition).
[[nodiscard]] std::string_view generator_hash();

}  // namespace jitgemm
