// The emulator's arithmetic against the GPU's, bit for bit. With the environment variable JITGEMM_RECORD naming a
// folder, what the GPU answered is written there too (about 16 MB), so that models can be corrected, and checked,
// without one:
//   mma_hashes.txt       instruction, tiles, XXH3-64 of D of the first 1,000 and of all tiles
//   mma_results.bin      D of the first 1,000 tiles of every floating-point instruction, in the order of mma_hashes.txt
//   mma_mismatches.txt   up to 200 differing dot products per instruction, with all operands
//   scalar_mismatches.txt  up to 200 differing results of each scalar instruction, with their operands
//   program_hashes.txt   program, XXH3-64 of its results
//   program_results.bin  results of all programs: [program][instruction][lane]
//   program_mismatches.txt  the first differing result of each program that has one
// Operands are not written: tests/support makes the same ones anywhere.

#include "runtime/emulator/tensor_core.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/gpu/ptx_on_gpu.hpp"
#include "tests/support/emulated_ptx.hpp"
#include "tests/support/mma_tiles.hpp"
#include "tests/support/random_ptx_programs.hpp"
#include "tests/support/scalar_instructions.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;
using emulator::MmaKind;
using emulator::MmaType;

namespace {

constexpr int kLanes = 32;
constexpr int kTiles = 100000;
constexpr int kTilesPerBatch = 5000;
constexpr int kRecordedTiles = 1000;
constexpr int kEvaluations = 1 << 18;  // of every scalar instruction
constexpr int kPrograms = 1200;
constexpr int kProgramsPerModule = 100;
constexpr int kListedMismatches = 200;

// ---- records --------------------------------------------------------------------------------------------------------

/// XXH3-64 of words that come in parts.
class Hash {
public:
    Hash() : state_(XXH3_createState()) { XXH3_64bits_reset(state_); }
    Hash(const Hash&) = delete;
    Hash& operator=(const Hash&) = delete;
    ~Hash() { XXH3_freeState(state_); }
    void add(const std::uint32_t* words, std::size_t count) {
        XXH3_64bits_update(state_, words, count * sizeof *words);
    }
    [[nodiscard]] std::string text() const { return fmt::format("{:016x}", XXH3_64bits_digest(state_)); }

private:
    XXH3_state_t* state_;
};

/// A file in the folder of JITGEMM_RECORD; nowhere without it.
std::ofstream record(const std::string& name) {
    const char* const folder = std::getenv("JITGEMM_RECORD");  // NOLINT(concurrency-mt-unsafe)
    std::ofstream file;
    if (folder == nullptr || *folder == '\0') return file;
    std::filesystem::create_directories(folder);
    file.open(std::filesystem::path(folder) / name, std::ios::binary | std::ios::trunc);
    REQUIRE(file.is_open());
    return file;
}

void write_words(std::ofstream& file, const std::uint32_t* words, std::size_t count) {
    if (file.is_open())
        file.write(reinterpret_cast<const char*>(words), static_cast<std::streamsize>(count * sizeof *words));
}

// ---- tensor cores ---------------------------------------------------------------------------------------------------

struct Batch {
    MmaTiles tiles;
    std::vector<std::uint32_t> expected;
};

Batch make_batch(MmaKind kind, emulator::TensorCoreModel model, int first) {
    Batch batch{mma_tiles(kind, static_cast<std::uint64_t>(first), kTilesPerBatch), {}};
    batch.expected = emulated(kind, model, batch.tiles);
    return batch;
}

std::vector<std::uint32_t> on_gpu(const PtxModule& module, const MmaTiles& tiles) {
    const Words a(tiles.a), b(tiles.b), c(tiles.c), d(tiles.c.size());
    const auto count = static_cast<std::uint32_t>(tiles.count);
    module.run("mma_tiles", (count + 3) / 4, 128, a.pointer(), b.pointer(), c.pointer(), d.pointer(), count);
    return d.read();
}

struct Mismatches {
    std::int64_t count = 0;
    std::vector<std::string> listed;
};

void compare_tile(const MmaKind& kind, const Batch& batch, const std::vector<std::uint32_t>& got, int tile, int first,
                  Mismatches& mismatches) {
    for (int row = 0; row < kind.m; ++row) {
        for (int column = 0; column < kind.n; ++column) {
            const std::uint64_t ours = result_element(kind, batch.expected, tile, row, column);
            const std::uint64_t theirs = result_element(kind, got, tile, row, column);
            if (same_element(kind, ours, theirs)) continue;
            if (++mismatches.count <= kListedMismatches)
                mismatches.listed.push_back(fmt::format("{} tile {} ({}, {}): GPU {:x}, emulator {:x}: {}",
                                                        to_string(kind), first + tile, row, column, theirs, ours,
                                                        describe_dot(kind, batch.tiles, tile, row, column)));
        }
    }
}

void compare_batch(const MmaKind& kind, const Batch& batch, const std::vector<std::uint32_t>& got, int first,
                   Mismatches& mismatches) {
    const std::size_t words = got.size() / static_cast<std::size_t>(batch.tiles.count);
    for (int tile = 0; tile < batch.tiles.count; ++tile) {
        const auto begin = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(tile) * words);
        const auto end = begin + static_cast<std::ptrdiff_t>(words);
        if (!std::equal(got.begin() + begin, got.begin() + end, batch.expected.begin() + begin))
            compare_tile(kind, batch, got, tile, first, mismatches);
    }
}

struct MmaRecords {
    std::ofstream hashes = record("mma_hashes.txt");
    std::ofstream results = record("mma_results.bin");
    std::ofstream mismatches = record("mma_mismatches.txt");
};

Mismatches compare_kind(const Gpu& gpu, const MmaKind& kind, MmaRecords& records) {
    const emulator::TensorCoreModel model = emulator::tensor_core_model(gpu.compute_capability);
    const PtxModule module(mma_ptx(kind, gpu.compute_capability));
    std::vector<std::future<Batch>> batches;
    for (int first = 0; first < kTiles; first += kTilesPerBatch)
        batches.push_back(std::async(std::launch::async, make_batch, kind, model, first));
    Mismatches mismatches;
    Hash first_tiles, all_tiles;
    for (int first = 0; first < kTiles; first += kTilesPerBatch) {
        const Batch batch = batches[static_cast<std::size_t>(first / kTilesPerBatch)].get();
        const std::vector<std::uint32_t> got = on_gpu(module, batch.tiles);
        compare_batch(kind, batch, got, first, mismatches);
        all_tiles.add(got.data(), got.size());
        if (first != 0) continue;
        const std::size_t recorded = got.size() / kTilesPerBatch * kRecordedTiles;
        first_tiles.add(got.data(), recorded);
        if (kind.d != MmaType::s32) write_words(records.results, got.data(), recorded);
    }
    records.hashes << fmt::format("{} {} {} {}\n", to_string(kind), kTiles, first_tiles.text(), all_tiles.text());
    for (const std::string& line : mismatches.listed) records.mismatches << line << '\n';
    return mismatches;
}

std::vector<MmaKind> kinds_of(int compute_capability) {
    std::vector<MmaKind> kinds;
    for (MmaKind kind : emulator::mma_kinds()) {
        if (!is_supported(kind, emulator::tensor_core_model(compute_capability))) continue;
        kinds.push_back(kind);
        kind.saturate = true;
        if (kind.d == MmaType::s32) kinds.push_back(kind);
    }
    return kinds;
}

// ---- scalar instructions --------------------------------------------------------------------------------------------

std::vector<std::uint64_t> on_gpu(const PtxModule& module, const std::vector<std::uint64_t>& operands) {
    const Words inputs(2 * operands.size());
    JITGEMM_CHECK(driver().cuMemcpyHtoD(inputs.pointer(), operands.data(), operands.size() * sizeof operands[0]));
    const Words outputs(2 * std::size_t{kEvaluations});
    module.run("scalar", kEvaluations / 128, 128, inputs.pointer(), outputs.pointer());
    return outputs.read<std::uint64_t>();
}

Mismatches compare_scalar(const Gpu& gpu, const ScalarInstruction& instruction) {
    const PtxModule module(scalar_ptx(instruction, gpu.compute_capability));
    const std::vector<std::uint64_t> operands = scalar_operands(instruction, kEvaluations);
    const std::vector<std::uint64_t> got = on_gpu(module, operands);
    Mismatches mismatches;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const std::uint64_t* const of = &operands[3 * i];
        const std::uint64_t ours = instruction.evaluate(of[0], of[1], of[2]);
        if (same_scalar(instruction, ours, got[i]) || ++mismatches.count > kListedMismatches) continue;
        mismatches.listed.push_back(fmt::format("{} {:x} {:x} {:x}: GPU {:x}, emulator {:x}", instruction.text, of[0],
                                                of[1], of[2], got[i], ours));
    }
    return mismatches;
}

// ---- random programs ------------------------------------------------------------------------------------------------

struct ProgramRecords {
    std::ofstream hashes = record("program_hashes.txt");
    std::ofstream results = record("program_results.bin");
    std::ofstream mismatches = record("program_mismatches.txt");
};

std::vector<std::uint32_t> on_gpu(const PtxModule& module, const PtxProgram& program) {
    const Words inputs(program.inputs);
    const Words outputs(static_cast<std::size_t>(program.output_words * kLanes));
    module.run(program.name, 1, kLanes, inputs.pointer(), outputs.pointer());
    return outputs.read();
}

/// "program_17, lane 3, add.s32 %r9, %r1, %r2: GPU 5, emulator 6" of the first word that differs; empty without one.
std::string first_difference(const PtxProgram& program, const std::vector<std::uint32_t>& gpu,
                             const std::vector<std::uint32_t>& ours) {
    const auto at = std::ranges::mismatch(gpu, ours);
    if (at.in1 == gpu.end()) return "";
    const auto word = static_cast<std::size_t>(at.in1 - gpu.begin());
    return fmt::format("{}, lane {}, {}: GPU {:x}, emulator {:x}", program.name, word % kLanes,
                       program.instructions[word / kLanes], *at.in1, *at.in2);
}

void write_program(const PtxProgram& program, const std::vector<std::uint32_t>& got, ProgramRecords& records) {
    Hash hash;
    hash.add(got.data(), got.size());
    records.hashes << program.name << ' ' << hash.text() << '\n';
    write_words(records.results, got.data(), got.size());
}

/// How many programs of a module differ. It is assembled as written: the assembler's optimiser replaces some
/// instructions by ones of other results (docs/emulator-numerics.md, "Random programs").
int compare_programs(const Gpu& gpu, int first, ProgramRecords& records) {
    std::vector<PtxProgram> programs;
    for (int i = first; i < first + kProgramsPerModule; ++i)
        programs.push_back(random_ptx_program(static_cast<std::uint64_t>(i), gpu.compute_capability));
    const std::string ptx = ptx_module(programs, gpu.compute_capability);
    const PtxModule module(ptx, PtxAssembly::literal);
    const auto emulated_module = emulator::load_program(ptx);
    int differing = 0;
    for (const PtxProgram& program : programs) {
        const std::vector<std::uint32_t> got = on_gpu(module, program);
        write_program(program, got, records);
        INFO(program.name);
        CHECK(on_gpu(module, program) == got);
        const std::string difference = first_difference(program, got, emulated(*emulated_module, program));
        CHECK(difference.empty());
        if (difference.empty()) continue;
        ++differing;
        records.mismatches << difference << '\n';
    }
    return differing;
}

}  // namespace

TEST_CASE("every mma.sync gives the emulator's bits on 100,000 tiles") {
    REQUIRE_GPU();
    const Gpu gpu;
    MmaRecords records;
    for (const MmaKind& kind : kinds_of(gpu.compute_capability)) {
        Mismatches mismatches;
        // One instruction that the driver refuses must not keep the others from being compared.
        CHECK_NOTHROW(mismatches = compare_kind(gpu, kind, records));
        std::string first;
        for (std::size_t i = 0; i < std::min<std::size_t>(mismatches.listed.size(), 4); ++i)
            first += mismatches.listed[i] + "\n";
        std::cout << fmt::format("{:40} {} elements differ\n", to_string(kind), mismatches.count) << std::flush;
        INFO(to_string(kind) << "\n" << first);
        CHECK(mismatches.count == 0);
    }
}

TEST_CASE("scalar floating-point instructions give the emulator's bits") {
    REQUIRE_GPU();
    const Gpu gpu;
    std::ofstream listing = record("scalar_mismatches.txt");
    for (const ScalarInstruction& instruction : scalar_instructions()) {
        if (instruction.compute_capability > gpu.compute_capability) continue;
        Mismatches mismatches;
        CHECK_NOTHROW(mismatches = compare_scalar(gpu, instruction));
        for (const std::string& line : mismatches.listed) listing << line << '\n';
        std::string first;
        for (std::size_t i = 0; i < std::min<std::size_t>(mismatches.listed.size(), 4); ++i)
            first += mismatches.listed[i] + "\n";
        std::cout << fmt::format("{:50} {} of {} differ\n", instruction.text, mismatches.count, kEvaluations);
        INFO(instruction.text << "\n" << first);
        CHECK(mismatches.count == 0);
    }
}

TEST_CASE("random PTX programs give the emulator's bits, the same ones each time") {
    REQUIRE_GPU();
    const Gpu gpu;
    ProgramRecords records;
    int differing = 0;
    for (int first = 0; first < kPrograms; first += kProgramsPerModule)
        differing += compare_programs(gpu, first, records);
    std::cout << fmt::format("{} of {} random programs differ\n", differing, kPrograms);
}
