#include "generator/families/wgmma_warp_specialized/tile_operands.hpp"

#include "generator/epilogue/default_texts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm {
namespace {

using Config = WgmmaWarpSpecializedConfig;

constexpr std::string_view kFactorOfC = "c_factor(args) != 0.0f";

/// "args.beta != 0.0f && args.scale != 0.0f".
std::string guard_text(const EpilogueParts& parts, const EpilogueOperand& operand) {
    std::string text;
    for (const int scalar : operand.guards)
        text += fmt::format("{}args.{} != 0.0f", text.empty() ? "" : " && ",
                            parts.operands[static_cast<std::size_t>(scalar)].name);
    return text;
}

OperandReader reader_of(const EpilogueIndex& index) {
    if (index.is_element()) return OperandReader::single;
    if (index.is_matrix()) return OperandReader::elements;
    return index.column ? OperandReader::row_vector : OperandReader::column_vector;
}

/// Elements of C that are read in pairs: of one row where N is even, as TMA's rows of D show.
bool reads_pairs_of_c(const GemmSignature& s, const Config& c) {
    return c.store == OutputStore::tma && s.align_d >= 2 * bytes(s.d);
}

TileOperands operands_of_text(const EpilogueParts& parts, const GemmSignature& s, const Config& c,
                              const WgmmaGeometry& g) {
    TileOperands all{.finish = TileFinish::by_text,
                     .swap_ab = c.swap_ab,
                     .pairs = parts.pairs,
                     .odd_edges = true,
                     .batched = s.batched,
                     .grouped = s.grouped,
                     .grouped_by_k = s.grouped_by_k,
                     .gathered = s.gathered};
    for (const EpilogueOperand& operand : parts.operands) {
        if (operand.is_scalar || operand.is_block_scale()) continue;
        TileOperand one{.operand = operand, .guard = guard_text(parts, operand)};
        if (c.swap_ab) one.operand.index = transposed(operand.index);
        one.reader =
            g.c_stages != 0 && &operand == ring_operand(s) ? OperandReader::panels : reader_of(one.operand.index);
        one.differs = differs_in_pair(parts, operand);
        if (one.reader == OperandReader::row_vector && one.differs) one.reader = OperandReader::paired_row_vector;
        if (one.reader == OperandReader::column_vector && all.pairs != EpiloguePairs::none && c.swap_ab)
            one.reader = OperandReader::paired_column;
        one.by_pair = one.reader == OperandReader::elements && s.align_d >= 2 * bytes(s.d);
        all.operands.push_back(std::move(one));
    }
    for (const EpilogueOutput& output : parts.outputs)
        if (is_beside_d(output) && !output.reduction)
            all.outputs.push_back({.output = output,
                                   .is_staged = is_staged(output, s, c),
                                   .by_pair = !c.swap_ab && s.align_d >= 2 * bytes(s.d),
                                   .is_as_d = output.type == s.d});
    all.reductions = reductions_of(s, c.swap_ab);
    for (const EpilogueOutput* const output : outputs_for_blocks(parts))
        all.blocks.push_back({.name = output->name,
                              .made = *output->reduction,
                              .columns = output->index.column->over,
                              .is_divisor = is_divisor(parts, *output)});
    return all;
}

}  // namespace

const TileOperand* TileOperands::find(OperandReader reader) const {
    const auto found = std::ranges::find(operands, reader, &TileOperand::reader);
    return found == operands.end() ? nullptr : &*found;
}

bool TileOperands::has_staged_outputs() const {
    return std::ranges::any_of(outputs, [](const TileOutput& one) { return one.is_staged; });
}

bool TileOperands::has_direct_outputs() const {
    return std::ranges::any_of(outputs, [](const TileOutput& one) { return !one.is_staged; });
}

bool TileOperands::reads_parts() const {
    return std::ranges::any_of(operands, [](const TileOperand& one) { return one.reader != OperandReader::panels; });
}

TileOperands tile_operands(const GemmSignature& s, const Config& c, const WgmmaGeometry& g) {
    if (s.epilogue) return operands_of_text(s.epilogue->parts(), s, c, g);
    TileOperands all{.swap_ab = c.swap_ab,
                     .batched = s.batched,
                     .grouped = s.grouped,
                     .grouped_by_k = s.grouped_by_k,
                     .gathered = s.gathered};
    if (!s.c) return all;
    if (adds_c_by_row(s, c)) all.finish = TileFinish::by_row;
    if (adds_c_by_row(s, c)) return all;
    if (g.c_stages == 0 && !c.broadcast_c) all.finish = TileFinish::by_element;
    if (g.c_stages == 0 && !c.broadcast_c) return all;
    Epilogue epilogue = default_epilogue(s.d, s.c, c.broadcast_c);
    if (c.swap_ab) epilogue = epilogue.transposed();
    const auto operand =
        std::ranges::find_if(epilogue.parts().operands, [](const EpilogueOperand& one) { return !one.is_scalar; });
    const OperandReader reader = g.c_stages != 0 ? OperandReader::panels : reader_of(operand->index);
    all.operands.push_back(
        {.operand = *operand, .reader = reader, .guard = std::string(kFactorOfC), .by_pair = reads_pairs_of_c(s, c)});
    return all;
}

}  // namespace jitgemm
