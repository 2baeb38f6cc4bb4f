// The emulator's tensor cores against what GPUs answered: tests/data/emulator/mma_hashes_sm_NN.txt, written by
// tests/gpu/emulator_numerics_gpu_test.cpp. The tiles are made anew here.

#include "runtime/emulator/tensor_core.hpp"
#include "tests/catch.hpp"
#include "tests/support/mma_tiles.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;
using emulator::MmaKind;

namespace {

namespace fs = std::filesystem;

constexpr int kRecordedTiles = 1000;

struct Recording {
    std::string kind;
    std::string hash;  ///< of D of the first 1,000 tiles
};

std::vector<Recording> read_recordings(const fs::path& path) {
    std::vector<Recording> recordings;
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line)) {
        std::istringstream words(line);
        Recording recording;
        std::string tiles;
        if (words >> recording.kind >> tiles >> recording.hash) recordings.push_back(recording);
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

/// "mma_hashes_sm_90.txt" → 90.
int compute_capability_of(const fs::path& path) {
    const std::string stem = path.stem().string();
    return std::stoi(stem.substr(stem.rfind('_') + 1));
}

std::string emulated_hash(const MmaKind& kind, int compute_capability) {
    const std::vector<std::uint32_t> d =
        emulated(kind, emulator::tensor_core_model(compute_capability), mma_tiles(kind, 0, kRecordedTiles));
    return fmt::format("{:016x}", XXH3_64bits(d.data(), d.size() * sizeof d[0]));
}

}  // namespace

TEST_CASE("mma gives the bits that GPUs gave") {
    const fs::path folder = fs::path(JITGEMM_SOURCE_DIR) / "tests/data/emulator";
    int compared = 0;
    if (fs::exists(folder)) {
        for (const auto& entry : fs::directory_iterator(folder)) {
            if (!entry.path().filename().string().starts_with("mma_hashes_sm_")) continue;
            for (const Recording& recording : read_recordings(entry.path())) {
                INFO(entry.path().filename().string() << ": " << recording.kind);
                const std::optional<MmaKind> kind = kind_of(recording.kind);
                REQUIRE(kind.has_value());
                CHECK(emulated_hash(*kind, compute_capability_of(entry.path())) == recording.hash);
                ++compared;
            }
        }
    }
    if (compared == 0) SKIP_TEST("no results of a GPU are recorded in tests/data/emulator");
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
