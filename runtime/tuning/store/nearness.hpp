#pragma once

#include "jitgemm/gemm_spec.hpp"

#include <string>

/// \file Which problems are similar: one kernel can serve those of a class, and a distance tells how far two are apart.

namespace jitgemm::tuning {

/// What a kernel knows at compile time, whether C is as aligned, and which operands the problems of a batch share. The
/// sizes, the number of problems or groups, and strides are left out. `spec` is resolved.
[[nodiscard]] GemmSpec class_of(GemmSpec spec);

/// Whether both are dense or a batch, or both have groups of the same kind, gathered rows or arrays of addresses.
[[nodiscard]] bool are_of_one_kind(const GemmSpec& left, const GemmSpec& right);

/// sqrt(Σ log2(ratio)²) over m, n, k and the number of problems. Groups of rows count with the expected rows of one,
/// and groups of K with the expected K of one. Infinite if a size is 0 in one of them alone. Both are resolved.
[[nodiscard]] double distance_between(const GemmSpec& left, const GemmSpec& right);

/// "4096x512x1024", and the number of problems or groups if there is one.
[[nodiscard]] std::string sizes_of(const GemmSpec& spec);

}  // namespace jitgemm::tuning
