#include "generator/families/wgmma_warp_specialized/template_statements.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

/// "extern "C" __global__ void … gemm(const __grid_constant__ GemmArgs args) {"
std::string kernel_head(const KernelTraits& k) {
    return fmt::format(
        "extern \"C\" __global__ void __launch_bounds__(kThreads, 1){}gemm(const __grid_constant__ {}) {{\n{}",
        k.in_cluster ? " __cluster_dims__(kCluster)\n    " : " ", k.batched ? "BatchArgs batch" : "GemmArgs args",
        k.batched ? "    const GemmArgs args(batch);\n" : "");
}

/// Warps beside TMA's, or their includes.
std::string copying_warps(const KernelTraits& k) {
    std::string text;
    if (k.grouped_by_k) text += "#include \"wgmma/clear_group_ends.cuh\"\n";
    if (k.gathered) text += "#include \"wgmma/copy_gathered_rows.cuh\"\n";
    if (k.scales_by_threads) text += "#include \"wgmma/copy_scales.cuh\"\n";
    return text;
}

/// Of templates/wgmma/wgmma_warp_specialized.cu.
void add_wgmma_warp_specialized(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_OPERANDS_IN_WORDS",
        {{k.a == DataType::s8, "// GEMM of 8-bit integers on wgmma. TMA copies the operands.\n"},
         {bytes(k.a) == 1, "// GEMM of 8-bit floats on wgmma. TMA copies the operands.\n"},
         {k.has_tf32_parts, "// GEMM of f32 on wgmma, which multiplies parts of tf32. TMA copies the operands.\n"},
         {k.has_parts, "// GEMM of f32 on wgmma, which multiplies parts of 16 bits. TMA copies the operands.\n"},
         {bytes(k.a) == 4,
          "// GEMM of f32 on wgmma, which multiplies tf32. TMA copies the operands and rounds them.\n"},
         {true, "// Half-precision GEMM on wgmma. TMA copies the operands.\n"}},
        {{k.gathered, "// Rows of A are gathered. Threads copy them instead.\n"}});
    add("GEMM_HELP_PRODUCER",
        {{k.grouped_by_k, "if (threadIdx.x / 32 == kConsumers * 4 + 1) clear_group_ends(args, shared);\n"},
         {k.gathered, "if (threadIdx.x / 32 >= kConsumers * 4 + 2) copy_gathered_rows(args, shared);\n"}});
    add("GEMM_COPY_SCALES_BY_WARP",
        {{k.scales_by_threads, "if (threadIdx.x / 32 == kConsumers * 4 + 1) copy_scales(args, shared);\n"}});
}

/// Of templates/wgmma/wgmma_operands.cuh.
void add_wgmma_operands(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_WARPS_THAT_GATHER", {{k.gathered, "constexpr int kGatherWarps = 2;  // that copy A\n"}});
    add("GEMM_SIZE_OF_RING",
        {{k.has_scales,
          "// The ring's stages, and behind them the scales of each.\n"
          "constexpr int kRingBytes = kStages * kStageBytes + (kStages * kScaleBytes + 1023) / 1024 * 1024;\n"}});
    add("GEMM_CONTENTS_OF_SHARED_MEMORY",
        {{k.gathered,
          "// Addresses in shared memory: the ring's stages, each with a tile of A and a tile of B; the epilogue's "
          "staging; two\n"
          "// barriers for each stage; addresses of the rows of A; where groups end.\n"},
         {k.grouped,
          "// Addresses in shared memory: the ring's stages, each with a tile of A and a tile of B; the epilogue's "
          "staging; two\n"
          "// barriers for each stage; where groups end.\n"},
         {k.grouped_by_k,
          "// Addresses in shared memory: the ring's stages, each with a tile of A and a tile of B; the epilogue's "
          "staging; three\n"
          "// barriers for each stage; where groups end.\n"},
         {true,
          "// Addresses in shared memory: the ring's stages, each with a tile of A and a tile of B; the epilogue's "
          "staging; two\n"
          "// barriers for each stage.\n"}});
    add("GEMM_MORE_ADDRESSES",
        {{k.gathered, "unsigned sources;  // (kBlockM) the address of the row of A for each row of a tile\n"}},
        {{k.grouped, "unsigned group_ends;  // a table of GroupEnd\n"},
         {k.grouped_by_k,
          "unsigned landed;  // (kStages) all bytes of a stage in which a group ends have arrived; it is not full yet\n"
          "unsigned group_ends;  // a table of group_end\n"}});
    add("GEMM_PLACE_STAGING",
        {{k.has_scales, "staging = ring + kRingBytes;\n"}, {true, "staging = ring + kStages * kStageBytes;\n"}});
    add("GEMM_PLACE_TABLES", {{k.gathered,
                               "sources = empty + kStages * 8;\n"
                               "group_ends = sources + kBlockM * 8;\n"},
                              {k.grouped, "group_ends = empty + kStages * 8;\n"},
                              {k.grouped_by_k,
                               "landed = empty + kStages * 8;\n"
                               "group_ends = landed + kStages * 8;\n"}});
    add("GEMM_SCALES_OF_STAGE", {{k.has_scales,
                                  "__device__ __forceinline__ unsigned scales_of(int stage) const {\n"
                                  "    return ring + kStages * kStageBytes + stage * kScaleBytes;\n"
                                  "}\n"}});
    add("GEMM_LANDED_BARRIER",
        {{k.grouped_by_k,
          "__device__ __forceinline__ unsigned landed_barrier(int stage) const { return landed + stage * 8; }\n"}});
    add("GEMM_INIT_FULL_BARRIER",
        {{k.gathered && k.scales_by_threads,
          "mbarrier_init(full_barrier(stage), 2 + kGatherWarps);  // who copies B, A and scales\n"},
         {k.gathered, "mbarrier_init(full_barrier(stage), 1 + kGatherWarps);  // who copies B, and who copies A\n"},
         {k.scales_by_threads,
          "mbarrier_init(full_barrier(stage), 2);  // who copies A and B, and who copies scales\n"},
         {true, "mbarrier_init(full_barrier(stage), 1);\n"}});
    add("GEMM_INIT_LANDED_BARRIER", {{k.grouped_by_k, "mbarrier_init(landed_barrier(stage), 1);\n"}});
    add("GEMM_CLEAR_STAGES", {{k.has_scales && !k.scales_by_threads,
                               "for (unsigned byte = 0; byte < kRingBytes; byte += 16)\n"
                               "    asm volatile(\"st.shared.v4.b32 [%0], {%1, %1, %1, %1};\" ::\"r\"(ring + byte), "
                               "\"r\"(0) : \"memory\");\n"},
                              {true,
                               "for (unsigned byte = 0; byte < kStages * kStageBytes; byte += 16)\n"
                               "    asm volatile(\"st.shared.v4.b32 [%0], {%1, %1, %1, %1};\" ::\"r\"(ring + byte), "
                               "\"r\"(0) : \"memory\");\n"}});
}

/// Of templates/wgmma/wgmma_k_tile.cuh.
void add_wgmma_k_tile(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_HOW_TO_RELEASE",
        {{k.in_cluster,
          "__device__ __forceinline__ void release(const SharedMemory& shared, int stage, int lane) {\n"
          "    if (lane < kCluster) mbarrier_arrive(shared.empty_barrier(stage), lane);  // at each block that fills "
          "it\n"
          "}\n"},
         {true,
          "__device__ __forceinline__ void release(const SharedMemory& shared, int stage, int lane) {\n"
          "    if (lane == 0) mbarrier_arrive(shared.empty_barrier(stage));\n"
          "}\n"}});
    add("GEMM_WAIT_FOR_PREVIOUS_K_TILE",
        {{!k.a_in_registers, "wgmma_wait<1>();  // for those of the previous k-tile\n"}});
    add("GEMM_HOW_TO_ANNOUNCE", {{k.grouped_by_k,
                                  "__device__ __forceinline__ void announce_k_tile(const SharedMemory& shared, const "
                                  "RingPosition& ring, unsigned barrier,\n"
                                  "                                                int bytes) {\n"
                                  "    mbarrier_wait(shared.empty_barrier(ring.stage), ring.phase ^ 1);\n"
                                  "    mbarrier_arrive_expect(barrier, bytes);\n"
                                  "}\n"},
                                 {true,
                                  "__device__ __forceinline__ void announce_k_tile(const SharedMemory& shared, const "
                                  "RingPosition& ring, int bytes) {\n"
                                  "    mbarrier_wait(shared.empty_barrier(ring.stage), ring.phase ^ 1);\n"
                                  "    mbarrier_arrive_expect(shared.full_barrier(ring.stage), bytes);\n"
                                  "}\n"}});
}

/// Of templates/wgmma/operand_k_major.cuh.
void add_operand_k_major(const AddStatement& add, const KernelTraits& k) {
    add("GEMM_COUNT_PANELS", {{k.has_parts, "static constexpr int kPanels = kBlockK / 32 * kGroupPanels;\n"},
                              {true, "static constexpr int kPanels = kBlockK / kPanelElements;\n"}});
    add("GEMM_OFFSET_COMMENT", {{bytes(k.a) == 1,
                                 "// The offset of a wgmma's operand in the tile, in units of 16 bytes: 32 of K, from "
                                 "`row` on, a multiple of eight.\n"},
                                {bytes(k.a) == 4 && !k.has_parts,
                                 "// The offset of a wgmma's operand in the tile, in units of 16 bytes: 8 of K, from "
                                 "`row` on, a multiple of eight.\n"},
                                {true,
                                 "// The offset of a wgmma's operand in the tile, in units of 16 bytes: 16 of K, from "
                                 "`row` on, a multiple of eight.\n"}});
    add("GEMM_FIND_GROUP_OF_K",
        {{k.has_parts, "k = k / 32 * (kGroupPanels * kPanelElements);  // the column where the group begins\n"}});
}

}  // namespace

void add_kernel_statements(RenderInput& input, const KernelTraits& k) {
    const AddStatement add(input);
    add_wgmma_warp_specialized(add, k);
    add_wgmma_operands(add, k);
    add_wgmma_k_tile(add, k);
    add_operand_k_major(add, k);
    input.generated["GEMM_KERNEL"] = kernel_head(k);
    input.generated["copying_warps.inl"] = copying_warps(k);
}

}  // namespace jitgemm
