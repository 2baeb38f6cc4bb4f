#include "generator/draw/html_page.hpp"
#include "generator/draw/kernel_bank_view.hpp"
#include "generator/draw/kernel_page.hpp"
#include "generator/draw/markup.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace jitgemm {
namespace {

std::string section(std::string_view title, const std::string& what_to_see, const std::string& body) {
    return fmt::format("<section>\n<h2>{}</h2>\n<p class=\"muted\">{}</p>\n{}</section>\n", escape_markup(title),
                       escape_markup(what_to_see), body);
}

std::string facts(const KernelPage& page) {
    const KernelTiling& t = page.tiling;
    return "<dl>\n" + page_fact("GPU", fmt::format("{}, {} SMs", page.gpu.name, page.gpu.sm_count)) +
           page_fact("block tile", fmt::format("{}×{}×{}", t.block.m, t.block.n, t.block.k)) +
           page_fact("warps", fmt::format("{}×{} of {}×{}", t.warps_m, t.warps_n, t.warp.m, t.warp.n)) +
           page_fact("threads per block", std::to_string(page.threads)) +
           page_fact("registers per thread", fmt::format("≈ {}", page.registers)) +
           page_fact("shared memory", fmt::format("{} bytes", page.shared_map.total_bytes)) +
           page_fact("blocks per SM", std::to_string(page.cost.blocks_per_sm)) +
           page_fact("blocks", fmt::format("{}, {:.2f} waves", page.rasterization.blocks, page.cost.waves)) + "</dl>\n";
}

std::string heading(const KernelPage& page) {
    const GemmSpec& s = page.problem.row_major();
    std::string html = fmt::format("<h1>{}×{}×{}, {} {}</h1>\n<p class=\"name\"><code>{}</code></p>\n", s.m, s.n, s.k,
                                   to_string(s.a), to_string(s.layout), escape_markup(page.kernel));
    if (page.problem.transposed) {
        html +=
            "<p>D is column-major. The kernel computes its transpose: the kernel's A is the problem's B, and its m is "
            "the problem's n.</p>\n";
    }
    return html + facts(page);
}

std::string access_row(const SharedAccess& access) {
    const bool conflicts = access.wavefronts > access.ideal;
    return fmt::format(
        "<tr><td>{}</td><td><code>{}</code></td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        escape_markup(access.what), escape_markup(access.instruction), access.in_mainloop ? "k-tile" : "tile of D",
        access.instructions, access.wavefronts, access.ideal,
        conflicts
            ? fmt::format("<b>{:.2f}×</b>", static_cast<double>(access.wavefronts) / static_cast<double>(access.ideal))
            : "none");
}

std::string conflicts_html(const std::vector<SharedAccess>& accesses) {
    std::string html =
        "<figure><table>\n<tr><th>access</th><th>instruction</th><th>counted per</th><th>instructions</th>"
        "<th>wavefronts</th><th>at least</th><th>conflicts</th></tr>\n";
    for (const SharedAccess& access : accesses) html += access_row(access);
    return html + "</table></figure>\n";
}

/// How A and B travel, where no drawing shows it.
std::string operands_section(const KernelPage& page) {
    std::string html =
        "<figure><table>\n<tr><th>operand</th><th>lies with K</th><th class=\"why\">copy</th>"
        "<th class=\"why\">in shared memory, or read</th></tr>\n";
    for (const OperandPath& path : page.anatomy.operands)
        html += fmt::format("<tr><td>{}</td><td>{}</td><td class=\"why\">{}</td><td class=\"why\">{}</td></tr>\n",
                            to_string(path.operand), path.k_major ? "contiguous" : "strided", escape_markup(path.copy),
                            escape_markup(path.place));
    return section("Operands", fmt::format("From global memory to {}.", page.anatomy.instruction),
                   html + "</table></figure>\n");
}

std::string warp_tiling_section(const KernelPage& page) {
    const KernelTiling& t = page.tiling;
    return section("Tiling",
                   fmt::format("Colours show the {} warps of a block. The strips at the sides show the parts of A and "
                               "B that a row or column of warps reads in {} steps of K.",
                               t.warps_m * t.warps_n, t.block.k),
                   tiling_html(t));
}

std::string tiling_section(const KernelPage& page) {
    const KernelTiling& t = page.tiling;
    return section("Tiling",
                   fmt::format("Colours show the {} warps. Each small box is one mma of {}×{}×{}, which a warp repeats "
                               "for the {} k-blocks of a k-tile. The strips at the sides show the parts of A and B "
                               "that a row or column of warps reads.",
                               t.warps_m * t.warps_n, t.mma.m, t.mma.n, t.mma.k, t.k_blocks),
                   tiling_html(t));
}

std::string both_views(const KernelSharedTile& tile) {
    return "<div class=\"side\">" + shared_tile_html(tile) + bank_view_html(tile) + "</div>\n";
}

std::string shared_section(const KernelPage& page) {
    return section(
        "Shared memory, banks and ldmatrix",
        "Each cell is a chunk of 16 bytes, coloured by the four banks it lies in. The outlined chunks are the rows "
        "that lanes of warp 0 name in its first ldmatrix: eight lanes (L0–L7, L8–L15 …) are served at once, so "
        "each eight should show eight colours.",
        both_views(page.shared_a) + both_views(page.shared_b));
}

std::string accumulators_section(const KernelPage& page) {
    return section(
        "Accumulators",
        fmt::format("Lane T of a warp holds value V of each atom ({}). Every atom of the warp tile takes {} registers "
                    "of its own, {} in all.",
                    page.accumulators.atom, page.accumulators.registers_per_atom, page.accumulators.registers),
        accumulators_html(page.accumulators));
}

std::string pipeline_section(const KernelPage& page) {
    const KernelPipeline& p = page.pipeline;
    return section(
        "Pipeline",
        fmt::format("Follow one k-tile (its number, k) from its copy to the iteration that computes on it: {} stages "
                    "keep {} copies in flight. A block goes through {} k-tiles. Fragments of the "
                    "next k-block are loaded during the mma of the current one, also across the boundary of two "
                    "k-tiles.",
                    p.stages, p.stages - 1, p.k_tiles),
        pipeline_html(p));
}

std::string rasterization_section(const KernelPage& page) {
    const KernelRasterization& r = page.rasterization;
    const std::string splits =
        r.splits > 1
            ? fmt::format(" The picture shows the first of the {} splits of K. The others are alike.", r.splits)
            : "";
    return section("Rasterization",
                   fmt::format("{}×{} tiles of D, {} blocks in the first wave. A squarer patch of elements needs less "
                               "of A and B at a time. L2 has {}.{}",
                               r.tiles.m, r.tiles.n, r.first_wave, megabytes(r.l2_bytes), splits),
                   rasterization_html(r));
}

std::string map_section(const KernelPage& page) {
    const KernelSharedMap& m = page.shared_map;
    if (m.total_bytes == 0) return {};
    return section("Shared-memory map",
                   fmt::format("A block uses {} bytes; it may use {}. The epilogue reuses the pipeline's bytes. An SM "
                               "has {} bytes and holds {} of these blocks.",
                               m.total_bytes, m.block_limit, m.sm_bytes, m.blocks_per_sm),
                   shared_map_html(m));
}

std::string conflicts_section(const KernelPage& page) {
    if (page.accesses.empty()) return section("Bank conflicts", no_accesses_text(page.anatomy), "");
    return section("Bank conflicts",
                   "A wavefront is one cycle of all 32 banks. If the count exceeds the least possible, rows share a "
                   "bank and wait for each other.",
                   conflicts_html(page.accesses));
}

}  // namespace

std::string kernel_page_html(const KernelPage& page) {
    const std::string core = page.draws_fragments() ? tiling_section(page) + shared_section(page) +
                                                          accumulators_section(page) + pipeline_section(page)
                                                    : warp_tiling_section(page) + operands_section(page);
    return html_page(page.kernel,
                     heading(page) + core + rasterization_section(page) + map_section(page) + conflicts_section(page));
}

}  // namespace jitgemm
