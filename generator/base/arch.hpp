#pragma once

#include "jitgemm/data_type.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace jitgemm {

/// Most blocks of a thread-block cluster that every GPU with clusters takes. A larger cluster needs a function
/// attribute.
inline constexpr int kPortableClusterBlocks = 8;

/// Classes of instructions that multiply and add. Each has its own rate.
enum class MathInstruction : std::uint8_t { fma, mma, wgmma };

/// One GPU architecture as ptxas knows it. Shared-memory and occupancy limits: CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability"; instruction availability: PTX ISA, "Target ISA Notes" of each instruction.
struct Arch {
    std::string_view name;       ///< as NVRTC takes it: "sm_80", "sm_90a"
    int compute_capability;      ///< 10 · major + minor: 80, 90, 121
    int shared_bytes_per_block;  ///< most dynamic shared memory that a block may use
    int shared_bytes_per_sm;
    int shared_reserved_per_block;  ///< bytes that the driver takes of each block's share
    int registers_per_sm;
    int max_registers_per_thread;
    int max_threads_per_sm;
    int max_blocks_per_sm;
    int max_cluster_blocks;  ///< most blocks of a thread-block cluster; 0: no clusters
    int first_nvrtc;         ///< first NVRTC that targets it: 10 · major + minor, 128 = 12.8
    bool has_wgmma;          ///< wgmma and setmaxnreg (sm_90a only)
    bool has_tma;
    bool has_dependent_launch;  ///< griddepcontrol
};

/// Most operations of an SM per clock with dense operands; a product and its addition are two operations. The result is
/// 0 if the architecture lacks the instruction for these types, or if no figure is known.
[[nodiscard]] int flops_per_clock(const Arch& arch, MathInstruction instruction, DataType operands,
                                  DataType accumulator);
/// flops_per_clock() of mma.sync with 16-bit operands and f32 sums, and of fma in f32.
[[nodiscard]] inline int mma_flops_per_clock(const Arch& arch) {
    return flops_per_clock(arch, MathInstruction::mma, DataType::f16, DataType::f32);
}
[[nodiscard]] inline int fma_flops_per_clock(const Arch& arch) {
    return flops_per_clock(arch, MathInstruction::fma, DataType::f32, DataType::f32);
}

/// Cycles until a scheduler can issue a warp's next fma: 2 on an SM of 64 FP32 cores.
[[nodiscard]] inline double fma_issue_cycles(const Arch& arch) {
    constexpr double kFlopsOfFourWarps = 4 * 32 * 2;  // one fma of a warp on each scheduler
    return kFlopsOfFourWarps / fma_flops_per_clock(arch);
}

/// The cores of an SM that do a kernel's multiply-adds.
enum class MathUnit : std::uint8_t { tensor_cores, fp32_cores };
[[nodiscard]] std::string_view to_string(MathUnit unit);

[[nodiscard]] std::string_view to_string(MathInstruction instruction);  ///< "mma.sync", "wgmma", "f32 fma"
[[nodiscard]] constexpr MathUnit unit_of(MathInstruction instruction) {
    return instruction == MathInstruction::fma ? MathUnit::fp32_cores : MathUnit::tensor_cores;
}
/// The instruction that is fastest on this unit.
[[nodiscard]] inline MathInstruction fastest_instruction(const Arch& arch, MathUnit unit) {
    if (unit == MathUnit::fp32_cores) return MathInstruction::fma;
    return arch.has_wgmma ? MathInstruction::wgmma : MathInstruction::mma;
}

/// A GPU as the cost model sees it: its architecture and its sizes.
struct GpuModel {
    std::string name;  ///< "h200"; for a device found at run time its marketing name
    const Arch* arch;
    int sm_count;
    std::int64_t l2_bytes;
    int clock_mhz;  ///< sustained SM clock under tensor load
    double dram_bytes_per_second;
};

/// Clusters of this many blocks, one block per SM, that the GPU holds at once. The model only estimates the number; a
/// device knows it (Device::resident_clusters). A cluster lies within a GPC. Of an H200's 132 SMs, clusters of two
/// blocks reach all, and larger clusters reach 120.
[[nodiscard]] int resident_clusters(const GpuModel& gpu, int blocks);

[[nodiscard]] std::span<const Arch> arch_table();

/// The row of this name; "sm_90" means "sm_90a". Throws SpecError with the known names.
[[nodiscard]] const Arch& find_arch(std::string_view name);

/// The row that serves a device of this compute capability (10 · major + minor). Throws SpecError if there is none.
[[nodiscard]] const Arch& arch_for_compute_capability(int compute_capability);

[[nodiscard]] std::span<const GpuModel> gpu_table();

/// The well-known GPU of this name ("h200", "a100", "rtx4090"). Throws SpecError with the known names.
[[nodiscard]] const GpuModel& find_gpu(std::string_view name);

/// The typical GPU of an architecture, for --arch without --gpu.
[[nodiscard]] const GpuModel& typical_gpu(const Arch& arch);

}  // namespace jitgemm
