#include "generator/families/wgmma_warp_specialized/block_scales.hpp"

#include "generator/base/operand.hpp"
#include "generator/base/packed_lines.hpp"
#include "generator/base/round_up.hpp"
#include "generator/base/tensor_map.hpp"
#include "generator/epilogue/block_scales.hpp"
#include "generator/families/shared/params_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace jitgemm {
namespace {

constexpr int kLeastBox = 4;  // floats that TMA copies side by side
constexpr int kLanes = 32;    // of a warp

/// TMA copies from multiples of 16 bytes on, so that up to three rows before the tile come along. Boxes of a tile lie
/// one behind the other in shared memory.
void shift_boxes(WgmmaScale& scale, int extent) {
    const int rows = extent + kLeastBox - 1;
    scale.is_shifted = true;
    scale.boxes = ceil_div(rows, kMaxBoxExtent);
    scale.step = round_up(ceil_div(rows, scale.boxes), scale.boxes > 1 ? kScaleSlotBytes / 4 : kLeastBox);
    scale.box = {scale.step, 1};
}

WgmmaScale scale_of(const EpilogueOperand& operand, const GemmSignature& signature,
                    const WgmmaWarpSpecializedConfig& config) {
    const BlockScaleLines lines = block_scale_lines(operand);
    WgmmaScale scale{.operand = &operand,
                     .is_of_rows = lines.is_of_a != config.swap_ab,
                     .is_by_block = lines.is_by_block,
                     .is_k_contiguous = lines.is_k_contiguous,
                     .is_by_threads = config.scales == ScaleSource::threads,
                     .has_problems = signature.batched && operand.index.of_problem,
                     .pairs = lines.is_of_a ? EpiloguePairs::none : signature.epilogue->parts().pairs};
    const int halves = scale.is_in_halves() ? 2 : 1;
    const int extent = (scale.is_of_rows ? config.block.m : config.block.n) / halves;
    if (scale.is_by_block) {
        scale.step = std::gcd(extent, kScaledBlock);
        scale.boxes = halves * (extent / std::max(scale.step, 1));
        scale.box = {kLeastBox, 1};
        scale.bytes = scale.boxes * kScaleSlotBytes;
    } else {
        scale.step = extent;
        scale.boxes = halves;
        scale.box = scale.is_k_contiguous ? std::array{kLeastBox, extent} : std::array{extent, 1};
        if (signature.grouped && !scale.is_by_threads && scale.is_of_rows && !scale.is_k_contiguous)
            shift_boxes(scale, extent);
        scale.bytes = round_up(scale.copied_bytes(), kScaleSlotBytes);
    }
    if (scale.is_by_threads) scale.bytes = round_up(scale.parts() * 4, kScaleSlotBytes);
    return scale;
}

}  // namespace

std::vector<WgmmaScale> block_scales(const GemmSignature& signature, const WgmmaWarpSpecializedConfig& config) {
    std::vector<WgmmaScale> scales;
    if (!signature.epilogue) return scales;
    for (const EpilogueOperand& operand : signature.epilogue->parts().operands)
        if (operand.is_block_scale()) scales.push_back(scale_of(operand, signature, config));
    if (scales.size() == 2 && !scales.front().is_of_rows) std::swap(scales.front(), scales.back());
    return scales;
}

bool has_aligned_scales(const GemmSpec& row_major) {
    return std::ranges::all_of(gemm_operands(row_major), [](const GemmOperand& operand) {
        return !operand.is_block_scale() || operand.alignment >= kTmaAlignment;
    });
}

namespace {

/// Whether all rows that a thread has of a wave have the same scale.
bool has_one_of_rows(const WgmmaScale& scale) { return scale.is_by_block && scale.pairs == EpiloguePairs::none; }

}  // namespace

int scale_registers(const std::vector<WgmmaScale>& scales, int wave_columns) {
    int registers = 0;
    for (const WgmmaScale& scale : scales)
        registers += scale.is_of_rows    ? (has_one_of_rows(scale) ? 1 : 2)
                     : scale.is_by_block ? scale.boxes
                                         : wave_columns / 4;
    return registers;
}

std::string scale_lines(const std::vector<WgmmaScale>& scales) {
    std::string text;
    int bytes = 0, copied = 0;
    for (const WgmmaScale& scale : scales) {
        const std::string_view side = scale.is_of_rows ? "Row" : "Column";
        const std::string& name = scale.operand->name;
        if (scale.is_by_block) {
            if (!scale.is_by_threads || !scale.is_of_rows)
                text += constant_line(fmt::format("k{}Scales", side), scale.boxes,
                                      fmt::format("parts of a tile, each within a block of {}", name));
            text += constant_line(fmt::format("k{}ScaleStep", side), scale.step,
                                  scale.is_of_rows ? "rows of a part" : "columns of a part");
        }
        if (scale.is_of_rows && scales.size() > 1)
            text += constant_line("kRowScaleBytes", scale.bytes, fmt::format("{} of a k-tile in shared memory", name));
        if (scale.is_shifted && scale.boxes > 1)
            text += constant_line("kRowScales", scale.boxes, fmt::format("boxes of {} for a tile", name)) +
                    constant_line("kRowScaleStep", scale.step, "rows of a box");
        bytes += scale.bytes;
        copied += scale.copied_bytes();
    }
    text += constant_line("kScaleBytes", bytes, "all scales of a k-tile in shared memory");
    return copied == 0 ? text : text + constant_line("kCopiedScaleBytes", copied, "that TMA writes");
}

namespace {

std::string_view member(const WgmmaScale& scale) { return scale.is_of_rows ? "row" : "column"; }
std::string_view type_of(const WgmmaScale& scale) { return scale.is_of_rows ? "RowScales" : "ColumnScales"; }
bool has_begin(const WgmmaScale& scale) { return scale.is_by_block && !scale.is_by_threads; }

constexpr std::size_t kInLoop = 2 * kTextIndent;

/// The rows of a tile of groups are in one box, or in several.
std::string copy_of_shifted(const WgmmaScale& scale, const std::string& target) {
    std::vector<std::string> rest{fmt::format("args.map_{}", scale.operand->name), "tile.row & ~3", "k_block", "full"};
    if (scale.boxes == 1) return call_statement("tma_load", target, rest, kInLoop);
    rest[1] = "(tile.row & ~3) + part * kRowScaleStep";
    return fmt::format(
        "#pragma unroll\n"
        "for (int part = 0; part < kRowScales; ++part)\n"
        "{}",
        indented(static_cast<int>(kTextIndent),
                 call_statement("tma_load", target + " + part * kRowScaleStep * 4", rest, kInLoop + kTextIndent)));
}

/// "tile.row": the first line of the tile, or the last one's end, as the scales of all such lines count them.
std::string line_of_scales(const WgmmaScale& scale, std::string_view line) {
    const std::string in_tile = fmt::format("tile.{}{}", line, member(scale));
    if (scale.is_of_rows) return scale.is_in_halves() ? in_tile + " / 2" : in_tile;  // two rows for one of D^T
    return scale.pairs == EpiloguePairs::neighbours ? "2 * " + in_tile : in_tile;
}
/// From the first line of a pair to the second one.
std::string_view half_of_lines(const WgmmaScale& scale) { return scale.is_of_rows ? "(args.m / 2)" : "args.n"; }

/// Copies a scale's boxes of a k-tile. They begin at multiples of 16 bytes.
std::string copy_of_lines(const WgmmaScale& scale, const std::string& target) {
    if (scale.is_shifted) return copy_of_shifted(scale, target);
    const auto copy = [&](const std::string& to, const std::string& origin) {
        std::vector<std::string> rest{fmt::format("args.map_{}", scale.operand->name), "k_block & ~3", origin, "full"};
        if (!scale.is_k_contiguous) rest[1] = origin, rest[2] = "k_block";
        return call_statement("tma_load", to, rest, kInLoop);
    };
    const std::string origin = line_of_scales(scale, "");
    std::string text = copy(target, origin);
    if (!scale.is_in_halves()) return text;
    return text + copy(fmt::format("{} + {}", target, scale.copied_bytes() / 2),
                       fmt::format("{} + {}", half_of_lines(scale), origin));
}

std::string copy_of_blocks(const WgmmaScale& scale, const std::string& target) {
    const std::string_view side = scale.is_of_rows ? "Row" : "Column";
    std::vector<std::string> rest{fmt::format("args.map_{}", scale.operand->name), "k_block & ~3", "block", "full"};
    if (!scale.is_k_contiguous) rest[1] = "block & ~3", rest[2] = "k_block";
    const int of_half = scale.boxes / 2;
    const std::string line =
        !scale.is_in_halves() ? fmt::format("{} + part * k{}ScaleStep", line_of_scales(scale, ""), side)
        : of_half == 1        ? fmt::format("{} + part * {}", line_of_scales(scale, ""), half_of_lines(scale))
                       : fmt::format("{0} + part % {1} * k{2}ScaleStep + part / {1} * {3}", line_of_scales(scale, ""),
                                     of_half, side, half_of_lines(scale));
    return fmt::format(
        "#pragma unroll\n"
        "for (int part = 0; part < k{0}Scales; ++part) {{\n"
        "    const int block = ({1}) / {2};\n"
        "{3}}}\n",
        side, line, kScaledBlock,
        indented(static_cast<int>(kTextIndent),
                 call_statement("tma_load", fmt::format("{} + part * {}", target, kScaleSlotBytes), rest,
                                kInLoop + kTextIndent)));
}

/// Copies of a warp: each brings a scale for every lane.
int copies_of(const WgmmaScale& scale) { return ceil_div(scale.parts(), kLanes); }

/// Copies whose addresses the copying warp keeps from one k-tile to the next, as many as it has registers for.
int copies_at_once(const std::vector<WgmmaScale>& scales, const WgmmaScale& scale, bool is_batched) {
    int all = 0;
    for (const WgmmaScale& one : scales)
        if (!one.is_by_block) all += copies_of(one);
    return all > (is_batched ? 4 : 8) || copies_of(scale) > 4 ? 1 : 4;
}

/// "copy_parts<128, 1, 1, true, 4>(target, args.sa, args.ld_sa, tile.row, tile.end_row, k_block, bytes);"
std::string copied_by_threads(const std::vector<WgmmaScale>& scales, bool is_batched) {
    std::string text;
    const std::string_view args = is_batched ? "of_tile" : "args";
    for (const WgmmaScale& scale : scales) {
        const int step = scale.is_by_block ? scale.step : 1, lines = scale.is_by_block ? kScaledBlock : 1;
        const int halves = scale.is_in_halves() ? 2 : 1, count = scale.parts() / halves;
        const std::string target = &scale != scales.data() ? "target + kRowScaleBytes" : "target";
        const std::string values = fmt::format("{}.{}", args, scale.operand->name);
        const std::string pitch = fmt::format("{}.ld_{}", args, scale.operand->name);
        const auto copy = [&](const std::string& to, const std::string& from) {
            return call_statement(
                fmt::format("copy_parts<{}, {}, {}, {}, {}>", count, step, lines, scale.is_k_contiguous,
                            copies_at_once(scales, scale, is_batched)),
                to, {from, pitch, line_of_scales(scale, ""), line_of_scales(scale, "end_"), "k_block", "bytes"},
                kInLoop + kTextIndent);
        };
        text += copy(target, values);
        if (halves == 1) continue;
        text +=
            copy(fmt::format("{} + {}", target, count * 4),
                 fmt::format("{} + {}{}{}", values, half_of_lines(scale), lines == 1 ? "" : fmt::format(" / {}", lines),
                             scale.is_k_contiguous ? " * " + pitch : ""));
    }
    return text;
}

std::string copied(const std::vector<WgmmaScale>& scales) {
    if (scales.empty() || scales.front().is_by_threads) return {};
    std::string text =
        "const unsigned scales = shared.scales_of(stage), full = shared.full_barrier(stage);\n"
        "const int k_block = tile.first_k / kBlockK + k_tile;\n";
    for (const WgmmaScale& scale : scales) {
        const std::string target = &scale != scales.data() ? "scales + kRowScaleBytes" : "scales";
        text += scale.is_by_block ? copy_of_blocks(scale, target) : copy_of_lines(scale, target);
    }
    return text;
}

std::string types(const std::vector<WgmmaScale>& scales) {
    std::string text;
    for (const WgmmaScale& scale : scales) {
        const std::string type =
            scale.is_by_threads ? fmt::format("ScalesOfParts<{}>", scale.is_by_block ? scale.step : 1)
            : scale.is_by_block ? fmt::format("ScalesOfBlocks<{}, {}>", scale.step, scale.is_k_contiguous)
                                : fmt::format("ScalesOfLines<{}, {}>", scale.stride(), scale.is_k_contiguous);
        text += fmt::format("using {} = {};  // {}\n", type_of(scale), type,
                            with_index(scale.operand->name, scale.operand->index));
    }
    return text;
}

std::string places(const std::vector<WgmmaScale>& scales) {
    std::string text;
    for (const WgmmaScale& scale : scales) text += fmt::format("{} {}_scales;\n", type_of(scale), member(scale));
    return text;
}

/// The thread's first row (column) of the block tile, where each has a scale.
std::string first_line(const WgmmaScale& scale) {
    const bool in_pairs = scale.pairs == EpiloguePairs::neighbours;
    if (!scale.is_of_rows) return scale.is_by_block ? "0" : fmt::format("threadIdx.x % 4 * {}", in_pairs ? 4 : 2);
    if (scale.is_by_block) return scale.is_in_halves() ? "row / 2" : "row";
    return fmt::format(
        "{} + threadIdx.x % 32 / 4{}",
        scale.is_in_halves() ? "(row + threadIdx.x / 32 % 4 * 16) / 2" : "row + threadIdx.x / 32 % 4 * 16",
        in_pairs ? " * 2" : "");
}

std::string found(const std::vector<WgmmaScale>& scales) {
    std::string text;
    for (const WgmmaScale& scale : scales) {
        const std::string place = fmt::format("place.{}_scales", member(scale));
        const std::string_view start = &scale != scales.data() ? " + kRowScaleBytes" : "";
        text += fmt::format("{}.address = shared.scales_of(0){};\n", place, start);
        if (!scale.is_by_block)
            text += fmt::format("{}.address += ({}) * {};\n", place, first_line(scale), scale.stride());
        else if (scale.is_of_rows)
            text += fmt::format("{}.address += {} / kRowScaleStep * {};\n", place, first_line(scale),
                                scale.is_by_threads ? 4 : kScaleSlotBytes);
        if (has_begin(scale)) text += fmt::format("{}.row_in_tile = {};\n", place, first_line(scale));
    }
    return text;
}

std::string begun(const std::vector<WgmmaScale>& scales) {
    if (scales.empty()) return {};
    std::string text = "a.k_block = tile.first_k / kBlockK;\n";
    for (const WgmmaScale& scale : scales)
        if (has_begin(scale))
            text += fmt::format("a.{0}_scales.begin_tile(tile.{0}, tile.end_{0});\n", member(scale));
        else if (scale.is_shifted)
            text += "a.row_scales.address += tile.row % 4 * 4;  // the box begins up to three rows before the tile\n";
    return text;
}

std::string of_wave(const std::vector<WgmmaScale>& scales) {
    std::string text;
    for (const WgmmaScale& scale : scales) {
        if (scale.is_of_rows)
            text += has_one_of_rows(scale) ? "float row_scale;\n"
                                           : "float row_scale[2];  // of rows g and g + 8. Here g is lane / 4.\n";
        else
            text += scale.is_by_block
                        ? "float column_scale[kColumnScales];  // of the parts of the tile\n"
                        : "float column_scale[kWaveN / 8][2];  // of columns 2t and 2t + 1. Here t is lane % 4.\n";
    }
    return text;
}

/// "a.row_scales.at(row, ring.stage, a.k_block);\n"
std::string read_at(const WgmmaScale& scale, std::string_view line) {
    const bool in_pairs = scale.pairs != EpiloguePairs::none;
    return fmt::format("a.{}_scales.at({}, ring.stage, a.k_block);\n", member(scale),
                       in_pairs ? fmt::format("scale_line({})", line) : std::string(line));
}

std::string read(const std::vector<WgmmaScale>& scales) {
    std::string text;
    for (const WgmmaScale& scale : scales) {
        if (scale.is_of_rows) {
            text += "const int row = wave / kWavesN % kTilesM * 64;\n";
            text += has_one_of_rows(scale) ? "partial.row_scale = " + read_at(scale, "row")
                                           : "partial.row_scale[0] = " + read_at(scale, "row") +
                                                 "partial.row_scale[1] = " + read_at(scale, "row + 8");
        } else if (scale.is_by_block) {
            text +=
                "#pragma unroll\n"
                "for (int part = 0; part < kColumnScales; ++part)\n"
                "    partial.column_scale[part] = a.column_scales.at(part * kColumnScaleStep, ring.stage, "
                "a.k_block);\n";
        } else {
            text +=
                "#pragma unroll\n"
                "for (int j = 0; j < kWaveN / 8; ++j) {\n"
                "    const int column = wave % kWavesN * kWaveN + j * 8;\n"
                "    partial.column_scale[j][0] = " +
                read_at(scale, "column") + "    partial.column_scale[j][1] = " + read_at(scale, "column + 1") + "}\n";
        }
    }
    return text;
}

std::string of_sum(const std::vector<WgmmaScale>& scales) {
    std::string text, factors;
    for (const WgmmaScale& scale : scales) {
        factors += factors.empty() ? "" : " * ";
        if (scale.is_of_rows)
            factors += has_one_of_rows(scale) ? "partial.row_scale" : "partial.row_scale[r / 2]";
        else if (!scale.is_by_block)
            factors += "partial.column_scale[j][r % 2]";
        else
            factors += "partial.column_scale[part]";
        if (!scale.is_of_rows && scale.is_by_block)
            text = fmt::format("const int part = {}(wave % kWavesN * kWaveN + j * 8) / kColumnScaleStep;\n",
                               scale.pairs == EpiloguePairs::none ? "" : "scale_line");
    }
    return text + fmt::format("const float scale = {};\n", factors);
}

/// Where the scale of a line of pairs lies among those of the tile.
std::string line_of_pair(const std::vector<WgmmaScale>& scales) {
    for (const WgmmaScale& scale : scales)
        if (scale.is_in_halves())
            return fmt::format("return second * {} + pair;\n", scale.is_of_rows ? "kBlockM / 2" : "kBlockN");
    return "return 2 * pair + second;\n";
}

}  // namespace

void add_scale_statements(RenderInput& input, const std::vector<WgmmaScale>& scales, bool is_batched, bool early) {
    input.generated["GEMM_SCALES_BEGIN"] = early ? "wait_on_dependent_grids();\n" : "";
    input.generated["GEMM_SCALES_OF_TILE"] =
        is_batched ? "const GemmArgs of_tile = problem_of(args, tile.problem);\n" : "";
    input.generated["GEMM_COPY_PARTS"] = copied_by_threads(scales, is_batched);
    input.generated["GEMM_COPY_SCALES"] = copied(scales);
    input.generated["GEMM_SCALE_LINE"] = line_of_pair(scales);
    input.generated["GEMM_SCALE_TYPES"] = types(scales);
    input.generated["GEMM_SCALE_PLACES"] = places(scales);
    input.generated["GEMM_FIND_SCALES"] = found(scales);
    input.generated["GEMM_BEGIN_SCALES"] = begun(scales);
    input.generated["GEMM_SCALES_OF_WAVE"] = of_wave(scales);
    input.generated["GEMM_READ_SCALES"] = read(scales);
    input.generated["GEMM_SCALE_OF_SUM"] = of_sum(scales);
}

}  // namespace jitgemm
