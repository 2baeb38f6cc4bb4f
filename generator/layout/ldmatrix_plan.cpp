#include "generator/layout/ldmatrix_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm {
namespace {

constexpr int kLanes = 32;
constexpr int kLanesPerRow = 4;

/// An operand as one warp sees it.
struct WarpFragment {
    Operand operand;
    TvLayout tv;
    MmaType type;
    WarpOperand tile;

    [[nodiscard]] int values_per_register() const { return kRegisterBits / bits(type); }
    [[nodiscard]] int registers() const { return tv.values() / values_per_register(); }
    [[nodiscard]] Coordinate origin(int index) const { return tv.coordinate(0, index * values_per_register()); }
};

WarpFragment warp_fragment(const TiledMma& mma, Operand operand) {
    const TileShape tile = mma.tile();
    const int mode = operand == Operand::a ? 0 : 1;
    // A warpgroup's rows of A are divided among its four warps.
    const int warps_an_atom = operand == Operand::a ? mma.atom().threads() / kLanes : 1;
    const auto rows = static_cast<int>((mode == 0 ? tile.m : tile.n) / mma.warps().size(mode) / warps_an_atom);
    const auto columns = static_cast<int>(tile.k / mma.warps().size(2));
    const MmaType type = mma.atom().type(operand);
    return {operand, mma.layout_tv(operand), type, {operand, rows, columns, bits(type)}};
}

/// Where ldmatrix brings a value that another place is wanted for: lane l's register holds 32 bits of row l / 4.
std::string placement_violation(const WarpFragment& fragment) {
    const int each = fragment.values_per_register();
    for (int value = 0; value < fragment.tv.values(); ++value) {
        const Coordinate origin = fragment.origin(value / each);
        for (int lane = 0; lane < kLanes; ++lane) {
            const Coordinate wanted = fragment.tv.coordinate(lane, value);
            const Coordinate brought{origin.row + lane / kLanesPerRow,
                                     origin.column + lane % kLanesPerRow * each + value % each};
            if (wanted != brought)
                return fmt::format("lane {} wants element ({}, {}) as value {}, where ldmatrix brings ({}, {})", lane,
                                   wanted.row, wanted.column, value, brought.row, brought.column);
        }
    }
    return {};
}

/// Why no ldmatrix at all loads the operand; empty when some do.
std::string operand_violation(const TiledMma& mma, const WarpFragment& fragment, bool trans) {
    const int width = bits(fragment.type);
    if (mma.atom().in_shared(fragment.operand))
        return fmt::format("{} reads {} from shared memory itself", mma.atom().name(), to_string(fragment.operand));
    if (width > kRegisterBits)
        return fmt::format("an {} element takes two registers; ldmatrix fills each with 32 bits of one row",
                           to_string(fragment.type));
    if (trans && width != kHalfBits)
        return fmt::format("shared memory holds {} {}-major: .trans moves units of 16 bits, which {}",
                           to_string(fragment.operand), fragment.operand == Operand::a ? 'm' : 'n',
                           width > kHalfBits
                               ? fmt::format("tears {} elements apart", to_string(fragment.type))
                               : fmt::format("leaves {} neighbours along {} in a register, not along k",
                                             to_string(fragment.type), fragment.operand == Operand::a ? 'm' : 'n'));
    return placement_violation(fragment);
}

LdmatrixOption option_of(const WarpFragment& fragment, const std::string& violation, int x, bool trans) {
    LdmatrixOption option{find_ldmatrix(x, trans), false, 0, violation};
    if (option.reason.empty()) option.reason = fragment.tile.violation(x);
    option.legal = option.reason.empty();
    if (!option.legal) return option;
    const int matrices = fragment.registers();
    option.instructions = matrices / x;
    option.reason = fmt::format("{} {} of the {}x{} warp tile, {} at a time", matrices,
                                matrices == 1 ? "matrix" : "matrices", fragment.tile.rows, fragment.tile.columns, x);
    return option;
}

}  // namespace

const LdmatrixOption* LdmatrixPlan::best() const {
    const auto found = std::ranges::find_if(options.rbegin(), options.rend(), &LdmatrixOption::legal);
    return found == options.rend() ? nullptr : &*found;
}

Coordinate LdmatrixPlan::lane_row(const LdmatrixOption& option, int instruction, int lane) const {
    const int matrix = instruction * option.atom->x + lane / kMatrixRows % option.atom->x;
    return matrix_row(origins[static_cast<std::size_t>(matrix)], trans, lane);
}

LdmatrixPlan plan_ldmatrix(const TiledMma& mma, Operand operand, bool k_major) {
    if (operand == Operand::c) throw LayoutError("ldmatrix loads A or B, not the accumulator");
    const WarpFragment fragment = warp_fragment(mma, operand);
    LdmatrixPlan plan{
        .trans = !k_major, .matrices = fragment.tile.matrices(), .values_per_thread = fragment.tv.values()};
    const std::string violation = operand_violation(mma, fragment, plan.trans);
    for (const int x : {1, 2, 4}) plan.options.push_back(option_of(fragment, violation, x, plan.trans));
    for (int index = 0; plan.best() != nullptr && index < fragment.registers(); ++index)
        plan.origins.push_back(fragment.origin(index));
    return plan;
}

}  // namespace jitgemm
