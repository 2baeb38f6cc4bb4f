#pragma once

#include <string>

namespace jitgemm {

/// A field of a row of comma-separated values (RFC 4180): quoted if it contains a comma, a quote or a line break.
[[nodiscard]] std::string csv_field(const std::string& text);

}  // namespace jitgemm
