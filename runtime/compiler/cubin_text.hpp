#pragma once

#include <string>
#include <string_view>

namespace jitgemm {

/// The machine code of a cubin: the contents of the sections `.text.<entry>`, and the literals that the code reads from
/// the compiler's constant banks (`.nv.constant2`, `.nv.constant3`), one after the other, each after its length. Names,
/// debug information and constants that no code reads are left out: they change nothing that runs. Throws Error for a
/// malformed cubin, or one without code.
[[nodiscard]] std::string cubin_text(std::string_view cubin);

/// The same for PTX: the bodies of its functions without comments, line information and extra space. Throws Error if
/// there is none.
[[nodiscard]] std::string ptx_text(std::string_view ptx);

}  // namespace jitgemm
