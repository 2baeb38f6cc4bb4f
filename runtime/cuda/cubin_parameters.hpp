#pragma once

#include <string_view>

namespace jitgemm {

/// The number of a kernel's parameters, from the section `.nv.info.<function>` of its cubin. 0 if it is not known: the
/// section has none, or the file is not a cubin. The driver only tells the size of a parameter of a given index.
[[nodiscard]] int parameter_count(std::string_view cubin, std::string_view function);

}  // namespace jitgemm
