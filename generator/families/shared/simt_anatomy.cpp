#include "generator/families/shared/simt_anatomy.hpp"
#include "generator/base/round_up.hpp"
#include "generator/base/sector.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm {
namespace {

/// An operand's panel in shared memory.
struct Panel {
    Operand operand;
    bool k_major;
    int extent;  ///< of the block tile along M or N
    int block_k;
    int pitch;

    [[nodiscard]] int address(int mn, int k) const {
        return (k_major ? mn * pitch + k : k * pitch + mn) * kPanelElementBytes;
    }
};

Panel panel_a(const SimtGeometry& g) { return {Operand::a, g.a_k_major, g.block.m, g.block.k, g.pitch_a}; }
Panel panel_b(const SimtGeometry& g) { return {Operand::b, g.b_k_major, g.block.n, g.block.k, g.pitch_b}; }

/// Thread t stores elements t, t + threads ... of the panel, counted as they lie in global memory.
SharedAccess panel_store(const Panel& panel) {
    SharedAccess access;
    access.what = fmt::format("st.shared {}", to_string(panel.operand));
    access.instruction = fmt::format("st.shared of {} bytes", kPanelElementBytes);
    const int elements = panel.extent * panel.block_k;
    const int run = panel.k_major ? panel.block_k : panel.extent;
    for (int first = 0; first < elements; first += kWarpLanes) {
        const LaneAddresses addresses = lane_addresses([&](int lane) {
            const int element = first + lane;
            if (element >= elements) return kInactiveLane;
            const int fast = element % run;
            const int slow = element / run;
            return panel.k_major ? panel.address(slow, fast) : panel.address(fast, slow);
        });
        add_instruction(access, vector_wavefronts(kPanelElementBytes, addresses));
    }
    return access;
}

/// Every thread loads an element per k and row (A) or column (B) of its thread tile; lanes along the other way share
/// it.
SharedAccess panel_load(const Panel& panel, const SimtGeometry& g) {
    SharedAccess access;
    access.what = fmt::format("ld.shared {}", to_string(panel.operand));
    access.instruction = fmt::format("ld.shared of {} bytes", kPanelElementBytes);
    const bool is_a = panel.operand == Operand::a;
    const LaneAddresses addresses = lane_addresses([&](int lane) {
        const int along_m = lane / g.warp_n;
        return panel.address(is_a ? along_m : lane % g.warp_n, 0);
    });
    const int loads = g.warps() * (is_a ? g.tile.m : g.tile.n) * panel.block_k;
    add_instruction(access, vector_wavefronts(kPanelElementBytes, addresses), loads);
    return access;
}

std::string counted(int count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string load_text(Operand operand, const GemmSignature& s, const SimtGeometry& g) {
    const int width = bytes(operand == Operand::a ? s.a : s.b);
    if (g.uses_shared())
        return fmt::format("ld.global of {} bytes, then st.shared of {}, an element per thread", width,
                           kPanelElementBytes);
    return fmt::format("ld.global of {} bytes straight into registers, an element per thread", width);
}

std::string place_text(Operand operand, const GemmSignature& s, const SimtGeometry& g) {
    const bool is_a = operand == Operand::a;
    const bool k_major = is_a ? g.a_k_major : g.b_k_major;
    if (!g.uses_shared()) {
        const int lanes = is_a ? g.warp_m : g.warp_n;
        return fmt::format("a warp wants {} of a {}, {} apart: {}", counted(lanes, "element"),
                           is_a ? "column of A" : "row of B", k_major ? fmt::format("ld{}", is_a ? 'a' : 'b') : "one",
                           counted(simt_lines_per_load(operand, s, g), "cache line"));
    }
    const int pitch = is_a ? g.pitch_a : g.pitch_b;
    const int row = k_major ? g.block.k : is_a ? g.block.m : g.block.n;
    return pitch == row ? fmt::format("rows of {} f32 along {}", row,
                                      k_major ? "K"
                                      : is_a  ? "M"
                                              : "N")
                        : fmt::format("rows of {} f32 along K, each padded by one: a warp reads a column of them", row);
}

OperandPath path_of(Operand operand, const GemmSignature& s, const SimtGeometry& g) {
    OperandPath path;
    path.operand = operand;
    path.k_major = operand == Operand::a ? g.a_k_major : g.b_k_major;
    path.copy = load_text(operand, s, g);
    path.place = place_text(operand, s, g);
    return path;
}

}  // namespace

int simt_lines_per_load(Operand operand, const GemmSignature& s, const SimtGeometry& g) {
    const bool is_a = operand == Operand::a;
    const int lanes = is_a ? g.warp_m : g.warp_n;
    if (is_a ? g.a_k_major : g.b_k_major) return lanes;
    const int run_bytes = lanes * bytes(is_a ? s.a : s.b);
    return ceil_div(run_bytes, kLineBytes);
}

std::vector<SharedAccess> simt_shared_accesses(const SimtGeometry& g) {
    if (!g.uses_shared()) return {};
    const Panel a = panel_a(g);
    const Panel b = panel_b(g);
    return {panel_store(a), panel_store(b), panel_load(a, g), panel_load(b, g)};
}

KernelAnatomy simt_anatomy(const Problem& problem, const SimtTiling& tiling) {
    const SimtGeometry g = simt_geometry(problem.signature, tiling);
    const int block_k = std::max(g.block.k, 1);
    KernelAnatomy anatomy = anatomy_of(g, {g.block.m, g.block.n, block_k},
                                       {g.warp_m * g.tile.m, g.warp_n * g.tile.n, block_k}, {1, 1, 1}, "fma.rn.f32");
    anatomy.stages = g.uses_shared() ? 1 : 0;
    anatomy.stage_bytes = g.shared_bytes;
    anatomy.pipeline_bytes = g.shared_bytes;
    anatomy.operands = {path_of(Operand::a, problem.signature, g), path_of(Operand::b, problem.signature, g)};
    anatomy.accesses = simt_shared_accesses(g);
    if (!g.uses_shared()) anatomy.direct_reads = DirectReads{g.warp_m, g.warp_n, g.tile};
    return anatomy;
}

}  // namespace jitgemm
