#pragma once

namespace jitgemm {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace jitgemm
