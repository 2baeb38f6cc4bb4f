#pragma once

namespace jitgemm {

/// The K after which promoted sums begin anew.
inline constexpr int kPromotedK = 128;

}  // namespace jitgemm
