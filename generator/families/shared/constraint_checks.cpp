#include "generator/families/shared/constraint_checks.hpp"

#include <fmt/format.h>

#include <limits>

namespace jitgemm {
namespace {

constexpr int kMaxGroup = 1024;

bool is_output(DataType type) { return is_half(type) || type == DataType::f32; }

}  // namespace

void check_outputs(Reasons& reasons, std::string_view family, const GemmSpec& spec, bool has_8_bits) {
    const bool is_of_8_bits = bytes(spec.d) == 1 || spec.d == DataType::s32;  // an output of factors of 8 bits
    if (!is_output(spec.d) && !(has_8_bits && is_of_8_bits))
        reasons.push_back(fmt::format("{} writes f16, bf16{} f32{}, not {}", family, has_8_bits ? "," : " or",
                                      has_8_bits ? ", e4m3, e5m2, s8 or s32" : "", to_string(spec.d)));
    if (spec.c && !is_output(*spec.c))
        reasons.push_back(fmt::format("{} adds C in f16, bf16 or f32, not {}", family, to_string(*spec.c)));
}

void check_range(Reasons& reasons, std::string_view name, int value, int least, int most) {
    if (value < least || value > most)
        reasons.push_back(fmt::format("{} = {} is outside {} to {}", name, value, least, most));
}

void check_divides(Reasons& reasons, std::string_view whole_name, int whole, std::string_view part_name, int part) {
    if (part <= 0 || whole <= 0 || whole % part != 0)
        reasons.push_back(
            fmt::format("{} = {} is not a positive multiple of {} = {}", whole_name, whole, part_name, part));
}

void check_rasterization(Reasons& reasons, const RasterOrder& order, const TileShape& block, const GemmSpec& spec) {
    if (!has_groups(order.rasterization)) {
        if (order.group != 1)
            reasons.push_back(fmt::format("group = {}: row and column rasterization have no groups (1)", order.group));
        return;
    }
    check_range(reasons, "group", order.group, 1, kMaxGroup);
    if (block.m <= 0 || block.n <= 0) return;  // said elsewhere
    const TileIndex tiles = tiles_of(block, spec.m, spec.n);
    const std::int64_t length = order.rasterization == Rasterization::grouped_n ? tiles.m : tiles.n;
    if (order.group * length > std::numeric_limits<std::uint32_t>::max())
        reasons.push_back(
            fmt::format("group = {}: a raster group of {} tiles is more than 32 bits count", order.group, length));
}

void check_grid(Reasons& reasons, const GemmSpec& spec, GridRule grid) {
    if (grid.tile_m <= 0 || grid.tile_n <= 0 || grid.splits <= 0) return;
    if (is_grouped(spec) && grid.batch == GridBatch::none) grid.batch = GridBatch::groups;
    const std::int64_t blocks = block_count(grid, spec);
    if (blocks > std::numeric_limits<std::int32_t>::max())
        reasons.push_back(
            fmt::format("{} blocks exceed the grid's {}", blocks, std::numeric_limits<std::int32_t>::max()));
}

}  // namespace jitgemm
