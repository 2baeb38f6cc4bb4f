#include "generator/base/packed_lines.hpp"
#include "generator/families/wgmma_warp_specialized/tile_operands.hpp"
#include "generator/families/wgmma_warp_specialized/tile_text.hpp"

#include <fmt/format.h>

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {
namespace {

/// Templates of the outputs beside D in their order.
constexpr std::array<std::string_view, 8> kOutputTemplates{"pack_f16",           "pack_bf16",          "stage_words",
                                                           "stage_floats",       "store_words",        "store_floats",
                                                           "store_words_across", "store_floats_across"};

std::set<std::string_view> templates_of(const TileOutput& one, bool swap_ab) {
    std::set<std::string_view> names;
    if (!is_f32(one) && !one.is_as_d) names.insert(one.output.type == DataType::f16 ? "pack_f16" : "pack_bf16");
    if (one.is_staged && !swap_ab) names.insert(is_f32(one) ? "stage_floats" : "stage_words");
    if (!one.is_staged && swap_ab) names.insert(is_f32(one) ? "store_floats_across" : "store_words_across");
    if (!one.is_staged && !swap_ab) names.insert(is_f32(one) ? "store_floats" : "store_words");
    return names;
}

std::string slice_offset(const std::string& name) { return "kSliceOf_" + name; }

/// Where the slices lie: one behind the other, D's first.
std::string slice_offsets(const TileOperands& all) {
    std::string text = "// Bytes from a slice of D to those of the other outputs.\n";
    std::string_view end = "kSliceBytesOfD";
    std::string last;
    for (const TileOutput& one : all.outputs) {
        if (!one.is_staged) continue;
        const std::string name = slice_offset(one.output.name);
        text += fmt::format("constexpr int {} = {};\n", name, end);
        last = fmt::format("{} + kSliceColumns * kStagers / 2 * {}", name, bytes(*one.output.type));
        end = last;
    }
    return text;
}

std::string finished_struct(const TileOperands& all) {
    return all.swap_ab ? fmt::format(
                             "\n// The results of a thread's pair.\nstruct FinishedPairs {{\n"
                             "    float2 {};\n}};\n",
                             fmt::join(kept_names(all), ", "))
                       : fmt::format(
                             "\n// The results of a thread's part of 16 rows by eight columns.\n"
                             "struct FinishedAtoms {{\n    Atom {};\n}};\n",
                             fmt::join(kept_names(all), ", "));
}

/// Atoms to slices, one by one.
std::string stage_outputs(const TileOperands& all) {
    std::string text =
        "\n// Writes the j-th eight columns to the slices behind D's.\n"
        "template <int kColumns>\n"
        "__device__ __forceinline__ void stage_outputs(unsigned slice, const FinishedAtoms& atoms, int j, int lane) "
        "{\n";
    for (const TileOutput& one : all.outputs) {
        if (!one.is_staged) continue;
        const std::string& name = one.output.name;
        const std::string pack = is_f32(one) ? "" : packing_function(one) + ", ";
        text += call_in_lines(fmt::format("    stage_{}<kColumns>(slice + {}, {}atoms.{}, j, lane);",
                                          is_f32(one) ? "floats" : "words", slice_offset(name), pack, name)) +
                "\n";
    }
    return text + "}\n";
}

/// A member function; one statement stands in its line if there is room.
std::string member(std::string_view head, const std::vector<std::string>& statements) {
    const std::string start = fmt::format("    __device__ __forceinline__ {} {{", head);
    const std::string first =
        statements.front().substr(2 * kTextIndent, statements.front().size() - 2 * kTextIndent - 1);
    if (statements.size() == 1 && start.size() + first.size() + 3 <= kTextColumns && first.find('\n') == first.npos)
        return fmt::format("{} {} }}\n", start, first);
    return fmt::format("{}\n{}    }}\n", start, fmt::join(statements, ""));
}

/// The same where D is column-major: pairs come one by one, and an atom is two of them.
std::string output_words(const TileOperands& all) {
    std::string members;
    std::vector<std::string> takes, stages;
    for (const TileOutput& one : all.outputs) {
        if (!one.is_staged) continue;
        const std::string& name = one.output.name;
        members += fmt::format("    unsigned {}_words[2];\n", name);
        takes.push_back(assignment(8, name + "_words[pair]",
                                   fmt::format("{1}(pairs.{0}.x, pairs.{0}.y);", name, packing_function(one))));
        stages.push_back(fmt::format("        stmatrix(place + {}, {}_words);\n", slice_offset(name), name));
    }
    return "\n// The results of the two pairs of an atom, without D's.\nstruct OutputWords {\n" + members + "\n" +
           member("void take(const FinishedPairs& pairs, int pair)", takes) +
           "    // Writes it to the slices behind D's. `place` is the lane's address for this atom of D.\n" +
           member("void stage(unsigned place) const", stages) + "};\n";
}

std::string store_outputs(const TileOperands& all, bool has_rest) {
    std::string text =
        "\n// TMA stores the slices behind D's.\n"
        "template <int kColumns>\n"
        "__device__ __forceinline__ void store_outputs(unsigned slice, const GemmArgs& args, int row, int column) {\n";
    const std::string_view place = all.swap_ab ? "row, column" : "column, row";
    for (const TileOutput& one : all.outputs) {
        if (!one.is_staged) continue;
        const std::string& name = one.output.name;
        const std::string map = has_rest
                                    ? fmt::format("kColumns == kRestColumns ? args.map_{0}_rest : args.map_{0}", name)
                                    : fmt::format("args.map_{}", name);
        text += call_in_lines(fmt::format("    tma_store(slice + {}, {}, {});", slice_offset(name), map, place)) + "\n";
    }
    return text + "}\n";
}

}  // namespace

std::string include_lines(const std::set<std::string_view>& names, std::span<const std::string_view> order) {
    std::string text;
    for (const std::string_view name : order)
        if (names.contains(name)) text += fmt::format("#include \"epilogue/{}.cuh\"\n", name);
    return text;
}

bool is_f32(const TileOutput& one) { return one.output.type == DataType::f32; }

std::string packing_function(const TileOutput& one) {
    return one.is_as_d ? "pack_d" : fmt::format("pack_{}", to_string(*one.output.type));
}

std::vector<std::string> kept_names(const TileOperands& all) {
    std::vector<std::string> names;
    for (const TileOutput& one : all.outputs)
        if (one.is_staged) names.push_back(one.output.name);
    names.emplace_back("d");
    return names;
}

void add_tile_outputs(RenderInput& input, const TileOperands& all, const WgmmaGeometry& g) {
    std::set<std::string_view> names;
    for (const TileOutput& one : all.outputs) names.merge(templates_of(one, all.swap_ab));
    std::string text = include_lines(names, kOutputTemplates);
    if (all.has_staged_outputs())
        text += (text.empty() ? "" : "\n") + slice_offsets(all) + finished_struct(all) +
                (all.swap_ab ? output_words(all) : stage_outputs(all)) + store_outputs(all, g.rest_columns != 0);
    input.generated["tile_outputs.inl"] = text;
}

}  // namespace jitgemm
