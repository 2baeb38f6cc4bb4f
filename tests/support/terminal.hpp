#pragma once

#include <string>
#include <vector>

namespace jitgemm::testing {

/// The stderr of a command that a shell runs on a terminal of `columns` columns, with carriage returns and escapes.
struct TerminalRun {
    int exit_code = 0;
    std::string err;
};
[[nodiscard]] TerminalRun run_on_terminal(const std::string& command, unsigned short columns = 80);

/// The lines that a person saw: each state of the last line before it was replaced or cleared.
[[nodiscard]] std::vector<std::string> shown_lines(const std::string& err);

}  // namespace jitgemm::testing
