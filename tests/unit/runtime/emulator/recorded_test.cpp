// The emulator against what GPUs answered: the records of tests/gpu/emulator_numerics_gpu_test.cpp in
// tests/data/emulator/*_sm_NN.txt. Operands are made anew here.

#include "runtime/emulator/tensor_core.hpp"
#include "tests/catch.hpp"
#include "tests/support/emulated_ptx.hpp"
#include "tests/support/mma_tiles.hpp"
#include "tests/support/random_ptx_programs.hpp"
#include "tests/support/scalar_instructions.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;
using emulator::MmaKind;

namespace {

namespace fs = std::filesystem;

constexpr int kRecordedTiles = 1000;
constexpr int kTilesPerBatch = 5000;
constexpr int kProgramsPerModule = 100;

fs::path data_folder() { return fs::path(JITGEMM_SOURCE_DIR) / "tests/data/emulator"; }

std::vector<std::string> read_lines(const fs::path& path) {
    std::vector<std::string> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
}

/// Calls `compare` with every file of that name and its compute capability: "mma_hashes" finds "mma_hashes_sm_90.txt",
/// 90.
void for_each_record(const std::string& name, const std::function<void(const fs::path&, int)>& compare) {
    int files = 0;
    for (const auto& entry : fs::directory_iterator(data_folder())) {
        const std::string stem = entry.path().stem().string();
        if (!stem.starts_with(name + "_sm_")) continue;
        INFO(entry.path().filename().string());
        compare(entry.path(), std::stoi(stem.substr(stem.rfind('_') + 1)));
        ++files;
    }
    REQUIRE(files > 0);
}

std::string hash_of(const std::vector<std::uint32_t>& words) {
    return fmt::format("{:016x}", XXH3_64bits(words.data(), words.size() * sizeof words[0]));
}

// ---- tensor cores ---------------------------------------------------------------------------------------------------

struct Recording {
    std::string kind;
    int tiles;
    std::string first_hash;  ///< of D of the first 1,000 tiles
    std::string hash;        ///< of D of all tiles
};

std::vector<Recording> read_recordings(const fs::path& path) {
    std::vector<Recording> recordings;
    for (const std::string& line : read_lines(path)) {
        std::istringstream words(line);
        Recording recording;
        if (words >> recording.kind >> recording.tiles >> recording.first_hash >> recording.hash)
            recordings.push_back(recording);
    }
    return recordings;
}

std::optional<MmaKind> kind_of(const std::string& name) {
    for (MmaKind kind : emulator::mma_kinds()) {
        for (const bool saturate : {false, true}) {
            kind.saturate = saturate;
            if (to_string(kind) == name) return kind;
        }
    }
    return std::nullopt;
}

std::string emulated_hash(const MmaKind& kind, int compute_capability, int tiles) {
    const emulator::TensorCoreModel model = emulator::tensor_core_model(compute_capability);
    const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), XXH3_freeState);
    XXH3_64bits_reset(state.get());
    for (int first = 0; first < tiles; first += kTilesPerBatch) {
        const int count = std::min(kTilesPerBatch, tiles - first);
        const auto d = emulated(kind, model, mma_tiles(kind, static_cast<std::uint64_t>(first), count));
        XXH3_64bits_update(state.get(), d.data(), d.size() * sizeof d[0]);
    }
    return fmt::format("{:016x}", XXH3_64bits_digest(state.get()));
}

void compare_mma(bool all_tiles) {
    for_each_record("mma_hashes", [all_tiles](const fs::path& path, int compute_capability) {
        for (const Recording& recording : read_recordings(path)) {
            INFO(recording.kind);
            const std::optional<MmaKind> kind = kind_of(recording.kind);
            REQUIRE(kind.has_value());
            const int tiles = all_tiles ? recording.tiles : kRecordedTiles;
            CHECK(emulated_hash(*kind, compute_capability, tiles) ==
                  (all_tiles ? recording.hash : recording.first_hash));
        }
    });
}

// ---- random programs ------------------------------------------------------------------------------------------------

/// Program → hash or reason, whatever follows the name.
std::map<std::string, std::string> read_programs(const fs::path& path) {
    std::map<std::string, std::string> programs;
    for (const std::string& line : read_lines(path)) {
        const std::size_t space = line.find(' ');
        programs[line.substr(0, space)] = line.substr(space + 1);
    }
    return programs;
}

/// Names of the programs whose results have another hash.
std::set<std::string> differing_programs(const std::map<std::string, std::string>& hashes, int compute_capability) {
    std::set<std::string> differing;
    const int count = static_cast<int>(hashes.size());
    for (int first = 0; first < count; first += kProgramsPerModule) {
        std::vector<PtxProgram> programs;
        for (int i = first; i < std::min(first + kProgramsPerModule, count); ++i)
            programs.push_back(random_ptx_program(static_cast<std::uint64_t>(i), compute_capability));
        const auto module = emulator::load_program(ptx_module(programs, compute_capability));
        for (const PtxProgram& program : programs)
            if (hash_of(emulated(*module, program)) != hashes.at(program.name)) differing.insert(program.name);
    }
    return differing;
}

// ---- scalar instructions --------------------------------------------------------------------------------------------

struct ScalarResult {
    std::vector<std::uint64_t> operands;  ///< [3 · i]
    std::vector<std::uint64_t> results;
};

/// Instruction → its recorded evaluations, "TEXT; A B C: GPU D" per line.
std::map<std::string, ScalarResult> read_scalars(const fs::path& path) {
    std::map<std::string, ScalarResult> scalars;
    for (const std::string& line : read_lines(path)) {
        const std::size_t end = line.find(';') + 1;
        ScalarResult& scalar = scalars[line.substr(0, end)];
        std::istringstream words(line.substr(end));
        std::string gpu;
        std::uint64_t a = 0, b = 0, c = 0, d = 0;
        char colon = 0;
        words >> std::hex >> a >> b >> c >> colon >> gpu >> d;
        REQUIRE(!words.fail());
        scalar.operands.insert(scalar.operands.end(), {a, b, c});
        scalar.results.push_back(d);
    }
    return scalars;
}

const ScalarInstruction& instruction_of(const std::string& text) {
    const auto found = std::ranges::find(scalar_instructions(), text, &ScalarInstruction::text);
    REQUIRE(found != scalar_instructions().end());
    return *found;
}

}  // namespace

TEST_CASE("mma gives the bits that GPUs gave", "[heavy]") { compare_mma(false); }

// Minutes: run it by name.
TEST_CASE("mma gives the bits that GPUs gave on all of their tiles", "[.][long]") { compare_mma(true); }

TEST_CASE("random PTX programs give the bits that GPUs gave") {
    for_each_record("program_hashes", [](const fs::path& path, int compute_capability) {
        const std::map<std::string, std::string> hashes = read_programs(path);
        REQUIRE(hashes.size() >= 1000);
        for (const std::string& program : differing_programs(hashes, compute_capability)) {
            INFO(program);
            CHECK(hashes.at(program) == "what the emulator gives");
        }
    });
}

TEST_CASE("scalar instructions give the bits that GPUs gave") {
    for_each_record("scalar_results", [](const fs::path& path, int compute_capability) {
        for (const auto& [text, recorded] : read_scalars(path)) {
            const ScalarInstruction& instruction = instruction_of(text);
            const std::vector<std::uint64_t> results = emulated(instruction, compute_capability, recorded.operands);
            for (std::size_t i = 0; i < results.size(); ++i) {
                INFO(text << std::hex << " " << recorded.operands[3 * i] << " " << recorded.operands[3 * i + 1]);
                CHECK(same_scalar(instruction, results[i], recorded.results[i]));
            }
        }
    });
}

// The GPU test compares these functions with a GPU; a kernel's instructions must reach them with the right modes.
TEST_CASE("the executor gives the bits of the scalar functions") {
    constexpr int kEvaluations = 2048;
    for (const ScalarInstruction& instruction : scalar_instructions()) {
        const std::vector<std::uint64_t> operands = scalar_operands(instruction, kEvaluations);
        const std::vector<std::uint64_t> results =
            emulated(instruction, std::max(instruction.compute_capability, 90), operands);
        for (std::size_t i = 0; i < results.size(); ++i) {
            const std::uint64_t* const of = &operands[3 * i];
            INFO(instruction.text << std::hex << " " << of[0] << " " << of[1] << " " << of[2]);
            REQUIRE(same_scalar(instruction, results[i], instruction.evaluate(of[0], of[1], of[2])));
        }
    }
}

// The generators are part of the records: were they to change, or differ between machines, no hash would fit any more.
TEST_CASE("operands of recorded tiles never change") {
    const auto hash = [](const MmaKind& kind) {
        const MmaTiles tiles = mma_tiles(kind, 0, 200);
        XXH64_hash_t seed = 0;
        for (const auto* const words : {&tiles.a, &tiles.b, &tiles.c})
            seed = XXH3_64bits_withSeed(words->data(), words->size() * sizeof(std::uint32_t), seed);
        return fmt::format("{:016x}", seed);
    };
    CHECK(hash(*kind_of("m16n8k16.f32.bf16.bf16.f32")) == "f89cd4f63dccc8f5");
    CHECK(hash(*kind_of("m16n8k32.f16.e4m3.e5m2.f16")) == "75429fae96b79fec");
    CHECK(hash(*kind_of("m16n8k64.satfinite.s32.s4.u4.s32")) == "de3bfd862c00cd32");
    CHECK(hash(*kind_of("m8n8k4.f64.f64.f64.f64")) == "98f8a6d4aeed4a96");
    const MmaTiles later = mma_tiles(*kind_of("m16n8k8.f32.tf32.tf32.f32"), 7, 1);
    const MmaTiles all = mma_tiles(*kind_of("m16n8k8.f32.tf32.tf32.f32"), 0, 8);
    CHECK(std::equal(later.a.begin(), later.a.end(), all.a.end() - static_cast<std::ptrdiff_t>(later.a.size())));
}
