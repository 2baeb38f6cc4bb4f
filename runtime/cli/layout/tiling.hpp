#pragma once

#include "generator/layout/tiled_mma.hpp"
#include "runtime/cli/output.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm::cli {

/// "3,3,3" or "128x64": integers between commas or letters x, for the verbs below `layout`. Throws UsageError with the
/// option if one is not an integer of at most 9 digits, or if their number is not `count` (0: any from 1 on).
[[nodiscard]] std::vector<std::int64_t> parse_numbers(std::string_view option, std::string_view text,
                                                      std::size_t count = 0);

/// A tiled MMA, as the options of the verbs below `layout` name it.
struct TilingOptions {
    std::string atom;
    std::string warps = "1,1,1";  ///< counts along M, N, K, or a layout
    std::string val = "1,1,1";
};

void declare_atom(CLI::App& app, TilingOptions& options);    ///< --atom
void declare_tiling(CLI::App& app, TilingOptions& options);  ///< --warps and --val

/// Throws UsageError or LayoutError for a malformed number or layout, and for an unknown name.
[[nodiscard]] TiledMma tiled_mma(const TilingOptions& options);
[[nodiscard]] Json val_json(const TilingOptions& options);

/// The atom's name in documents: the alias if the user gave it, else CuTe's name, else PTX's short one.
[[nodiscard]] std::string atom_name(const MmaAtom& atom, const TilingOptions& options);

/// Whether an answer in this format has a picture of this many cells. JSON has none, and text has none that nobody
/// could read. Other drawings report themselves if they are too large.
[[nodiscard]] bool is_drawn(std::string_view format, std::int64_t cells);

/// "16x8" or "(16,8):(8,1)": a layout, or counts that are numbered along the first mode first (with `last_first` along
/// the last). Throws UsageError or LayoutError.
[[nodiscard]] Layout parse_layout_option(std::string_view option, const std::string& text, std::size_t count,
                                         bool last_first = false);

}  // namespace jitgemm::cli
