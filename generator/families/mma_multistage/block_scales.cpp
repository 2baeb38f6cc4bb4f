#include "generator/families/mma_multistage/block_scales.hpp"

#include "generator/epilogue/block_scales.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace jitgemm {
namespace {

/// Scales of one operand, as a warp reads them.
struct WarpScale {
    const EpilogueOperand* operand = nullptr;
    BlockScaleLines lines;  ///< rows of A are those of D
    bool is_one = false;    ///< the warp tile lies within one block of lines
    int atoms = 0;          ///< of the warp tile, along its rows (columns)
};

std::vector<WarpScale> warp_scales(const GemmSignature& signature, const MmaMultistageConfig& c) {
    std::vector<WarpScale> scales;
    if (!signature.epilogue) return scales;
    for (const EpilogueOperand& operand : signature.epilogue->parts().operands) {
        if (!operand.is_block_scale()) continue;
        const BlockScaleLines lines = block_scale_lines(operand);
        WarpScale scale{.operand = &operand, .lines = lines};
        const int extent = lines.is_of_a ? c.warp.m : c.warp.n;
        scale.is_one = lines.is_by_block && extent != 0 && kScaledBlock % extent == 0;
        scale.atoms = lines.is_of_a ? c.warp.m / c.mma.m : c.warp.n / c.mma.n;
        scales.push_back(scale);
    }
    return scales;
}

std::string_view member(const WarpScale& scale) { return scale.lines.is_of_a ? "of_row" : "of_column"; }

/// "float of_row[kTilesM][2];  // of rows g and g + 8 of each atom. Here g is lane / 4."
std::string declaration(const WarpScale& scale) {
    if (scale.is_one) return fmt::format("float {};  // of all\n", member(scale));
    return fmt::format("float {}[{}][2];  // of {}\n", member(scale), scale.lines.is_of_a ? "kTilesM" : "kTilesN",
                       scale.lines.is_of_a ? "rows g and g + 8 of each atom. Here g is lane / 4."
                                           : "columns 2t and 2t + 1 of each atom. Here t is lane % 4.");
}

/// "args.sa[line * args.ld_sa + k_block]"
std::string element(const WarpScale& scale, const std::string& line) {
    const std::string of_line = scale.lines.is_by_block ? fmt::format("({}) / {}", line, kScaledBlock) : line;
    return scale.lines.is_k_contiguous
               ? fmt::format("args.{0}[{1} * args.ld_{0} + k_block]", scale.operand->name, of_line)
               : fmt::format("args.{0}[k_block * args.ld_{0} + {1}]", scale.operand->name, of_line);
}

std::string loading(const WarpScale& scale) {
    const std::string_view first = scale.lines.is_of_a ? "row" : "column";
    const std::string last = fmt::format("tile.end_{} - 1", first);
    if (scale.is_one)
        return fmt::format("scales.{} = {};\n", member(scale), element(scale, fmt::format("min({}, {})", first, last)));
    const std::string line =
        scale.lines.is_of_a ? "row + i * kMmaM + next * 8 + lane / 4" : "column + i * kMmaN + lane % 4 * 2 + next";
    return fmt::format(
        "#pragma unroll\n"
        "for (int i = 0; i < {}; ++i)\n"
        "#pragma unroll\n"
        "    for (int next = 0; next < 2; ++next) {{\n"
        "        const int line = min({}, {});\n"
        "        scales.{}[i][next] = {};\n"
        "    }}\n",
        scale.lines.is_of_a ? "kTilesM" : "kTilesN", line, last, member(scale), element(scale, "line"));
}

/// "scales.of_row[i][r / 2]"
std::string factor(const WarpScale& scale) {
    if (scale.is_one) return fmt::format("scales.{}", member(scale));
    return scale.lines.is_of_a ? "scales.of_row[i][r / 2]" : "scales.of_column[j][r % 2]";
}

}  // namespace

int block_scale_registers(const GemmSignature& signature, const MmaMultistageConfig& config) {
    int registers = 0;
    for (const WarpScale& scale : warp_scales(signature, config)) registers += scale.is_one ? 1 : 2 * scale.atoms;
    return registers;
}

void add_block_scales(RenderInput& input, const GemmSignature& signature, const MmaMultistageConfig& config) {
    std::string members, loads, factors;
    for (const WarpScale& scale : warp_scales(signature, config)) {
        members += declaration(scale);
        loads += loading(scale);
        factors += (factors.empty() ? "" : " * ") + factor(scale);
    }
    input.macros["GEMM_BLOCK_SCALES"] = !factors.empty();
    input.generated["GEMM_SCALE_MEMBERS"] = members;
    input.generated["GEMM_LOAD_SCALES"] = loads;
    input.generated["GEMM_SCALE_OF_SUM"] = fmt::format("const float scale = {};\n", factors);
}

}  // namespace jitgemm
