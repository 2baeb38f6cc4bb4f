#include "generator/kernel_set_rows.hpp"

#include "generator/base/round_up.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

constexpr std::int64_t kLargestMultiple = 16;

/// A value from 2 on that this power of two divides and no larger one up to kLargestMultiple. A single row has
/// alignments of its own, which are no less than those of other values of its class.
std::optional<std::int64_t> representative(std::int64_t multiple, std::int64_t first_m, std::int64_t last_m) {
    const RowClass rows{multiple, multiple == kLargestMultiple ? 0 : 2 * multiple};
    const std::int64_t m = rows.at_or_after(std::max<std::int64_t>(first_m, 2));
    return m <= last_m ? std::optional(m) : std::nullopt;
}

}  // namespace

GemmSpec aligned_at(const GemmSpec& spec, std::int64_t m) {
    GemmSpec sized = spec;
    sized.m = m;
    const GemmSpec known = resolved(sized);
    GemmSpec aligned = spec;
    aligned.m = 0;
    aligned.align_a = known.align_a;
    aligned.align_b = known.align_b;
    aligned.align_c = known.align_c;
    aligned.align_d = known.align_d;
    return aligned;
}

bool is_aligned_for(const GemmSpec& spec, const GemmSpec& aligned) {
    return spec.align_a <= aligned.align_a && spec.align_b <= aligned.align_b && spec.align_c <= aligned.align_c &&
           spec.align_d <= aligned.align_d;
}

Problem problem_at(GemmSpec spec, std::int64_t m) {
    spec.m = m;
    return problem_of(spec);
}

std::int64_t RowClass::at_or_after(std::int64_t m) const {
    const std::int64_t found = ceil_div(m, multiple) * multiple;
    return next != 0 && found % next == 0 ? found + multiple : found;
}

std::int64_t RowClass::at_or_before(std::int64_t m) const {
    const std::int64_t found = m - m % multiple;
    return next != 0 && found % next == 0 ? found - multiple : found;
}

std::vector<RowClass> row_classes(const GemmSpec& spec, std::int64_t first_m, std::int64_t last_m) {
    std::vector<RowClass> classes;
    std::optional<GemmSpec> previous;
    for (std::int64_t multiple = 1; multiple <= kLargestMultiple; multiple *= 2) {
        const std::optional<std::int64_t> m = representative(multiple, first_m, last_m);
        if (!m) continue;
        const GemmSpec aligned = aligned_at(spec, *m);
        if (previous == aligned) continue;
        previous = aligned;
        if (!classes.empty()) classes.back().next = multiple;
        classes.push_back({multiple, 0});
    }
    if (first_m == 1 && (classes.empty() || classes.front().multiple != 1))
        classes.insert(classes.begin(), {1, classes.empty() ? 0 : classes.front().multiple});
    std::ranges::reverse(classes);
    return classes;
}

}  // namespace jitgemm
