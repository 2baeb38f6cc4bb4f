#pragma once

#include <string_view>

namespace jitgemm {

/// How many parameters a kernel has by the section `.nv.info.<function>` of its cubin. 0 where that names none, and for
/// a file that is no cubin: nothing is known then. The driver tells the size of a parameter of a given index, but not
/// how many there are.
[[nodiscard]] int parameter_count(std::string_view cubin, std::string_view function);

}  // namespace jitgemm
