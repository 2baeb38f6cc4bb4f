#pragma once

#include "generator/families/shared/tensor_core_geometry.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace jitgemm {

/// \file What the kernels of 16-bit operands on tensor cores have in common when they are rendered.

using Macros = std::map<std::string, int, std::less<>>;

/// Layouts of A and B, and which copies of templates/global_to_shared.cuh they need.
void add_copy_macros(Macros& macros, const OperandGeometry& a, const OperandGeometry& b);

/// How copies to shared memory are cached on their way.
struct CpAsyncCaching {
    bool through_l1 = false;  ///< 16-byte copies; narrower ones always are
    int l2_prefetch = 128;    ///< bytes that L2 is asked to fetch along; 0: none
};

/// cp_async() and cp_async_cut() in the widths that the operands need: what templates/copy_async.cuh includes.
[[nodiscard]] std::string cp_async_wrappers(const OperandGeometry& a, const OperandGeometry& b,
                                            const CpAsyncCaching& caching);

}  // namespace jitgemm
