// ldmatrix, stmatrix.

#include "runtime/emulator/instruction_decoder.hpp"
#include "runtime/emulator/lanes.hpp"
#include "runtime/emulator/memory_access.hpp"

#include <cstring>

namespace jitgemm::emulator {
namespace {

constexpr std::size_t kRows = 8;  // of a matrix, each of 8 16-bit elements
constexpr std::uint32_t kRowBytes = 16;

struct MatrixDetail {
    ptx::StateSpace space = ptx::StateSpace::shared;
    std::size_t count = 1;  ///< matrices
    bool transposed = false;
};

using Matrix = std::array<std::array<std::uint16_t, kRows>, kRows>;

/// Lane l holds elements 2(l % 4) and the next of row l / 4: of the matrix, or of its transpose.
std::uint32_t fragment(const Matrix& matrix, std::size_t lane, bool transposed) {
    const std::size_t row = lane / 4;
    const std::size_t column = lane % 4 * 2;
    const std::uint32_t low = transposed ? matrix[column][row] : matrix[row][column];
    const std::uint32_t high = transposed ? matrix[column + 1][row] : matrix[row][column + 1];
    return low | high << 16U;
}

void set_fragment(Matrix& matrix, std::size_t lane, bool transposed, std::uint32_t bits) {
    const std::size_t row = lane / 4;
    const std::size_t column = lane % 4 * 2;
    (transposed ? matrix[column][row] : matrix[row][column]) = static_cast<std::uint16_t>(bits);
    (transposed ? matrix[column + 1][row] : matrix[row][column + 1]) = static_cast<std::uint16_t>(bits >> 16U);
}

/// Lanes 8i to 8i + 7 give the addresses of the rows of matrix i.
LanePointers row_pointers(Warp& warp, const Instruction& instruction, std::size_t address, Access access) {
    const auto& detail = instruction.detail<MatrixDetail>();
    const Mask lanes = kAllLanes >> (kLanes - kRows * detail.count);
    WarpAccess rows{detail.space, access, kRowBytes, lane_addresses(warp, instruction, address), true};
    return resolve(warp, rows, lanes);
}

Matrix load_matrix(const LanePointers& rows, std::size_t index) {
    Matrix matrix{};
    for (std::size_t row = 0; row < kRows; ++row) {
        const std::byte* from = rows[index * kRows + row];
        if (from != nullptr) std::memcpy(matrix[row].data(), from, kRowBytes);
    }
    return matrix;
}

void execute_ldmatrix(Warp& warp, const Instruction& instruction, Mask mask) {
    warp.require_converged(mask, "ldmatrix");
    const auto& detail = instruction.detail<MatrixDetail>();
    const LanePointers rows = row_pointers(warp, instruction, detail.count, Access::read);
    for (std::size_t i = 0; i < detail.count; ++i) {
        const Matrix matrix = load_matrix(rows, i);
        const Destination<std::uint32_t> d(warp, instruction.values[i]);
        for (std::size_t lane = 0; lane < kLanes; ++lane) d.set(lane, fragment(matrix, lane, detail.transposed));
    }
}

void execute_stmatrix(Warp& warp, const Instruction& instruction, Mask mask) {
    warp.require_converged(mask, "stmatrix");
    const auto& detail = instruction.detail<MatrixDetail>();
    const LanePointers rows = row_pointers(warp, instruction, detail.count, Access::write);
    for (std::size_t i = 0; i < detail.count; ++i) {
        const Source<std::uint32_t> source(warp, instruction.values[i]);
        Matrix matrix{};
        for (std::size_t lane = 0; lane < kLanes; ++lane) set_fragment(matrix, lane, detail.transposed, source[lane]);
        for (std::size_t row = 0; row < kRows; ++row) {
            std::byte* to = rows[i * kRows + row];
            if (to != nullptr) std::memcpy(to, matrix[row].data(), kRowBytes);
        }
    }
}

MatrixDetail take_detail(InstructionDecoder& decoder) {
    if (!decoder.take("sync") || !decoder.take("aligned") || !decoder.take("m8n8")) decoder.unsupported();
    MatrixDetail detail;
    const std::string count = decoder.take_any({"x1", "x2", "x4"});
    if (count.empty()) decoder.unsupported();
    detail.count = static_cast<std::size_t>(count[1] - '0');
    detail.transposed = decoder.take("trans");
    const bool shared = !decoder.take_any({"shared", "shared::cta"}).empty();
    detail.space = shared ? ptx::StateSpace::shared : ptx::StateSpace::generic;
    if (!decoder.take("b16")) decoder.unsupported();
    decoder.finish_modifiers();
    decoder.require_operands(2, 2);
    return detail;
}

void decode_ldmatrix(InstructionDecoder& decoder) {
    const MatrixDetail detail = take_detail(decoder);
    decoder.add_each(0, OperandType::bits32, detail.count);
    decoder.add_address(1);
    decoder.destinations(detail.count);
    decoder.detail(detail);
    decoder.execute(InstructionKind::matrix_load, execute_ldmatrix);
}

void decode_stmatrix(InstructionDecoder& decoder) {
    const MatrixDetail detail = take_detail(decoder);
    decoder.add_each(1, OperandType::bits32, detail.count);
    decoder.add_address(0);
    decoder.detail(detail);
    decoder.execute(InstructionKind::matrix_store, execute_stmatrix);
}

}  // namespace

std::vector<DecoderRow> matrix_decoders() { return {{"ldmatrix", decode_ldmatrix}, {"stmatrix", decode_stmatrix}}; }

}  // namespace jitgemm::emulator
