#include "generator/layout/mma_atom.hpp"
#include "generator/layout/wgmma_atom.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

using namespace jitgemm;

namespace {

constexpr Operand kOperands[] = {Operand::a, Operand::b, Operand::c};

/// The element of a thread's value as the PTX ISA's "Matrix Fragments for mma.m8n8k4 … m16n8k64" give it, by the size
/// of an operand's element: groupID = lane >> 2, threadID_in_group = lane % 4. Written down apart from the table under
/// test.
Coordinate published_a(int bits, int lane, int i) {
    const int group = lane >> 2, in_group = lane & 3;
    switch (bits) {
        case 64:
        case 32: return {group + 8 * (i & 1), in_group + 4 * (i >> 1)};
        case 16: return {group + 8 * (i >> 1 & 1), in_group * 2 + (i & 1) + 8 * (i >> 2)};
        case 8: return {group + 8 * (i >> 2 & 1), in_group * 4 + (i & 3) + 16 * (i >> 3)};
        default: return {group + 8 * (i >> 3 & 1), in_group * 8 + (i & 7) + 32 * (i >> 4)};
    }
}

Coordinate published_b(int bits, int lane, int i) {
    const int group = lane >> 2, in_group = lane & 3;
    switch (bits) {
        case 64:
        case 32: return {group, in_group + 4 * i};
        case 16: return {group, in_group * 2 + (i & 1) + 8 * (i >> 1)};
        case 8: return {group, in_group * 4 + (i & 3) + 16 * (i >> 2)};
        default: return {group, in_group * 8 + (i & 7) + 32 * (i >> 3)};
    }
}

Coordinate published_c(int lane, int i) { return {(lane >> 2) + 8 * (i >> 1), (lane & 3) * 2 + (i & 1)}; }

Coordinate published(const MmaAtom& atom, Operand operand, int lane, int value) {
    if (operand == Operand::c) return published_c(lane, value);
    return operand == Operand::a ? published_a(bits(atom.a), lane, value) : published_b(bits(atom.b), lane, value);
}

std::pair<int, int> extents(Operand operand, TileShape shape) {
    if (operand == Operand::a) return {shape.m, shape.k};
    return operand == Operand::b ? std::pair(shape.n, shape.k) : std::pair(shape.m, shape.n);
}

std::string ptx_shape(TileShape shape) { return fmt::format("m{}n{}k{}", shape.m, shape.n, shape.k); }

/// Lines "name A B C" of a file in tests/data, comments left out.
std::map<std::string, std::array<std::string, 3>> cute_layouts(const std::string& file) {
    std::ifstream input(std::string(JITGEMM_SOURCE_DIR) + "/tests/data/" + file);
    std::map<std::string, std::array<std::string, 3>> rows;
    for (std::string line; std::getline(input, line);) {
        if (line.empty() || line.front() == '#') continue;
        std::istringstream words(line);
        std::string name;
        words >> name;
        for (std::string& layout : rows[name]) words >> layout;
    }
    return rows;
}

void check_prints(const MmaAtom& atom, const std::array<std::string, 3>& expected) {
    INFO(atom.name());
    CHECK(to_string(atom.layout_a.layout()) == expected[0]);
    CHECK(to_string(atom.layout_b.layout()) == expected[1]);
    CHECK(to_string(atom.layout_c.layout()) == expected[2]);
}

}  // namespace

TEST_CASE("MMA atoms hold what the PTX ISA's figures show") {
    for (const MmaAtom& atom : mma_atom_table()) {
        for (const Operand operand : kOperands) {
            const TvLayout& layout = atom.layout(operand);
            INFO(atom.ptx_name << ", operand " << to_string(operand));
            bool same = layout.threads() == 32;
            for (int lane = 0; lane < 32; ++lane) {
                for (int value = 0; value < layout.values(); ++value)
                    same = same && layout.coordinate(lane, value) == published(atom, operand, lane, value);
            }
            CHECK(same);
        }
    }
}

TEST_CASE("wgmma's fragments are what the PTX ISA's figures show") {
    for (const WgmmaForm& form : wgmma_forms()) {
        const MmaAtom atom = wgmma_atom(form);
        INFO(atom.cute_name);
        bool same = atom.layout_c.threads() == 128 && atom.layout_c.values() == form.n / 2;
        for (int thread = 0; thread < 128; ++thread) {
            const int warp = thread / 32, lane = thread % 32;
            for (int i = 0; i < atom.layout_c.values(); ++i) {
                const Coordinate wanted{16 * warp + (lane >> 2) + 8 * (i >> 1 & 1),
                                        8 * (i >> 2) + 2 * (lane & 3) + (i & 1)};
                same = same && atom.layout_c.coordinate(thread, i) == wanted;
            }
            for (int i = 0; form.a_in_registers && i < atom.layout_a.values(); ++i) {
                const Coordinate in_warp = published_a(bits(form.a), lane, i);
                same =
                    same && atom.layout_a.coordinate(thread, i) == Coordinate{16 * warp + in_warp.row, in_warp.column};
            }
        }
        CHECK(same);
    }
}

// The data are CuTe's own: MMA_Traits<…>::ALayout, BLayout and CLayout printed by CUTLASS 4.7 (NVIDIA/cutlass 7107b05).
TEST_CASE("mma.sync layouts print as CuTe's do, under all of its names") {
    const auto expected = cute_layouts("cute_mma_atoms.txt");
    REQUIRE(expected.size() > 60);
    for (const auto& [name, layouts] : expected) {
        const MmaAtom* atom = find_mma_atom(name);
        INFO(name);
        REQUIRE(atom != nullptr);
        CHECK((atom->cute_name == name || atom->cute_alias == name));
        check_prints(*atom, layouts);
    }
    for (const MmaAtom& atom : mma_atom_table()) CHECK(atom.cute_name.empty() != (expected.count(atom.cute_name) == 1));
}

TEST_CASE("wgmma layouts print as CuTe's do, and CuTe has the same atoms") {
    const auto expected = cute_layouts("cute_wgmma_atoms.txt");
    const std::vector<WgmmaForm> forms = wgmma_forms();
    CHECK(forms.size() == expected.size());
    for (const WgmmaForm& form : forms) {
        const auto row = expected.find(wgmma_cute_name(form));
        INFO(wgmma_cute_name(form));
        REQUIRE(row != expected.end());
        check_prints(wgmma_atom(form), row->second);
    }
}

TEST_CASE("every element of an operand belongs to one thread and value, and owner_of finds it") {
    for (const MmaAtom& atom : mma_atom_table()) {
        for (const Operand operand : kOperands) {
            const TvLayout& layout = atom.layout(operand);
            INFO(atom.ptx_name << ", operand " << to_string(operand));
            const auto [rows, columns] = extents(operand, atom.shape);
            CHECK((layout.rows() == rows && layout.columns() == columns));
            CHECK(layout.threads() * layout.values() == rows * columns);
            const Layout inverse = layout.inverse();
            std::set<int> indices;
            bool inverted = true;
            for (int thread = 0; thread < 32; ++thread) {
                for (int value = 0; value < layout.values(); ++value) {
                    CHECK(indices.insert(layout.index(thread, value)).second);
                    inverted = inverted && inverse(layout.index(thread, value)) == thread + 32 * value;
                }
            }
            CHECK(inverted);
            CHECK((*indices.begin() == 0 && *indices.rbegin() == rows * columns - 1));
            CHECK(owner_of(layout, layout.coordinate(7, layout.values() - 1)) == ThreadValue{7, layout.values() - 1});
        }
    }
}

TEST_CASE("operands that all threads share belong to the first") {
    const MmaAtom atom = mma_atom("SM90_64x64x16_F32F16F16_SS");
    CHECK(to_string(atom.layout_b.layout()) == "(128,(64,16)):(0,(1,64))");
    CHECK(to_string(atom.layout_b.inverse()) == "(64,16):(128,8192)");
    CHECK(owner_of(atom.layout_b, {3, 2}) == ThreadValue{0, 3 + 2 * 64});
    CHECK((atom.registers(Operand::a) == 0 && atom.registers(Operand::b) == 0 && atom.registers(Operand::c) == 32));
    CHECK(atom.threads() == 128);
    CHECK(atom.first_arch() == "sm_90a");
}

TEST_CASE("a layout that leaves elements out, or reaches beyond them, is refused") {
    CHECK_THROWS_AS(TvLayout(parse_layout("(4,2):(2,8)"), 4, 4).inverse(), LayoutError);
    CHECK_THROWS_AS(TvLayout(parse_layout("(4,2):(1,4)"), 4, 1), LayoutError);
    CHECK_THROWS_AS(TvLayout(parse_layout("4:1"), 4, 1), LayoutError);
}

TEST_CASE("register counts are those of the PTX ISA") {
    // Shape and bits of an operand's element → 32-bit registers of A, B; of C with 32-bit accumulators.
    const std::map<std::pair<std::string, int>, std::array<int, 3>> published{
        {{"m16n8k8", 16}, {2, 1, 4}}, {{"m16n8k16", 16}, {4, 2, 4}},  {{"m16n8k4", 32}, {2, 1, 4}},
        {{"m16n8k8", 32}, {4, 2, 4}}, {{"m8n8k16", 8}, {1, 1, 2}},    {{"m16n8k16", 8}, {2, 1, 4}},
        {{"m16n8k32", 8}, {4, 2, 4}}, {{"m8n8k32", 4}, {1, 1, 2}},    {{"m16n8k32", 4}, {2, 1, 4}},
        {{"m16n8k64", 4}, {4, 2, 4}}, {{"m8n8k4", 64}, {2, 2, 4}},    {{"m16n8k4", 64}, {4, 2, 8}},
        {{"m16n8k8", 64}, {8, 4, 8}}, {{"m16n8k16", 64}, {16, 8, 8}},
    };
    for (const MmaAtom& atom : mma_atom_table()) {
        INFO(atom.ptx_name);
        const auto expected = published.find({ptx_shape(atom.shape), bits(atom.a)});
        REQUIRE(expected != published.end());
        CHECK(atom.registers(Operand::a) == expected->second[0]);
        CHECK(atom.registers(Operand::b) == expected->second[1]);
        CHECK(atom.registers(Operand::c) == expected->second[2] / (atom.accumulator == MmaType::f16 ? 2 : 1));
    }
}

TEST_CASE("names say what the fields say") {
    std::set<std::string> names;
    for (const MmaAtom& atom : mma_atom_table()) {
        const std::string_view d = to_string(atom.accumulator);
        CHECK(atom.ptx_name == fmt::format("mma.sync.aligned.{}.row.col{}.{}.{}.{}.{}", ptx_shape(atom.shape),
                                           atom.saturates ? ".satfinite" : "", d, to_string(atom.a), to_string(atom.b),
                                           d));
        CHECK(names.insert(atom.ptx_name).second);
        CHECK(names.insert(atom.short_name).second);
        CHECK((atom.cute_name.empty() || names.insert(atom.cute_name).second));
    }
    for (const std::string& name : mma_atom_names()) CHECK(mma_atom(name).name() == name);
}

TEST_CASE("atoms are found by shape and types, those that saturate only by name") {
    for (const MmaAtom& atom : mma_atom_table()) {
        const auto a = info(atom.a).data_type, b = info(atom.b).data_type, c = info(atom.accumulator).data_type;
        if (!a || !b || !c) continue;
        const MmaAtom* found = find_mma_atom(atom.shape, *a, *b, *c);
        REQUIRE(found != nullptr);
        CHECK((found == &atom) == !atom.saturates);
    }
    CHECK(find_mma_atom({16, 8, 16}, DataType::bf16, DataType::bf16, DataType::f16) == nullptr);
    CHECK(find_mma_atom({16, 8, 16}, DataType::bf16, DataType::f16, DataType::f32) == nullptr);
    CHECK(find_mma_atom({16, 8, 4}, DataType::f16, DataType::f16, DataType::f32) == nullptr);
}

TEST_CASE("atoms are found by every name they go by") {
    const MmaAtom* atom = find_mma_atom("mma.m16n8k16.f32.bf16.bf16.f32");
    REQUIRE(atom != nullptr);
    CHECK(atom->cute_name == "SM80_16x8x16_F32BF16BF16F32_TN");
    CHECK(find_mma_atom(atom->ptx_name) == atom);
    CHECK(find_mma_atom("SM80_16x8x8_F32F16F16F32_TN") == find_mma_atom("SM75_16x8x8_F32F16F16F32_TN"));
    const MmaAtom* saturating = find_mma_atom("SM80_16x8x32_S32U8S8S32_TN_SATURATE");
    REQUIRE(saturating != nullptr);
    for (const std::string_view name :
         {"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32",
          "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32.satfinite", "mma.m16n8k32.s32.u8.s8.s32.satfinite"})
        CHECK(find_mma_atom(name) == saturating);
    CHECK(mma_atom("wgmma.m64n64k16.f32.f16.f16").cute_name == "SM90_64x64x16_F32F16F16_SS");
    CHECK(mma_atom("wgmma.mma_async.sync.aligned.m64n24k32.s32.s8.u8").cute_name == "SM90_64x24x32_S32S8U8_SS_TN");
    CHECK(mma_atom("mma.m16n8k16.f32.e4m3.e5m2.f32").name() == "mma.m16n8k16.f32.e4m3.e5m2.f32");
}

TEST_CASE("a mistyped name is refused with the nearest one") {
    for (const std::string_view name :
         {"", "mma.", "mma.m16n8k16", "mma.m16n8k16.f32.bf16.bf16", "SM80_16x8x16", "m16n8k16.f32.bf16.bf16.f32",
          "SM90_64x40x32_S32S8S8_SS_TN", "SM90_64x264x16_F32F16F16_SS"}) {
        CHECK(find_mma_atom(name) == nullptr);
        CHECK_THROWS_AS(mma_atom(name), LayoutError);
    }
    CHECK_THROWS_WITH(mma_atom("SM80_16x8x16_F32BF16BF16F32_NT"),
                      "no MMA instruction has the name 'SM80_16x8x16_F32BF16BF16F32_NT'; did you mean "
                      "'SM80_16x8x16_F32BF16BF16F32_TN'?");
    CHECK_THROWS_WITH(mma_atom("SM90_64x64x16_F32F16F16_S"),
                      Catch::Matchers::ContainsSubstring("did you mean 'SM90_64x64x16_F32F16F16_RS'") ||
                          Catch::Matchers::ContainsSubstring("did you mean 'SM90_64x64x16_F32F16F16_SS'"));
}

TEST_CASE("what runs before sm_80, and what comes later") {
    for (const MmaAtom& atom : mma_atom_table()) {
        INFO(atom.ptx_name);
        const bool turing = (atom.a == MmaType::f16 && atom.shape.k == 8) || atom.shape == TileShape{8, 8, 16} ||
                            atom.shape == TileShape{8, 8, 32};
        const bool ada = atom.a == MmaType::e4m3 || atom.a == MmaType::e5m2;
        const bool hopper = atom.a == MmaType::f64 && atom.shape.m == 16;
        CHECK(atom.first_compute_capability == (turing ? 75 : ada ? 89 : hopper ? 90 : 80));
    }
}

TEST_CASE("types of instructions map to a GEMM's where it has them") {
    for (const DataTypeInfo& row : data_type_table()) {
        CHECK(info(mma_type(row.type)).data_type == row.type);
        CHECK(bits(mma_type(row.type)) == 8 * row.bytes);
    }
    for (const MmaTypeInfo& row : mma_type_table()) {
        CHECK(&info(row.type) == &row);
        CHECK((parse_mma_type(row.ptx_name) == row.type && parse_mma_type(row.cute_name) == row.type));
    }
    CHECK(!parse_mma_type("f8"));
}
