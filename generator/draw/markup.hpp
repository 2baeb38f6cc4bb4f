#pragma once

#include <string>
#include <string_view>

namespace jitgemm {

/// Text as XML and HTML hold it, between tags and in attributes: & < > " ' escaped, control characters that XML forbids
/// replaced by U+FFFD.
[[nodiscard]] std::string escape_markup(std::string_view text);

/// Text as LaTeX typesets it with its standard fonts. Characters they lack come out as their code point, U+03B1.
[[nodiscard]] std::string escape_latex(std::string_view text);

/// The typefaces, which every page and picture shares.
inline constexpr std::string_view kMonospace =
    "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace";
inline constexpr std::string_view kSansSerif =
    "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";

}  // namespace jitgemm
