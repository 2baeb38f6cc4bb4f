#include "runtime/support/csv.hpp"

namespace jitgemm {

std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char letter : text) quoted.append(letter == '"' ? "\"\"" : std::string(1, letter));
    return quoted + '"';
}

}  // namespace jitgemm
