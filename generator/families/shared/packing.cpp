#include "generator/families/shared/packing.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

constexpr int kRowsPerBlock = 8;
constexpr int kMostSplittingBlocks = 4096;  // of one line each; more would only begin and end
constexpr int kColumnsPerBlock = 256;
constexpr int kTransposedPerBlock = 128;      // rows, and columns: a thread moves 64 of these elements at once
constexpr int kTransposedWordsPerBlock = 64;  // of 32 bits: a thread moves 16 at once
// Many times what any GPU holds at once. Steps are counted in 32 bits there, and a stride of the whole grid must not
// wrap.
constexpr int kMostBlocks = 65536;
constexpr std::int64_t kMostSteps = (std::int64_t{1} << 32) - std::int64_t{kMostBlocks} * kPackThreads;

// Packing may waste this number of bytes, or as much memory as the operand has.
constexpr std::int64_t kSmallWaste = std::int64_t{256} << 20;

void add_waste(std::vector<std::string>& reasons, char name, const PackedOperand& operand) {
    const std::int64_t waste = operand.packed_bytes() - operand.bytes();
    if (waste > operand.bytes() && waste > kSmallWaste)
        reasons.push_back(fmt::format("pack: {} has {} bytes in rows of {} elements, packed {}", name, operand.bytes(),
                                      operand.columns, operand.packed_bytes()));
}

}  // namespace

std::vector<KernelEntry> pack_entries(Pack pack, const std::vector<KernelArgument>& arguments, int transposed_bytes) {
    if (pack == Pack::none) return {};
    const GridMatrix matrix = pack == Pack::ab ? GridMatrix::ab : pack == Pack::a ? GridMatrix::a : GridMatrix::b;
    KernelEntry entry;
    entry.function = "gemm_pack";
    entry.threads = kPackThreads;
    const int transposed = transposed_bytes == 4 ? kTransposedWordsPerBlock : kTransposedPerBlock;
    entry.grid = {.tile_m = transposed_bytes != 0 ? transposed : kRowsPerBlock,
                  .tile_n = transposed_bytes != 0 ? transposed : kColumnsPerBlock,
                  .matrix = matrix,
                  .blocks = CappedBlocks{kMostBlocks}};
    entry.arguments = arguments;
    return {entry};
}

std::vector<KernelEntry> split_entries(Pack split, const std::vector<KernelArgument>& arguments) {
    if (split == Pack::none) return {};
    KernelEntry entry;
    entry.function = kSplittingFunction;
    entry.threads = kPackThreads;
    const GridMatrix matrix = split == Pack::ab  ? GridMatrix::lines
                              : split == Pack::a ? GridMatrix::lines_a
                                                 : GridMatrix::lines_b;
    entry.grid = {.matrix = matrix, .blocks = CappedBlocks{kMostSplittingBlocks}};
    entry.arguments = arguments;
    return {entry};
}

bool realigns_transposed(const GemmSignature& signature) {
    constexpr int kWord = 4;
    return (transposes_a(signature) && signature.align_a < kWord) ||
           (transposes_b(signature) && signature.align_b < kWord);
}

PackedOperand packed_operand(Operand operand, const GemmSpec& spec) {
    return operand == Operand::a ? packed_a(spec) : packed_b(spec);
}

std::int64_t packed_workspace_bytes(const GemmSpec& spec, Pack pack) {
    return (packs_a(pack) ? packed_a(spec).workspace_bytes() : 0) +
           (packs_b(pack) ? packed_b(spec).workspace_bytes() : 0);
}

void check_vectors(std::vector<std::string>& reasons, const GemmSpec& spec, Pack pack) {
    const std::int64_t steps =
        (packs_a(pack) ? packed_a(spec).steps() : 0) + (packs_b(pack) ? packed_b(spec).steps() : 0);
    if (steps > kMostSteps)
        reasons.push_back(
            fmt::format("pack: {} vectors or blocks of vectors are to be packed, more than {}", steps, kMostSteps));
}

double packing_traffic(const GemmSpec& spec, Pack pack) {
    const auto moved = [](const PackedOperand& operand) {
        const double read = !operand.parts ? static_cast<double>(operand.bytes())
                                           : static_cast<double>(operand.rows * operand.groups() * kGroupOfParts) *
                                                 bytes(DataType::f32) * operand.parts->passes();
        return read + static_cast<double>(operand.vectors()) * 16;
    };
    return ((packs_a(pack) ? moved(packed_a(spec)) : 0) + (packs_b(pack) ? moved(packed_b(spec)) : 0)) *
           static_cast<double>(spec.batch);
}

std::vector<std::string> wasteful_packing(const GemmSpec& spec, Pack pack) {
    std::vector<std::string> reasons;
    if (packs_a(pack)) add_waste(reasons, 'A', packed_operand(Operand::a, spec));
    if (packs_b(pack)) add_waste(reasons, 'B', packed_operand(Operand::b, spec));
    return reasons;
}

}  // namespace jitgemm
