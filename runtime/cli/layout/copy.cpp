#include "generator/draw/layout_pictures.hpp"
#include "generator/layout/tiled_copy.hpp"
#include "generator/text/nearest_name.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/json_fields.hpp"
#include "runtime/cli/layout/layout.hpp"
#include "runtime/cli/layout/output.hpp"
#include "runtime/cli/layout/tiling.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>

namespace jitgemm::cli {
namespace {

constexpr int kWidestBytes = 16;

struct CopyOptions {
    std::string tile;
    std::string threads;
    std::string order = "row";
    std::string type = "f16";
    std::string to = "shared";
    int vector = 0;  ///< 0: as wide as alignment and layout allow
    int alignment = kWidestBytes;
    std::int64_t ld = 0;  ///< 0: packed
    LayoutFormat format;
};

/// The options, read.
struct CopyProblem {
    Layout data;
    Layout threads;
    bool by_row;
    int bits;
    CopyKind path;
};

bool is_first(std::string_view option, const std::string& value, std::string_view first, std::string_view second) {
    require_one_of(option, value, std::array{first, second});
    return value == first;
}

int element_bits(const std::string& name) {
    const auto type = parse_mma_type(name);
    if (type && bits(*type) >= 8) return bits(*type);
    std::vector<std::string_view> known;
    for (const MmaTypeInfo& row : mma_type_table()) {
        if (row.bits >= 8) known.push_back(row.ptx_name);
    }
    throw UsageError(fmt::format("--type is '{}': {}", name, expected_one_of(name, known)));
}

Layout data_layout(const CopyOptions& options, bool by_row) {
    const std::vector<std::int64_t> tile = parse_numbers("--tile", options.tile, 2);
    const std::int64_t packed = by_row ? tile[1] : tile[0], pitch = options.ld == 0 ? packed : options.ld;
    if (pitch < packed)
        throw UsageError(fmt::format("--ld is {}: it must be at least the length of a {}, {} elements", pitch,
                                     options.order, packed));
    return {std::vector<IntTuple>{tile[0], tile[1]},
            by_row ? std::vector<IntTuple>{pitch, 1} : std::vector<IntTuple>{1, pitch}};
}

CopyProblem problem_of(const CopyOptions& options) {
    const bool by_row = is_first("--order", options.order, "row", "column");
    const bool to_shared = is_first("--to", options.to, "shared", "registers");
    if (options.vector < 0 || options.alignment < 1)
        throw UsageError(
            fmt::format("--vector {} --align {}: they must be positive", options.vector, options.alignment));
    return {data_layout(options, by_row), parse_layout_option("--threads", options.threads, 2, by_row), by_row,
            element_bits(options.type), to_shared ? CopyKind::global_to_shared : CopyKind::shared_to_register};
}

/// A thread copies `vector` neighbours per pass.
TiledCopy copy_of(const CopyProblem& problem, int vector) {
    const std::vector<IntTuple> shape =
        problem.by_row ? std::vector<IntTuple>{1, vector} : std::vector<IntTuple>{vector, 1};
    return {problem.threads, Layout(IntTuple(shape))};
}

std::vector<CopyWidth> widths_of(const CopyProblem& problem, const TiledCopy& copy, int alignment) {
    return copy_widths(copy, problem.data, problem.bits, alignment, problem.path);
}

/// The longest run of neighbours that one instruction moves and whose passes divide the tile.
int widest_vector(const CopyProblem& problem, int alignment) {
    for (int bytes = kWidestBytes; 8 * bytes > problem.bits; bytes /= 2) {
        const int vector = 8 * bytes / problem.bits;
        const TiledCopy copy = copy_of(problem, vector);
        if (problem.data.size(0) % copy.rows() != 0 || problem.data.size(1) % copy.columns() != 0) continue;
        const std::vector<CopyWidth> widths = widths_of(problem, copy, alignment);
        if (const CopyWidth* best = widest(widths); best != nullptr && best->bytes == bytes) return vector;
    }
    return 1;
}

Json width_json(const CopyWidth& width) {
    return {{"bytes", width.bytes},
            {"elements", width.elements},
            {"instruction", width.instruction},
            {"legal", width.legal},
            {"reason", width.reason}};
}

std::string widths_text(const std::vector<CopyWidth>& widths, const CopyWidth& best) {
    std::string text;
    for (const CopyWidth& width : widths)
        text += fmt::format("{} {:>2} bytes  {:<30} {:<3}  {}\n", &width == &best ? "*" : " ", width.bytes,
                            width.instruction, width.legal ? "yes" : "no", width.reason);
    return text;
}

Json firsts_json(const CopyProblem& problem, const TiledCopy& copy, int vector) {
    Json threads = Json::array();
    for (int thread = 0; thread < copy.threads(); ++thread) {
        Json firsts = Json::array();
        for (const CopyVector& first : copy_vectors(copy, problem.data, vector, thread))
            firsts.push_back({first.row, first.column, first.offset});
        threads.push_back(std::move(firsts));
    }
    return threads;
}

std::int64_t vectors_per_thread(const CopyProblem& problem, const TiledCopy& copy, const CopyWidth& width) {
    return problem.data.size() / copy.threads() / width.elements;
}

std::string text_of(const CopyProblem& problem, const TiledCopy& copy, const std::vector<CopyWidth>& widths,
                    const CopyWidth& best) {
    return fmt::format(
        "{}x{} by {} threads {}: {}x{} per pass, {} vectors of {} elements per thread\nlayout_tv  {}\n{}",
        problem.data.size(0), problem.data.size(1), copy.threads(), to_string(problem.threads), copy.rows(),
        copy.columns(), vectors_per_thread(problem, copy, best), best.elements, to_string(copy.layout_tv()),
        widths_text(widths, best));
}

Json document_of(const CopyProblem& problem, const TiledCopy& copy, const std::vector<CopyWidth>& widths,
                 const CopyWidth& best) {
    return {{"tile", {problem.data.size(0), problem.data.size(1)}},
            {"data", to_string(problem.data)},
            {"threads", to_string(problem.threads)},
            {"vector", best.elements},
            {"instruction", best.instruction},
            {"choices", json_array(widths, width_json)},
            {"layout_tv", to_string(copy.layout_tv())},
            {"vectors_per_thread", vectors_per_thread(problem, copy, best)},
            {"first", firsts_json(problem, copy, best.elements)}};
}

int show_copy(const CopyOptions& options, Output& output) {
    const CopyProblem problem = problem_of(options);
    const int vector = options.vector > 0 ? options.vector : widest_vector(problem, options.alignment);
    const TiledCopy copy = copy_of(problem, vector);
    const std::vector<CopyWidth> widths = widths_of(problem, copy, options.alignment);
    const CopyWidth* best = widest(widths);
    if (best == nullptr) throw LayoutError("no instruction copies this tile: " + widths.back().reason);

    LayoutAnswer answer;
    answer.text = text_of(problem, copy, widths, *best);
    const std::string format = chosen_format(options.format, output);
    if (format == "json") answer.document = document_of(problem, copy, widths, *best);
    if (is_drawn(format, problem.data.size())) answer.picture = copy_picture(copy, problem.data, best->elements);
    return show(answer, options.format, output);
}

}  // namespace

Action declare_layout_copy(CLI::App& app) {
    auto options = std::make_shared<CopyOptions>();
    app.add_option("--tile", options->tile, "Rows x columns, for example 128x64")->required()->type_name("RxC");
    app.add_option(
           "--threads", options->threads,
           "Threads along rows and columns, for example 16x8, numbered along the contiguous mode first; or a layout")
        ->required()
        ->type_name("RxC");
    app.add_option("--vector", options->vector,
                   "Contiguous elements that a thread copies in a pass (default: as many as one instruction can)")
        ->check(CLI::PositiveNumber)
        ->type_name("N");
    app.add_option("--type", options->type, "Element type")->capture_default_str()->type_name("TYPE");
    app.add_option("--order", options->order,
                   "row: the elements of a row are contiguous; column: the elements of a column are")
        ->capture_default_str()
        ->type_name("row|column");
    app.add_option("--ld", options->ld, "Elements from one row (column) to the next (default: packed)")->type_name("N");
    app.add_option("--align", options->alignment, "Alignment of the first element in bytes")
        ->capture_default_str()
        ->type_name("N");
    app.add_option("--to", options->to, "shared: from global memory; registers: from shared memory")
        ->capture_default_str()
        ->type_name("shared|registers");
    declare_format(app, options->format);
    return [options](Output& output) { return show_copy(*options, output); };
}

}  // namespace jitgemm::cli
