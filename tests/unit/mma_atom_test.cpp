#include "generator/layout/mma_atom.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <cctype>
#include <set>
#include <string>

using namespace jitgemm;

namespace {

constexpr Operand kOperands[] = {Operand::a, Operand::b, Operand::c};

/// The element of a thread's register, as the PTX ISA's "Matrix Fragments for mma.m16n8k8 / m16n8k16" give it for 16-bit
/// operands: groupID = lane >> 2, threadID_in_group = lane % 4. Written down apart from the table under test.
Coordinate published(Operand operand, int k, int lane, int value) {
    const int group = lane >> 2;
    const int in_group = lane & 3;
    const int element = value & 1;
    const int register_index = value >> 1;
    switch (operand) {
        case Operand::a:
            if (k == 8) return {group + 8 * register_index, 2 * in_group + element};
            return {group + 8 * (register_index & 1), 2 * in_group + element + 8 * (register_index >> 1)};
        case Operand::b: return {group, 2 * in_group + element + 8 * register_index};
        default: return {group + 8 * (value >> 1), 2 * in_group + element};
    }
}

std::pair<int, int> extents(Operand operand, TileShape shape) {
    if (operand == Operand::a) return {shape.m, shape.k};
    return operand == Operand::b ? std::pair(shape.n, shape.k) : std::pair(shape.m, shape.n);
}

}  // namespace

TEST_CASE("MMA atoms hold what the PTX ISA's figures show") {
    for (const MmaAtom& atom : mma_atom_table()) {
        for (const Operand operand : kOperands) {
            const TvLayout& layout = atom.layout(operand);
            INFO(atom.ptx_name << ", operand " << to_string(operand));
            for (int lane = 0; lane < 32; ++lane) {
                for (int value = 0; value < layout.values(); ++value) {
                    CHECK(layout.coordinate(lane, value) == published(operand, atom.shape.k, lane, value));
                }
            }
        }
    }
}

TEST_CASE("every element of an operand belongs to one thread and value, and owner_of finds it") {
    for (const MmaAtom& atom : mma_atom_table()) {
        for (const Operand operand : kOperands) {
            const TvLayout& layout = atom.layout(operand);
            INFO(atom.ptx_name << ", operand " << to_string(operand));
            const auto [rows, columns] = extents(operand, atom.shape);
            CHECK((layout.rows == rows && layout.columns == columns));
            CHECK(layout.threads() == 32);
            CHECK(layout.threads() * layout.values() == rows * columns);
            std::set<int> indices;
            for (int thread = 0; thread < 32; ++thread) {
                for (int value = 0; value < layout.values(); ++value) {
                    CHECK(indices.insert(layout.index(thread, value)).second);
                    CHECK(owner_of(layout, layout.coordinate(thread, value)) == ThreadValue{thread, value});
                }
            }
            CHECK(*indices.begin() == 0);
            CHECK(*indices.rbegin() == rows * columns - 1);
        }
    }
}

TEST_CASE("register counts are those of the PTX ISA") {
    for (const MmaAtom& atom : mma_atom_table()) {
        INFO(atom.ptx_name);
        CHECK(atom.registers(Operand::a) == (atom.shape.k == 16 ? 4 : 2));
        CHECK(atom.registers(Operand::b) == (atom.shape.k == 16 ? 2 : 1));
        CHECK(atom.registers(Operand::c) == (atom.accumulator == DataType::f32 ? 4 : 2));
    }
}

TEST_CASE("names say what the fields say") {
    const auto upper = [](DataType type) {
        std::string text(to_string(type));
        for (char& letter : text) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
        return text;
    };
    std::set<std::string_view> names;
    for (const MmaAtom& atom : mma_atom_table()) {
        const auto [m, n, k] = atom.shape;
        const std::string_view d = to_string(atom.accumulator);
        CHECK(atom.ptx_name == fmt::format("mma.sync.aligned.m{}n{}k{}.row.col.{}.{}.{}.{}", m, n, k, d,
                                           to_string(atom.a), to_string(atom.b), d));
        const std::string cute_tail = fmt::format("_{}x{}x{}_{}{}{}{}_TN", m, n, k, upper(atom.accumulator),
                                                  upper(atom.a), upper(atom.b), upper(atom.accumulator));
        CHECK(atom.cute_name.substr(4) == cute_tail);
        if (!atom.cute_alias.empty()) CHECK(atom.cute_alias.substr(4) == cute_tail);
        CHECK(names.insert(atom.ptx_name).second);
        CHECK(names.insert(atom.cute_name).second);
    }
}

TEST_CASE("atoms are found by shape and types") {
    for (const MmaAtom& atom : mma_atom_table())
        CHECK(find_mma_atom(atom.shape, atom.a, atom.b, atom.accumulator) == &atom);
    CHECK(find_mma_atom({16, 8, 16}, DataType::bf16, DataType::bf16, DataType::f16) == nullptr);
    CHECK(find_mma_atom({16, 8, 16}, DataType::bf16, DataType::f16, DataType::f32) == nullptr);
    CHECK(find_mma_atom({16, 8, 4}, DataType::f16, DataType::f16, DataType::f32) == nullptr);
}

TEST_CASE("atoms are found by every name they go by") {
    for (const MmaAtom& atom : mma_atom_table()) {
        CHECK(find_mma_atom(atom.ptx_name) == &atom);
        CHECK(find_mma_atom(atom.cute_name) == &atom);
        if (!atom.cute_alias.empty()) CHECK(find_mma_atom(atom.cute_alias) == &atom);
    }
    const MmaAtom* atom = find_mma_atom("mma.m16n8k16.f32.bf16.bf16.f32");
    REQUIRE(atom != nullptr);
    CHECK(atom->cute_name == "SM80_16x8x16_F32BF16BF16F32_TN");
    CHECK(find_mma_atom("SM80_16x8x8_F32F16F16F32_TN") == find_mma_atom("SM75_16x8x8_F32F16F16F32_TN"));
    for (const std::string_view name :
         {"", "mma.", "mma.m16n8k16", "mma.m16n8k16.f32.bf16.bf16", "SM80_16x8x16", "m16n8k16.f32.bf16.bf16.f32"}) {
        CHECK(find_mma_atom(name) == nullptr);
    }
}

TEST_CASE("only half precision with k8 runs before sm_80") {
    for (const MmaAtom& atom : mma_atom_table()) {
        const bool turing = atom.a == DataType::f16 && atom.shape.k == 8;
        CHECK(atom.first_compute_capability == (turing ? 75 : 80));
    }
}
