#pragma once

#include <string>

namespace jitgemm::cli {

/// The parser's complaint about an option's value in this tool's words: "--rounds is 'x': expected a number" for "Could
/// not convert: --rounds = x". An unknown complaint stays as it is.
[[nodiscard]] std::string parse_complaint(const std::string& message);

}  // namespace jitgemm::cli
