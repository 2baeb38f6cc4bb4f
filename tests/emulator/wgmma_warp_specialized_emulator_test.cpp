/// wgmma_warp_specialized on the emulator: every variant over residues, layouts and types, with copies early and in
/// order, late and shuffled.

#include "runtime/emulator_device/emulator_device.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/planted_faults.hpp"
#include "tests/support/one_in.hpp"
#include "tests/support/wgmma_checks.hpp"

#include <fmt/format.h>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

/// Of two sizes one for tn and nt, the other for nn and tt: each order of A and of B has both.
Sizes by_turns(GemmLayout layout, const Sizes& first, const Sizes& second) {
    return layout == GemmLayout::tn || layout == GemmLayout::nt ? first : second;
}

void check_layout(GemmLayout layout) {
    check_wgmma_variants(on_hopper(), layout, {by_turns(layout, {65, 72, 129}, {130, 263, 75})});
}

/// A change of text that makes a correct kernel wrong.
struct PlantedFault {
    const char* name;
    const char* parameters;
    const char* text;
    const char* instead;
};
constexpr const char* kTwoConsumers = "block=128x64x64,warpgroup=64x64,stages=3";
constexpr const char* kOneTile = "block=128x64x64,warpgroup=64x64,stages=3,persistent=0";
constexpr const char* kPair = "block=64x128x64,warpgroup=64x128,schedule=pingpong,stages=3,cluster=2x1";
constexpr const char* kStreamed = "block=128x64x64,warpgroup=128x64,stages=3,stream_k=14,cluster=2x1";
constexpr const char* kOddRows = "block=128x64x64,warpgroup=64x64,stages=3,store=smem,slices=1";
constexpr const char* kTransposed = "block=128x64x64,warpgroup=64x64,swap_ab=1,stages=3";
constexpr const char* kWithC = "block=64x72x64,warpgroup=64x72,schedule=pingpong,stages=3";
constexpr const char* kHalvesWithC =
    "block=256x64x64,warpgroup=128x64,schedule=overlapped,stages=3,slices=1,stream_k=14";
constexpr const char* kEarly = "block=64x64x64,warpgroup=64x64,stages=3,dependent_launch=1,early=b";
constexpr const char* kRegisters = "block=128x64x64,warpgroup=64x64,stages=3,a_source=rmem";
constexpr const char* kRegistersInHalves =
    "block=128x64x64,warpgroup=128x64,schedule=overlapped,stages=3,a_source=rmem";
constexpr const char* kFilling = "block=128x64x64,warpgroup=64x64,stages=3,persistent=0,warp_specialized=0";
constexpr PlantedFault kPlantedFaults[] = {
    {"a stage is filled again before its wgmmas are done", kFilling, "wgmma_wait<1>();  // for those",
     "wgmma_wait<2>();  //"},
    {"a stage is filled again before the other warps have read it", kFilling,
     "mbarrier_wait(shared.empty_barrier(read.stage), read.phase);", ""},
    {"a stage is filled with the k-tile after the one that is wanted", kFilling, "k_tile - 1 + kStages",
     "k_tile + kStages"},
    {"a stage is filled again and announced to none", kFilling,
     "mbarrier_arrive_expect(shared.full_barrier(stage), kStageBytes);",
     "if (k_tile < kStages) mbarrier_arrive_expect(shared.full_barrier(stage), kStageBytes);"},
    {"the stage that is being read is filled", kFilling, "copy_k_tile(args, shared, tile, next, read.stage);",
     "copy_k_tile(args, shared, tile, next, ring.stage);"},
    {"a fragment is loaded while a wgmma reads it", kRegisters, "wgmma_wait<kFragmentsA - 1>();",
     "wgmma_wait<kFragmentsA>();"},
    {"fragments without a fence", kRegisters, "wgmma_fence();", ""},
    {"fragments before their k-tile has arrived", kRegisters,
     "mbarrier_wait(shared.full_barrier(ring.stage), ring.phase);", ""},
    {"a stage is released before its fragments' wgmmas are done", kRegisters, "release_earlier(shared, read, lane);",
     "release_earlier(shared, ring.stage, lane);"},
    {"all warps load the first one's fragments", kRegisters, "FragmentsA::place(row + warp * 16, lane)",
     "FragmentsA::place(row, lane)"},
    {"fragments are loaded past the swizzle", kRegisters, "return offset ^ (offset >> 3 & (kPanelBytes - 16));",
     "return offset;"},
    {"both halves load the upper one's fragments", kRegistersInHalves, "FragmentsA::moved(a, i * 64, k_block)",
     "FragmentsA::moved(a, 0, k_block)"},
    {"the upper half is stored before its wgmmas are done", kRegistersInHalves,
     "multiply<false, 1, 2>(rC, a, b, ring);", "// none"},
    {"what isn't constant is fetched early", kEarly, "copy_b(args, shared, tile, k_tile, prefetched);",
     "copy_a(args, shared, tile, k_tile, prefetched);"},
    {"the producer doesn't wait for the launch before", kEarly, "    wait_on_dependent_grids();\n    TileWalk",
     "    TileWalk"},
    {"consumers don't wait for the launch before", kEarly,
     "wait_on_dependent_grids();  // before C is read and D written", ""},
    {"what was fetched early is announced again", kEarly,
     "        if (is_prefetched) {\n            --prefetched;\n        } else {\n",
     "        if (is_prefetched) --prefetched;\n        {\n"},
    {"what was fetched early is fetched again", kEarly, "if (!kEarlyB || !is_prefetched) copy_b(", "copy_b("},
    {"a stage is released before its wgmmas are done", kTwoConsumers, "wgmma_wait<1>();  // for those",
     "wgmma_wait<2>();  //"},
    {"sums are read before they are there", kTwoConsumers, "wgmma_wait<0>();", ""},
    {"wgmmas without a fence", kTwoConsumers, "wgmma_fence();", ""},
    {"wgmmas of no group", kTwoConsumers, "wgmma_commit();", ""},
    {"the first k-tile adds to what the registers held", kTwoConsumers, "multiply<true>", "multiply<false>"},
    {"slices are stored without a proxy fence", kTwoConsumers, "    fence_proxy_async();\n    __syncwarp();",
     "    __syncwarp();"},
    {"a slice is overwritten while TMA reads it", kTwoConsumers, "tma_store_wait_read<kSlices - 1>();", ""},
    {"consumers don't wait for a stage", kTwoConsumers, "mbarrier_wait(shared.full_barrier(ring.stage), ring.phase);",
     ""},
    {"the producer doesn't wait for a stage", kTwoConsumers,
     "mbarrier_wait(shared.empty_barrier(ring.stage), ring.phase ^ 1);", ""},
    {"fewer bytes are announced than arrive", kTwoConsumers, "no_products ? 0 : kStageBytes",
     "no_products ? 0 : kStageBytes - 16"},
    {"the producer keeps its registers", kTwoConsumers, "give_up_registers<kProducerRegisters>();", ""},
    {"the second consumer reads the first one's rows", kTwoConsumers, "OperandA::offset(row, 0)",
     "OperandA::offset(0, 0)"},
    {"ranks stay in the descriptor's address", kPair, "(shared_address & 0x3ffff) >> 4",
     "(shared_address + (1u << 22)) >> 4"},
    {"a block of a cluster frees its own stage alone", kPair,
     "if (lane < kCluster) mbarrier_arrive(shared.empty_barrier(stage), lane);",
     "if (lane < kCluster) mbarrier_arrive(shared.empty_barrier(stage), blockIdx.x % kCluster);"},
    {"the second consumer takes the first one's k-tiles", kPair,
     "        ring.skip(walk.k_tiles);\n        walk.next();\n    }", "        walk.next();\n    }"},
    {"a piece of K is multiplied from the tile's beginning", kStreamed, "piece.first_k_tile * kBlockK", "0"},
    {"sums that others left are forgotten", kStreamed, "if (walk.piece.first_k_tile != 0)", "if (false)"},
    {"sums are taken of the wrong rows", kStreamed, "* kTilesM + rows;\n    return reinterpret_cast",
     "* kTilesM;\n    return reinterpret_cast"},
    {"a cluster leaves its sums to itself", kStreamed, "partial_fragments(args, block, warp, rows, lane)",
     "partial_fragments(args, blockIdx.x, warp, rows, lane)"},
    {"rows are stored as if all began with a vector", kOddRows, "(d) & 2", "(d) & 0"},
    {"the first element of a shifted row is left out", kOddRows,
     "if (is_row && is_shifted && element == 0 && columns > 0) d[0]", "if (false) d[0]"},
    {"the last element of a row is stored twice", kOddRows, "columns - element - is_shifted", "columns - element"},
    {"A is packed where B belongs", kOddRows, "b.move(v - vectors_a)", "a.move(v - vectors_a)"},
    {"slices are transposed by one warp's word", kTransposed, "    fence_proxy_async();\n    warpgroup_sync();",
     "    fence_proxy_async();"},
    {"fragments are staged as they are", kTransposed, "x4.trans", "x4"},
    {"counters stay set for the next launch", kStreamed, "        *counter = 0;\n", ""},
    {"a block takes another one's tile", kOneTile, "tile_of_block(blockIdx.x, tiles)",
     "tile_of_block(blockIdx.x / 2, tiles)"},
    {"D leaves when shared memory is gone", kOneTile, "tma_store_wait_read<0>();  // TMA must have read", "//"},
    {"C is read before it has arrived", kHalvesWithC, "        wait_for_panels(args, shared, of_panels);\n", ""},
    {"C is read of the other half", kHalvesWithC, "tile.row + 64, tile.column, ring", "tile.row, tile.column, ring"},
    {"the lower half's C is forgotten", kHalvesWithC, "ring.skip(2 * stages_of_panels(args, walk));",
     "ring.skip(stages_of_panels(args, walk));"},
    {"all consumers read the first one's C", kHalvesWithC, "threadIdx.x / 128 * kPanelsPerRow", "0"},
    {"C's stages are never free again", kWithC, "        release_panels(args, shared, ring, lane);\n", ""},
    {"C's stages are free before they are read", kWithC,
     "        epilogue(rC, args, tile, row, column, staging, operands, lane);\n        release_panels(args, shared, "
     "ring, lane);\n",
     "        release_panels(args, shared, ring, lane);\n        epilogue(rC, args, tile, row, column, staging, "
     "operands, lane);\n"},
    {"the other consumer's C is not skipped", kWithC, "ring.skip(walk.k_tiles + stages_of_panels(args, walk));",
     "ring.skip(walk.k_tiles);"},
    {"all warps read the first one's rows of C", kWithC, "c_part.begin(args, shared, ring, 0, warp * 16)",
     "c_part.begin(args, shared, ring, 0, 0)"},
    {"more bytes of C are announced than arrive", kWithC, "announce_k_tile(shared, ring, bytes_of_panels(stage));",
     "announce_k_tile(shared, ring, bytes_of_panels(stage) + 16);"},
};

/// Verification's complaint about the kernel with its text changed, or "" if it passes.
std::string complaint(const PlantedFault& fault) {
    const bool odd = std::string_view(fault.parameters) == kOddRows;
    const bool streamed = std::string_view(fault.parameters) == kStreamed;
    GemmSpec spec = resolved(odd        ? spec_of(GemmLayout::tt, 521, 553, 201)
                             : streamed ? spec_of(GemmLayout::tt, 520, 552, 520)
                                        : spec_of(GemmLayout::tt, 1040, 1104, 200));
    spec.constant_b = true;
    if (fault.parameters == std::string_view(kWithC) || fault.parameters == std::string_view(kHalvesWithC))
        spec.c = spec.d;
    const KernelConfig config = with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(fault.parameters));
    return complaint_about(on_hopper(), spec, config, fault.text, fault.instead);
}

}  // namespace

TEST_CASE("emulated wgmma: planted faults are found") {
    for (const PlantedFault& fault : kPlantedFaults) {
        INFO(fault.name);
        const std::string found = complaint(fault);
        INFO(found);
        CHECK_FALSE(found.empty());
    }
}

// One case per layout, so that ctest runs them side by side.
TEST_CASE("emulated wgmma: every variant, tn") { check_layout(GemmLayout::tn); }
TEST_CASE("emulated wgmma: every variant, nn") { check_layout(GemmLayout::nn); }
TEST_CASE("emulated wgmma: every variant, nt") { check_layout(GemmLayout::nt); }
TEST_CASE("emulated wgmma: every variant, tt") { check_layout(GemmLayout::tt); }

// A from registers, one case per layout as well.
void check_registers(GemmLayout layout) {
    check_wgmma_variants(on_hopper(), layout, {by_turns(layout, {65, 72, 129}, {130, 263, 75})}, Pitches::of_tma,
                         kWgmmaRegisterVariants);
    check_wgmma_variants(on_hopper(), layout, {{130, 258, 332}}, Pitches::as_they_are, kWgmmaRegisterVariants);
}
TEST_CASE("emulated wgmma: A from registers, tn") { check_registers(GemmLayout::tn); }
TEST_CASE("emulated wgmma: A from registers, nn") { check_registers(GemmLayout::nn); }
TEST_CASE("emulated wgmma: A from registers, nt") { check_registers(GemmLayout::nt); }
TEST_CASE("emulated wgmma: A from registers, tt") { check_registers(GemmLayout::tt); }

TEST_CASE("emulated wgmma: A from registers, blocks that take several tiles, C through the ring, nothing to multiply") {
    OneIn tried(2);
    for (const std::string_view variant : kWgmmaRegisterVariants) {
        if (!tried.next()) continue;
        check_wgmma(on_hopper(), spec_of(GemmLayout::nt, 520, 600, 136), variant);
        check_unread_operands(spec_of(GemmLayout::nt, 64, 72, 64),
                              [&](const GemmSpec& spec, const VerifyOptions& options) {
                                  check_wgmma(on_hopper(), spec, variant, options);
                              });
    }
    check_wgmma_with_c(on_hopper(), {136, 264, 136}, kWgmmaRegisterVariants, Reach::one_cluster);
}

// Without a producer, one case per layout as well. K of 400 fills a ring more than once.
void check_filling(GemmLayout layout) {
    check_wgmma_variants(on_hopper(), layout, {by_turns(layout, {65, 72, 129}, {130, 264, 400})}, Pitches::of_tma,
                         kWgmmaFillingVariants);
    check_wgmma_variants(on_hopper(), layout, {{130, 258, 332}}, Pitches::as_they_are, kWgmmaFillingVariants);
}
TEST_CASE("emulated wgmma: no producer, tn") { check_filling(GemmLayout::tn); }
TEST_CASE("emulated wgmma: no producer, nn") { check_filling(GemmLayout::nn); }
TEST_CASE("emulated wgmma: no producer, nt") { check_filling(GemmLayout::nt); }
TEST_CASE("emulated wgmma: no producer, tt") { check_filling(GemmLayout::tt); }

TEST_CASE("emulated wgmma: no producer, C and a row of it, nothing to multiply") {
    OneIn tried(2);
    for (const std::string_view variant : kWgmmaFillingVariants)
        if (tried.next())
            check_unread_operands(spec_of(GemmLayout::nt, 64, 72, 64),
                                  [&](const GemmSpec& spec, const VerifyOptions& options) {
                                      check_wgmma(on_hopper(), spec, variant, options);
                                  });
    check_wgmma_with_c(on_hopper(), {136, 264, 136}, kWgmmaFillingVariants, Reach::one_cluster);
    check_wgmma_with_row_of_c(on_hopper(), {{136, 200, 264}}, kWgmmaFillingVariants);
}

// Operands are packed where a row of them is no whole 16 bytes, and D is stored in vectors of 2 to 16 bytes.
void check_odd_layout(GemmLayout layout) {
    check_wgmma_variants(on_hopper(), layout, {by_turns(layout, {65, 71, 129}, {130, 258, 76})}, Pitches::as_they_are);
}
TEST_CASE("emulated wgmma: rows of any pitch, tn") { check_odd_layout(GemmLayout::tn); }
TEST_CASE("emulated wgmma: rows of any pitch, nn") { check_odd_layout(GemmLayout::nn); }
TEST_CASE("emulated wgmma: rows of any pitch, nt") { check_odd_layout(GemmLayout::nt); }
TEST_CASE("emulated wgmma: rows of any pitch, tt") { check_odd_layout(GemmLayout::tt); }

TEST_CASE("emulated wgmma: beta of 0 reads no C, alpha of 0 and K of 0 read no operands") {
    OneIn tried(2);
    for (const std::string_view variant : kWgmmaVariants)
        if (tried.next())
            check_unread_operands(spec_of(GemmLayout::nt, 64, 72, 64),
                                  [&](const GemmSpec& spec, const VerifyOptions& options) {
                                      check_wgmma(on_hopper(), spec, variant, options);
                                  });
}

TEST_CASE("emulated wgmma: blocks that take several tiles, both consumers of a pair at work") {
    for (const std::string_view variant : kWgmmaVariants) {
        const auto config = with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(std::string(variant)))
                                .as<WgmmaWarpSpecializedConfig>();
        const TileShape& block = config.block;
        if (!config.persistent || config.stream_k != 0 || block.m * block.n > 128 * 56) continue;
        // 168 tiles: more than the GPU has SMs, so that some blocks take two. The last row and column are cut.
        check_wgmma(on_hopper(), spec_of(GemmLayout::nt, 14 * block.m - 24, 12 * block.n - 8, 72), variant);
    }
}

TEST_CASE("emulated wgmma: a row of C is read by the epilogue") {
    check_wgmma_with_row_of_c(on_hopper(), {{136, 200, 72}, {67, 75, 129}});
}

TEST_CASE("emulated wgmma: C comes through the ring") {
    check_wgmma_with_c(on_hopper(), {264, 296, 136}, kWgmmaVariants, Reach::one_cluster);
}

// More tiles than the ring has stages, so that each of them holds C at times; without K it holds zeros at the others.
TEST_CASE("emulated wgmma: C comes through the ring of blocks that take several tiles") {
    struct Case {
        const char* parameters;
        std::int64_t m, n;
    };
    for (const auto& [parameters, m, n] :
         {Case{"block=64x64x64,warpgroup=64x64,stages=3", 1504, 1048},
          Case{"block=64x64x64,warpgroup=64x64,schedule=pingpong,stages=3,slices=1", 1504, 1048},
          Case{"block=128x32x64,warpgroup=128x32,schedule=overlapped,stages=3", 2000, 856}})
        for (const std::int64_t k : {0, 72}) {
            GemmSpec spec = spec_of(GemmLayout::tn, m, n, k);
            spec.c = spec.d;
            check_wgmma(on_hopper(), spec, parameters, {.alpha = 0.5F, .beta = 2.0F});
        }
}

TEST_CASE("emulated wgmma: C comes through the ring of blocks that have one tile, K fits into the ring and doesn't") {
    for (const std::int64_t k : {0, 72, 400}) {
        GemmSpec spec = spec_of(GemmLayout::tn, 300, 424, k);
        spec.c = spec.d;
        check_wgmma(on_hopper(), spec, "block=64x128x64,warpgroup=64x128,stages=3,persistent=0",
                    {.alpha = 0.5F, .beta = 2.0F});
    }
}

// A ping-pong's consumer waits for C with its last k-tile still in the ring. C that fills the ring is read by the
// epilogue.
TEST_CASE("emulated wgmma: C leaves a ping-pong's ring a k-tile") {
    for (const char* const parameters : {"block=128x104x64,warpgroup=128x104,schedule=pingpong,stages=4,slices=1",
                                         "block=128x104x64,warpgroup=128x104,schedule=pingpong,stages=5,slices=1",
                                         "block=64x96x64,warpgroup=64x96,schedule=pingpong,stages=3,cluster=2x1"})
        for (const std::int64_t k : {0, 72, 400}) {
            GemmSpec spec = spec_of(GemmLayout::tn, 520, 264, k);
            spec.c = spec.d = DataType::f32;
            check_wgmma(on_hopper(), spec, parameters, {.alpha = 0.5F, .beta = 2.0F});
        }
}

TEST_CASE("emulated wgmma: stream-K over shares of every length") {
    OneIn tried(2);
    for (const std::string_view variant : kWgmmaVariants) {
        if (variant.find("stream_k") == std::string_view::npos) continue;
        for (const Sizes& size : {Sizes{64, 40, 400}, Sizes{256, 264, 176}, Sizes{300, 520, 130}})
            if (tried.next())
                check_wgmma(on_hopper(), with_tma_pitches(spec_of(GemmLayout::tn, size[0], size[1], size[2])), variant);
    }
}

TEST_CASE("emulated wgmma: stream-K leaves the same bits whatever the order of warps and copies") {
    auto& device = dynamic_cast<EmulatorDevice&>(*state_of(on_hopper()).device);
    const EmulatorMode usual = device.mode();
    for (const std::string_view variant : kWgmmaVariants) {
        if (variant.find("stream_k") == std::string_view::npos || variant.find("early") != std::string_view::npos)
            continue;
        INFO(variant);
        const KernelConfig config =
            with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(std::string(variant)));
        check_same_bits(on_hopper(), spec_of(GemmLayout::tn, 203, 136, 776), config, [&] {
            EmulatorMode other = usual;
            other.async_mode = emulator::AsyncMode::late;
            other.order_seed = 99;
            device.set_mode(other);
        });
        device.set_mode(usual);
    }
}

TEST_CASE("emulated wgmma: packing waits for the previous kernel, also where the other operand is fetched early") {
    GemmSpec spec = spec_of(GemmLayout::tt, 54, 88, 128);
    spec.lda = 139;
    check_wgmma(on_hopper(), spec, kEarly);
    spec.lda = 128;
    spec.ldb = 91;
    check_wgmma(on_hopper(), spec, "block=64x64x64,warpgroup=64x64,stages=3,dependent_launch=1,early=a");
}
