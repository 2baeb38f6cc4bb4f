#include "generator/draw/layout_pictures.hpp"
#include "generator/layout/tiled_mma.hpp"
#include "runtime/cli/layout/layout.hpp"
#include "runtime/cli/layout/output.hpp"
#include "runtime/cli/layout/tiling.hpp"

#include <fmt/format.h>

#include <memory>

namespace jitgemm::cli {
namespace {

// Of one operand; the widest wgmma has 524,288 elements of B.
constexpr std::int64_t kMostTableElements = std::int64_t{1} << 20;

constexpr Operand kOperands[] = {Operand::a, Operand::b, Operand::c};

struct MmaOptions {
    TilingOptions tiling;
    LayoutFormat format;
};

Json tv_table(const TvLayout& tv) {
    const std::int64_t elements = std::int64_t{tv.threads()} * tv.values();
    if (elements > kMostTableElements)
        throw LayoutError(
            fmt::format("a table of {} elements is too large: the limit is {}", elements, kMostTableElements));
    Json threads = Json::array();
    for (int thread = 0; thread < tv.threads(); ++thread) {
        Json values = Json::array();
        for (int value = 0; value < tv.values(); ++value) {
            const Coordinate at = tv.coordinate(thread, value);
            values.push_back({at.row, at.column});
        }
        threads.push_back(std::move(values));
    }
    return threads;
}

/// A permuted tile may have no inverse as one layout: null then.
Json inverse_text(const TvLayout& tv) {
    try {
        return to_string(tv.inverse());
    } catch (const LayoutError&) {
        return nullptr;
    }
}

Json operand_json(const TvLayout& tv) {
    return {{"layout", to_string(tv.layout())},
            {"inverse_layout", inverse_text(tv)},
            {"threads", tv.threads()},
            {"values", tv.values()},
            {"tv", tv_table(tv)}};
}

std::string operand_line(Operand operand, const TvLayout& tv) {
    const Json inverse = inverse_text(tv);
    return fmt::format("{}  {:>3}x{:<3}  {}\n   inverse  {}\n", to_string(operand), tv.rows(), tv.columns(),
                       to_string(tv.layout()), inverse.is_null() ? "none as one layout" : inverse.get<std::string>());
}

std::string atom_text(const MmaAtom& atom) {
    const auto in_registers = [&](Operand operand) {
        return atom.in_shared(operand) ? "shared memory" : fmt::format("{} registers", atom.registers(operand));
    };
    return fmt::format("{}\n{}\nfrom {}, {} threads; A {} in {}, B {} in {}, C {} in {}\n", atom.name(), atom.ptx_name,
                       atom.first_arch(), atom.threads(), to_string(atom.a), in_registers(Operand::a),
                       to_string(atom.b), in_registers(Operand::b), to_string(atom.accumulator),
                       in_registers(Operand::c));
}

std::int64_t cell_count(TileShape tile) {
    const std::int64_t m = tile.m, n = tile.n, k = tile.k;
    return m * k + n * k + m * n;
}

Json atom_json(const MmaAtom& atom, const TilingOptions& options) {
    return {{"atom", atom_name(atom, options)},
            {"ptx", atom.ptx_name},
            {"types", {to_string(atom.accumulator), to_string(atom.a), to_string(atom.b)}},
            {"first_arch", atom.first_arch()}};
}

int show_mma(const MmaOptions& options, Output& output) {
    const MmaAtom atom = mma_atom(options.tiling.atom);
    LayoutAnswer answer;
    answer.text = atom_text(atom);
    answer.document = atom_json(atom, options.tiling);
    answer.document["shape_mnk"] = {atom.shape.m, atom.shape.n, atom.shape.k};
    const std::string format = chosen_format(options.format, output);
    for (const Operand operand : kOperands) {
        const TvLayout& tv = atom.layout(operand);
        answer.text += operand_line(operand, tv);
        if (format == "json") answer.document["operands"][std::string(to_string(operand))] = operand_json(tv);
    }
    if (is_drawn(format, cell_count(atom.shape))) answer.picture = mma_picture(atom);
    return show(answer, options.format, output);
}

int show_tiled_mma(const MmaOptions& options, Output& output) {
    const TiledMma mma = tiled_mma(options.tiling);
    const auto [m, n, k] = mma.tile();
    LayoutAnswer answer;
    answer.text = fmt::format("{}, warps {}: a tile of {}x{}x{} by {} threads\n", mma.atom().name(),
                              to_string(mma.warps()), m, n, k, mma.threads());
    answer.document = atom_json(mma.atom(), options.tiling);
    answer.document["warps"] = to_string(mma.warps());
    answer.document["val"] = val_json(options.tiling);
    answer.document["shape_mnk"] = {m, n, k};
    answer.document["threads"] = mma.threads();
    const std::string format = chosen_format(options.format, output);
    for (const Operand operand : kOperands) {
        const TvLayout tv = mma.layout_tv(operand);
        answer.text += operand_line(operand, tv);
        if (format == "json") answer.document["operands"][std::string(to_string(operand))] = operand_json(tv);
    }
    if (is_drawn(format, cell_count(mma.tile()))) answer.picture = tiled_mma_picture(mma);
    return show(answer, options.format, output);
}

}  // namespace

Action declare_layout_mma(CLI::App& app) {
    auto options = std::make_shared<MmaOptions>();
    declare_atom(app, options->tiling);
    declare_format(app, options->format);
    return [options](Output& output) { return show_mma(*options, output); };
}

Action declare_layout_tiled_mma(CLI::App& app) {
    auto options = std::make_shared<MmaOptions>();
    declare_atom(app, options->tiling);
    declare_tiling(app, options->tiling);
    declare_format(app, options->format);
    return [options](Output& output) { return show_tiled_mma(*options, output); };
}

}  // namespace jitgemm::cli
