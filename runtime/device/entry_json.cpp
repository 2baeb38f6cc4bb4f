#include "runtime/device/entry_json.hpp"

#include "generator/base/overloaded.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>

namespace jitgemm {
namespace {

using Json = nlohmann::ordered_json;

Json box_json(const TensorMapArgument& map) {
    Json box = Json::array();
    for (const TensorMapDimension& dimension : map.dimensions) box.push_back(dimension.box);
    return box;
}

Json kind_json(const KernelArgument& argument) {
    return std::visit(Overloaded{[](PointerArgument) {
                                     return Json{{"kind", "pointer"}};
                                 },
                                 [](ExtentArgument extent) {
                                     return Json{{"kind", extent.bytes == 4 ? "i32" : "i64"}};
                                 },
                                 [](ScalarArgument) {
                                     return Json{{"kind", "f32"}};
                                 },
                                 [](const TensorMapArgument& map) {
                                     return Json{{"kind", "tensor_map"},
                                                 {"box", box_json(map)},
                                                 {"swizzle", to_string(map.swizzle)},
                                                 {"l2_promotion", to_string(map.promotion)}};
                                 }},
                      argument);
}

Json to_json(const KernelArgument& argument, const ArgumentField& field) {
    Json json{{"role", to_string(role_of(argument))}};
    json.update(kind_json(argument));
    json["offset"] = field.offset;
    return json;
}

Json to_json(const BlockRule& blocks) {
    return std::visit(
        Overloaded{
            [](BlockPerTile) {
                return Json{{"rule", "one_per_tile"}};
            },
            [](CappedBlocks capped) {
                return Json{{"rule", "capped"}, {"most", capped.most}};
            },
            [](PersistentBlocks persistent) {
                return Json{{"rule", "persistent"}, {"per_sm", persistent.per_sm}, {"cluster", persistent.cluster}};
            },
            [](RemainderBlocks remainder) {
                return Json{{"rule", "remainder"}, {"per_wave", remainder.per_wave}};
            }},
        blocks);
}

Json to_json(const GridRule& grid) {
    return {{"matrix", to_string(grid.matrix)},
            {"tile_m", grid.tile_m},
            {"tile_n", grid.tile_n},
            {"splits", grid.splits},
            {"blocks", to_json(grid.blocks)}};
}

}  // namespace

Json to_json(const KernelEntry& entry) {
    const ArgumentLayout layout = argument_layout(entry.arguments);
    Json arguments = Json::array();
    for (std::size_t i = 0; i < entry.arguments.size(); ++i)
        arguments.push_back(to_json(entry.arguments[i], layout.fields[i]));
    return {{"function", entry.function},
            {"threads", entry.threads},
            {"shared_bytes", entry.shared_bytes},
            {"cluster", entry.cluster},
            {"programmatic_launch", entry.programmatic_launch},
            {"grid", to_json(entry.grid)},
            {"argument_bytes", layout.bytes},
            {"arguments", arguments}};
}

}  // namespace jitgemm
