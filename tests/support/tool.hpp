#pragma once

#include "tests/support/temporary_folder.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace jitgemm::testing {

struct ToolResult {
    int exit_code = 0;
    std::string out;
    std::string err;
};

/// The built tool as a shell runs it, with a cache folder of its own and no setting from outside.
class Tool {
public:
    /// `arguments` and `settings` ("NAME=value ...") are words of a shell.
    [[nodiscard]] ToolResult run(const std::string& arguments, const std::string& settings = "") const;
    /// The same with --json: stdout must be one JSON document and nothing else.
    [[nodiscard]] nlohmann::json json(const std::string& arguments, int expected_exit_code,
                                      const std::string& settings = "") const;

    [[nodiscard]] const TemporaryFolder& folder() const { return folder_; }
    [[nodiscard]] std::string cache() const { return folder_ / "cache"; }

private:
    TemporaryFolder folder_;
};

}  // namespace jitgemm::testing
