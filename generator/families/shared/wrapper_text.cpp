#include "generator/families/shared/wrapper_text.hpp"

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

// ---- wmma -----------------------------------------------------------------------------------------------------------

std::string shape_name(const TileShape& shape) { return fmt::format("m{}n{}k{}", shape.m, shape.n, shape.k); }

/// "row" or "col", as wmma calls the order of a matrix in memory: A is m × k, B is k × n.
std::string_view order_name(Operand operand, bool k_major) {
    return (operand == Operand::a) == k_major ? "row" : "col";
}

std::string register_counts(const WmmaAtom& atom) {
    return fmt::format(
        "// 32-bit registers of a lane for one fragment of A, B and C; which elements they hold is left to the "
        "hardware.\n"
        "constexpr int kRegistersA = {};\nconstexpr int kRegistersB = {};\nconstexpr int kRegistersC = {};\n",
        atom.registers(Operand::a), atom.registers(Operand::b), atom.registers(Operand::c));
}

std::string fragment_load(const WmmaAtom& atom, Operand operand, bool k_major) {
    const bool is_a = operand == Operand::a;
    const int registers = atom.registers(operand);
    return fmt::format(
        "// One fragment of {0} ({1} x {2}), its first element kOffset bytes behind the address.\n"
        "template <int kOffset>\n"
        "__device__ __forceinline__ void load_fragment_{3}(unsigned* r, unsigned address) {{\n"
        "    asm volatile(\"wmma.load.{3}.sync.aligned.{4}.{5}.shared.{6} {7}, [%{8} + %{9}], %{10};\"\n"
        "                 : {11}\n"
        "                 : \"r\"(address), \"n\"(kOffset), \"n\"(kPitch{0} / 2)\n"
        "                 : \"memory\");\n"
        "}}\n",
        to_string(operand), is_a ? atom.shape.m : atom.shape.k, is_a ? atom.shape.k : atom.shape.n, is_a ? 'a' : 'b',
        order_name(operand, k_major), shape_name(atom.shape), to_string(atom.type), operand_list(0, registers),
        registers, registers + 1, registers + 2, constraint_list("=r", "r", registers));
}

/// ".f16.f16" of f16 products, ".f32.bf16.bf16.f32" of others: d and c, or all four types.
std::string multiply_types(const WmmaAtom& atom) {
    const std::string_view sum = to_string(atom.accumulator);
    if (atom.type == MmaType::f16) return fmt::format("{}.{}", sum, sum);
    return fmt::format("{}.{}.{}.{}", sum, to_string(atom.type), to_string(atom.type), sum);
}

std::string fragment_multiply(const WmmaAtom& atom, bool a_k_major, bool b_k_major) {
    const int a = atom.registers(Operand::a);
    const int b = atom.registers(Operand::b);
    const int c = atom.registers(Operand::c);
    return fmt::format(
        "// c += a * b for one fragment of {}x{}x{}.\n"
        "__device__ __forceinline__ void mma(Accumulator* c, const unsigned* a, const unsigned* b) {{\n"
        "    asm volatile(\"wmma.mma.sync.aligned.{}.{}.{}.{} {}, \"\n"
        "                 \"{}, {}, {};\"\n"
        "                 : {}\n"
        "                 : {},\n"
        "                   {});\n"
        "}}\n",
        atom.shape.m, atom.shape.n, atom.shape.k, order_name(Operand::a, a_k_major), order_name(Operand::b, b_k_major),
        shape_name(atom.shape), multiply_types(atom), operand_list(0, c), operand_list(c, a), operand_list(c + a, b),
        operand_list(0, c), constraint_list(atom.accumulator == MmaType::f16 ? "+r" : "+f", "c", c),
        constraint_list("r", "a", a), constraint_list("r", "b", b));
}

std::string fragment_store(const WmmaAtom& atom) {
    const int c = atom.registers(Operand::c);
    return fmt::format(
        "// One fragment of C ({} x {}) to shared memory, rows kPitchC elements apart.\n"
        "__device__ __forceinline__ void store_fragment(unsigned address, const Accumulator* c) {{\n"
        "    asm volatile(\"wmma.store.d.sync.aligned.row.{}.shared.{} [%0], {}, %{};\"\n"
        "                 ::\"r\"(address), {}, \"n\"(kPitchC)\n"
        "                 : \"memory\");\n"
        "}}\n",
        atom.shape.m, atom.shape.n, shape_name(atom.shape), to_string(atom.accumulator), operand_list(1, c), c + 1,
        constraint_list(atom.accumulator == MmaType::f16 ? "r" : "f", "c", c));
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

std::string wmma_wrappers(const WmmaAtom& atom, bool a_k_major, bool b_k_major) {
    return register_counts(atom) + "\n" + fragment_load(atom, Operand::a, a_k_major) + "\n" +
           fragment_load(atom, Operand::b, b_k_major) + "\n" + fragment_multiply(atom, a_k_major, b_k_major) + "\n" +
           fragment_store(atom);
}

}  // namespace jitgemm
