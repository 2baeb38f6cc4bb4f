#pragma once

#include "generator/families/kernel_name.hpp"
#include "generator/heuristics.hpp"
#include "runtime/tuning/workers/worker_command.hpp"
#include "tests/support/temporary_folder.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace jitgemm::testing {

/// Workers with a scripted device, and a few kernels to try on it.
class FakeSweep {
public:
    /// The script as fake_script.hpp describes it.
    explicit FakeSweep(const std::string& script) { set_script(script); }
    void set_script(const std::string& script) const { put_text(folder_ / "script.json", script); }

    [[nodiscard]] std::string log() const { return folder_ / "log"; }
    [[nodiscard]] tuning::WorkerCommand command() const {
        tuning::WorkerCommand command;
        command.program = {JITGEMM_FAKE_WORKER, "--script", folder_ / "script.json"};
        return command;
    }
    /// Lines of what the workers did, where the script has `"log": log()`.
    [[nodiscard]] std::vector<std::string> executed() const {
        std::vector<std::string> lines;
        std::istringstream text(text_in(log()));
        for (std::string line; std::getline(text, line);) lines.push_back(line);
        return lines;
    }

private:
    TemporaryFolder folder_;
};

inline GemmSpec small_spec() { return resolved(parse_shape_line("bf16 tn 256 256 256")); }

/// Canonical names of the best predicted kernels for small_spec() on an H200.
inline std::vector<std::string> some_kernels(std::size_t count) {
    std::vector<std::string> names;
    const Selection multistage{.kernel = {}, .family = "mma_multistage", .parameters = {}};
    for (const Candidate& candidate :
         list_candidates(problem_of(small_spec()), find_gpu("h200"), multistage).accepted) {
        if (names.size() == count) break;
        const std::string name = kernel_name(problem_of(small_spec()), candidate.config);
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    return names;
}

}  // namespace jitgemm::testing
