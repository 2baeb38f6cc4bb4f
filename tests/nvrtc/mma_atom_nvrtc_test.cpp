// Every name in the instruction table is an instruction, from its first architecture on, with as many registers as the
// layouts say: the assembler is asked.

#include "generator/layout/mma_atom.hpp"
#include "generator/layout/wgmma_atom.hpp"
#include "runtime/compiler/nvrtc.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

using namespace jitgemm;

namespace {

constexpr int kFirstA = 128, kFirstB = 144;  // registers of one kind; C's come first

/// "{%r0,%r1}"
std::string registers(char kind, int count, int first) {
    std::string text = "{";
    for (int i = 0; i < count; ++i) text += fmt::format("{}%{}{}", i == 0 ? "" : ",", kind, first + i);
    return text + "}";
}

std::string mma_text(const MmaAtom& atom) {
    const bool doubles = atom.a == MmaType::f64;
    const char operand = doubles ? 'd' : 'r';
    const char sum = doubles ? 'd' : atom.accumulator == MmaType::f32 ? 'f' : 'r';
    const auto count = [&](Operand of) { return atom.registers(of) / (doubles ? 2 : 1); };
    const std::string c = registers(sum, count(Operand::c), 0);
    return fmt::format("{} {}, {}, {}, {};", atom.ptx_name, c, registers(operand, count(Operand::a), kFirstA),
                       registers(operand, count(Operand::b), kFirstB), c);
}

std::string wgmma_text(const MmaAtom& atom) {
    std::string immediates = atom.accumulator == MmaType::s32 ? "" : ", 1, 1";
    if (bits(atom.a) == 16) immediates += atom.a_in_shared ? ", 0, 0" : ", 0";
    return fmt::format("{} {}, {}, %l1, %p{};", atom.ptx_name,
                       registers(atom.accumulator == MmaType::f32 ? 'f' : 'r', atom.registers(Operand::c), 0),
                       atom.a_in_shared ? "%l0" : registers('r', atom.registers(Operand::a), kFirstA), immediates);
}

std::string kernel_text(const std::vector<std::string>& instructions) {
    std::string body;
    for (const std::string& instruction : instructions) body += fmt::format("        \"{}\\n\"\n", instruction);
    return fmt::format(
        "extern \"C\" __global__ void all() {{\n    asm volatile(\"{{ .reg .b32 %r<160>; .reg .f32 %f<128>; .reg "
        ".f64 "
        "%d<160>; .reg .b64 %l<2>; .reg .pred %p;\\n\"\n{}        \"}}\");\n}}\n",
        body);
}

NvrtcOutput assemble(const std::vector<std::string>& instructions, std::string_view arch) {
    static const auto nvrtc = Nvrtc::load(Options::from_environment());
    return nvrtc->compile(kernel_text(instructions), "all.cu", {"--gpu-architecture=" + std::string(arch)});
}

/// Not assembled, and not because it was written wrongly.
bool refused(const std::string& instruction, std::string_view arch) {
    const NvrtcOutput output = assemble({instruction}, arch);
    return !output.ok && output.log.find("syntax error") == std::string::npos;
}

std::vector<std::string> instructions_from(int compute_capability) {
    std::vector<std::string> texts;
    for (const MmaAtom& atom : mma_atom_table()) {
        if (atom.first_compute_capability == compute_capability) texts.push_back(mma_text(atom));
    }
    return texts;
}

}  // namespace

TEST_CASE("every mma.sync assembles for its first architecture") {
    for (const auto& [capability, arch] : {std::pair{75, "sm_75"}, {80, "sm_80"}, {89, "sm_89"}, {90, "sm_90"}}) {
        const std::vector<std::string> instructions = instructions_from(capability);
        REQUIRE(!instructions.empty());
        const NvrtcOutput output = assemble(instructions, arch);
        INFO(arch << ": " << output.log);
        CHECK(output.ok);
    }
}

TEST_CASE("no mma.sync assembles for the architecture before its first") {
    for (const auto& [capability, arch] : {std::pair{80, "sm_75"}, {89, "sm_86"}, {90, "sm_89"}}) {
        for (const std::string& instruction : instructions_from(capability)) {
            INFO(arch << ": " << instruction);
            CHECK(refused(instruction, arch));
        }
    }
}

TEST_CASE("every wgmma up to N = 64 and the largest assemble for sm_90a, and not for sm_90") {
    std::vector<std::string> instructions;
    for (const WgmmaForm& form : wgmma_forms()) {
        if (form.n <= 64 || form.n == 256) instructions.push_back(wgmma_text(wgmma_atom(form)));
    }
    const NvrtcOutput output = assemble(instructions, "sm_90a");
    INFO(output.log);
    CHECK(output.ok);
    CHECK(refused(instructions.front(), "sm_90"));
    const WgmmaForm odd{40, MmaType::s8, MmaType::s8, MmaType::s32, false, false};
    CHECK(refused(wgmma_text(wgmma_atom(odd)), "sm_90a"));
}
