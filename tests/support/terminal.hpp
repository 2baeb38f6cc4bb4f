#pragma once

#include <string>
#include <vector>

namespace jitgemm::testing {

/// What a command, run by a shell, writes on stderr where that is a terminal of `columns` columns, as it comes:
/// carriage returns and escapes included.
struct TerminalRun {
    int exit_code = 0;
    std::string err;
};
[[nodiscard]] TerminalRun run_on_terminal(const std::string& command, unsigned short columns = 80);

/// What of it a person saw: each state of the last line that was written before it was replaced or cleared.
[[nodiscard]] std::vector<std::string> shown_lines(const std::string& err);

}  // namespace jitgemm::testing
