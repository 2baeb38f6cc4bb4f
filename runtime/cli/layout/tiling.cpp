#include "runtime/cli/layout/tiling.hpp"

#include "runtime/cli/layout/numbers.hpp"

#include <algorithm>
#include <vector>

namespace jitgemm::cli {
namespace {

constexpr std::int64_t kMostTextCells = 2048;

TileShape repetitions(const TilingOptions& options) {
    const std::vector<std::int64_t> counts = parse_numbers("--val", options.val, 3);
    return {static_cast<int>(counts[0]), static_cast<int>(counts[1]), static_cast<int>(counts[2])};
}

}  // namespace

void declare_atom(CLI::App& app, TilingOptions& options) {
    app.add_option("--atom", options.atom,
                   "MMA instruction, CuTe's name or PTX's: SM80_16x8x16_F32BF16BF16F32_TN, "
                   "mma.m16n8k16.f32.bf16.bf16.f32")
        ->required()
        ->type_name("NAME");
}

void declare_tiling(CLI::App& app, TilingOptions& options) {
    app.add_option("--warps", options.warps, "Warps (wgmma: warpgroups) along M,N,K, or a layout (2,2,1):(2,1,0)")
        ->capture_default_str()
        ->type_name("M,N,K");
    app.add_option("--val", options.val, "Times that a warp repeats its atoms along M,N,K")
        ->capture_default_str()
        ->type_name("M,N,K");
}

TiledMma tiled_mma(const TilingOptions& options) {
    return {mma_atom(options.atom), parse_layout_option("--warps", options.warps, 3), repetitions(options)};
}

Json val_json(const TilingOptions& options) { return parse_numbers("--val", options.val, 3); }

std::string atom_name(const MmaAtom& atom, const TilingOptions& options) {
    return options.atom == atom.cute_alias ? atom.cute_alias : atom.name();
}

bool is_drawn(std::string_view format, std::int64_t cells) {
    return format != "json" && (format != "text" || cells <= kMostTextCells);
}

Layout parse_layout_option(std::string_view option, const std::string& text, std::size_t count, bool last_first) {
    if (text.starts_with('(')) return parse_layout(text);
    const std::vector<std::int64_t> counts = parse_numbers(option, text, count);
    const std::vector<IntTuple> shape(counts.begin(), counts.end());
    if (!last_first) return Layout(IntTuple(shape));
    const IntTuple reversed = compact_strides(std::vector<IntTuple>(shape.rbegin(), shape.rend()));
    return {IntTuple(shape), std::vector<IntTuple>(reversed.modes().rbegin(), reversed.modes().rend())};
}

}  // namespace jitgemm::cli
