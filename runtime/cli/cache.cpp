#include "jitgemm/error.hpp"
#include "jitgemm/options.hpp"
#include "runtime/cache/kernel_cache.hpp"
#include "runtime/cli/cli_context.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/generation.hpp"
#include "runtime/cli/json_fields.hpp"
#include "runtime/cli/problem_options.hpp"
#include "runtime/cli/quantities.hpp"
#include "runtime/cli/verb.hpp"
#include "runtime/compiler/nvrtc.hpp"
#include "runtime/compiler/nvrtc_build.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace jitgemm::cli {
namespace {

Json entry_json(const CacheEntry& entry) {
    return {{"directory", entry.directory},
            {"kernel", entry.name},
            {"arch", entry.arch},
            {"nvrtc_version", entry.nvrtc_version},
            {"bytes", entry.bytes},
            {"compile_ms", entry.compile_ms},
            {"registers", entry.is_ptx ? Json() : Json(entry.registers)},
            {"spill_bytes", entry.is_ptx ? Json() : Json(entry.spill_bytes)},
            {"last_used", entry.last_used},
            {"state", entry.state}};
}

bool is_unsound(const CacheEntry& entry) { return entry.state != "ok"; }

std::string entry_registers(const CacheEntry& entry) {
    if (entry.is_ptx) return "PTX";  // whoever runs it chooses registers
    return fmt::format("{:>4} regs {:>6} spilled", entry.registers, size_text(entry.spill_bytes));
}

std::string entry_line(const CacheEntry& entry) {
    return fmt::format("{:>10} {:>8.1f} ms {:>24}  {:<10} NVRTC {:<5} {}{}\n", size_text(entry.bytes), entry.compile_ms,
                       entry_registers(entry), entry.arch, nvrtc_version_text(entry.nvrtc_version), entry.directory,
                       is_unsound(entry) ? "  " + entry.state : "");
}

/// A folder that is not used holds nothing that could be listed or removed.
void require_trusted(const KernelCache& cache) {
    if (const std::string reason = cache.distrusted(); !reason.empty())
        throw Error(fmt::format("this folder is not used as the cache: {}", reason));
}

std::string place(const KernelCache& cache) { return cache.root().empty() ? "no cache folder" : cache.root(); }

int list_entries(Output& output) {
    const KernelCache cache = cache_of(tool_options());
    require_trusted(cache);
    const std::vector<CacheEntry> entries = cache.entries(false);
    std::string text = fmt::format("{}: {}, {}\n", place(cache), counted(std::ssize(entries), "kernel"),
                                   size_text(cache.total_bytes()));
    for (const CacheEntry& entry : entries) text += entry_line(entry);
    output.text(text);
    output.document({{"directory", cache.root()},
                     {"total_bytes", cache.total_bytes()},
                     {"entries", json_array(entries, entry_json)}});
    return kExitFine;
}

int show_info(Output& output) {
    const Options options = tool_options();
    const KernelCache cache = cache_of(options);
    require_trusted(cache);
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

/// Prints a line for each entry that could not be removed. One is enough for a failure.
int removal_exit_code(const CacheRemoval& removal, Output& output) {
    for (const std::string& reason : removal.kept) output.note(fmt::format("jitgemm: {}", reason));
    return removal.kept.empty() ? kExitFine : kExitFailed;
}

int verify_entries(bool drop, Output& output) {
    KernelCache cache = cache_of(tool_options());
    require_trusted(cache);
    const std::vector<CacheEntry> entries = cache.entries(true);
    const auto damaged = std::ranges::count_if(entries, &CacheEntry::damaged);
    const auto unsound = std::ranges::count_if(entries, is_unsound);
    const CacheRemoval dropped = drop ? cache.drop_damaged() : CacheRemoval();
    std::string text = fmt::format("{}: {}, {} damaged, {} dropped\n", place(cache),
                                   counted(std::ssize(entries), "kernel"), damaged, dropped.removed);
    for (const CacheEntry& entry : entries) {
        if (is_unsound(entry)) text += fmt::format("  {}: {}\n", entry.directory, entry.state);
    }
    output.text(text);
    output.document({{"directory", cache.root()},
                     {"damaged", damaged},
                     {"dropped", dropped.removed},
                     {"kept", dropped.kept},
                     {"entries", json_array(entries, entry_json)}});
    const bool sound = unsound == 0 || (drop && unsound == damaged);
    return sound ? removal_exit_code(dropped, output) : kExitFailed;
}

Json removal_json(const KernelCache& cache, const CacheRemoval& removal) {
    return {{"directory", cache.root()},
            {"removed", removal.removed},
            {"removed_bytes", removal.bytes},
            {"kept", removal.kept}};
}

int clear_entries(Output& output) {
    KernelCache cache = cache_of(tool_options());
    require_trusted(cache);
    const CacheRemoval removal = cache.clear();
    output.text(fmt::format("{}: {} removed\n", place(cache), counted(removal.removed, "kernel")));
    output.document(removal_json(cache, removal));
    return removal_exit_code(removal, output);
}

struct PruneOptions {
    std::string most;
    std::string age;
    bool dry = false;

    [[nodiscard]] CacheLimits limits() const {
        if (most.empty() && age.empty())
            throw UsageError(
                "prune needs a limit: --max-size 500M, --older-than 30d, or both; 'cache clear' removes everything");
        CacheLimits limits;
        if (!most.empty()) limits.bytes = parse_size("max-size", most);
        if (!age.empty()) {
            constexpr double kLongest = 1e12;  // longer than there have been files: no sum with the time overflows
            limits.age = std::chrono::seconds(
                std::llround(std::min(kLongest, parse_duration("older-than", age, BareNumber::refused))));
        }
        return limits;
    }
};

int prune_entries(const PruneOptions& options, Output& output) {
    const CacheLimits limits = options.limits();
    KernelCache cache = cache_of(tool_options());
    require_trusted(cache);
    const CacheRemoval removal = cache.prune(limits, options.dry);
    const std::int64_t left = cache.total_bytes() - (options.dry ? removal.bytes : 0);
    output.text(fmt::format("{}: {} of {} {}, {} left\n", place(cache), counted(removal.removed, "kernel"),
                            size_text(removal.bytes), options.dry ? "would be removed" : "removed", size_text(left)));
    Json document = removal_json(cache, removal);
    document["total_bytes"] = left;
    document["dry_run"] = options.dry;
    output.document(document);
    return removal_exit_code(removal, output);
}

/// `run` would ask the cache for this.
struct Lookup {
    CompileRequest request;
    NvrtcIdentity nvrtc;
};

Lookup lookup_of(const ProblemOptions& problem, Output& output) {
    const GeneratedKernel kernel = generate_kernel(problem, output);
    const std::shared_ptr<Compiler> compiler = compiler_of(problem.options(), newest_major_of_machine());
    return {compile_request(kernel.source), {compiler->nvrtc_version(), compiler->nvrtc_build()}};
}

int explain(const ProblemOptions& problem, Output& output) {
    const Lookup lookup = lookup_of(problem, output);
    const KernelCache cache = cache_of(problem.options());
    const auto stored = cache.explain_miss(lookup.request, lookup.nvrtc.version, lookup.nvrtc.build);
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
                     {"nvrtc_version", lookup.nvrtc.version},
                     {"hit", hit},
                     {"entries", entries}});
    return kExitFine;
}

Action declare_ls(CLI::App&) { return list_entries; }

Action declare_info(CLI::App&) { return show_info; }

Action declare_clear(CLI::App&) { return clear_entries; }

Action declare_verify(CLI::App& app) {
    auto drop = std::make_shared<bool>(false);
    app.add_flag("--drop", *drop, "Remove damaged kernels, and folders that a killed process left behind");
    return [drop](Output& output) { return verify_entries(*drop, output); };
}

Action declare_prune(CLI::App& app) {
    auto options = std::make_shared<PruneOptions>();
    app.add_option("--max-size", options->most,
                   "Largest size that stays: 500M, 2G; the least recently used kernels go first")
        ->type_name("SIZE");
    app.add_option("--older-than", options->age,
                   "Remove kernels that were not used for this time: 12h, 30d, 8w; a kernel may stay a day longer")
        ->type_name("TIME");
    app.add_flag("--dry-run", options->dry, "Print the kernels that would be removed, and remove none");
    return [options](Output& output) { return prune_entries(*options, output); };
}

Action declare_why(CLI::App& app) {
    auto problem = std::make_shared<ProblemOptions>();
    problem->declare_for_target(app);
    return [problem](Output& output) { return explain(*problem, output); };
}

constexpr std::array kCacheVerbs{
    Verb{"ls", "List every kernel with its size, compile time and registers", declare_ls},
    Verb{"info", "Print the path and the size of the cache", declare_info},
    Verb{"verify", "Read and check every kernel; exit with 1 if one is damaged", declare_verify},
    Verb{"prune", "Remove kernels by the cache's size or by the time since their last use", declare_prune},
    Verb{"clear", "Remove every kernel; tuning results stay", declare_clear},
    Verb{"why", "Say whether the kernel of a problem is in the cache, and if not, which part of the key differs",
         declare_why},
};

}  // namespace

std::span<const Verb> cache_verbs() { return kCacheVerbs; }

}  // namespace jitgemm::cli
