#pragma once

#include <string>
#include <string_view>

namespace jitgemm {

/// A self-contained HTML page around `body`: palette, typography and a short script. The script shows the hint (data-h)
/// of an element that is pointed at or tapped, and marks all elements of its owner (data-k) within the same drawing.
/// `css` holds the page's own rules, after the common ones.
[[nodiscard]] std::string html_page(const std::string& title, const std::string& body, std::string_view css = {});

/// A name and its text for a <dl> of facts, both escaped.
[[nodiscard]] std::string page_fact(std::string_view name, std::string_view text);

}  // namespace jitgemm
