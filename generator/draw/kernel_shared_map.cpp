#include "generator/draw/kernel_shared_map.hpp"

#include "generator/draw/legend.hpp"
#include "generator/draw/palette.hpp"
#include "generator/draw/scales.hpp"
#include "generator/draw/svg.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm {
namespace {

constexpr int kWidth = 1080;
constexpr int kMapLeft = 76;
constexpr int kMapBarHeight = 34;
constexpr int kMapLineHeight = 50;
constexpr int kMapTop = 8;
constexpr int kCharacter = 7;
constexpr std::int64_t kKib = 1024;

class Bars {
public:
    Bars(std::int64_t scale_bytes, int lines)
        : scale_bytes_(std::max<std::int64_t>(scale_bytes, 1)),
          lines_(lines),
          svg_(kMapLeft + kWidth + 24, kMapTop + lines * kMapLineHeight + 56) {}

    void label(int line, std::string_view text) { svg_.text(kMapLeft - 8, top(line) + 21, text, "q e"); }

    void region(int line, const SharedRegion& region, const std::string& classes) {
        const Hint hint{fmt::format("{}\nbytes {}–{}: {} bytes", region.name, region.offset,
                                    region.offset + region.bytes - 1, region.bytes),
                        region.name};
        const int width = x(region.offset + region.bytes) - x(region.offset);
        svg_.box({x(region.offset), top(line), width, kMapBarHeight}, classes, hint, label_within(region.name, width));
    }

    /// Bytes below the bars, at round numbers of KiB.
    void axis(std::int64_t bytes) {
        const int y = kMapTop + lines_ * kMapLineHeight;
        const std::int64_t step = bytes > 128 * kKib ? 32 * kKib : bytes > 32 * kKib ? 16 * kKib : 4 * kKib;
        for (std::int64_t at = 0; at <= bytes; at += step) {
            svg_.path(segment(x(at), y - 8, x(at), y - 2), "g");
            svg_.text(x(at), y + 10, std::to_string(at / kKib), "q m");
        }
        svg_.text(0, y + 10, "KiB", "q");
    }

    void limit(std::int64_t bytes, std::string_view text) {
        const int bottom = kMapTop + lines_ * kMapLineHeight;
        svg_.box({x(bytes) - 1, 0, 1, bottom + 16}, "z");
        svg_.text(x(bytes) - 4, bottom + 30, text, "q e");
    }

    [[nodiscard]] std::string figure() const { return svg_.figure("", true); }

private:
    [[nodiscard]] int x(std::int64_t bytes) const { return kMapLeft + static_cast<int>(bytes * kWidth / scale_bytes_); }
    static int top(int line) { return kMapTop + line * kMapLineHeight; }
    static bool fits(std::string_view text, int width) {
        return static_cast<int>(text.size()) * kCharacter < width - 2;
    }
    /// "A, stage 2", "A2", "2" or nothing, as there is room.
    static std::string label_within(const std::string& name, int width) {
        if (fits(name, width)) return name;
        const std::string number = name.substr(name.find_last_of(' ') + 1);
        const std::string first = name.substr(0, 1) + number;
        return fits(first, width) ? first : fits(number, width) ? number : std::string();
    }

    std::int64_t scale_bytes_;
    int lines_;
    Svg svg_;
};

void add_stages(KernelSharedMap& map, std::string_view name, int stages, std::int64_t stage_bytes) {
    for (int stage = 0; stage < stages && stage_bytes > 0; ++stage) {
        const std::int64_t offset = map.mainloop.empty() ? 0 : map.mainloop.back().offset + map.mainloop.back().bytes;
        map.mainloop.push_back({fmt::format("{}, stage {}", name, stage), offset, stage_bytes});
    }
}

void add_warps(KernelSharedMap& map, int warps, std::int64_t bytes) {
    for (int warp = 0; warp < warps && bytes > 0; ++warp)
        map.epilogue.push_back({fmt::format("D, warp {}", warp), warp * bytes / warps, bytes / warps});
}

}  // namespace

KernelSharedMap kernel_shared_map(const KernelAnatomy& anatomy, const Arch& arch, int blocks_per_sm) {
    KernelSharedMap map;
    if (const auto& pipeline = anatomy.ldmatrix_pipeline) {
        add_stages(map, "A", anatomy.stages, pipeline->a.stage_bytes);
        add_stages(map, "B", anatomy.stages, pipeline->b.stage_bytes);
        add_warps(map, anatomy.warps(), anatomy.epilogue_bytes);
    } else {
        add_stages(map, "A and B", anatomy.stages, anatomy.stage_bytes);
        if (anatomy.epilogue_bytes > 0) map.epilogue.push_back({"D, all warps", 0, anatomy.epilogue_bytes});
    }
    map.total_bytes = anatomy.shared_bytes;
    map.block_limit = arch.shared_bytes_per_block;
    map.sm_bytes = arch.shared_bytes_per_sm;
    map.reserved_bytes = arch.shared_reserved_per_block;
    map.blocks_per_sm = blocks_per_sm;
    return map;
}

std::string shared_map_html(const KernelSharedMap& map) {
    const int lines = map.epilogue.empty() ? 2 : 3;
    Bars bars(map.sm_bytes, lines);
    bars.label(0, "mainloop");
    int index = 0;
    for (const SharedRegion& region : map.mainloop)
        bars.region(0, region,
                    fmt::format("p {}", color_class((region.name.front() == 'A' ? 1 : 2) + 8 * (index++ % 2))));
    if (!map.epilogue.empty()) bars.label(1, "epilogue");
    for (const SharedRegion& region : map.epilogue)
        bars.region(1, region, fmt::format("p {}", color_class(4 + 8 * (index++ % 2))));
    bars.label(lines - 1, "an SM");
    const std::int64_t share = map.total_bytes + map.reserved_bytes;
    for (int block = 0; block < map.blocks_per_sm; ++block)
        bars.region(lines - 1, {fmt::format("block {}", block), block * share, share},
                    block % 2 == 0 ? "p c0" : "p c8");
    bars.axis(map.sm_bytes);
    bars.limit(map.block_limit, fmt::format("most that a block may have: {} bytes", map.block_limit));
    std::vector<ColorMeaning> parts;
    const bool apart =
        std::ranges::any_of(map.mainloop, [](const SharedRegion& region) { return region.name.front() == 'B'; });
    if (!map.mainloop.empty()) parts.push_back({1, apart ? "stages of A" : "stages of A and B"});
    if (apart) parts.push_back({2, "stages of B"});
    if (!map.epilogue.empty()) parts.push_back({4, "staged tile of D"});
    parts.push_back({0, "blocks resident on an SM"});
    return legend(parts) + bars.figure();
}

}  // namespace jitgemm
