#pragma once

#include <string>

namespace jitgemm {

/// A field of a row of comma-separated values, as RFC 4180 wants it: quoted where a comma, a quote or a line break is
/// inside.
[[nodiscard]] std::string csv_field(const std::string& text);

}  // namespace jitgemm
