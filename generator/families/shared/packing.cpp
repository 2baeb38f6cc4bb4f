#include "generator/families/shared/packing.hpp"

#include <fmt/format.h>

#include <utility>

namespace jitgemm {
namespace {

constexpr int kRowsPerBlock = 8;
constexpr int kColumnsPerBlock = 1024;
// Many times what any GPU holds at once. Vectors are counted in 32 bits there and are fewer than 2^31 (check_packing), so that
// a step of the whole grid must leave as many.
constexpr int kMostBlocks = 65536;
constexpr std::int64_t kBoundary = 256;  // of the parts of a workspace, bytes

// What packing may waste: as much memory again as the operand has, or this.
constexpr std::int64_t kSmallWaste = std::int64_t{256} << 20;

static_assert(std::int64_t{kMostBlocks} * kPackThreads <= std::int64_t{1} << 31, "a step must not wrap");

void add_waste(std::vector<std::string>& reasons, char name, const PackedOperand& operand) {
    const std::int64_t waste = operand.packed_bytes() - operand.bytes();
    if (waste > operand.bytes() && waste > kSmallWaste)
        reasons.push_back(fmt::format("pack: {} has {} bytes in rows of {} elements, packed {}", name, operand.bytes(),
                                      operand.columns, operand.packed_bytes()));
}

}  // namespace

KernelEntry pack_entry(std::string function, GridMatrix matrix, const std::vector<KernelArgument>& arguments) {
    KernelEntry entry;
    entry.function = std::move(function);
    entry.threads = kPackThreads;
    entry.grid = {
        .tile_m = kRowsPerBlock, .tile_n = kColumnsPerBlock, .matrix = matrix, .blocks = CappedBlocks{kMostBlocks}};
    entry.arguments = arguments;
    return entry;
}

std::int64_t PackedOperand::workspace_bytes() const { return (packed_bytes() + kBoundary - 1) / kBoundary * kBoundary; }

PackedOperand packed_operand(Operand operand, const GemmSpec& spec) {
    const std::int64_t mn = operand == Operand::a ? spec.m : spec.n;
    return is_k_major(operand, spec.layout) ? PackedOperand{mn, spec.k} : PackedOperand{spec.k, mn};
}

std::vector<std::string> wasteful_packing(const GemmSpec& spec, Pack pack) {
    std::vector<std::string> reasons;
    if (packs_a(pack)) add_waste(reasons, 'A', packed_operand(Operand::a, spec));
    if (packs_b(pack)) add_waste(reasons, 'B', packed_operand(Operand::b, spec));
    return reasons;
}

}  // namespace jitgemm
