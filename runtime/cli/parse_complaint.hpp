#pragma once

#include <string>

namespace jitgemm::cli {

/// What the command-line parser says of an option's value, in this tool's words: "--rounds is 'x': expected a number"
/// of "Could not convert: --rounds = x". What it does not know stays as it is.
[[nodiscard]] std::string parse_complaint(const std::string& message);

}  // namespace jitgemm::cli
