#include "runtime/device/entry_json.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>

namespace jitgemm {
namespace {

using Json = nlohmann::ordered_json;

// Each in the order of its enumeration.
constexpr std::array<std::string_view, 14> kArgumentRoles{"a", "b",   "c",   "d",   "workspace", "m",     "n",
                                                          "k", "lda", "ldb", "ldc", "ldd",       "alpha", "beta"};
constexpr std::array<std::string_view, 4> kArgumentKinds{"pointer", "i32", "i64", "f32"};
constexpr std::array<std::string_view, 3> kGridMatrices{"a", "b", "d"};

Json to_json(const KernelArgument& argument) {
    return {{"role", to_string(argument.role)}, {"kind", to_string(argument.kind)}};
}

Json to_json(const GridRule& grid) {
    return {{"matrix", to_string(grid.matrix)},
            {"tile_m", grid.tile_m},
            {"tile_n", grid.tile_n},
            {"splits", grid.splits},
            {"most", grid.most},
            {"wave", grid.wave}};
}

}  // namespace

std::string_view to_string(ArgumentRole role) { return kArgumentRoles.at(static_cast<std::size_t>(role)); }
std::string_view to_string(ArgumentKind kind) { return kArgumentKinds.at(static_cast<std::size_t>(kind)); }
std::string_view to_string(GridMatrix matrix) { return kGridMatrices.at(static_cast<std::size_t>(matrix)); }

Json to_json(const KernelEntry& entry) {
    Json arguments = Json::array();
    for (const KernelArgument& argument : entry.arguments) arguments.push_back(to_json(argument));
    return {{"function", entry.function}, {"threads", entry.threads},    {"shared_bytes", entry.shared_bytes},
            {"cluster", entry.cluster},   {"grid", to_json(entry.grid)}, {"arguments", arguments}};
}

}  // namespace jitgemm
