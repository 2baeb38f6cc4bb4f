#include "tests/support/index_replay.hpp"

#include "generator/base/launch_text.hpp"
#include "generator/families/shared/packing.hpp"
#include "generator/families/shared/rasterization.hpp"
#include "generator/families/shared/split_k.hpp"
#include "runtime/device/argument_packer.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <regex>
#include <utility>

namespace jitgemm::testing {
namespace {

// ---- inline PTX -----------------------------------------------------------------------------------------------------

/// Where the parenthesis that opens at `open` closes; strings may hold others.
std::size_t closing(std::string_view text, std::size_t open) {
    int depth = 0;
    bool quoted = false;
    for (std::size_t i = open; i < text.size(); ++i) {
        if (text[i] == '"') quoted = !quoted;
        if (quoted) continue;
        if (text[i] == '(') ++depth;
        if (text[i] == ')' && --depth == 0) return i;
    }
    throw Error("an asm statement without an end");
}

/// Parts between separators that stand in no string and no parentheses.
std::vector<std::string_view> parts_of(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    int depth = 0;
    bool quoted = false;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i == text.size() || (text[i] == separator && depth == 0 && !quoted)) {
            parts.push_back(text.substr(begin, i - begin));
            begin = i + 1;
        } else if (text[i] == '"') {
            quoted = !quoted;
        } else if (!quoted && (text[i] == '(' || text[i] == ')')) {
            depth += text[i] == '(' ? 1 : -1;
        }
    }
    return parts;
}

/// `"=r"(value)` as an argument of replay::perform, which only the copies that go past the registers need.
std::string operand_text(std::string_view operand) {
    const std::size_t open = operand.find('(');
    if (open == std::string_view::npos) return "";
    const std::string value(operand.substr(open));
    if (operand.find("\"=") != std::string_view::npos) return "replay::output" + value + ", ";
    return operand.find("\"+") != std::string_view::npos ? "0, " : "replay::operand" + value + ", ";
}

std::string statement_text(std::string_view inside) {
    const std::vector<std::string_view> sections = parts_of(inside, ':');
    std::string operands;
    for (std::size_t section = 1; section < std::min<std::size_t>(sections.size(), 3); ++section)
        for (const std::string_view operand : parts_of(sections[section], ',')) operands += operand_text(operand);
    return fmt::format(
        "do {{ static const replay::AsyncCopy copy = replay::parse({}); replay::perform(copy, {{{}}}); }} while "
        "(false)",
        sections[0], operands);
}

// ---- matrices in memory ---------------------------------------------------------------------------------------------

enum Region : int { kRegionA, kRegionB, kRegionC, kRegionD, kRegionWorkspace };
constexpr int kRegionBits = 43;
constexpr std::uint64_t kFirstOffset = 4096;

/// As little aligned as was promised.
std::uint64_t offset_of(int alignment) {
    return kFirstOffset + static_cast<std::uint64_t>(alignment < 16 ? alignment : 0);
}
std::uint64_t address_of(Region region, int alignment) {
    return (static_cast<std::uint64_t>(region + 1) << kRegionBits) + offset_of(alignment);
}

/// A view, as in replay.cpp.
struct View {
    std::string name;
    Region region = kRegionA;
    std::uint64_t offset = 0;
    int element_bytes = 2;
    std::int64_t lines = 0, run = 0, ld = 0;
    bool whole_chunks = false;

    [[nodiscard]] std::string text() const {
        return fmt::format("view {} {} {} {} {} {} {} {}\n", name, static_cast<int>(region), offset, element_bytes,
                           lines, run, ld, whole_chunks ? 1 : 0);
    }
};

struct Range {
    std::int64_t first = 0, end = 0;
    [[nodiscard]] std::int64_t size() const { return end - first; }
};

std::string expect(const std::string& view, const char* access, Range lines, Range run, const char* kind,
                   std::int64_t slack = 0) {
    return fmt::format("expect {} {} {} {} {} {} {} {}\n", view, access, lines.first, lines.end, run.first, run.end,
                       kind, slack);
}

bool has_entry(const std::vector<KernelEntry>& entries, std::string_view function) {
    return std::any_of(entries.begin(), entries.end(), [&](const KernelEntry& e) { return e.function == function; });
}

/// A problem, the config that serves it, and what a launch of it consists of.
struct Problem {
    GemmSpec spec;  // row-major in D
    KernelConfig config;
    std::vector<KernelEntry> entries;
    KernelAnatomy anatomy;

    Problem(const GemmSpec& asked, const KernelConfig& chosen)
        : spec(with_row_major_d(resolved(asked))), config(chosen) {
        const Family& family = family_of(config);
        entries = family.entries(problem_of(spec).signature, config);
        anatomy = family.anatomy(problem_of(spec), config);
    }
    [[nodiscard]] bool packs(Operand operand) const {
        return operand == Operand::a ? anatomy.packs_a : anatomy.packs_b;
    }
    [[nodiscard]] bool leaves_partials() const { return has_entry(entries, "gemm_reduce"); }
    [[nodiscard]] bool cuts_tiles() const { return has_entry(entries, "gemm_add_partials"); }
    [[nodiscard]] TileIndex tiles() const { return tiles_of(anatomy.block, spec.m, spec.n); }
    /// A split has every split_k-th k-tile, not one stretch of K; its partial sums lie as D does, without padding.
    [[nodiscard]] bool interleaves_splits() const { return std::holds_alternative<SimtLongKConfig>(config.family); }
    /// From one row of partial sums to the next.
    [[nodiscard]] std::int64_t partial_pitch() const { return interleaves_splits() ? spec.n : (spec.n + 3) / 4 * 4; }
};

View view_of(const Problem& p, Operand operand) {
    const bool is_a = operand == Operand::a;
    const PackedOperand stored = packed_operand(operand, p.spec);
    const int alignment = is_a ? p.spec.align_a : p.spec.align_b;
    return {.name = is_a ? "A" : "B",
            .region = is_a ? kRegionA : kRegionB,
            .offset = offset_of(alignment),
            .element_bytes = bytes(p.spec.a),
            .lines = stored.is_transposed ? stored.columns : stored.rows,
            .run = stored.is_transposed ? stored.rows : stored.columns,
            .ld = is_a ? p.spec.lda : p.spec.ldb,
            .whole_chunks = alignment < 4 || p.packs(operand)};
}

/// The packed operand in the workspace: A, then B.
View packed_view(const Problem& p, Operand operand) {
    const PackedOperand stored = packed_operand(operand, p.spec);
    const bool behind_a = operand == Operand::b && p.packs(Operand::a);
    const std::int64_t before = behind_a ? packed_operand(Operand::a, p.spec).workspace_bytes() : 0;
    const std::int64_t vector = 16 / stored.element_bytes;
    return {.name = operand == Operand::a ? "packedA" : "packedB",
            .region = kRegionWorkspace,
            .offset = kFirstOffset + static_cast<std::uint64_t>(before),
            .element_bytes = stored.element_bytes,
            .lines = stored.rows,
            .run = (stored.columns + vector - 1) / vector * vector,
            .ld = stored.pitch()};
}

/// Behind the packed operands: partial sums (split, m, n rounded up to 4), or the rests of remainder tiles.
View sums_view(const Problem& p) {
    std::int64_t before = 0;
    for (const Operand operand : {Operand::a, Operand::b})
        if (p.packs(operand)) before += packed_operand(operand, p.spec).workspace_bytes();
    View view{.name = "sums", .region = kRegionWorkspace, .offset = kFirstOffset + static_cast<std::uint64_t>(before)};
    view.element_bytes = 4;
    view.run = view.ld = p.cuts_tiles() ? p.anatomy.block.n : p.partial_pitch();
    view.lines = p.cuts_tiles()
                     ? remainder_tiles(p.spec, p.anatomy.block, p.anatomy.blocks_per_wave) * p.anatomy.block.m
                     : p.anatomy.split_k * p.spec.m;
    return view;
}

View output_view(const Problem& p, bool is_c) {
    return {.name = is_c ? "C" : "D",
            .region = is_c ? kRegionC : kRegionD,
            .offset = offset_of(is_c ? p.spec.align_c : p.spec.align_d),
            .element_bytes = bytes(is_c ? *p.spec.c : p.spec.d),
            .lines = p.spec.m,
            .run = p.spec.n,
            .ld = is_c ? p.spec.ldc : p.spec.ldd};
}

std::string views_text(const Problem& p) {
    std::string text = view_of(p, Operand::a).text() + view_of(p, Operand::b).text() + output_view(p, false).text();
    if (p.spec.c) text += output_view(p, true).text();
    for (const Operand operand : {Operand::a, Operand::b})
        if (p.packs(operand)) text += packed_view(p, operand).text();
    if (p.leaves_partials() || p.cuts_tiles()) text += sums_view(p).text();
    return text;
}

std::string arguments_text(const Problem& p, const KernelEntry& entry) {
    const GemmArguments arguments{.a = address_of(kRegionA, p.spec.align_a),
                                  .b = address_of(kRegionB, p.spec.align_b),
                                  .c = address_of(kRegionC, p.spec.c ? p.spec.align_c : 16),
                                  .d = address_of(kRegionD, p.spec.align_d),
                                  .alpha = 1,
                                  .beta = p.spec.c ? 1.0F : 0.0F,
                                  .workspace = address_of(kRegionWorkspace, 16)};
    std::string text;
    FakeDevice device;
    const PackedArguments packed = pack_arguments(entry.arguments, problem_of(p.spec), {arguments}, device);
    for (const std::byte byte : packed.span()) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
    return text;
}

// ---- the kernel proper ----------------------------------------------------------------------------------------------

constexpr std::int64_t kLongK = 8192;         // of a block: beyond, two of its threads run, not all,
constexpr std::int64_t kVeryLongK = 1 << 22;  // and one, of one tile

Range clipped(std::int64_t tile, std::int64_t size, std::int64_t extent) {
    return {tile * size, std::min((tile + 1) * size, extent)};
}

/// From the first to the last k of a split.
Range k_of_split(const Problem& p, int split) {
    const std::int64_t block_k = std::max(1, p.anatomy.block.k);
    const std::int64_t together = block_k * p.anatomy.split_k;
    const std::int64_t rounds = (p.spec.k + together - 1) / together;
    if (p.interleaves_splits()) {
        const std::int64_t first = split * block_k;
        const std::int64_t blocks = (p.spec.k - first + block_k - 1) / block_k;  // from there on
        const std::int64_t last = first + (blocks - 1) / p.anatomy.split_k * together;
        return {std::min(first, p.spec.k), std::min(last + block_k, p.spec.k)};
    }
    return {std::min(split * rounds * block_k, p.spec.k), std::min((split + 1) * rounds * block_k, p.spec.k)};
}

/// The stretches of K that a split reads, and no others.
std::vector<Range> stretches(const Problem& p, Range of_split) {
    if (!p.interleaves_splits()) return {of_split};
    std::vector<Range> list;
    const std::int64_t step = std::int64_t{p.anatomy.block.k} * p.anatomy.split_k;
    for (std::int64_t k = of_split.first; k < of_split.end; k += step)
        list.push_back({k, std::min(k + p.anatomy.block.k, p.spec.k)});
    return list;
}

std::string expect_operand(const Problem& p, Operand operand, Range mn, Range k, const char* kind) {
    const View view = p.packs(operand) ? packed_view(p, operand) : view_of(p, operand);
    const bool k_major = is_k_major(operand, p.spec.layout);
    const std::int64_t slack = std::int64_t{4} * std::max(8, p.anatomy.block.k);
    return expect(view.name, "read", k_major ? mn : k, k_major ? k : mn, kind, slack);
}

/// Blocks that compute this tile, or these splits of it, and all they are to touch.
std::string tile_text(const Problem& p, const KernelEntry& gemm, TileIndex tile, int split) {
    const Family& family = family_of(p.config);
    const Range rows = clipped(tile.m, p.anatomy.block.m, p.spec.m);
    const Range columns = clipped(tile.n, p.anatomy.block.n, p.spec.n);
    const bool in_cluster = p.anatomy.cluster > 1;
    const Range k = in_cluster ? Range{0, p.spec.k} : k_of_split(p, split);
    const bool is_long = k.size() > kLongK;
    const char* const input = is_long ? "span" : "cover";
    const char* const output = is_long ? "within" : "cover";

    std::string text;
    for (const Range& part : is_long ? std::vector{k} : stretches(p, k))
        text += expect_operand(p, Operand::a, rows, part, input) + expect_operand(p, Operand::b, columns, part, input);
    std::int64_t block = family.owner(problem_of(p.spec), p.config, rows.first, columns.first).block;
    std::vector<std::int64_t> blocks{block};
    if (p.leaves_partials()) {
        blocks = {block + split * p.tiles().m * p.tiles().n};
        const Range padded{columns.first, std::min(columns.first + p.anatomy.block.n, p.partial_pitch())};
        text += expect("sums", "write", {split * p.spec.m + rows.first, split * p.spec.m + rows.end}, padded, output);
    } else {
        text += expect("D", "write", rows, columns, output);
        if (p.spec.c) text += expect("C", "read", rows, columns, output);
    }
    for (int rank = 1; in_cluster && rank < p.anatomy.cluster; ++rank) blocks.push_back(block + rank);
    const std::int64_t cut = p.cuts_tiles() ? remainder_tiles(p.spec, p.anatomy.block, p.anatomy.blocks_per_wave) : 0;
    const std::int64_t whole = p.tiles().m * p.tiles().n - cut;
    if (cut > 0 && block >= whole) {
        blocks.push_back(block + cut);
        const std::int64_t first = (block - whole) * p.anatomy.block.m;
        text += expect("sums", "write", {first, first + p.anatomy.block.m}, {0, p.anatomy.block.n}, output);
    }
    for (const std::int64_t each : blocks)
        text += is_long ? fmt::format("run {} 0 {} {}\n", each, gemm.threads - 1, k.size() > kVeryLongK ? 1 : 2)
                        : fmt::format("run {} 0 1 {}\n", each, gemm.threads);
    return text + "check\n";
}

std::string gemm_text(const Problem& p, const KernelEntry& gemm) {
    const TileIndex last{p.tiles().m - 1, p.tiles().n - 1};
    std::vector<TileIndex> tiles{{0, 0}};
    for (const TileIndex tile : {last, TileIndex{last.m, 0}, TileIndex{0, last.n}, TileIndex{last.m / 2, last.n / 3}})
        if (std::find(tiles.begin(), tiles.end(), tile) == tiles.end()) tiles.push_back(tile);
    std::string text;
    if (k_of_split(p, 0).size() > kVeryLongK) tiles = {last};
    for (const TileIndex& tile : tiles) {
        text += tile_text(p, gemm, tile, 0);
        if (p.leaves_partials()) text += tile_text(p, gemm, tile, p.anatomy.split_k - 1);
    }
    return text;
}

// ---- entries whose threads take vectors a whole grid apart ----------------------------------------------------------

/// The vectors v, v + threads of the grid, ... of the thread that takes `any`.
struct GridStride {
    std::int64_t first = 0, step = 0, count = 0;
    GridStride(std::int64_t any, std::int64_t threads, std::int64_t vectors)
        : first(any % threads), step(threads), count((vectors - first + threads - 1) / threads) {}
};

/// Threads that take the first and the last vector, and those where a product or a sum may leave 31 or 32 bits.
std::vector<std::int64_t> telling(std::int64_t vectors) {
    std::vector<std::int64_t> list{0, vectors - 1, vectors / 2, vectors / 3};
    for (const int bits : {24, 27, 28, 29, 30, 31, 32, 33})
        for (const std::int64_t off : {-1, 0, 1})
            if ((std::int64_t{1} << bits) + off < vectors) list.push_back((std::int64_t{1} << bits) + off);
    return list;
}

/// `expect_vector(v)` says what the thread that takes vector v is to touch for it.
template <typename ExpectVector>
std::string strided_text(const Problem& p, const KernelEntry& entry, std::int64_t vectors, ExpectVector expect_vector) {
    const std::int64_t blocks = block_count(entry.grid, p.spec);
    std::string text;
    if (vectors == 0 || blocks == 0) return text;
    for (const std::int64_t any : telling(vectors)) {
        const GridStride thread(any, blocks * entry.threads, vectors);
        for (std::int64_t i = 0; i < thread.count; ++i) text += expect_vector(thread.first + i * thread.step);
        text += fmt::format("run {} {} 1 1\ncheck\n", thread.first / entry.threads, thread.first % entry.threads);
    }
    return text;
}

/// A block of a transposed operand of 32-bit elements: each eighth of 32 rows of a tile, 4 of its 16 columns.
std::string transpose_words_text(const Problem& p, Operand operand, const PackedOperand& stored, std::int64_t block) {
    const std::int64_t tiles = (stored.rows + 31) / 32, first = block / 32 % tiles * 32 + block % 8;
    const Range columns = clipped(block / 32 / tiles * 4 + block / 8 % 4, 4, stored.columns);
    std::string text;
    if (columns.size() <= 0) return text;
    for (std::int64_t row = first; row < std::min(first + 32, stored.rows); row += 8)
        text +=
            expect(view_of(p, operand).name, "read", columns, {row, row + 1}, "cover") +
            expect(packed_view(p, operand).name, "write", {row, row + 1}, {columns.first, columns.first + 4}, "cover");
    return text;
}

/// A block of a transposed operand: 4 of 32 rows of a tile, 16 of its 64 columns. Tiles go down the rows first.
std::string transpose_text(const Problem& p, Operand operand, const PackedOperand& stored, std::int64_t block) {
    if (stored.element_bytes == 4) return transpose_words_text(p, operand, stored, block);
    const std::int64_t tiles = (stored.rows + 31) / 32;
    const Range rows = clipped(block / 32 % tiles * 8 + block % 8, 4, stored.rows);
    const Range columns = clipped(block / 32 / tiles * 4 + block / 8 % 4, 16, stored.columns);
    if (rows.size() <= 0 || columns.size() <= 0) return {};
    return expect(view_of(p, operand).name, "read", columns, rows, "cover") +
           expect(packed_view(p, operand).name, "write", rows, {columns.first, columns.first + 16}, "cover");
}

/// Vectors or blocks of A, then those of B.
std::string pack_text(const Problem& p, const KernelEntry& entry) {
    const auto steps_of = [&](Operand operand) {
        return p.packs(operand) ? packed_operand(operand, p.spec).steps() : 0;
    };
    const std::int64_t steps_a = steps_of(Operand::a);
    return strided_text(p, entry, steps_a + steps_of(Operand::b), [&](std::int64_t v) {
        const Operand operand = v < steps_a ? Operand::a : Operand::b;
        const PackedOperand stored = packed_operand(operand, p.spec);
        const std::int64_t columns = stored.columns;
        const std::int64_t vector = v < steps_a ? v : v - steps_a;
        if (stored.is_transposed) return transpose_text(p, operand, stored, vector);
        const std::int64_t elements = 16 / stored.element_bytes;
        const std::int64_t per_row = (columns + elements - 1) / elements;
        const std::int64_t row = vector / per_row;
        const std::int64_t column = vector % per_row * elements;
        return expect(view_of(p, operand).name, "read", {row, row + 1}, {column, std::min(column + elements, columns)},
                      "cover") +
               expect(packed_view(p, operand).name, "write", {row, row + 1}, {column, column + elements}, "cover");
    });
}

std::string reduce_text(const Problem& p, const KernelEntry& entry) {
    const std::int64_t per_row = p.partial_pitch() / 4;
    return strided_text(p, entry, p.spec.m * per_row, [&](std::int64_t quad) {
        const std::int64_t row = quad / per_row;
        const std::int64_t column = quad % per_row * 4;
        const Range columns{column, std::min(column + 4, p.spec.n)};
        std::string text = expect("D", "write", {row, row + 1}, columns, "cover");
        if (p.spec.c) text += expect("C", "read", {row, row + 1}, columns, "cover");
        for (int split = 0; split < p.anatomy.split_k; ++split)
            text += expect("sums", "read", {split * p.spec.m + row, split * p.spec.m + row + 1}, {column, column + 4},
                           "cover");
        return text;
    });
}

std::string add_partials_text(const Problem& p, const KernelEntry& entry) {
    const TileShape& block = p.anatomy.block;
    const auto& config = std::get<SimtHierarchicalConfig>(p.config.family);
    const std::int64_t vector = std::clamp(problem_of(p.spec).signature.align_d / bytes(p.spec.d), 1, 4);
    const std::int64_t per_row = block.n / vector;
    const std::int64_t cut = remainder_tiles(p.spec, block, config.blocks_per_wave);
    const std::int64_t whole = p.tiles().m * p.tiles().n - cut;
    return strided_text(p, entry, cut * block.m * per_row, [&](std::int64_t v) {
        const TileIndex tile = tile_of_block(config, whole + v / (block.m * per_row), p.tiles());
        const std::int64_t row = tile.m * block.m + v / per_row % block.m;
        const std::int64_t column = tile.n * block.n + v % per_row * vector;
        if (row >= p.spec.m || column >= p.spec.n) return std::string();
        const Range columns{column, std::min(column + vector, p.spec.n)};
        const Range rest{v % per_row * vector, v % per_row * vector + columns.size()};
        return expect("D", "read", {row, row + 1}, columns, "cover") +
               expect("D", "write", {row, row + 1}, columns, "cover") +
               expect("sums", "read", {v / per_row, v / per_row + 1}, rest, "cover");
    });
}

/// A block adds up the sums of 32 columns of a row.
std::string reduce_interleaved_text(const Problem& p, const KernelEntry& entry) {
    constexpr std::int64_t kColumns = 32;
    const std::int64_t blocks_of_row = (p.spec.n + kColumns - 1) / kColumns;
    std::string text;
    for (const std::int64_t block : telling(p.spec.m * blocks_of_row)) {
        const std::int64_t row = block / blocks_of_row;
        const Range columns = clipped(block % blocks_of_row, kColumns, p.spec.n);
        text += expect("D", "write", {row, row + 1}, columns, "cover");
        if (p.spec.c) text += expect("C", "read", {row, row + 1}, columns, "cover");
        for (int split = 0; split < p.anatomy.split_k; ++split) {
            const std::int64_t line = split * p.spec.m + row;
            text += expect("sums", "read", {line, line + 1}, columns, "cover");
        }
        text += fmt::format("run {} 0 1 {}\ncheck\n", block, entry.threads);
    }
    return text;
}

std::string entry_text(const Problem& p, const KernelEntry& entry) {
    if (entry.function == "gemm_pack") return pack_text(p, entry);
    if (entry.function == "gemm_reduce")
        return p.interleaves_splits() ? reduce_interleaved_text(p, entry) : reduce_text(p, entry);
    if (entry.function == "gemm_add_partials") return add_partials_text(p, entry);
    return gemm_text(p, entry);
}

// ---- compiling ------------------------------------------------------------------------------------------------------

std::pair<std::string, int> shell(const std::string& command) {
    std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr) return {"no shell", -1};
    std::string output;
    std::array<char, 4096> chunk{};
    while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), pipe)) output.append(chunk.data(), got);
    const int status = pclose(pipe);
    return {output, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

constexpr const char* kTraps =
    "-fno-threadsafe-statics -fsanitize=thread,signed-integer-overflow,shift,integer-divide-by-zero "
    "-fsanitize-undefined-trap-on-error";
constexpr int kNoAddressSpace = 77;

}  // namespace

std::string host_form(std::string_view body) {
    std::string text(body);
    for (std::size_t at = text.find("asm"); at != std::string::npos; at = text.find("asm", at)) {
        const std::size_t open = text.find('(', at);
        const std::string between = text.substr(at + 3, open - at - 3);
        if (!between.empty() && between != " volatile") {
            at += 3;
            continue;
        }
        const std::size_t end = closing(text, open);
        const std::string statement = statement_text(std::string_view(text).substr(open + 1, end - open - 1));
        text.replace(at, end + 1 - at, statement);
        at += statement.size();
    }
    text = std::regex_replace(text, std::regex("extern \"C\" __global__"), "inline");
    return std::regex_replace(text, std::regex(R"(extern __shared__ (?:__align__\(\d+\) )?(\w+) shared_memory\[\];)"),
                              "$1* const shared_memory = reinterpret_cast<$1*>(replay::shared_memory);");
}

std::size_t IndexReplay::kernel_of(const std::string& body, const std::vector<KernelEntry>& entries) {
    for (std::size_t i = 0; i < bodies_.size(); ++i)
        if (bodies_[i].text == body) return i;
    bodies_.push_back({body, functions_.size()});
    for (const KernelEntry& entry : entries)
        functions_.push_back(fmt::format("kernel{}::{}", bodies_.size() - 1, entry.function));
    return bodies_.size() - 1;
}

void IndexReplay::add(const GemmSpec& spec, const KernelConfig& config, std::optional<std::string> body) {
    const Problem problem(spec, config);
    const KernelSource source = generate(problem_of(spec), config, find_arch("sm_90a"));
    // TMA reckons by itself, in 64 bits: such a kernel has no index to replay, but for the packing before it.
    std::vector<KernelEntry> entries = problem.entries;
    std::string text = std::move(body).value_or(source.body);
    if (std::ranges::any_of(entries, has_tensor_maps)) {
        std::erase_if(entries, [](const KernelEntry& entry) { return entry.function != "gemm_pack"; });
        if (entries.empty()) return;
        const std::size_t packing = text.find("gemm_pack(");
        text = text.substr(0, text.find("\n}\n", packing) + 3);
    }
    const std::size_t kernel = kernel_of(text, entries);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const KernelEntry& entry = entries[i];
        const std::string work = entry_text(problem, entry);
        if (work.empty()) continue;
        std::string label = fmt::format("{} of {} for {}", entry.function, source.name, to_string(resolved(spec)));
        std::replace(label.begin(), label.end(), ' ', '_');
        program_ += fmt::format("case {} {} {} {} {}\n", label, bodies_[kernel].first_function + i,
                                block_count(entry.grid, problem.spec), entry.threads, arguments_text(problem, entry));
        program_ += views_text(problem) + work;
    }
}

std::optional<std::string> IndexReplay::run() const {
    if (shell("c++ --version").second != 0) {
        std::cout << "[skipped] no C++ compiler 'c++'\n";
        return std::nullopt;
    }
    const TemporaryFolder folder;
    std::string kernels = "#include \"host_cuda.hpp\"\n#include \"replay.hpp\"\n";
    for (std::size_t i = 0; i < bodies_.size(); ++i)
        kernels += fmt::format("namespace kernel{} {{\n{}\n}}\n", i, host_form(bodies_[i].text));
    kernels += "const replay::Function replay::functions[] = {\n";
    for (const std::string& function : functions_)
        kernels +=
            fmt::format("    {{\"{0}\", [](const void* args) {{ {0}(*static_cast<const {1}::GemmArgs*>(args)); }}}},\n",
                        function, function.substr(0, function.find(':')));
    put_text(folder / "kernels.cpp", kernels + "};\n");
    put_text(folder / "program", program_);
    const std::string flags = "-std=c++17 -O1 -w -I" JITGEMM_SOURCE_DIR "/tests/support/replay";
    const auto [messages, status] = shell(
        fmt::format("cd {0} && c++ {1} {2} -c kernels.cpp && c++ {1} -c " JITGEMM_SOURCE_DIR
                    "/tests/support/replay/replay.cpp && c++ kernels.o replay.o -o replay && ./replay {3} < program",
                    folder.path(), flags, kTraps, seconds_per_thread_));
    if (status != kNoAddressSpace) return status == 0 ? messages : messages + fmt::format("(status {})\n", status);
    std::cout << "[skipped] no 40 TiB of address space\n";
    return std::nullopt;
}

}  // namespace jitgemm::testing
