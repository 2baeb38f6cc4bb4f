#include "tests/support/mutants.hpp"

#include "tests/support/kernel_checks.hpp"

#include <array>

namespace jitgemm::testing {
namespace {

/// Leading dimensions aligned as a copy wants them, beyond sizes that have residues.
GemmSpec pitched(GemmSpec spec, std::int64_t lda, std::int64_t ldb, std::int64_t ldd) {
    spec.lda = lda;
    spec.ldb = ldb;
    spec.ldc = spec.ldd = ldd;
    return spec;
}

GemmSpec with_c(GemmSpec spec, DataType c) {
    spec.c = c;
    return spec;
}

constexpr VerifyOptions kHalved{.alpha = 0.5F};
constexpr VerifyOptions kScaled{.alpha = 2.0F, .beta = -0.5F};

constexpr int kMemoryDumps = 2;

constexpr std::array kMutations{
    // ---- barriers and waits
    Mutation{"no barrier in front of the pipeline", "__syncthreads();", "", 0},
    Mutation{"no barrier in the loop", "__syncthreads();", "", 1},
    Mutation{"no barrier after the loop", "__syncthreads();", "", 2},
    Mutation{"no wait in front of the pipeline", "cp_async_wait<kStages - 2>();", "", 0},
    Mutation{"no wait in the loop", "cp_async_wait<kStages - 2>();", "", 1},
    Mutation{"a wait for one group less", "cp_async_wait<kStages - 2>();", "cp_async_wait<kStages - 1>();", 0},
    Mutation{"a wait in the loop for one group less", "cp_async_wait<kStages - 2>();", "cp_async_wait<kStages - 1>();",
             1},
    // Copies in flight must end in the part of shared memory that the epilogue takes.
    Mutation{"no wait before the epilogue", "cp_async_wait<0>();", "", 0, kMostDumps, "tn, 16-byte cp.async, swizzle"},
    Mutation{"no commit in the prologue", "cp_async_commit();", "", 0},
    Mutation{"no commit in the loop", "cp_async_commit();", "", 1},
    Mutation{"no __syncwarp between the epilogue's stores and loads", "__syncwarp();", "", 0},
    Mutation{"no __syncwarp between the epilogue's loads and the next stores", "__syncwarp();", "", 1},
    // ---- the pipeline
    Mutation{"first write stage off by one", "int write_stage = kStages - 1;", "int write_stage = kStages - 2;"},
    Mutation{"stages wrap one too late", "read_stage + 1 == kStages ? 0", "read_stage == kStages ? 0"},
    Mutation{"prologue one stage short", "stage < kStages - 1; ++stage", "stage < kStages - 2; ++stage"},
    Mutation{"sB one stage too early", "sA + kStages * kStageBytesA", "sA + (kStages - 1) * kStageBytesA"},
    Mutation{"A and B never move on along K", "source += kKMajor ? kBlockK : block_pitch;", ""},
    Mutation{"K never runs out", "k_left -= kBlockK;", ""},
    Mutation{"fragments of the wrong k-block", "rB[k_block % 2]", "rB[(k_block + 1) % 2]"},
    Mutation{"K rounded down", "(args.k + (kBlockK - 1ll)) / kBlockK", "args.k / kBlockK"},
    Mutation{"a split's K rounded down", "(end_k - first_k + (kBlockK - 1ll)) / kBlockK",
             "(end_k - first_k) / kBlockK"},
    // ---- predicates
    Mutation{"no row predicate on copies", "rows_whole > pass * kRowsPerPass, cut", "true, cut"},
    Mutation{"no row predicate on cut copies", "rows_left() > pass * kRowsPerPass ? columns_left() * kElementBytes : 0",
             "columns_left() * kElementBytes"},
    Mutation{"cut copies read whole vectors", "rows_left() > pass * kRowsPerPass ? columns_left() * kElementBytes : 0",
             "rows_left() > pass * kRowsPerPass ? kVectorBytes : 0"},
    Mutation{"the row predicate off by one", "return kKMajor ? extent_left : k_left;",
             "return (kKMajor ? extent_left : k_left) + 1;"},
    Mutation{"no edge predicate on D", "if (row >= output.m || column >= output.n) return;", ""},
    Mutation{"D's row predicate off by one", "row >= output.m", "row > output.m"},
    Mutation{"no cut vectors of D", "if (column + kVectorD > output.n) {", "if (false) {"},
    Mutation{"no K predicate on realigned loads", "columns_left() > 0 && rows_left() > pass * kRowsPerPass",
             "columns_left() > 0"},
    Mutation{"the end of K not zeroed", "keep_first(load_elements(vector, columns_left()), columns_left())",
             "load_elements(vector, columns_left())", 0, 1, "tn, realigned copies"},
    Mutation{"vectors cut by the end of K not mended",
             "juts || (kKMajor && columns_left() > 0 && columns_left() < kChunkElements)", "juts", 0, 1,
             "tn, realigned copies"},
    Mutation{"vectors at the end of a matrix not mended", "if (juts || ", "if (false && "},
    Mutation{"vectors mended below the matrix", "if (rows_left() <= pass * kRowsPerPass) break;", ""},
    Mutation{"whole chunks at the end of a matrix", "(end) - 32", "(end)"},
    Mutation{"the end of a matrix overrun by elements", "elements - 1)", "7)"},
    // ---- shared memory
    Mutation{"no swizzle", "chunk ^ (", "chunk + 0 * ("},
    Mutation{"swizzle by the wrong rows", "row / kRowsPerPhase % kSpan", "row / 8 % kSpan"},
    Mutation{"swizzle of half the span", "row / kRowsPerPhase % kSpan", "row / kRowsPerPhase % (kSpan / 2)"},
    Mutation{"no padding", "kPitchA = 144", "kPitchA = 128"},
    Mutation{"A's loads swizzled as one row further", "shared_offset<kPitchA>(row, chunk + c)",
             "shared_offset<kPitchA>(row + 1, chunk + c)"},
    Mutation{"B's chunks one further", "shared_offset<kPitchB>(row, chunk + c)",
             "shared_offset<kPitchB>(row, chunk + c + 1)"},
    Mutation{"lanes give half the rows", "lane % 8;", "lane % 4;"},
    Mutation{"trans dropped", ".trans.", "."},
    Mutation{"trans added", "m8n8.x4.shared", "m8n8.x4.trans.shared"},
    Mutation{"no pitch in the epilogue", "kPitchC = 40", "kPitchC = 32"},
    Mutation{"the epilogue's second half overlaps the first", "pair * 8) * kPitchC", "pair * 4) * kPitchC"},
    // ---- tiles, splits, packing
    Mutation{"groups of tiles not cut at the end", "min(static_cast<unsigned>(kGroup), tiles.m - group * kGroup)",
             "kGroup"},
    Mutation{"the zigzag turns nowhere", "tiles.n - 1 - column", "tiles.n - column"},
    Mutation{"the last split not added", "split < kSplitK;", "split < kSplitK - 1;"},
    Mutation{"splits overlap", "(split + 1) * k_share", "(split + 2) * k_share"},
    Mutation{"packing leaves out cut vectors", "(columns + (kChunkElements - 1u)) / kChunkElements",
             "columns / unsigned(kChunkElements)"},
    Mutation{"packed vectors too close", "vector % per_row * kChunkElements", "vector % per_row * 7"},
    Mutation{"packed rows not zeroed at the end", "keep_first(value, columns - column)", "value"},
    Mutation{"alpha twice", "args.alpha * sum", "args.alpha * args.alpha * sum"},
    Mutation{"C without beta", "fmaf(args.beta,", "fmaf(1.0f,"},
    // ---- a second store, of something else first: a race's loser, seen only where every access is
    Mutation{"D stored twice by one thread", "if (row >= output.m || column >= output.n) return;",
             "if (row >= output.m || column >= output.n) return;\n"
             "    asm volatile(\"st.global.u16 [%0], %1;\" ::\"l\"(output.d + row * output.ldd + column), "
             "\"h\"((short)0x5555) : \"memory\");",
             0, kMemoryDumps},
};

// 0x5555 is no integer that inputs are filled with, and no likely normal number.
constexpr std::string_view kTileCall =
    "epilogue(rC, args, tile_row + warp_row, tile_column + warp_column, shared_memory, warp, lane);";
constexpr std::array kMemoryMutations{
    Mutation{"A changed before it is read", "const int warp = threadIdx.x / 32;",
             "const_cast<Bits*>(args.a)[0] = 0x5555;\n    const int warp = threadIdx.x / 32;", 0, kMemoryDumps},
    Mutation{"A changed when all is done", kTileCall,
             "epilogue(rC, args, tile_row + warp_row, tile_column + warp_column, shared_memory, warp, lane);\n"
             "    if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1) const_cast<Bits*>(args.a)[0] = 0x5555;",
             0, kMemoryDumps},
    Mutation{"B changed when all is done", kTileCall,
             "epilogue(rC, args, tile_row + warp_row, tile_column + warp_column, shared_memory, warp, lane);\n"
             "    if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1) const_cast<Bits*>(args.b)[0] = 0x5555;",
             0, kMemoryDumps},
    Mutation{"C changed", "if (row >= output.m || column >= output.n) return;",
             "if (row >= output.m || column >= output.n) return;\n"
             "    *reinterpret_cast<unsigned short*>(const_cast<ElementC*>(output.c)) = 0x5555;",
             0, 1, "tt, C and beta, f32"},
    Mutation{"splits without work leave their partials unwritten",
             "const OutputTile output = partial_tile(args, split);",
             "if (k_tiles == 0) return;\n     const OutputTile output = partial_tile(args, split);", 0, 1,
             "tn, more splits than k-tiles"},
    Mutation{"the last split's partials unwritten", "const OutputTile output = partial_tile(args, split);",
             "if (split == kSplitK - 1) return;\n    const OutputTile output = partial_tile(args, split);", 0, 1},
    Mutation{"sums begin with what the previous launch left in the workspace", "    set_to_zero(rC);",
             "    for (auto& row : rC)\n        for (auto& fragment : row)\n"
             "            for (auto& sum : fragment) sum = partials(args)[threadIdx.x];",
             0, 1, "tn, split-K"},
    Mutation{"packs only where the launch before has not", "*reinterpret_cast<uint4*>(packed + row",
             "if (packed[row * packed_pitch(columns) + column] == 0) *reinterpret_cast<uint4*>(packed + row", 0, 1},
    Mutation{"the last row of D unwritten", "if (row >= output.m || column >= output.n) return;",
             "if (row >= output.m - 1 || column >= output.n) return;", 0, kMemoryDumps},
    Mutation{"a row of D unwritten", "if (row >= output.m || column >= output.n) return;",
             "if (row == 3 || row >= output.m || column >= output.n) return;", 0, kMemoryDumps},
    Mutation{"the last column of D unwritten", "column + i < output.n; ++i", "column + i < output.n - 1; ++i", 0,
             kMemoryDumps},
    Mutation{"the last vector of D unwritten", "if (column + kVectorD > output.n) {",
             "if (column + kVectorD > output.n) return;\n    if (false) {", 0, kMemoryDumps},
    Mutation{"a tile of D stored by two blocks", kTileCall,
             "epilogue(rC, args, tile_row + warp_row, tile_column + warp_column, shared_memory, warp, lane);\n"
             "    epilogue(rC, args, (tile_row == 0 ? kBlockM : 0) + warp_row, tile_column + warp_column, "
             "shared_memory, warp, lane);",
             0, kMemoryDumps},
};

std::vector<Mutation> all_mutations() {
    std::vector<Mutation> all(kMutations.begin(), kMutations.end());
    all.insert(all.end(), kMemoryMutations.begin(), kMemoryMutations.end());
    return all;
}

bool is_of_copy_groups(const Mutation& mutation) {
    return mutation.from.starts_with("cp_async_wait") || mutation.from.starts_with("cp_async_commit");
}

}  // namespace

std::vector<Dump> dumps() {
    const auto tn = GemmLayout::tn;
    const auto nn = GemmLayout::nn;
    const auto nt = GemmLayout::nt;
    const auto tt = GemmLayout::tt;
    return {
        {"tn, 16-byte cp.async, swizzle", pitched(spec_of(tn, 71, 69, 189), 192, 192, 72),
         "block=64x64x32,warp=32x32,stages=3", kHalved},
        {"nn, padding, 2 stages", pitched(spec_of(nn, 71, 69, 197), 72, 200, 72),
         "block=64x64x32,warp=32x32,stages=2,shared=padding", kHalved},
        {"nt, 8-byte cp.async, zigzag", pitched(spec_of(nt, 135, 77, 205), 140, 84, 84),
         "block=64x32x64,warp=32x16,stages=4,rasterization=zigzag,group=2", kHalved},
        {"tt, 4-byte cp.async, 16x8x8", pitched(spec_of(tt, 35, 133, 205), 206, 134, 134),
         "block=32x128x32,warp=32x32,stages=5,mma=16x8x8,rasterization=column", kHalved},
        {"tn, realigned copies", spec_of(tn, 67, 77, 203), "block=64x64x32,warp=32x32,stages=3", kHalved, false},
        {"nt, realigned copies", spec_of(nt, 67, 77, 203), "block=64x64x32,warp=32x32,stages=3", kHalved, false},
        {"tn, split-K", pitched(spec_of(tn, 71, 69, 389), 392, 392, 72),
         "block=64x64x32,warp=32x32,stages=3,split_k=3,rasterization=row", kHalved},
        {"tn, more splits than k-tiles", pitched(spec_of(tn, 71, 69, 64), 64, 64, 72),
         "block=64x64x32,warp=32x32,stages=3,split_k=4", kHalved},
        {"tn, packed operands", spec_of(tn, 67, 77, 203), "block=64x64x32,warp=32x32,stages=3,pack=ab", kHalved},
        {"tt, C and beta, f32", with_c(pitched(spec_of(tt, 71, 69, 197), 200, 72, 72), DataType::f32),
         "block=64x64x32,warp=32x32,stages=3", kScaled},
        {"nn, f16 sums, C, ldmatrix.x2 and .x1",
         with_c(pitched(f16(spec_of(nn, 135, 69, 101), DataType::f16), 136, 104, 72), DataType::f16),
         "block=128x64x32,warp=64x32,stages=3,ldsm_a=2,ldsm_b=1,rasterization=grouped_n,group=3", kScaled},
    };
}

std::span<const Mutation> mutations() {
    static const std::vector<Mutation> all = all_mutations();
    return all;
}

std::span<const Mutation> memory_mutations() { return kMemoryMutations; }

std::string mutated(const Dump& dump, const std::string& body, const Mutation& mutation) {
    if (!mutation.only.empty() && mutation.only != dump.name) return {};
    std::size_t found = body.find(mutation.from);
    for (int i = 0; i < mutation.occurrence && found != std::string::npos; ++i)
        found = body.find(mutation.from, found + mutation.from.size());
    if (found == std::string::npos) return {};
    return body.substr(0, found).append(mutation.to).append(body.substr(found + mutation.from.size()));
}

ParsedDump parsed_dump(const Dump& dump, const Arch& arch) {
    const GemmSpec asked = resolved(dump.spec);
    const KernelConfig family =
        dump.wgmma ? KernelConfig{WgmmaWarpSpecializedConfig{}} : KernelConfig{MmaMultistageConfig{}};
    const KernelConfig config = with_parameters(family, parse_parameters(std::string(dump.parameters)));
    const KernelSource source = generate(problem_of(asked), config, arch);
    return {asked, {problem_of(asked).signature, config}, source.arch, source.body};
}

std::string equivalence(const Dump& dump, const Mutation& mutation) {
    if (!dump.async && is_of_copy_groups(mutation))
        return "the kernel has no cp.async: groups are empty and waits have nothing to wait for";
    if (mutation.name == "no cut vectors of D" && dump.name == "tn, split-K")
        return "rows of partial sums are padded to whole vectors: none is cut";
    if (mutation.name == "a split's K rounded down" && dump.name == "tn, more splits than k-tiles")
        return "K is whole k-tiles";
    if (mutation.name == "no K predicate on realigned loads")
        return "only chunks within the matrix are read whole, and mend() stops at its last row: what lies beyond K is "
               "zero all the same";
    if (mutation.name == "the last split not added" && dump.name == "tn, more splits than k-tiles")
        return "the last split has no k-tile: its partial sums are zeros";
    if (mutation.name == "packed rows not zeroed at the end")
        return "what lies behind a packed row is never used: the copies that read it stop at K as they do for a matrix "
               "that is not packed";
    return {};
}

}  // namespace jitgemm::testing
