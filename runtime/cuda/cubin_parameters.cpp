#include "runtime/cuda/cubin_parameters.hpp"

#include "jitgemm/error.hpp"
#include "runtime/support/elf.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace jitgemm {
namespace {

// An attribute is a byte for its format, one for its code, and a value of two bytes: in kSizedFormat the size of what
// follows.
constexpr std::size_t kAttributeBytes = 4;
constexpr std::uint8_t kSizedFormat = 4;
// One for each parameter; the second where a kernel's parameters take more than 4 KB.
constexpr std::uint8_t kParameterInfo = 0x17;
constexpr std::uint8_t kParameterInfoV2 = 0x45;

std::uint8_t byte_at(std::string_view bytes, std::size_t at) { return static_cast<std::uint8_t>(bytes[at]); }

int parameters_of(std::string_view attributes) {
    int count = 0;
    while (attributes.size() >= kAttributeBytes) {
        const std::uint8_t code = byte_at(attributes, 1);
        if (code == kParameterInfo || code == kParameterInfoV2) ++count;
        std::size_t bytes = kAttributeBytes;
        if (byte_at(attributes, 0) == kSizedFormat) bytes += byte_at(attributes, 2) + 256U * byte_at(attributes, 3);
        if (bytes > attributes.size()) return 0;
        attributes.remove_prefix(bytes);
    }
    return count;
}

}  // namespace

int parameter_count(std::string_view cubin, std::string_view function) {
    try {
        for (const ElfSection& section : elf_sections(cubin))
            if (section.name == ".nv.info." + std::string(function)) return parameters_of(section.bytes);
    } catch (const Error&) {
        return 0;  // no ELF file: for the driver to refuse
    }
    return 0;
}

}  // namespace jitgemm
