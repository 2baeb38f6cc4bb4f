#include "runtime/support/elf.hpp"

#include "jitgemm/error.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstring>

namespace jitgemm {
namespace {

/// `count` bytes at `offset`; both come from the file and may be anything.
std::string_view slice(std::string_view file, std::uint64_t offset, std::uint64_t count, std::string_view what) {
    if (offset <= file.size() && count <= file.size() - offset) return file.substr(offset, count);
    throw Error(
        fmt::format("malformed ELF file: {} of {} bytes at {} in a file of {}", what, count, offset, file.size()));
}

template <typename Header>
Header read_header(std::string_view file, std::uint64_t offset, std::string_view what) {
    Header header;
    const std::string_view bytes = slice(file, offset, sizeof header, what);
    std::memcpy(&header, bytes.data(), bytes.size());
    return header;
}

Elf64_Ehdr file_header(std::string_view file) {
    const auto header = read_header<Elf64_Ehdr>(file, 0, "a header");
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) throw Error("malformed ELF file: it does not begin as one");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
        throw Error("malformed ELF file: not 64-bit little-endian");
    if (header.e_shentsize != sizeof(Elf64_Shdr))
        throw Error(fmt::format("malformed ELF file: section headers of {} bytes", header.e_shentsize));
    return header;
}

std::vector<Elf64_Shdr> section_headers(std::string_view file, const Elf64_Ehdr& header) {
    static_cast<void>(
        slice(file, header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr), "section headers"));
    std::vector<Elf64_Shdr> sections;
    for (std::uint64_t i = 0; i < header.e_shnum; ++i)
        sections.push_back(read_header<Elf64_Shdr>(file, header.e_shoff + i * sizeof(Elf64_Shdr), "a section header"));
    return sections;
}

std::string_view contents(std::string_view file, const Elf64_Shdr& section) {
    if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL) return {};
    return slice(file, section.sh_offset, section.sh_size, "a section");
}

std::string_view name_at(std::string_view names, std::uint64_t offset) {
    const std::size_t end = offset < names.size() ? names.find('\0', offset) : std::string_view::npos;
    if (end == std::string_view::npos) throw Error(fmt::format("malformed ELF file: a section's name at {}", offset));
    return names.substr(offset, end - offset);
}

}  // namespace

std::vector<ElfSection> elf_sections(std::string_view file) {
    const Elf64_Ehdr header = file_header(file);
    const std::vector<Elf64_Shdr> headers = section_headers(file, header);
    if (header.e_shstrndx >= headers.size()) throw Error("malformed ELF file: no section with names");
    const std::string_view names = contents(file, headers[header.e_shstrndx]);
    std::vector<ElfSection> sections;
    for (const Elf64_Shdr& section : headers)
        sections.push_back({name_at(names, section.sh_name), contents(file, section)});
    return sections;
}

}  // namespace jitgemm
