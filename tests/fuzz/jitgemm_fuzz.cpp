// Replays kept inputs, or makes new ones of them by a seed:
//     jitgemm_fuzz replay TARGET FILE-OR-FOLDER...
//     jitgemm_fuzz mutate TARGET FILE-OR-FOLDER... --inputs 100000 --seed 1
// An input that fails is named, a made one written to "<target>-<seed>-<number>" in the working folder. Exit 1 if any
// did.

#include "runtime/support/log.hpp"
#include "tests/fuzz/fuzz_targets.hpp"
#include "tests/fuzz/guarded_run.hpp"
#include "tests/fuzz/mutator.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>

using namespace jitgemm;
using namespace jitgemm::fuzz;

namespace {

namespace fs = std::filesystem;

struct Request {
    std::string target;
    std::vector<std::string> places;
    std::size_t inputs = 10000;
    std::uint64_t seed = 1;
};

std::vector<std::string> files_at(const std::vector<std::string>& places) {
    std::vector<std::string> files;
    for (const std::string& place : places) {
        if (!fs::is_directory(place))
            files.push_back(place);
        else
            for (const auto& entry : fs::directory_iterator(place)) files.push_back(entry.path().string());
    }
    std::ranges::sort(files);
    return files;
}

int replay(const Target& target, const std::vector<std::string>& files) {
    const auto input = [&](std::size_t i) { return testing::text_in(files[i]); };
    const auto failed = [&](std::size_t i, const std::string& how) { fmt::print("{}: {}\n", files[i], how); };
    return run_guarded(target, files.size(), input, failed);
}

int mutate(const Target& target, const std::vector<std::string>& files, const Request& request) {
    std::vector<std::string> known;
    for (const std::string& file : files) known.push_back(testing::text_in(file));
    // Each from a seed of its own, so that the i-th is the same in every process.
    const auto input = [&](std::size_t i) { return Mutator(known, request.seed * 1'000'003 + i).next(); };
    const auto failed = [&](std::size_t i, const std::string& how) {
        const std::string file = fmt::format("{}-{}-{}", target.name, request.seed, i);
        testing::put_text(file, input(i));
        fmt::print("{}: {}\n", file, how);
    };
    return run_guarded(target, request.inputs, input, failed);
}

int run(int argc, char** argv) {
    CLI::App app("Gives files from elsewhere to the readers of jitgemm");
    app.require_subcommand(1);
    Request request;
    std::vector<std::string> names;
    for (const Target& target : targets()) names.emplace_back(target.name);
    for (const char* verb : {"replay", "mutate"}) {
        CLI::App* command = app.add_subcommand(verb);
        command->add_option("TARGET", request.target)->required()->check(CLI::IsMember(names));
        command->add_option("PLACES", request.places, "Inputs, or folders of them")->required();
        if (std::string_view(verb) != "mutate") continue;
        command->add_option("--inputs", request.inputs);
        command->add_option("--seed", request.seed);
    }
    CLI11_PARSE(app, argc, argv);
    set_log_level("off");
    const std::vector<std::string> files = files_at(request.places);
    const Target& target = *find_target(request.target);
    const bool made = app.got_subcommand("mutate");
    const int failures = made ? mutate(target, files, request) : replay(target, files);
    fmt::print("{}: {} inputs, {} failed\n", target.name, made ? request.inputs : files.size(), failures);
    return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
