#pragma once

#include <string_view>
#include <vector>

namespace jitgemm {

/// A section of an ELF file. Both views point into the file.
struct ElfSection {
    std::string_view name;
    std::string_view bytes;  ///< empty for a section without contents in the file (NOBITS)
};

/// All sections of a 64-bit little-endian ELF file, in their order. Throws Error with the flaw of any other file, or if
/// tables or sections do not lie within the file.
[[nodiscard]] std::vector<ElfSection> elf_sections(std::string_view file);

}  // namespace jitgemm
