#include "runtime/compiler/cubin_text.hpp"

#include "jitgemm/error.hpp"
#include "runtime/cuda/cubin_parameters.hpp"
#include "runtime/support/elf.hpp"
#include "tests/catch.hpp"

#include <elf.h>

#include <cstring>
#include <random>
#include <vector>

using namespace jitgemm;

namespace {

struct Part {
    std::string name;
    std::string bytes;
    Elf64_Word type = SHT_PROGBITS;
};

template <typename Header>
void put(std::string& file, std::size_t offset, const Header& header) {
    std::memcpy(file.data() + offset, &header, sizeof header);
}

/// An ELF file with these sections, a null section before them and their names behind: header, contents, section
/// headers, written here by the ELF specification alone.
std::string make_elf(std::vector<Part> parts) {
    parts.insert(parts.begin(), Part{"", "", SHT_NULL});
    parts.push_back({".shstrtab", "", SHT_STRTAB});
    std::string names;
    std::vector<Elf64_Shdr> headers;
    for (const Part& part : parts) {
        Elf64_Shdr header{};
        header.sh_name = static_cast<Elf64_Word>(names.size());
        header.sh_type = part.type;
        headers.push_back(header);
        names += part.name + '\0';
    }
    parts.back().bytes = names;
    std::string file(sizeof(Elf64_Ehdr), '\0');
    for (std::size_t i = 0; i < parts.size(); ++i) {
        headers[i].sh_offset = file.size();
        headers[i].sh_size = parts[i].bytes.size();
        file += parts[i].bytes;
    }
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_shoff = file.size();
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<Elf64_Half>(parts.size());
    header.e_shstrndx = static_cast<Elf64_Half>(parts.size() - 1);
    put(file, 0, header);
    for (const Elf64_Shdr& section : headers) {
        file.resize(file.size() + sizeof section);
        put(file, file.size() - sizeof section, section);
    }
    return file;
}

Elf64_Ehdr header_of(const std::string& file) {
    Elf64_Ehdr header;
    std::memcpy(&header, file.data(), sizeof header);
    return header;
}

}  // namespace

TEST_CASE("the sections of an ELF file are found by name") {
    const std::string file = make_elf({{".text.gemm", "code"}, {".nv.info", "facts"}});
    const std::vector<ElfSection> sections = elf_sections(file);
    REQUIRE(sections.size() == 4);
    CHECK(sections[1].name == ".text.gemm");
    CHECK(sections[1].bytes == "code");
    CHECK(sections[2].bytes == "facts");
}

TEST_CASE("the text of a cubin is its code and literals alone") {
    const std::string text = cubin_text(make_elf({{".text.gemm", "code"}, {".nv.info", "one"}}));
    CHECK(text == cubin_text(make_elf({{".nv.info", "another"}, {".debug", "x"}, {".text.reduce", "code"}})));
    CHECK(text != cubin_text(make_elf({{".text.gemm", "Code"}})));
    CHECK(text != cubin_text(make_elf({{".text.gemm", "code"}, {".nv.constant2.gemm", "pi"}})));
    // Two entries are not one with the same bytes.
    CHECK(cubin_text(make_elf({{".text.a", "co"}, {".text.b", "de"}})) != text);
}

TEST_CASE("a section without contents in the file may say any size") {
    std::string file = make_elf({{".text.gemm", "code"}, {".nv.shared", "", SHT_NOBITS}});
    const std::size_t size_at = header_of(file).e_shoff + 2 * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_size);
    put(file, size_at, std::uint64_t{1} << 60U);
    CHECK_NOTHROW(cubin_text(file));
}

TEST_CASE("malformed ELF files are errors that say what is wrong") {
    const std::string good = make_elf({{".text.gemm", "code"}});
    const auto refused = [](const std::string& file, const std::string& why) {
        CHECK_THROWS_WITH(cubin_text(file), Catch::Matchers::ContainsSubstring(why));
    };
    refused("", "a header of 64 bytes at 0 in a file of 0");
    refused("#include <cuda.h> and so on, long enough for a header of sixty-four bytes", "does not begin as one");
    refused(make_elf({{".data", "no code"}}), "without code");

    Elf64_Ehdr header = header_of(good);
    std::string file = good;
    header.e_shoff = ~std::uint64_t{0} - 10;  // wraps around when sizes are added without care
    put(file, 0, header);
    refused(file, "section headers");

    header = header_of(good);
    header.e_shstrndx = 77;
    put(file, 0, header);
    refused(file, "no section with names");

    file = good;
    put(file, header_of(good).e_shoff + sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_offset), ~std::uint64_t{0});
    refused(file, "a section of 4 bytes");
}

TEST_CASE("no truncation and no flipped byte reads outside the file") {
    const std::string good = make_elf({{".text.gemm", "some code"}, {".nv.constant2", "2.5"}});
    const auto survives = [](const std::string& file) {
        try {
            static_cast<void>(cubin_text(file));
        } catch (const Error&) {
        }
    };
    for (std::size_t size = 0; size < good.size(); ++size) survives(good.substr(0, size));
    std::mt19937 random(7);
    for (int i = 0; i < 20000; ++i) {
        std::string file = good;
        for (int flips = 0; flips < 3; ++flips) file[random() % file.size()] = static_cast<char>(random());
        survives(file);
    }
}

TEST_CASE("the text of PTX is its instructions alone") {
    const char* const plain =
        ".version 9.0\n.visible .entry gemm(.param .u64 p)\n{\n  ld.param.u64 %rd1, [p];\n  ret;\n}\n";
    const char* const noisy =
        "// made by X\n.version 9.0\n.global .align 4 .b8 kTable[2] = {1, 2};\n.file 1 \"kernel.cu\"\n"
        ".visible .entry gemm(.param .u64 p)\n{\n\t.loc 1 3 0 /* why { */\n\tld.param.u64 \t%rd1, [p]; // p\n "
        "ret;\n\n}\n"
        ".section .debug_str {\n.b8 1\n}\n";
    CHECK(ptx_text(plain) == ptx_text(noisy));
    std::string other = plain;
    other.replace(other.find("%rd1"), 4, "%rd2");
    CHECK(ptx_text(plain) != ptx_text(other));
    CHECK_THROWS_AS(ptx_text(".version 9.0\n"), Error);
    CHECK_THROWS_AS(ptx_text(".entry gemm() { ret;"), Error);
}

TEST_CASE("what a cubin says of a kernel's parameters is counted, and damage says nothing") {
    using namespace std::string_literals;
    const std::string sized = "\x04\x0a\x08\x00\x06\x00\x00\x00\x60\x01\xe0\x00"s;
    const std::string total = "\x03\x19\x18\x00"s;
    const std::string parameter = "\x04\x17\x0c\x00"s + std::string(12, '\x17');
    const std::string long_parameter = "\x04\x45\x0c\x00"s + std::string(12, '\x45');
    const auto count = [](const std::string& attributes) {
        return parameter_count(make_elf({{".nv.info", "\x04\x17"}, {".nv.info.gemm", attributes}}), "gemm");
    };
    CHECK(count("") == 0);
    CHECK(count(sized + total) == 0);
    CHECK(count(sized + total + parameter) == 1);
    CHECK(count(parameter + total + long_parameter + sized + parameter) == 3);
    CHECK(count(parameter + "\x04\x17\xff\xff"s) == 0);
    CHECK(count(parameter + "\x04"s) == 1);
    CHECK(parameter_count(make_elf({{".nv.info.other", parameter}}), "gemm") == 0);
    CHECK(parameter_count("no ELF file", "gemm") == 0);
}
