// wmma.mma against the GPU: fragments are opaque, so whole matrices are loaded, multiplied and stored.

#include "runtime/emulator/tensor_core.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/gpu/ptx_on_gpu.hpp"
#include "tests/support/random_bits.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;
using emulator::MmaKind;
using emulator::MmaType;

namespace {

constexpr int kLanes = 32;
constexpr int kTiles = 2000;

int bits_of(MmaType type) { return type == MmaType::f32 ? 32 : 16; }
std::string name_of(MmaType type) {
    if (type == MmaType::f32) return "f32";
    return type == MmaType::f16 ? "f16" : "bf16";
}

std::string registers(char letter, int count) {
    std::string list;
    for (int i = 0; i < count; ++i) list += fmt::format("{}%{}{}", i == 0 ? "" : ", ", letter, i);
    return "{" + list + "}";
}

/// A row by row, B column by column, C and D row by row, a tile after the other; a block of one warp per tile.
std::string wmma_ptx(const MmaKind& kind, int compute_capability) {
    const emulator::MmaRegisters count = wmma_registers(kind);
    const std::string shape = fmt::format("m{}n{}k{}", kind.m, kind.n, kind.k);
    const std::string sum_type = kind.c == MmaType::f32 ? ".f32" : ".b32";
    std::string text = fmt::format(
        ".version 8.0\n.target sm_{}\n.address_size 64\n\n"
        ".visible .entry wmma_tiles(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)\n{{\n"
        "    .reg .b64 %pa, %pb, %pc, %pd, %offset;\n    .reg .b32 %tile;\n"
        "    .reg .b32 %a<8>, %b<8>;\n    .reg {} %c<8>, %d<8>;\n    mov.u32 %tile, %ctaid.x;\n",
        compute_capability, sum_type);
    const auto address = [&text](char letter, int bytes) {
        text += fmt::format(
            "    ld.param.u64 %p{0}, [{0}];\n    cvta.to.global.u64 %p{0}, %p{0};\n"
            "    mul.wide.u32 %offset, %tile, {1};\n    add.s64 %p{0}, %p{0}, %offset;\n",
            letter, bytes);
    };
    address('a', 2 * kind.m * kind.k);
    address('b', 2 * kind.n * kind.k);
    address('c', kind.m * kind.n * bits_of(kind.c) / 8);
    address('d', kind.m * kind.n * bits_of(kind.d) / 8);
    const std::string input = name_of(kind.a), sum = name_of(kind.c);
    text += fmt::format("    wmma.load.a.sync.aligned.row.{}.global.{} {}, [%pa], {};\n", shape, input,
                        registers('a', count.a), kind.k);
    text += fmt::format("    wmma.load.b.sync.aligned.col.{}.global.{} {}, [%pb], {};\n", shape, input,
                        registers('b', count.b), kind.k);
    text += fmt::format("    wmma.load.c.sync.aligned.row.{}.global.{} {}, [%pc], {};\n", shape, sum,
                        registers('c', count.c), kind.n);
    const std::string types =
        kind.a == MmaType::f16 ? fmt::format("{}.{}", sum, sum) : fmt::format("{}.bf16.bf16.{}", sum, sum);
    text +=
        fmt::format("    wmma.mma.sync.aligned.row.col.{}.{} {}, {}, {}, {};\n", shape, types, registers('d', count.c),
                    registers('a', count.a), registers('b', count.b), registers('c', count.c));
    text += fmt::format("    wmma.store.d.sync.aligned.row.{}.global.{} [%pd], {}, {};\n", shape, sum,
                        registers('d', count.c), kind.n);
    return text + "    ret;\n}\n";
}

/// Numbers of a 16-bit or 32-bit format with exponents around 1's, all signs, some zeros.
std::vector<std::uint32_t> random_elements(MmaType type, int count, RandomBits& random) {
    const int fraction_bits = type == MmaType::f32 ? 23 : (type == MmaType::f16 ? 10 : 7);
    const std::uint32_t bias = type == MmaType::f16 ? 15 : 127;
    std::vector<std::uint32_t> elements;
    for (int i = 0; i < count; ++i) {
        const auto word = static_cast<std::uint32_t>(random.next());
        const std::uint32_t sign = (word >> 31) << (bits_of(type) - 1);
        const std::uint32_t exponent = bias - 6 + random.below(12);
        const bool zero = random.below(16) == 0;
        elements.push_back(zero ? sign : sign | exponent << fraction_bits | (word & ((1U << fraction_bits) - 1)));
    }
    return elements;
}

/// One element after the other, two 16-bit ones in a word.
std::vector<std::uint32_t> packed(const std::vector<std::uint32_t>& elements, MmaType type) {
    if (bits_of(type) == 32) return elements;
    std::vector<std::uint32_t> words;
    for (std::size_t i = 0; i < elements.size(); i += 2) words.push_back(elements[i + 1] << 16 | elements[i]);
    return words;
}

std::size_t index_of(const MmaKind& kind, Operand operand, Coordinate at) {
    const int columns = operand == Operand::c ? kind.n : kind.k;
    return static_cast<std::size_t>(at.row) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(at.column);
}

/// The word and the shift of a lane's element.
struct Place {
    std::size_t word;
    int shift;
};
Place place_of(MmaType type, int lane, int element) {
    const int per_register = 32 / bits_of(type);
    return {static_cast<std::size_t>(element / per_register) * kLanes + static_cast<std::size_t>(lane),
            element % per_register * bits_of(type)};
}

std::vector<std::uint32_t> fragment(const MmaKind& kind, Operand operand, MmaType type, const std::uint32_t* matrix) {
    std::vector<std::uint32_t> words(8 * kLanes, 0);
    for (int lane = 0; lane < kLanes; ++lane) {
        for (int i = 0; i < wmma_elements(kind, operand); ++i) {
            const Place place = place_of(type, lane, i);
            words[place.word] |= matrix[index_of(kind, operand, wmma_coordinate(kind, operand, lane, i))]
                                 << place.shift;
        }
    }
    return words;
}

/// D of one tile, row by row.
std::vector<std::uint32_t> emulated_tile(const MmaKind& kind, emulator::TensorCoreModel model, const std::uint32_t* a,
                                         const std::uint32_t* b, const std::uint32_t* c) {
    std::vector<std::uint32_t> d = fragment(kind, Operand::c, kind.c, c);
    wmma(kind, model, fragment(kind, Operand::a, kind.a, a).data(), fragment(kind, Operand::b, kind.b, b).data(),
         d.data(), d.data());
    std::vector<std::uint32_t> matrix(static_cast<std::size_t>(256));
    for (int lane = 0; lane < kLanes; ++lane) {
        for (int i = 0; i < wmma_elements(kind, Operand::c); ++i) {
            const Place place = place_of(kind.d, lane, i);
            matrix[index_of(kind, Operand::c, wmma_coordinate(kind, Operand::c, lane, i))] =
                (d[place.word] >> place.shift) & (0xffffffffU >> (32 - bits_of(kind.d)));
        }
    }
    return matrix;
}

}  // namespace

TEST_CASE("every wmma.mma gives the emulator's bits") {
    REQUIRE_GPU();
    const Gpu gpu;
    const emulator::TensorCoreModel model = emulator::tensor_core_model(gpu.compute_capability);
    RandomBits random(21);
    for (const int m : {16, 32, 8}) {
        for (const auto& [input, sum] : {std::pair{MmaType::f16, MmaType::f16}, std::pair{MmaType::f16, MmaType::f32},
                                         std::pair{MmaType::bf16, MmaType::f32}}) {
            const MmaKind kind{m, 256 / m, 16, input, input, sum, sum};
            const auto a = random_elements(input, kTiles * kind.m * 16, random);
            const auto b = random_elements(input, kTiles * kind.n * 16, random);
            const auto c = random_elements(sum, kTiles * 256, random);
            const Words device_a(packed(a, input)), device_b(packed(b, input)), device_c(packed(c, sum));
            const Words device_d(packed(c, sum).size());
            PtxModule(wmma_ptx(kind, gpu.compute_capability))
                .run("wmma_tiles", kTiles, kLanes, device_a.pointer(), device_b.pointer(), device_c.pointer(),
                     device_d.pointer());
            std::vector<std::uint32_t> expected;
            for (std::size_t tile = 0; tile < kTiles; ++tile) {
                const auto d = emulated_tile(kind, model, &a[tile * a.size() / kTiles], &b[tile * b.size() / kTiles],
                                             &c[tile * 256]);
                expected.insert(expected.end(), d.begin(), d.end());
            }
            INFO(to_string(kind));
            CHECK(device_d.read() == packed(expected, sum));
        }
    }
}
