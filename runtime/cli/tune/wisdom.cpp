#include "runtime/tuning/store/wisdom.hpp"
#include "jitgemm/error.hpp"

#include "runtime/cli/cli_context.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/files.hpp"
#include "runtime/cli/json_fields.hpp"
#include "runtime/cli/problem_options.hpp"
#include "runtime/cli/tune/output.hpp"
#include "runtime/cli/verb.hpp"
#include "runtime/tuning/store/record_json.hpp"
#include "runtime/tuning/store/store.hpp"
#include "runtime/tuning/store/tuned_sets.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace jitgemm::cli {
namespace {

using tuning::StoredWinners;
using tuning::TunedSet;
using tuning::TuningStore;
using tuning::Winner;
using tuning::Wisdom;

constexpr const char* kNoStore = "no folder for tuning results: set JITGEMM_TUNING_DIR, XDG_DATA_HOME or HOME";

std::string tuning_directory() {
    std::string directory = tool_options().tuning_directory;
    if (directory.empty()) throw UsageError(kNoStore);
    return directory;
}

/// A file that is no wisdom is the caller's mistake.
Wisdom wisdom_in(const std::string& file) {
    try {
        return tuning::read_wisdom(file);
    } catch (const tuning::WisdomError& error) {
        throw UsageError(error.what());
    }
}

void note_all(const std::vector<std::string>& problems, Output& output) {
    for (const std::string& problem : problems) output.note(fmt::format("jitgemm: {}", problem));
}

int exit_code_of(const std::vector<std::string>& problems) { return problems.empty() ? kExitFine : kExitFailed; }

Json winner_json(const Winner& winner) {
    Json json = winner;
    json["spec"] = to_json(winner.spec);
    return json;
}

std::string counted_winners(std::size_t count) { return counted(static_cast<std::int64_t>(count), "winner"); }

std::string counted_sets(std::size_t count) { return counted(static_cast<std::int64_t>(count), "kernel set"); }

/// "3 winners, 1 kernel set".
std::string counted_records(std::size_t winners, std::size_t sets) {
    return sets == 0 ? counted_winners(winners) : counted_winners(winners) + ", " + counted_sets(sets);
}

/// "1.23 x heuristic", or what is not known.
std::string speedup_text(double peer_us, double own_us, std::string_view peer) {
    return peer_us > 0 && own_us > 0 ? fmt::format("{:.2f} x {}", peer_us / own_us, peer)
                                     : fmt::format("{} not timed", peer);
}

std::string time_text(double us) { return us > 0 ? fmt::format("{:.2f} us", us) : "not kept"; }

std::string winner_text(const Winner& winner) {
    return fmt::format("  {:<28} {:>13}  {}, {}{}\n    {}\n", shape_text(winner.spec), time_text(winner.median_us),
                       speedup_text(winner.heuristic_us, winner.median_us, "heuristic"),
                       speedup_text(winner.cublaslt_us, winner.median_us, "cuBLASLt"), how_searched(winner),
                       winner.kernel);
}

std::string winners_text(const std::string& place, const std::vector<Winner>& winners) {
    std::string text = fmt::format("{}: {}\n", place, counted_winners(winners.size()));
    const std::string* device_class = nullptr;
    for (const Winner& winner : winners) {
        if (device_class == nullptr || *device_class != winner.device_class)
            text += fmt::format("{} ({})\n", winner.device_class, winner.device_name);
        device_class = &winner.device_class;
        text += winner_text(winner);
    }
    return text;
}

/// Winners or sets.
template <typename Record>
std::vector<Record> of_class(std::vector<Record> records, const std::string& device_class) {
    if (!device_class.empty())
        std::erase_if(records, [&](const Record& record) { return record.device_class != device_class; });
    return records;
}

std::string sets_text(const std::vector<TunedSet>& sets) {
    std::string text;
    for (const TunedSet& tuned : sets)
        text += fmt::format("kernel set, {}\n  {}, m={}:{}, {}\n", tuned.device_class, shape_text(tuned.set.spec),
                            tuned.set.first_m, tuned.set.last_m,
                            counted(static_cast<std::int64_t>(tuned.set.kernels.size()), "kernel"));
    return text;
}

// ---- export ---------------------------------------------------------------------------------------------------------

int export_winners(const std::string& file, const std::string& device_class, Output& output) {
    check_named_output_file("FILE", file);
    const std::string directory = tuning_directory();
    const StoredWinners stored = tuning::stored_winners(directory, device_class);
    note_all(stored.problems, output);
    const std::vector<TunedSet> sets = tuning::stored_sets(directory, device_class);
    if (stored.winners.empty() && sets.empty())
        throw Error(fmt::format("no winners{} in {}: nothing to export",
                                device_class.empty() ? "" : " of " + device_class, directory));
    tuning::write_wisdom(file, stored.winners, sets);
    output.text(fmt::format("{}: {}\n", file, counted_records(stored.winners.size(), sets.size())));
    output.document({{"file", file},
                     {"directory", directory},
                     {"winner_count", stored.winners.size()},
                     {"set_count", sets.size()},
                     {"problems", stored.problems}});
    return exit_code_of(stored.problems);
}

// ---- import ---------------------------------------------------------------------------------------------------------

int import_winners(const std::string& file, const std::string& device_class, Output& output) {
    const Wisdom wisdom = wisdom_in(file);
    const std::vector<Winner> winners = of_class(wisdom.winners, device_class);
    const std::vector<TunedSet> sets = of_class(wisdom.sets, device_class);
    note_all(wisdom.problems, output);
    const std::string directory = tuning_directory();
    const int imported = winners.empty() ? 0 : TuningStore(directory).add_winners(winners);
    for (const TunedSet& tuned : sets) tuning::store_set(directory, tuned);
    output.text(fmt::format("{}: {} imported, {} skipped\n", directory,
                            counted_records(static_cast<std::size_t>(imported), sets.size()),
                            counted(static_cast<std::int64_t>(wisdom.problems.size()), "line")));
    output.document({{"file", file},
                     {"directory", directory},
                     {"winner_count", winners.size()},
                     {"imported", imported},
                     {"imported_sets", sets.size()},
                     {"problems", wisdom.problems}});
    return exit_code_of(wisdom.problems);
}

// ---- show -----------------------------------------------------------------------------------------------------------

int show_winners(const std::string& file, const std::string& device_class, Output& output) {
    StoredWinners shown;
    std::vector<Winner> installed;
    std::vector<TunedSet> sets;
    const std::string place = file.empty() ? tool_options().tuning_directory : file;
    if (file.empty()) {
        if (!place.empty()) {
            shown = tuning::stored_winners(place, device_class);
            sets = tuning::stored_sets(place, device_class);
        }
        if (tool_options().installed_wisdom) installed = of_class(tuning::installed_wisdom().winners, device_class);
    } else {
        Wisdom wisdom = wisdom_in(file);
        shown = {of_class(std::move(wisdom.winners), device_class), std::move(wisdom.problems)};
        sets = of_class(std::move(wisdom.sets), device_class);
    }
    note_all(shown.problems, output);
    output.text(place.empty() ? fmt::format("{}\n", kNoStore) : winners_text(place, shown.winners));
    output.text(sets_text(sets));
    if (!installed.empty()) output.text(winners_text("installed with the library", installed));
    output.document({{file.empty() ? "directory" : "file", place.empty() ? Json() : Json(place)},
                     {"winners", json_array(shown.winners, winner_json)},
                     {"sets", json_array(sets, tuning::json_of)},
                     {"installed", json_array(installed, winner_json)},
                     {"problems", shown.problems}});
    return exit_code_of(shown.problems);
}

// ---- forget ---------------------------------------------------------------------------------------------------------

struct ForgetOptions {
    ProblemOptions problem;
    std::string device_class;
    bool all = false;
};

bool names_problem(const ProblemOptions& problem) {
    static constexpr std::array kExtents{"m", "n", "k"};
    return problem.has_shape_line() ||
           std::ranges::any_of(kExtents, [&](const char* size) { return problem.given(size); });
}

std::optional<GemmSpec> forgotten_problem(const ForgetOptions& options) {
    if (!names_problem(options.problem)) return std::nullopt;
    return resolved(options.problem.problem().spec);
}

int forget_winners(const ForgetOptions& options, Output& output) {
    const std::optional<GemmSpec> spec = forgotten_problem(options);
    const bool everything = !spec && options.device_class.empty();
    if (everything != options.all)
        throw UsageError(everything ? "forget what? Name a problem or --device-class, or say --all for everything"
                                    : "--all forgets everything: leave the problem and --device-class out");
    const std::string directory = tuning_directory();
    const bool is_there = !tuning::store_files(directory).empty();
    const int forgotten = is_there ? TuningStore(directory).forget(options.device_class, spec) : 0;
    const int sets =
        spec ? 0 : tuning::forget_sets(directory, options.device_class);  // a set has more than one problem
    output.text(fmt::format("{}: {} forgotten\n", directory,
                            counted_records(static_cast<std::size_t>(forgotten), static_cast<std::size_t>(sets))));
    output.document({{"directory", directory}, {"forgotten", forgotten}, {"forgotten_sets", sets}});
    return kExitFine;
}

// ---- options --------------------------------------------------------------------------------------------------------

void declare_device_class(CLI::App& app, std::string& device_class) {
    app.add_option("--device-class", device_class,
                   "Take only winners of this device class (`wisdom show` prints the classes)")
        ->type_name("CLASS");
}

struct FileOptions {
    std::string file;
    std::string device_class;
};

/// A verb on one file and, perhaps, one class.
Action declare_file_verb(CLI::App& app, const char* description, bool required,
                         int (*verb)(const std::string&, const std::string&, Output&)) {
    auto options = std::make_shared<FileOptions>();
    app.add_option("file", options->file, description)->required(required)->type_name("FILE");
    declare_device_class(app, options->device_class);
    return [options, verb](Output& output) { return verb(options->file, options->device_class, output); };
}

Action declare_export(CLI::App& app) { return declare_file_verb(app, "Wisdom file to write", true, export_winners); }

Action declare_import(CLI::App& app) { return declare_file_verb(app, "Wisdom file to read", true, import_winners); }

Action declare_show(CLI::App& app) {
    return declare_file_verb(app, "Wisdom file to show in place of the store", false, show_winners);
}

Action declare_forget(CLI::App& app) {
    auto options = std::make_shared<ForgetOptions>();
    options->problem.declare_problem(app);
    declare_device_class(app, options->device_class);
    app.add_flag("--all", options->all, "Forget every winner");
    return [options](Output& output) { return forget_winners(*options, output); };
}

constexpr std::array kWisdomVerbs{
    Verb{"export", "Write the stored winners and kernel sets to a file", declare_export},
    Verb{"import", "Add a file's winners and kernel sets to the store; other lines are reported and skipped",
         declare_import},
    Verb{"show", "Print the winners and kernel sets of the store or of a file", declare_show},
    Verb{"forget", "Remove winners from the store: of a problem, or with kernel sets of a device class, or all",
         declare_forget},
};

}  // namespace

std::span<const Verb> wisdom_verbs() { return kWisdomVerbs; }

}  // namespace jitgemm::cli
