#include "generator/base/spread_blocks.hpp"

#include "generator/base/occupancy.hpp"
#include "tests/catch.hpp"

using namespace jitgemm;

namespace {

constexpr int kThreads = 32;  // few, so that shared memory is the only limit

int blocks_by_shared_memory(int bytes, const Arch& arch) {
    return occupancy({.threads = kThreads, .registers = 16, .shared_bytes = bytes}, arch).by_shared;
}

KernelEntry early_entry() {
    KernelEntry entry;
    entry.function = kMultiplyingFunction;
    entry.threads = kThreads;
    entry.programmatic_launch = true;
    return entry;
}

}  // namespace

TEST_CASE("an SM holds its share of the blocks that begin early, and no more") {
    for (const Arch& arch : arch_table()) {
        if (!arch.has_dependent_launch) continue;
        for (const int sms : {1, 7, 132}) {
            for (std::int64_t blocks = 1; blocks <= std::int64_t{kMostSpreadBlocks} * sms; blocks += 1 + sms / 5) {
                INFO(arch.name << " " << sms << " SMs, " << blocks << " blocks");
                const int held = blocks_by_shared_memory(spreading_bytes(blocks, kMostSpreadBlocks, sms, arch), arch);
                CHECK(held * sms >= blocks);
                CHECK((held - 1) * sms < blocks);
                CHECK(spreading_bytes(blocks, kMostSpreadBlocks, sms, arch) <= arch.shared_bytes_per_block);
            }
            CHECK(spreading_bytes(0, kMostSpreadBlocks, sms, arch) == 0);
            CHECK(spreading_bytes(kMostSpreadBlocks * sms + 1, kMostSpreadBlocks, sms, arch) == 0);
        }
    }
}

TEST_CASE("a launch requests what its blocks use at least, and no more than is granted") {
    const GpuModel& gpu = find_gpu("h200");
    KernelEntry entry = early_entry();
    for (const int used : {0, 1000, 60000, 200000}) {
        entry.shared_bytes = used;
        for (const std::int64_t blocks : {1, 132, 133, 600, 5000}) {
            const int launched = launched_shared_bytes(entry, blocks, gpu);
            CHECK(launched >= used);
            CHECK(launched <= most_shared_bytes(entry, *gpu.arch));
        }
    }
}

TEST_CASE("passes over memory are spread where an SM's share is smaller") {
    const GpuModel& gpu = find_gpu("h200");
    KernelEntry entry = early_entry();
    const std::int64_t blocks = (kMostSpreadPasses + 1) * 132;
    CHECK(launched_shared_bytes(entry, blocks, gpu) > 0);
    entry.function = "gemm_pack";
    CHECK(launched_shared_bytes(entry, blocks, gpu) == 0);
}

TEST_CASE("neither persistent blocks nor those that wait for the previous kernel's end are spread") {
    const GpuModel& gpu = find_gpu("h200");
    KernelEntry entry = early_entry();
    entry.programmatic_launch = false;
    CHECK(launched_shared_bytes(entry, 1, gpu) == 0);
    entry.programmatic_launch = true;
    entry.grid.blocks = PersistentBlocks{};
    CHECK(launched_shared_bytes(entry, 1, gpu) == 0);
}

TEST_CASE("clusters are spread over the SMs that they reach") {
    const GpuModel& gpu = find_gpu("h200");
    KernelEntry entry = early_entry();
    entry.cluster = {4, 1, 1};
    const int reached = 4 * resident_clusters(gpu, 4);
    REQUIRE(reached < gpu.sm_count);
    for (const std::int64_t blocks : {4, 120, 124, 132, 256})
        CHECK(blocks_by_shared_memory(launched_shared_bytes(entry, blocks, gpu), *gpu.arch) * reached >= blocks);
}
