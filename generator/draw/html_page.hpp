#pragma once

#include <string>

namespace jitgemm {

/// A self-contained HTML page around `body`: palette, typography, and the few lines of script that show the hint (data-h)
/// of what is pointed at, or tapped, and mark all elements of its owner (data-k) within the same drawing.
[[nodiscard]] std::string html_page(const std::string& title, const std::string& body);

}  // namespace jitgemm
