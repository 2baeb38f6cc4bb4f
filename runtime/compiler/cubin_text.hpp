#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// A section of an ELF file; both views are into the file.
struct ElfSection {
    std::string_view name;
    std::string_view bytes;  ///< empty for a section without contents in the file (NOBITS)
};

/// All sections of a 64-bit little-endian ELF file, in their order. Throws Error saying what is wrong with a file
/// that is none, or whose tables and sections do not lie within it.
[[nodiscard]] std::vector<ElfSection> elf_sections(std::string_view file);

/// The machine code of a cubin: what the sections `.text.<entry>` hold, and the literals the code reads from the
/// compiler's constant banks (`.nv.constant2`, `.nv.constant3`), one after the other, each with its length before it.
/// What is left out (names, debug information, the values of constants that no code reads) changes nothing that runs.
/// Throws Error for a malformed cubin, or one without code.
[[nodiscard]] std::string cubin_text(std::string_view cubin);

/// The same of PTX: the bodies of its functions with neither comments, line information nor room between words.
/// Throws Error where there is none.
[[nodiscard]] std::string ptx_text(std::string_view ptx);

}  // namespace jitgemm
