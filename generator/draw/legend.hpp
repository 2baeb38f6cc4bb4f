#pragma once

#include <string>
#include <vector>

namespace jitgemm {

/// What a colour of a drawing means.
struct LegendEntry {
    int color = 0;  ///< of the palette
    std::string text;
};

/// The colours and their meanings as a line of HTML that wraps on narrow pages.
[[nodiscard]] std::string legend(const std::vector<LegendEntry>& entries);

}  // namespace jitgemm
