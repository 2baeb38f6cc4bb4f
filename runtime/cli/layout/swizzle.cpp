#include "generator/layout/swizzle.hpp"
#include "generator/layout/swizzle_report.hpp"
#include "generator/text/nearest_name.hpp"
#include "jitgemm/data_type.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/layout/layout.hpp"
#include "runtime/cli/layout/output.hpp"
#include "runtime/cli/layout/tiling.hpp"

#include <fmt/format.h>

#include <memory>

namespace jitgemm::cli {
namespace {

constexpr std::int64_t kMapSize = 4096;

struct SwizzleOptions {
    std::string swizzle = "3,3,3";
    std::string tile = "8x64";
    std::string type = "f16";
    int vector = 16;
    bool suggest = false;
    LayoutFormat format;
};

DataType type_of(const std::string& name) {
    if (const auto type = parse_data_type(name)) return *type;
    std::vector<std::string_view> known;
    for (const DataTypeInfo& row : data_type_table()) known.push_back(row.name);
    throw UsageError(fmt::format("--type is '{}': {}", name, expected_one_of(name, known)));
}

SharedTile tile_of(const SwizzleOptions& options) {
    const std::vector<std::int64_t> extents = parse_numbers("--tile", options.tile, 2);
    return {static_cast<int>(extents[0]), static_cast<int>(extents[1]), bytes(type_of(options.type))};
}

Swizzle swizzle_of(const SwizzleOptions& options) {
    const std::vector<std::int64_t> numbers = parse_numbers("--swizzle", options.swizzle, 3);
    for (const std::int64_t number : numbers)
        if (std::abs(number) > kMapSize)
            throw UsageError(fmt::format("--swizzle is '{}': {} is out of range", options.swizzle, number));
    return {static_cast<int>(numbers[0]), static_cast<int>(numbers[1]), static_cast<int>(numbers[2])};
}

/// Rows by 16-byte chunks; a chunk's colour and number say which 4 of the 32 banks it lies in.
Grid bank_grid(const std::string& title, const Swizzle& swizzle, const SharedTile& tile) {
    const int chunk = kChunkBytes / tile.element_bytes;
    constexpr int kGroups = kSharedBanks * kBankBytes / kChunkBytes;
    Grid grid{.title = title,
              .row_axis = "row",
              .column_axis = fmt::format("chunk of {} elements", chunk),
              .rows = tile.rows,
              .columns = tile.columns / chunk};
    for (int row = 0; row < grid.rows; ++row) {
        for (int column = 0; column < grid.columns; ++column) {
            const auto byte = swizzled_byte(swizzle, tile, row, column * chunk);
            const int group = static_cast<int>(byte / kChunkBytes % kGroups);
            grid.cells.push_back({{std::to_string(group)},
                                  group,
                                  fmt::format("row {}, elements {} to {}: byte {}, banks {} to {}", row, column * chunk,
                                              column * chunk + chunk - 1, byte, 4 * group, 4 * group + 3)});
        }
    }
    return grid;
}

std::optional<Picture> drawn(const Swizzle& swizzle, const SharedTile& tile) {
    const int chunk = kChunkBytes / tile.element_bytes;
    if (tile.columns % chunk != 0 || 2 * tile.rows * (tile.columns / chunk) > kMostCells) return std::nullopt;
    return Picture{
        .title = fmt::format("{} on {} x {} elements of {} bytes", to_string(swizzle), tile.rows, tile.columns,
                             tile.element_bytes),
        .grids = {bank_grid("before", Swizzle(0, 0, 0), tile), bank_grid("after", swizzle, tile)},
        .notes = {"A cell is 16 bytes; its number is the group of 4 banks it lies in. An ldmatrix reads 8 rows of one "
                  "column at once: equal numbers there collide."}};
}

Json traffic_json(const TileTraffic& traffic) {
    if (!traffic.refusal.empty()) return {{"refused", traffic.refusal}};
    return {{"wavefronts", traffic.wavefronts}, {"ideal", traffic.ideal}};
}

Json conflicts_of(const TileTraffic& traffic) {
    return traffic.refusal.empty() ? Json(traffic.conflicts()) : Json(nullptr);
}

Json swizzle_json(const Swizzle& swizzle) { return {swizzle.bits(), swizzle.base(), swizzle.shift()}; }

Json conflicts_json(const SwizzleReport& report) {
    return {{"load", conflicts_of(report.load)}, {"store", conflicts_of(report.store)}};
}

std::string line_of(const char* what, const TileTraffic& traffic) {
    if (!traffic.refusal.empty()) return fmt::format("  {:<22} refused: {}\n", what, traffic.refusal);
    return fmt::format("  {:<22} {} wavefronts, ideal {}: {} conflicts\n", what, traffic.wavefronts, traffic.ideal,
                       traffic.conflicts());
}

std::string text_of(const std::string& title, const SwizzleReport& report, int vector) {
    return title + "\n" + line_of("load by ldmatrix", report.load) +
           line_of(fmt::format("store, {} bytes per lane", vector).c_str(), report.store);
}

LayoutAnswer answer_for(const Swizzle& swizzle, const SharedTile& tile, int vector) {
    const SwizzleReport report = report_swizzle(swizzle, tile, vector);
    const SwizzleReport plain = report_swizzle(Swizzle(0, 0, 0), tile, vector);
    std::vector<std::int64_t> map;
    for (std::int64_t i = 0; i < kMapSize; ++i) map.push_back(swizzle(i));
    LayoutAnswer answer;
    answer.text = text_of("without swizzle", plain, vector) + text_of("with " + to_string(swizzle), report, vector);
    answer.document = {{"swizzle", swizzle_json(swizzle)},           {"conflicts", conflicts_json(report)},
                       {"conflicts_without", conflicts_json(plain)}, {"load", traffic_json(report.load)},
                       {"store", traffic_json(report.store)},        {"map", std::move(map)}};
    answer.picture = drawn(swizzle, tile);
    return answer;
}

LayoutAnswer suggestion_for(const SharedTile& tile, int vector) {
    const SwizzleSuggestion suggestion = suggest_swizzle(tile, vector);
    Json trials = Json::array();
    std::string tried;
    for (const SwizzleTrial& trial : suggestion.trials) {
        trials.push_back({{"swizzle", swizzle_json(trial.swizzle)}, {"conflicts", conflicts_json(trial.report)}});
        tried += text_of(to_string(trial.swizzle), trial.report, vector);
    }
    LayoutAnswer answer;
    if (suggestion.best) answer = answer_for(*suggestion.best, tile, vector);
    answer.text = suggestion.why + "\n\nTried, from the fewest bits on:\n" + tried;
    answer.document["suggested"] = suggestion.best ? swizzle_json(*suggestion.best) : Json(nullptr);
    answer.document["why"] = suggestion.why;
    answer.document["tried"] = std::move(trials);
    return answer;
}

int swizzle(const SwizzleOptions& options, Output& output) {
    const SharedTile tile = tile_of(options);
    if (options.suggest) return show(suggestion_for(tile, options.vector), options.format, output);
    return show(answer_for(swizzle_of(options), tile, options.vector), options.format, output);
}

}  // namespace

Action declare_layout_swizzle(CLI::App& app) {
    auto options = std::make_shared<SwizzleOptions>();
    auto* given =
        app.add_option("--swizzle", options->swizzle, "Bits, base and shift of Swizzle<B,M,S>, on element indices")
            ->capture_default_str();
    app.add_option("--tile", options->tile, "Rows x columns of a row-major tile in shared memory")
        ->capture_default_str();
    app.add_option("--type", options->type, "Element type")->capture_default_str();
    app.add_option("--vector", options->vector, "Bytes that a lane stores: 4, 8 or 16")->capture_default_str();
    app.add_flag("--suggest", options->suggest, "Find a swizzle instead of evaluating a given one")->excludes(given);
    declare_format(app, options->format);
    return [options](Output& output) { return swizzle(*options, output); };
}

}  // namespace jitgemm::cli
