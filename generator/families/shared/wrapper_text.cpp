#include "generator/families/shared/wrapper_text.hpp"

#include "generator/base/packed_lines.hpp"
#include "generator/layout/bank_conflicts.hpp"

#include <fmt/format.h>

#include <utility>

namespace jitgemm {
namespace {

constexpr std::size_t kColumns = 120;

/// "{%2, %3}"
std::string operand_list(int first, int count) {
    std::string text = "{";
    for (int i = 0; i < count; ++i) text += fmt::format("{}%{}", i == 0 ? "" : ", ", first + i);
    return text + "}";
}

using Items = std::vector<std::string>;

/// "\"+f\"(c[0])", "\"+f\"(c[1])"
Items registers(std::string_view constraint, std::string_view array, int count) {
    Items items;
    for (int i = 0; i < count; ++i) items.push_back(fmt::format("\"{}\"({}[{}])", constraint, array, i));
    return items;
}

Items operator+(Items items, const Items& more) {
    items.insert(items.end(), more.begin(), more.end());
    return items;
}

constexpr std::string_view kStart = "    asm volatile(";
constexpr std::size_t kIndent = 8;

/// An asm statement laid out as clang-format does. The instruction is one string, or two where one would be long: a
/// string that doesn't fit beside "asm volatile(" has a line of its own.
std::string statement(const Items& strings, const Items& outputs, const Items& inputs, bool touches_memory) {
    const std::string clobber = touches_memory ? " : \"memory\"" : "";
    const std::string line = fmt::format("{}{} : {} : {}{});", kStart, fmt::join(strings, " "),
                                         fmt::join(outputs, ", "), fmt::join(inputs, ", "), clobber);
    if (line.size() <= kColumns) return line + '\n';
    const bool beside = strings.size() == 1 && kStart.size() + strings.front().size() <= kColumns;
    const std::size_t indent = beside ? kStart.size() : kIndent;
    const std::string spaces(indent, ' ');
    std::string text(kStart);
    if (!beside) text += '\n' + spaces;
    text += fmt::format("{}\n", fmt::join(strings, "\n" + spaces));
    text += packed_items(spaces + ": ", outputs, indent + 2, 0) + '\n';
    text += packed_items(spaces + ": ", inputs, indent + 2, touches_memory ? 0 : 2);
    return text + (touches_memory ? "\n" + spaces + ": \"memory\");\n" : ");\n");
}

// ---- wgmma ----------------------------------------------------------------------------------------------------------

/// "{%0, %1, ...}, " as string literals, each short enough for a line.
Items register_list(int count) {
    constexpr std::size_t kLongest = kColumns - kIndent - 2;
    Items lines;
    std::string line = "{";
    for (int i = 0; i < count; ++i) {
        const std::string item = fmt::format("%{}{}", i, i + 1 == count ? "}, " : ", ");
        if (line.size() + item.size() > kLongest) lines.push_back('"' + std::exchange(line, {}) + '"');
        line += item;
    }
    lines.push_back('"' + line + '"');
    return lines;
}

constexpr std::string_view kBothInShared =
    "// Both operands lie in shared memory. A matrix descriptor says where and how (PTX ISA, \"Matrix Descriptor\n"
    "// Format\").\n";
constexpr std::string_view kAInRegisters =
    "// A lies in registers, B in shared memory. B's matrix descriptor says where and how (PTX ISA, "
    "\"Matrix Descriptor\n"
    "// Format\"). Lane l of warp w holds in a[2i + h] four bytes of row 16w + l / 4 + 8h of A, from byte "
    "16i + 4(l % 4)\n"
    "// of K on.\n";

/// The comment that says which lane holds which sum. i counts groups of eight columns, h halves of 16 rows, and w warps
/// of a warpgroup, if the atom has more than one of them. A register holds one sum, or two neighbours in f16.
std::string sums_of_lane(const MmaAtom& atom) {
    const bool has_warps = atom.threads() > kWarpLanes;
    const bool has_columns = atom.shape.n > 8;
    const bool has_halves = atom.shape.m > 8;
    const bool has_pairs = bits(atom.accumulator) == 16;
    const std::string_view of_columns = !has_columns ? "" : has_pairs ? "2i + " : "4i + ";
    const std::string_view of_halves = !has_halves ? "" : has_pairs ? "h" : "2h + ";
    return fmt::format("// Lane l{} holds in c[{}{}{}] the {} of row {}l / 4{}, {} {}2(l % 4){}.\n",
                       has_warps ? " of warp w" : "", of_columns, of_halves, has_pairs ? "" : "j",
                       has_pairs ? "sums" : "sum", has_warps ? "16w + " : "", has_halves ? " + 8h" : "",
                       has_pairs ? "columns" : "column", has_columns ? "8i + " : "",
                       has_pairs ? " and the next" : " + j");
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
    const int count = atom.registers(operand);
    const std::string instruction =
        fmt::format("\"wmma.load.{}.sync.aligned.{}.{}.shared.{} {}, [%{} + %{}], %{};\"", is_a ? 'a' : 'b',
                    order_name(operand, k_major), shape_name(atom.shape), to_string(atom.type), operand_list(0, count),
                    count, count + 1, count + 2);
    return fmt::format(
               "// One fragment of {} ({} x {}), its first element kOffset bytes behind the address.\n"
               "template <int kOffset>\n"
               "__device__ __forceinline__ void load_fragment_{}(unsigned* r, unsigned address) {{\n",
               to_string(operand), is_a ? atom.shape.m : atom.shape.k, is_a ? atom.shape.k : atom.shape.n,
               is_a ? 'a' : 'b') +
           statement({instruction}, registers("=r", "r", count),
                     {"\"r\"(address)", "\"n\"(kOffset)",
                      fmt::format("\"n\"(kPitch{} / {})", to_string(operand), bits(atom.type) / 8)},
                     true) +
           "}\n";
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
    const std::string instruction = fmt::format("\"wmma.mma.sync.aligned.{}.{}.{}.{} {}, \"",
                                                order_name(Operand::a, a_k_major), order_name(Operand::b, b_k_major),
                                                shape_name(atom.shape), multiply_types(atom), operand_list(0, c));
    const std::string operands =
        fmt::format("\"{}, {}, {};\"", operand_list(c, a), operand_list(c + a, b), operand_list(0, c));
    return fmt::format(
               "// c += a * b for one fragment of {}x{}x{}.\n"
               "__device__ __forceinline__ void mma(Accumulator* c, const unsigned* a, const unsigned* b) {{\n",
               atom.shape.m, atom.shape.n, atom.shape.k) +
           statement({instruction, operands}, registers(atom.accumulator == MmaType::f16 ? "+r" : "+f", "c", c),
                     registers("r", "a", a) + registers("r", "b", b), false) +
           "}\n";
}

std::string fragment_store(const WmmaAtom& atom) {
    const int c = atom.registers(Operand::c);
    const bool beside = c <= 4;
    const std::string start =
        fmt::format("\"wmma.store.d.sync.aligned.row.{}.shared.{} [%0], {}, %{};\" ::\"r\"(address),\n",
                    shape_name(atom.shape), to_string(atom.accumulator), operand_list(1, c), c + 1);
    const std::string spaces(beside ? kStart.size() : kIndent, ' ');
    return fmt::format(
               "// One fragment of C ({} x {}) to shared memory, rows kPitchC elements apart.\n"
               "__device__ __forceinline__ void store_fragment(unsigned address, const Accumulator* c) {{\n",
               atom.shape.m, atom.shape.n) +
           std::string(kStart) + (beside ? "" : "\n" + spaces) + start +
           packed_items(spaces,
                        registers(atom.accumulator == MmaType::f16 ? "r" : "f", "c", c) + Items{"\"n\"(kPitchC)"},
                        spaces.size(), 0) +
           "\n" + spaces + ": \"memory\");\n}\n";
}

}  // namespace

std::string mma_wrapper(const MmaAtom& atom) {
    const int a = atom.registers(Operand::a);
    const int b = atom.registers(Operand::b);
    const int c = atom.registers(Operand::c);
    const std::string operands = fmt::format("{}, {}, {}, {};", operand_list(0, c), operand_list(c, a),
                                             operand_list(c + a, b), operand_list(0, c));
    Items instruction{fmt::format("\"{} {}\"", atom.ptx_name, operands)};
    if (kIndent + instruction.front().size() > kColumns)
        instruction = {fmt::format("\"{} \"", atom.ptx_name), fmt::format("\"{}\"", operands)};
    return fmt::format(
               "// c += a * b for one {0}x{1}x{2} atom.\n{3}"
               "// The PTX ISA has the elements of A and B (\"Matrix Fragments for mma.m{0}n{1}k{2}\").\n"
               "__device__ __forceinline__ void mma(Accumulator* c, const unsigned* a, const unsigned* b) {{\n",
               atom.shape.m, atom.shape.n, atom.shape.k, sums_of_lane(atom)) +
           statement(instruction, registers(atom.accumulator == MmaType::f32 ? "+f" : "+r", "c", c),
                     registers("r", "a", a) + registers("r", "b", b), false) +
           "}\n";
}

std::string ldmatrix_wrapper(Operand operand, int x, bool trans) {
    const LdmatrixAtom* atom = find_ldmatrix(x, trans);
    return fmt::format(
               "// Loads {} 8x8 matri{} of {}{}: a register each. Lane l gives the address of row l % 8 of matrix\n// "
               "l / 8.\n"
               "__device__ __forceinline__ void ldmatrix_{}(unsigned* r, unsigned address) {{\n",
               x, x == 1 ? "x" : "ces", to_string(operand), trans ? ", transposed on the way" : "",
               operand == Operand::a ? 'a' : 'b') +
           statement({fmt::format("\"{} {}, [%{}];\"", atom->ptx_name, operand_list(0, x), x)}, registers("=r", "r", x),
                     {"\"r\"(address)"}, true) +
           "}\n";
}

std::string cp_async_groups() {
    return "__device__ __forceinline__ void cp_async_commit() { asm volatile(\"cp.async.commit_group;\" ::: "
           "\"memory\"); }\n\n"
           "template <int kPending>\n"
           "__device__ __forceinline__ void cp_async_wait() {\n"
           "    asm volatile(\"cp.async.wait_group %0;\" ::\"n\"(kPending) : \"memory\");\n"
           "}\n";
}

std::string stmatrix_wrappers(const std::vector<int>& widths, bool trans, std::string_view name) {
    if (widths.empty()) return {};
    std::string text = fmt::format(
        "\n// Stores 8x8 matrices of 16-bit elements{}: each is one register of every lane. Lane l gives the address\n"
        "// of {} l % 8 of matrix l / 8.\n",
        trans ? ", transposed" : "", trans ? "column" : "row");
    for (const int x : widths) {
        Items inputs{"\"r\"(address)"};
        for (int i = 0; i < x; ++i) inputs.push_back(fmt::format("\"r\"(r[{}])", i));
        const std::string start =
            fmt::format("    asm volatile(\"stmatrix.sync.aligned.m8n8.x{}{}.shared.b16 [%0], {};\" ::", x,
                        trans ? ".trans" : "", operand_list(1, x));
        const std::size_t indent = std::string_view("    asm volatile(").size();
        const std::string statement = packed_items(start, inputs, indent, 0);
        constexpr std::size_t kLineColumns = 120;
        constexpr std::string_view kEnd = ": \"memory\");";
        const bool fits =
            statement.find('\n') == std::string::npos && statement.size() + 1 + kEnd.size() <= kLineColumns;
        text += fmt::format(
            "__device__ __forceinline__ void {}(unsigned address, const unsigned (&r)[{}]) {{\n{}{}{}\n}}\n", name, x,
            statement, fits ? " " : "\n" + std::string(indent, ' '), kEnd);
    }
    return text;
}

std::string wgmma_wrapper(const WgmmaForm& form, bool a_k_major, bool b_k_major) {
    const MmaAtom atom = wgmma_atom(form);
    const int c = atom.registers(Operand::c);
    const int a = form.a_in_registers ? atom.registers(Operand::a) : 1;  // operands of the statement
    const std::string a_text = form.a_in_registers ? operand_list(c, a) : fmt::format("%{}", c);
    // Integers have no factors of A and B.
    const std::string_view factors = atom.accumulator == MmaType::s32 ? "" : ", 1, 1";
    // Which of the operands in shared memory are transposed. Only those of 16 bits may be.
    const std::string transposes = bits(form.a) != 16    ? ""
                                   : form.a_in_registers ? fmt::format(", {:d}", !b_k_major)
                                                         : fmt::format(", {:d}, {:d}", !a_k_major, !b_k_major);
    const Items strings = Items{fmt::format("\"{{ .reg .pred add; setp.ne.b32 add, %{}, 0; \"", c + a + 1),
                                fmt::format("\"{} \"", atom.ptx_name)} +
                          register_list(c) +
                          Items{fmt::format("\"{}, %{}, add{}{}; }}\"", a_text, c + a, factors, transposes)};
    const Items a_items = form.a_in_registers ? registers("r", "a", a) : Items{"\"l\"(a)"};
    return fmt::format(
               "// c = a * b, or c += a * b if `add` is true: 64 x {} sums, {} of K.\n{}{}"
               "__device__ __forceinline__ void wgmma(Accumulator* c, {} a, unsigned long long b, bool add) {{\n",
               form.n, atom.shape.k, form.a_in_registers ? kAInRegisters : kBothInShared, sums_of_lane(atom),
               form.a_in_registers ? "const unsigned*" : "unsigned long long") +
           statement(strings, registers(atom.accumulator == MmaType::f32 ? "+f" : "+r", "c", c),
                     a_items + Items{"\"l\"(b)", "\"r\"(static_cast<int>(add))"}, false) +
           "}\n";
}

std::string wmma_wrappers(const WmmaAtom& atom, bool a_k_major, bool b_k_major) {
    return register_counts(atom) + "\n" + fragment_load(atom, Operand::a, a_k_major) + "\n" +
           fragment_load(atom, Operand::b, b_k_major) + "\n" + fragment_multiply(atom, a_k_major, b_k_major) + "\n" +
           fragment_store(atom);
}

}  // namespace jitgemm
