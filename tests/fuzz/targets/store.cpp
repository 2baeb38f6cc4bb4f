#include "runtime/tuning/store/store.hpp"

#include "runtime/support/log.hpp"
#include "runtime/tuning/store/lookup.hpp"
#include "tests/fuzz/fuzz_targets.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fstream>

namespace jitgemm::fuzz {
namespace {

using tuning::TuningStore;

void write(const std::string& path, std::string_view bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// As a request reads it, which asks no more of the file than what it needs.
void read_winners(const std::string& directory) {
    const tuning::StoredWinners stored = tuning::stored_winners(directory);
    const tuning::TunedChoices choices(stored.winners, {});
    static_cast<void>(choices.choose(problem_of({.m = 4096, .n = 512, .k = 1056}), find_gpu("h200")));
}

void read_sweeps(TuningStore& store) {
    for (const char* device : {"", "sm_90a-132sm-60MB-140GB-4800GBs-1750MHz"}) {
        try {
            static_cast<void>(store.read_class(device));
        } catch (const Error&) {
        }
    }
}

}  // namespace

void store(std::string_view input) {
    const testing::TemporaryFolder folder;
    write(folder / "tuning.sqlite", input);
    read_winners(folder.path());
    try {
        TuningStore(folder / "ours").merge(folder / "tuning.sqlite");
    } catch (const Error&) {
    }
    TuningStore opened(folder.path());
    read_sweeps(opened);
    static_cast<void>(opened.winners());
}

}  // namespace jitgemm::fuzz
