#include "runtime/support/default_math.hpp"

#include "runtime/support/log.hpp"

#include <atomic>

namespace jitgemm {

GemmSpec with_default_math(const GemmSpec& spec, const Options& options) {
    if (!takes_default_math(spec, options)) return spec;
    static std::atomic_flag is_said;
    GemmSpec changed = spec;
    changed.math = options.math;
    if (!is_said.test_and_set())
        log().info(
            "{}: the math is {}, as JITGEMM_MATH or Options::math says. This holds for all f32 problems that say "
            "no math",
            shape_line(changed), to_string(options.math));
    return changed;
}

}  // namespace jitgemm
