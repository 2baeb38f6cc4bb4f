#include "runtime/cli/layout/tiling.hpp"

#include "generator/text/parse_number.hpp"
#include "runtime/cli/exit_codes.hpp"

#include <fmt/format.h>

#include <vector>

namespace jitgemm::cli {
namespace {

constexpr std::int64_t kMostTextCells = 2048;
constexpr std::size_t kMostDigits = 9;

std::int64_t number_of(std::string_view option, std::string_view text, std::string_view word) {
    const std::optional<std::int64_t> value = parse_number<std::int64_t>(word);
    if (!value || word.size() > kMostDigits)
        throw UsageError(
            fmt::format("{} is '{}': '{}' is not an integer of at most {} digits", option, text, word, kMostDigits));
    return *value;
}

TileShape repetitions(const TilingOptions& options) {
    const std::vector<std::int64_t> counts = parse_numbers("--val", options.val, 3);
    return {static_cast<int>(counts[0]), static_cast<int>(counts[1]), static_cast<int>(counts[2])};
}

}  // namespace

std::vector<std::int64_t> parse_numbers(std::string_view option, std::string_view text, std::size_t count) {
    std::vector<std::int64_t> numbers;
    std::string_view rest = text;
    for (;;) {
        const std::size_t end = rest.find_first_of(",x");
        numbers.push_back(number_of(option, text, rest.substr(0, end)));
        if (end == std::string_view::npos) break;
        rest.remove_prefix(end + 1);
    }
    if (count != 0 && numbers.size() != count)
        throw UsageError(fmt::format("{} is '{}': expected {} integers, not {}", option, text, count, numbers.size()));
    return numbers;
}

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
    app.add_option("--val", options.val, "Number of times that a warp repeats its atom along M,N,K")
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
