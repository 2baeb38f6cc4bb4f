#pragma once

#include "runtime/cli/output.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace jitgemm::cli {

/// The work of a verb after its options are parsed. It returns the exit code.
using Action = std::function<int(Output&)>;

/// One verb of the tool. `declare` puts its options on the parser and returns the action that runs with their values. A
/// verb with verbs of its own has `children` instead (`cache`), or as well (`kernels`, `kernels export`).
struct Verb {
    std::string_view name;
    std::string_view summary;
    Action (*declare)(CLI::App&) = nullptr;
    std::span<const Verb> (*children)() = nullptr;
    bool hidden = false;  ///< for programs, not for people: no list of verbs shows it
};

/// Whether --json is given, or --format json, which means the same to the verbs of `layout`.
[[nodiscard]] bool wants_json(std::span<const std::string> arguments);

/// Runs the verb that the first argument names, or prints help or version. `path` is the text before it ("jitgemm
/// cache"). Every failure becomes a message on stderr and an exit code, and with --json also a document on stdout.
[[nodiscard]] int dispatch(std::span<const Verb> verbs, const std::string& path,
                           std::span<const std::string> arguments);

Action declare_bench(CLI::App& app);
Action declare_doctor(CLI::App& app);
Action declare_dump(CLI::App& app);
Action declare_explain(CLI::App& app);
Action declare_export(CLI::App& app);
Action declare_kernels(CLI::App& app);
Action declare_ladder(CLI::App& app);
Action declare_list(CLI::App& app);
Action declare_run(CLI::App& app);
Action declare_tune(CLI::App& app);
Action declare_warm(CLI::App& app);
[[nodiscard]] std::span<const Verb> cache_verbs();
[[nodiscard]] std::span<const Verb> kernels_verbs();
[[nodiscard]] std::span<const Verb> layout_verbs();
[[nodiscard]] std::span<const Verb> tune_verbs();
[[nodiscard]] std::span<const Verb> wisdom_verbs();
[[nodiscard]] std::span<const Verb> worker_verbs();

}  // namespace jitgemm::cli
