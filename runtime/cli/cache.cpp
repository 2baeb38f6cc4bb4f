#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/generation.hpp"
#include "runtime/cli/problem_options.hpp"
#include "runtime/cli/sizes.hpp"
#include "runtime/cli/toolbox.hpp"
#include "runtime/cli/verb.hpp"
#include "runtime/kernel_cache.hpp"
#include "runtime/nvrtc.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace jitgemm::cli {
namespace {

Json entry_json(const CacheEntry& entry) {
    return {{"directory", entry.directory}, {"kernel", entry.name},
            {"arch", entry.arch},           {"nvrtc_version", entry.nvrtc_version},
            {"bytes", entry.bytes},         {"compile_ms", entry.compile_ms},
            {"registers", entry.registers}, {"spill_bytes", entry.spill_bytes},
            {"state", entry.state}};
}

Json entries_json(const std::vector<CacheEntry>& entries) {
    Json json = Json::array();
    for (const CacheEntry& entry : entries) json.push_back(entry_json(entry));
    return json;
}

bool is_damaged(const CacheEntry& entry) { return entry.state != "ok"; }

std::string entry_line(const CacheEntry& entry) {
    return fmt::format("{:>10} {:>8.1f} ms {:>4} regs {:>6} spilled  {:<8} NVRTC {:<5} {}{}\n", size_text(entry.bytes),
                       entry.compile_ms, entry.registers, size_text(entry.spill_bytes), entry.arch,
                       nvrtc_version_text(entry.nvrtc_version), entry.directory,
                       is_damaged(entry) ? "  " + entry.state : "");
}

std::string place(const KernelCache& cache) { return cache.root().empty() ? "no cache folder" : cache.root(); }

int list_entries(Output& output) {
    const KernelCache cache = cache_of(tool_options());
    const std::vector<CacheEntry> entries = cache.entries(false);
    std::string text =
        fmt::format("{}: {} kernels, {}\n", place(cache), entries.size(), size_text(cache.total_bytes()));
    for (const CacheEntry& entry : entries) text += entry_line(entry);
    output.text(text);
    output.document(
        {{"directory", cache.root()}, {"total_bytes", cache.total_bytes()}, {"entries", entries_json(entries)}});
    return kExitFine;
}

int show_info(Output& output) {
    const Options options = tool_options();
    const KernelCache cache = cache_of(options);
    const std::size_t count = cache.entries(false).size();
    output.text(fmt::format("folder     {}\nread-only  {}\nkernels    {}\nsize       {}\n", place(cache),
                            options.readonly_cache_directory.empty() ? "none" : options.readonly_cache_directory, count,
                            size_text(cache.total_bytes())));
    output.document({{"directory", cache.root()},
                     {"readonly_directory", options.readonly_cache_directory},
                     {"entry_count", count},
                     {"total_bytes", cache.total_bytes()}});
    return kExitFine;
}

int verify_entries(bool drop, Output& output) {
    KernelCache cache = cache_of(tool_options());
    const std::vector<CacheEntry> entries = cache.entries(true);
    const auto damaged = std::ranges::count_if(entries, is_damaged);
    const int dropped = drop ? cache.drop_damaged() : 0;
    std::string text =
        fmt::format("{}: {} kernels, {} damaged, {} dropped\n", place(cache), entries.size(), damaged, dropped);
    for (const CacheEntry& entry : entries) {
        if (is_damaged(entry)) text += fmt::format("  {}: {}\n", entry.directory, entry.state);
    }
    output.text(text);
    output.document(
        {{"directory", cache.root()}, {"damaged", damaged}, {"dropped", dropped}, {"entries", entries_json(entries)}});
    return damaged == 0 || drop ? kExitFine : kExitFailed;
}

int clear_entries(Output& output) {
    KernelCache cache = cache_of(tool_options());
    const int removed = cache.clear();
    output.text(fmt::format("{}: {} kernels removed\n", place(cache), removed));
    output.document({{"directory", cache.root()}, {"removed", removed}});
    return kExitFine;
}

/// What `run` would ask the cache for.
struct Lookup {
    CompileRequest request;
    int nvrtc_version = 0;
};

Lookup lookup_of(const ProblemOptions& problem, Output& output) {
    const GeneratedKernel kernel = generate_kernel(problem, output);
    return {compile_request(kernel.source), compiler_of(problem.options(), newest_major_of_machine())->nvrtc_version()};
}

int explain(const ProblemOptions& problem, Output& output) {
    const Lookup lookup = lookup_of(problem, output);
    const KernelCache cache = cache_of(problem.options());
    const auto stored = cache.explain_miss(lookup.request, lookup.nvrtc_version);
    const bool hit = std::ranges::any_of(stored, [](const auto& entry) { return entry.second.empty(); });
    std::string text = fmt::format("{}: {}\n", hit ? "hit" : "miss", lookup.request.name);
    if (stored.empty())
        text += fmt::format("  {} holds no kernel of that name for {}\n", place(cache), lookup.request.arch);
    Json entries = Json::array();
    for (const auto& [directory, differs] : stored) {
        const std::string verdict =
            differs.empty() ? "is the one" : fmt::format("differs in {}", fmt::join(differs, ", "));
        text += fmt::format("  {} {}\n", directory, verdict);
        entries.push_back({{"directory", directory}, {"differs", differs}});
    }
    output.text(text);
    output.document({{"kernel", lookup.request.name},
                     {"arch", lookup.request.arch},
                     {"nvrtc_version", lookup.nvrtc_version},
                     {"hit", hit},
                     {"entries", entries}});
    return kExitFine;
}

Action declare_ls(CLI::App&) { return list_entries; }

Action declare_info(CLI::App&) { return show_info; }

Action declare_clear(CLI::App&) { return clear_entries; }

Action declare_verify(CLI::App& app) {
    auto drop = std::make_shared<bool>(false);
    app.add_flag("--drop", *drop, "Remove what is damaged, and folders that a killed process left");
    return [drop](Output& output) { return verify_entries(*drop, output); };
}

Action declare_why(CLI::App& app) {
    auto problem = std::make_shared<ProblemOptions>();
    problem->declare_problem(app);
    problem->declare_selection(app);
    problem->declare_target(app);
    return [problem](Output& output) { return explain(*problem, output); };
}

constexpr std::array kCacheVerbs{
    Verb{"ls", "Every kernel with its size, compile time, registers", declare_ls},
    Verb{"info", "Where the cache lies and how large it is", declare_info},
    Verb{"verify", "Read every kernel and check it; exit 1 when one is damaged", declare_verify},
    Verb{"clear", "Remove every kernel; tuning results stay", declare_clear},
    Verb{"why", "For a problem: is its kernel there, and if not, which part of the key differs", declare_why},
};

}  // namespace

std::span<const Verb> cache_verbs() { return kCacheVerbs; }

}  // namespace jitgemm::cli
