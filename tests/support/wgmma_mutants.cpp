// Mutants of wgmma_warp_specialized: stages are freed too early, first wgmmas add to old sums, blocks don't meet.

#include "tests/support/kernel_checks.hpp"
#include "tests/support/mutants.hpp"

#include <array>

namespace jitgemm::testing {
namespace {

constexpr VerifyOptions kHalvedSums{.alpha = 0.5F};
constexpr VerifyOptions kWithC{.alpha = 2.0F, .beta = -0.5F};
constexpr int kEveryDump = 16;
constexpr std::string_view kStreamK = "wgmma, stream-K";
constexpr std::string_view kPingPong = "wgmma, ping-pong, C, stream-K";

constexpr std::array kWgmmaMutations{
    // ---- stages
    Mutation{"no wait before a stage is free", "wgmma_wait<1>();  // for those of", "// for those of", 0, kEveryDump},
    Mutation{"a wait for one k-tile less", "wgmma_wait<1>();  // for those of", "wgmma_wait<2>();  // for those of", 0,
             kEveryDump},
    Mutation{"a fragment of A loaded while a wgmma reads it", "wgmma_wait<kFragmentsA - 1>();",
             "wgmma_wait<kFragmentsA>();", 0, kEveryDump},
    Mutation{"a stage is free before the last wait", "wgmma_wait_for(rC);\n        release(shared, read, lane);",
             "release(shared, read, lane);\n        wgmma_wait_for(rC);", 0, kEveryDump, kStreamK},
    Mutation{"C is waited for when the other consumer has its turn",
             "if (walk.ends_tile()) wait_for_panels(args, shared, ring);\n        turn.pass_on();\n        "
             "wgmma_wait_for(rC);\n        release(shared, read, lane);\n",
             "turn.pass_on();\n        wgmma_wait_for(rC);\n        release(shared, read, lane);\n        "
             "if (walk.ends_tile()) wait_for_panels(args, shared, ring);\n"},
    // ---- registers
    Mutation{"sums begin with what nobody has written", "!kFirst || k_block != 0", "true", 0, kEveryDump},
    Mutation{"no limit of threads", "__launch_bounds__(kThreads, 1) gemm(", "gemm(", 0, 1, kPingPong},
    // ---- stream-K
    Mutation{"a piece stored as if it ended its tile", "if (!walk.piece.ends_tile) {", "if (false) {", 0, 1, kStreamK},
    Mutation{"sums of all warps in one place",
             "(block * kWarpsPerTile + warp) * kTilesM + rows;\n    return reinterpret",
             "(block * kWarpsPerTile) * kTilesM + rows;\n    return reinterpret", 0, 1, kStreamK},
    Mutation{"a share ends a k-tile early", "end = share_begin(cluster + 1);", "end = share_begin(cluster + 1) - 1;", 0,
             1, kStreamK},
    Mutation{"a share begins a k-tile early", "begin = share_begin(cluster);", "begin = share_begin(cluster) - 1;", 0,
             1, kStreamK},
    Mutation{"K rounded down where it is shared", "(args.k + (kBlockK - 1ll)) / kBlockK", "args.k / kBlockK", 0, 1,
             kStreamK},
    Mutation{"no wait for the flag of others' sums", "} while (there == 0);", "} while (false);"},
    Mutation{"the flag is read relaxed", "ld.acquire.gpu.global", "ld.relaxed.gpu.global"},
    Mutation{"the flag is set relaxed", "st.release.gpu.global", "st.relaxed.gpu.global"},
    Mutation{"a sum is stored behind the flag", ": \"memory\");\n}\n\n// Waits for the sums of a counter",
             ": \"memory\");\n    fragments[0].sums[0] = rC[0][0];\n}\n\n// Waits for the sums of a counter"},
};

GemmSpec with_bf16_c(GemmSpec spec) {
    spec.c = DataType::bf16;
    return spec;
}

Dump wgmma_dump(std::string_view name, const GemmSpec& spec, std::string_view parameters,
                const VerifyOptions& options = kHalvedSums) {
    return {.name = name, .spec = spec, .parameters = parameters, .options = options, .wgmma = true};
}

}  // namespace

std::vector<Dump> wgmma_dumps() {
    const auto tn = GemmLayout::tn;
    return {
        wgmma_dump("wgmma, one tile", spec_of(tn, 64, 64, 520), "block=64x64x64,warpgroup=64x64,stages=3"),
        wgmma_dump("wgmma, blocks of one tile", spec_of(GemmLayout::nn, 72, 72, 520),
                   "block=64x64x64,warpgroup=64x64,stages=3,persistent=0"),
        wgmma_dump("wgmma, no producer", spec_of(tn, 128, 64, 520),
                   "block=128x64x64,warpgroup=64x64,stages=3,persistent=0,warp_specialized=0"),
        wgmma_dump("wgmma, D^T", spec_of(tn, 64, 72, 520), "block=64x72x64,warpgroup=64x72,stages=3,swap_ab=1"),
        wgmma_dump("wgmma, A from registers", spec_of(tn, 64, 64, 520),
                   "block=64x64x64,warpgroup=64x64,stages=3,a_source=rmem"),
        wgmma_dump("wgmma, packed operands", spec_of(tn, 64, 64, 323), "block=64x64x64,warpgroup=64x64,stages=3"),
        wgmma_dump(kStreamK, spec_of(tn, 128, 192, 520), "block=64x64x64,warpgroup=64x64,stages=3,stream_k=4"),
        wgmma_dump(kPingPong, with_bf16_c(spec_of(tn, 192, 264, 712)),
                   "block=64x64x64,warpgroup=64x64,schedule=pingpong,stages=4,stream_k=4", kWithC),
    };
}

std::span<const Mutation> wgmma_mutations() { return kWgmmaMutations; }

}  // namespace jitgemm::testing
