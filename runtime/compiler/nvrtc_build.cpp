#include "runtime/compiler/nvrtc_build.hpp"

#include "runtime/support/file_descriptor.hpp"
#include "runtime/support/file_system.hpp"
#include "runtime/support/hash.hpp"
#include "runtime/support/log.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <string_view>

namespace jitgemm {
namespace {

constexpr std::size_t kMostNoteBytes = 64 << 10;

/// That many bytes of the file, or nothing.
std::optional<std::string> bytes_at(int file, std::uint64_t offset, std::size_t size) {
    std::string bytes(size, '\0');
    const ssize_t got = ::pread(file, bytes.data(), size, static_cast<off_t>(offset));
    if (got != static_cast<ssize_t>(size)) return std::nullopt;
    return bytes;
}

template <typename T>
std::optional<T> value_at(int file, std::uint64_t offset) {
    const std::optional<std::string> bytes = bytes_at(file, offset, sizeof(T));
    if (!bytes) return std::nullopt;
    T value{};
    std::memcpy(&value, bytes->data(), sizeof(T));
    return value;
}

std::string hex(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
}

std::size_t whole_words(std::size_t size) { return (size + 3) / 4 * 4; }

/// The build id among the notes of a segment; empty when it is not there.
std::string build_id_in(std::string_view notes) {
    while (notes.size() > sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr note{};
        std::memcpy(&note, notes.data(), sizeof(note));
        notes.remove_prefix(sizeof(note));
        const std::size_t name_bytes = whole_words(note.n_namesz);
        if (name_bytes > notes.size() || note.n_descsz > notes.size() - name_bytes) return {};
        const std::string_view name = notes.substr(0, note.n_namesz);
        if (note.n_type == NT_GNU_BUILD_ID && name == std::string_view(ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)))
            return hex(notes.substr(name_bytes, note.n_descsz));
        notes.remove_prefix(std::min(notes.size(), name_bytes + whole_words(note.n_descsz)));
    }
    return {};
}

std::string build_id_of(int file) {
    const std::optional<Elf64_Ehdr> header = value_at<Elf64_Ehdr>(file, 0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64)
        return {};
    for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
        const auto segment = value_at<Elf64_Phdr>(file, header->e_phoff + i * sizeof(Elf64_Phdr));
        if (!segment || segment->p_type != PT_NOTE || segment->p_filesz > kMostNoteBytes) continue;
        const std::optional<std::string> notes = bytes_at(file, segment->p_offset, segment->p_filesz);
        if (std::string id = notes ? build_id_in(*notes) : std::string(); !id.empty()) return id;
    }
    return {};
}

}  // namespace

std::string build_of_library(const std::string& path) {
    try {
        const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        if (!file) return {};
        if (std::string id = build_id_of(file.number()); !id.empty()) return id;
        const std::optional<std::string> bytes = read_file(path);
        return bytes ? hash_hex(*bytes) : std::string();
    } catch (const std::exception& error) {
        log().debug("build of {}: {}", path, error.what());
        return {};
    }
}

}  // namespace jitgemm
