#pragma once

#include "jitgemm/gemm_spec.hpp"
#include "jitgemm/options.hpp"

namespace jitgemm {

/// Whether Options::math changes the problem. Products of parts make no symmetric product.
[[nodiscard]] inline bool takes_default_math(const GemmSpec& spec, const Options& options) {
    return options.math != Math::ieee && spec.math == Math::ieee && spec.a == DataType::f32 && options.kernel.empty() &&
           (!spec.symmetric || options.math == Math::tf32);
}

/// The problem with Options::math, where that changes it. The log says it once per process.
[[nodiscard]] GemmSpec with_default_math(const GemmSpec& spec, const Options& options);

}  // namespace jitgemm
