#include "generator/families/wrapper_text.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

/// "{%2, %3}"
std::string operand_list(int first, int count) {
    std::string text = "{";
    for (int i = 0; i < count; ++i) text += fmt::format("{}%{}", i == 0 ? "" : ", ", first + i);
    return text + "}";
}

/// "\"+f\"(c[0]), \"+f\"(c[1])"
std::string constraint_list(std::string_view constraint, std::string_view array, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += fmt::format("{}\"{}\"({}[{}])", i == 0 ? "" : ", ", constraint, array, i);
    return text;
}

}  // namespace

std::string mma_wrapper(const MmaAtom& atom) {
    const int a = atom.registers(Operand::a);
    const int b = atom.registers(Operand::b);
    const int c = atom.registers(Operand::c);
    const std::string_view kind = atom.accumulator == MmaType::f16 ? "+r" : "+f";
    return fmt::format(
        "// c += a * b for one {}x{}x{} atom; which lane holds which element: {} in the instruction table.\n"
        "__device__ __forceinline__ void mma(Accumulator* c, const unsigned* a, const unsigned* b) {{\n"
        "    asm volatile(\"{} {}, {}, {}, {};\"\n"
        "                 : {}\n"
        "                 : {}, {});\n"
        "}}\n",
        atom.shape.m, atom.shape.n, atom.shape.k, atom.cute_name, atom.ptx_name, operand_list(0, c), operand_list(c, a),
        operand_list(c + a, b), operand_list(0, c), constraint_list(kind, "c", c), constraint_list("r", "a", a),
        constraint_list("r", "b", b));
}

std::string ldmatrix_wrapper(Operand operand, int x, bool trans) {
    const LdmatrixAtom* atom = find_ldmatrix(x, trans);
    const char letter = operand == Operand::a ? 'a' : 'b';
    return fmt::format(
        "// {} 8x8 matri{} of {}{}, a register each; lane l gives the address of row l % 8 of matrix l / 8.\n"
        "__device__ __forceinline__ void ldmatrix_{}(unsigned* r, unsigned address) {{\n"
        "    asm volatile(\"{} {}, [%{}];\"\n"
        "                 : {}\n"
        "                 : \"r\"(address)\n"
        "                 : \"memory\");\n"
        "}}\n",
        x, x == 1 ? "x" : "ces", to_string(operand), trans ? ", transposed on the way" : "", letter, atom->ptx_name,
        operand_list(0, x), x, constraint_list("=r", "r", x));
}

}  // namespace jitgemm
