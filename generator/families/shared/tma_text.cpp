#include "generator/families/shared/tma_text.hpp"

#include "generator/base/packed_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

namespace jitgemm {
namespace {

/// "int x, int y": `item` of each coordinate.
std::vector<std::string> coordinates(int rank, fmt::format_string<const char&> item) {
    constexpr std::string_view kNames = "xyzuv";
    std::vector<std::string> list;
    for (const char name : kNames.substr(0, static_cast<std::size_t>(rank))) list.push_back(fmt::format(item, name));
    return list;
}

/// The parameters of a copy: the coordinates that its map does not have.
std::string coordinate_parameters(int rank, int of_problem) {
    return fmt::format("{}", fmt::join(coordinates(rank - of_problem, "int {}"), ", "));
}

std::vector<std::string> coordinate_inputs(int rank, int of_problem) {
    std::vector<std::string> inputs = coordinates(rank - of_problem, "\"r\"({})");
    if (of_problem > 0) inputs.emplace_back("\"r\"(map.problem)");
    if (of_problem > 1) inputs.emplace_back("\"r\"(map.outer)");
    return inputs;
}

std::string map_input(int of_problem) { return of_problem > 0 ? "\"l\"(map.all)" : "\"l\"(&map)"; }

/// "{%2, %3}"
std::string coordinate_operands(int first, int rank) {
    std::string text = fmt::format("{{%{}", first);
    for (int i = 1; i < rank; ++i) text += fmt::format(", %{}", first + i);
    return text + "}";
}

/// One bulk copy as a function, laid out as clang-format does.
struct BulkCopy {
    std::string parameters;  ///< with the name: "tma_load(unsigned target"
    std::string instruction;
    std::string operands;
    std::vector<std::string> before, behind;  ///< inputs around the coordinates

    [[nodiscard]] std::string text(int rank, int of_problem) const {
        const std::string head = fmt::format("__device__ __forceinline__ void {}) {{", parameters);
        std::vector<std::string> inputs = before;
        std::ranges::move(coordinate_inputs(rank, of_problem), std::back_inserter(inputs));
        inputs.insert(inputs.end(), behind.begin(), behind.end());
        const std::string first = inputs.front();
        inputs.erase(inputs.begin());
        return fmt::format(
            "{}\n    asm volatile(\n        \"{} \"\n        \"{};\" ::{},\n{}\n        : \"memory\");\n}}\n",
            call_in_lines(head), instruction, operands, first, packed_items("        ", inputs, 8, 0));
    }
};

std::string bulk_load(int rank, int of_problem) {
    return BulkCopy{
        fmt::format("tma_load(unsigned target, const TensorMap& map, {}, unsigned full",
                    coordinate_parameters(rank, of_problem)),
        fmt::format("cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes", rank),
        fmt::format("[%0], [%1, {}], [%{}]", coordinate_operands(2, rank), rank + 2),
        {"\"r\"(target)", map_input(of_problem)},
        {"\"r\"(full)"}}
        .text(rank, of_problem);
}

constexpr std::string_view kOfMulticast =
    "// The same into every block of the cluster whose bit in `blocks` is set: to the same address, with the barrier "
    "there.\n";

std::string bulk_multicast(int rank, int of_problem) {
    return std::string(kOfMulticast) +
           BulkCopy{fmt::format("tma_load_multicast(unsigned target, const TensorMap& map, {}, unsigned full, unsigned "
                                "short blocks",
                                coordinate_parameters(rank, of_problem)),
                    fmt::format("cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                                ".multicast::cluster",
                                rank),
                    fmt::format("[%0], [%1, {}], [%{}], %{}", coordinate_operands(2, rank), rank + 2, rank + 3),
                    {"\"r\"(target)", map_input(of_problem)},
                    {"\"r\"(full)", "\"h\"(blocks)"}}
               .text(rank, of_problem);
}

std::string bulk_store(int rank, int of_problem) {
    return BulkCopy{
        fmt::format("tma_store(unsigned source, const TensorMap& map, {}", coordinate_parameters(rank, of_problem)),
        fmt::format("cp.async.bulk.tensor.{}d.global.shared::cta.tile.bulk_group", rank),
        fmt::format("[%0, {}], [%{}]", coordinate_operands(1, rank), rank + 1),
        {map_input(of_problem)},
        {"\"r\"(source)"}}
        .text(rank, of_problem);
}

}  // namespace

std::string tma_wrappers(const std::set<int>& ranks, TmaCopies copies) {
    std::string text;
    for (const int rank : ranks) {
        text += (text.empty() ? "" : "\n") + bulk_load(rank, copies.of_problem);
        if (copies.multicasts) text += "\n" + bulk_multicast(rank, copies.of_problem);
        if (copies.stores) text += "\n" + bulk_store(rank, copies.of_problem);
    }
    return text;
}

}  // namespace jitgemm
