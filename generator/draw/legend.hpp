#pragma once

#include <string>
#include <vector>

namespace jitgemm {

/// The meaning of a colour of a drawing.
struct ColorMeaning {
    int color = 0;  ///< of the palette
    std::string text;
};

/// The colours and their meanings as a line of HTML that wraps on narrow pages.
[[nodiscard]] std::string legend(const std::vector<ColorMeaning>& entries);

}  // namespace jitgemm
