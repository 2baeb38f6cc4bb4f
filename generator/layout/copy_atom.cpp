#include "generator/layout/copy_atom.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm {
namespace {

constexpr int kMatrixRowBits = 128;  // 8 elements of 16 bits

constexpr LdmatrixAtom kLdmatrix[] = {
    {1, false, "ldmatrix.sync.aligned.m8n8.x1.shared.b16", "SM75_U32x1_LDSM_N", 75},
    {2, false, "ldmatrix.sync.aligned.m8n8.x2.shared.b16", "SM75_U32x2_LDSM_N", 75},
    {4, false, "ldmatrix.sync.aligned.m8n8.x4.shared.b16", "SM75_U32x4_LDSM_N", 75},
    {1, true, "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16", "SM75_U16x2_LDSM_T", 75},
    {2, true, "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16", "SM75_U16x4_LDSM_T", 75},
    {4, true, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", "SM75_U16x8_LDSM_T", 75},
};

// Widest first, and of two equally wide the one that leaves L1 alone: a GEMM's tiles are read once from there.
constexpr CpAsyncAtom kCpAsync[] = {
    {16, false, "cp.async.cg.shared.global", "SM80_CP_ASYNC_CACHEGLOBAL", 80},
    {16, true, "cp.async.ca.shared.global", "SM80_CP_ASYNC_CACHEALWAYS", 80},
    {8, true, "cp.async.ca.shared.global", "SM80_CP_ASYNC_CACHEALWAYS", 80},
    {4, true, "cp.async.ca.shared.global", "SM80_CP_ASYNC_CACHEALWAYS", 80},
};

WarpOperand warp_operand(Operand operand, TileShape mma, TileShape repetitions, int bits) {
    const int rows = operand == Operand::a ? mma.m * repetitions.m : mma.n * repetitions.n;
    return {operand, rows, mma.k * repetitions.k, bits};
}

std::string legal_widths(int matrices) {
    switch (widest_ldmatrix(matrices)) {
        case 4: return "x1, x2 and x4 are legal";
        case 2: return "x1 and x2 are legal";
        default: return "x1 is legal";
    }
}

}  // namespace

std::span<const LdmatrixAtom> ldmatrix_table() { return kLdmatrix; }

const LdmatrixAtom* find_ldmatrix(int x, bool trans) {
    const auto* found = std::find_if(std::begin(kLdmatrix), std::end(kLdmatrix),
                                     [&](const LdmatrixAtom& atom) { return atom.x == x && atom.trans == trans; });
    return found == std::end(kLdmatrix) ? nullptr : found;
}

std::span<const CpAsyncAtom> cp_async_table() { return kCpAsync; }

const CpAsyncAtom* widest_cp_async(int alignment) {
    const auto* found = std::find_if(std::begin(kCpAsync), std::end(kCpAsync),
                                     [&](const CpAsyncAtom& atom) { return atom.bytes <= alignment; });
    return found == std::end(kCpAsync) ? nullptr : found;
}

bool is_k_major(Operand operand, GemmLayout layout) {
    return operand == Operand::a ? order_a(layout) == Order::row : order_b(layout) == Order::column;
}

int WarpOperand::matrices() const { return rows / kMatrixRows * (columns / (kMatrixRowBits / bits)); }

std::string WarpOperand::violation(int x) const {
    const int count = matrices();
    if (count % x == 0) return {};
    return fmt::format("the warp tile {}x{} ({}×k) holds {} {} of 8x{}, which x{} does not divide; {}", rows, columns,
                       operand == Operand::a ? 'm' : 'n', count, count == 1 ? "matrix" : "matrices",
                       kMatrixRowBits / bits, x, legal_widths(count));
}

int matrices_8x8(Operand operand, TileShape mma, TileShape repetitions, int bits) {
    return warp_operand(operand, mma, repetitions, bits).matrices();
}

int widest_ldmatrix(int matrices) {
    if (matrices % 4 == 0) return 4;
    return matrices % 2 == 0 ? 2 : 1;
}

std::vector<std::string> ldmatrix_violations(Operand operand, int x, TileShape mma, TileShape repetitions, int bits) {
    const std::string_view name = to_string(operand);
    if (find_ldmatrix(x, false) == nullptr) {
        return {fmt::format("ldmatrix x{} of {}: the widths are x1, x2 and x4", x, name)};
    }
    const std::string reason = warp_operand(operand, mma, repetitions, bits).violation(x);
    if (reason.empty()) return {};
    return {fmt::format("ldmatrix x{} of {}: {}", x, name, reason)};
}

Coordinate matrix_origin(const MmaAtom& atom, Operand operand, TileShape repetitions, int matrix) {
    const TvLayout& fragment = atom.layout(operand);
    const int registers = atom.registers(operand);
    const int elements_per_register = fragment.values() / registers;
    // Thread 0 holds the first element of every matrix.
    const Coordinate inside = fragment.coordinate(0, matrix % registers * elements_per_register);
    const int repetition = matrix / registers;
    const int along_rows = operand == Operand::a ? repetitions.m : repetitions.n;
    return {inside.row + fragment.rows() * (repetition % along_rows),
            inside.column + fragment.columns() * (repetition / along_rows)};
}

Coordinate ldmatrix_lane_row(const MmaAtom& atom, Operand operand, TileShape repetitions, const LdmatrixChoice& choice,
                             int instruction, int lane) {
    const int matrix = instruction * choice.x + lane / kMatrixRows % choice.x;
    return matrix_row(matrix_origin(atom, operand, repetitions, matrix), choice.trans, lane);
}

Coordinate matrix_row(Coordinate origin, bool trans, int lane) {
    const int row = lane % kMatrixRows;
    if (trans) return {origin.row, origin.column + row};
    return {origin.row + row, origin.column};
}

}  // namespace jitgemm
