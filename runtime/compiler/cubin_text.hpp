#pragma once

#include <string>
#include <string_view>

namespace jitgemm {

/// The machine code of a cubin: what the sections `.text.<entry>` hold, and the literals the code reads from the
/// compiler's constant banks (`.nv.constant2`, `.nv.constant3`), one after the other, each with its length before it.
/// What is left out (names, debug information, the values of constants that no code reads) changes nothing that runs.
/// Throws Error for a malformed cubin, or one without code.
[[nodiscard]] std::string cubin_text(std::string_view cubin);

/// The same of PTX: the bodies of its functions with neither comments, line information nor room between words.
/// Throws Error where there is none.
[[nodiscard]] std::string ptx_text(std::string_view ptx);

}  // namespace jitgemm
