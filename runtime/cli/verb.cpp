#include "runtime/cli/verb.hpp"

#include "generator/text/nearest_name.hpp"
#include "jitgemm/version.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/failure.hpp"
#include "runtime/cli/parse_complaint.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace jitgemm::cli {
namespace {

bool is_help(const std::string& word) { return word == "--help" || word == "-h" || word == "help"; }

std::string help_of(std::span<const Verb> verbs, const std::string& path) {
    std::string help = fmt::format("Usage: {0} VERB [options]; {0} VERB --help for each\n\n", path);
    for (const Verb& verb : verbs) {
        if (!verb.hidden) help += fmt::format("  {:<9} {}\n", verb.name, verb.summary);
    }
    return help;
}

std::vector<std::string_view> names_of(std::span<const Verb> verbs) {
    std::vector<std::string_view> names;
    for (const Verb& verb : verbs) {
        if (!verb.hidden) names.push_back(verb.name);
    }
    return names;
}

const Verb& find_verb(std::span<const Verb> verbs, const std::string& path, const std::string& word) {
    const auto found = std::ranges::find(verbs, word, &Verb::name);
    if (found != verbs.end()) return *found;
    const std::vector<std::string_view> names = names_of(verbs);
    throw UsageError(fmt::format("{} has no verb '{}'{}\nIts verbs are {}", path, word, nearest_hint(word, names),
                                 join_names(names)));
}

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    return names;
}

std::string complaint_about(const CLI::App& app, const std::string& word) {
    if (!word.starts_with("-")) return fmt::format("unexpected argument '{}'", word);
    const std::string option = word.substr(0, word.find('='));
    const std::vector<std::string> known = option_names(app);
    const std::vector<std::string_view> views(known.begin(), known.end());
    return fmt::format("unknown option '{}'{}", option, nearest_hint(option, views));
}

/// Complains about what the parser left over. A mistyped option leaves its value over as well: that is not named again.
void refuse_leftovers(const CLI::App& app) {
    std::vector<std::string> leftovers = app.remaining();
    std::erase(leftovers, "--");  // only says that what follows is no option
    std::vector<std::string> complaints;
    for (const std::string& word : leftovers) {
        if (word.starts_with("-")) complaints.push_back(complaint_about(app, word));
    }
    if (complaints.empty() && !leftovers.empty()) complaints.push_back(complaint_about(app, leftovers.front()));
    if (complaints.empty()) return;
    complaints.push_back(fmt::format("'{} --help' lists the options", app.get_name()));
    throw UsageError("wrong usage", complaints);
}

void parse(CLI::App& app, std::span<const std::string> arguments) {
    try {
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::CallForHelp&) {
        throw;
    } catch (const CLI::ParseError& error) {
        refuse_leftovers(app);
        throw UsageError("wrong usage",
                         {parse_complaint(error.what()), fmt::format("'{} --help' lists the options", app.get_name())});
    }
    refuse_leftovers(app);
}

int run_verb(const Verb& verb, const std::string& path, std::span<const std::string> arguments, Output& output) {
    CLI::App app{std::string(verb.summary), path};
    app.allow_extras();
    const Action action = verb.declare(app);
    bool json = false;  // read from the arguments before parsing, so that a parse error is a document, too
    app.add_flag("--json", json, "Print one JSON document on stdout");
    try {
        parse(app, arguments);
    } catch (const CLI::CallForHelp&) {
        output.raw(app.help());
        return kExitFine;
    }
    return action(output);
}

/// Whether the words after a verb name one of its own verbs; always, where it can do nothing else.
bool has_child(const Verb& verb, std::span<const std::string> words) {
    if (verb.children == nullptr) return false;
    if (verb.declare == nullptr) return true;
    return !words.empty() && std::ranges::find(verb.children(), words.front(), &Verb::name) != verb.children().end();
}

int run_first_word(std::span<const Verb> verbs, const std::string& path, std::span<const std::string> arguments,
                   Output& output) {
    if (arguments.empty()) throw UsageError("no verb given\n" + help_of(verbs, path));
    const std::string& word = arguments.front();
    if (word == "--version") {
        output.raw(fmt::format("jitgemm {}\n", kVersion));
        return kExitFine;
    }
    const std::span<const std::string> rest = arguments.subspan(1);
    if (is_help(word) && rest.empty()) {
        output.raw(help_of(verbs, path));
        return kExitFine;
    }
    if (is_help(word)) return dispatch(verbs, path, std::vector<std::string>{rest.front(), "--help"});
    const Verb& verb = find_verb(verbs, path, word);
    const std::string verb_path = fmt::format("{} {}", path, verb.name);
    return has_child(verb, rest) ? dispatch(verb.children(), verb_path, rest) : run_verb(verb, verb_path, rest, output);
}

}  // namespace

bool wants_json(std::span<const std::string> arguments) {
    const auto has = [&](const char* word) { return std::ranges::find(arguments, word) != arguments.end(); };
    const std::array<std::string, 2> two_words{"--format", "json"};
    const auto found = std::search(arguments.begin(), arguments.end(), two_words.begin(), two_words.end());
    return has("--json") || has("--format=json") || found != arguments.end();
}

int dispatch(std::span<const Verb> verbs, const std::string& path, std::span<const std::string> arguments) {
    Output output(wants_json(arguments));
    int exit_code = kExitFailed;
    try {
        exit_code = run_first_word(verbs, path, arguments, output);
    } catch (...) {
        exit_code = report_failure(output);
    }
    if (output.finish()) return exit_code;
    output.note("jitgemm: stdout did not take the whole output");
    return std::max(exit_code, kExitFailed);
}

}  // namespace jitgemm::cli
