#pragma once

#include "generator/arch.hpp"
#include "generator/kernel_config.hpp"
#include "generator/kernel_source.hpp"
#include "generator/layout/bank_conflicts.hpp"
#include "generator/layout/copy_atom.hpp"
#include "generator/renderer.hpp"

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// Predicted time of one config on one GPU, split by what it is spent on; `total` is what candidates are ordered by: infinite
/// where no block fits an SM.
struct CostEstimate {
    double total_us = std::numeric_limits<double>::infinity();
    double math_us = 0;      ///< the SMs' time: tensor cores at the pace the rest allows, waves and tile quantisation
    double tail_us = 0;      ///< of it, lost because the last wave leaves SMs idle
    double tensor_us = 0;    ///< the family's math unit alone, at its peak, on whole tiles
    double shared_us = 0;    ///< shared memory alone, bank conflicts included
    double l1_us = 0;        ///< operands straight into registers through L1 alone
    double l2_us = 0;        ///< operands into shared memory or L1 alone
    double dram_us = 0;      ///< DRAM alone
    double overhead_us = 0;  ///< launch, pipeline fill, epilogue
    double waves = 0;        ///< blocks over blocks resident at once
    int blocks_per_sm = 0;
};

/// Who computes an element of D: what a mismatch is traced back to.
struct ElementOwner {
    std::int64_t block = 0;  ///< blockIdx.x
    std::int64_t tile_m = 0;
    std::int64_t tile_n = 0;
    int warp = 0;
    int lane = 0;                  ///< kUnknown where the hardware alone knows
    int accumulator_register = 0;  ///< index into the thread's accumulator fragment, or kUnknown

    static constexpr int kUnknown = -1;
};

/// How an operand gets from global memory into the registers of the tensor cores.
struct OperandPath {
    Operand operand = Operand::a;
    bool k_major = true;                     ///< as it lies in shared memory
    std::string copy;                        ///< "cp.async of 16 bytes"
    std::string place;                       ///< how its rows lie in shared memory, and why so
    std::optional<LdmatrixChoice> ldmatrix;  ///< unset where fragments are loaded otherwise
    std::string width_reason;                ///< why a fragment is loaded so many elements at a time
    std::string trans_reason;                ///< and why it is transposed on its way or not
};

/// What a kernel is made of, as `explain` tells it. Bytes are of a block, registers of a thread.
struct KernelAnatomy {
    TileShape block;
    TileShape warp;
    TileShape mma;
    std::string instruction;  ///< PTX name of the multiply-add: mma.sync... or fma.rn.f32
    int threads = 0;
    int registers = 0;  ///< estimated
    int accumulator_registers = 0;
    int fragment_registers = 0;
    int stages = 0;
    int split_k = 1;
    int cluster = 1;  ///< blocks of a thread-block cluster: then its splits add up in shared memory
    int wave = 0;     ///< where tiles left over from whole waves of so many blocks are cut in two along K
    std::int64_t cut_tiles = 0;
    std::int64_t stage_bytes = 0;
    std::int64_t pipeline_bytes = 0;  ///< all stages
    std::int64_t epilogue_bytes = 0;
    std::int64_t shared_bytes = 0;  ///< in all: pipeline and epilogue may share
    std::vector<OperandPath> operands;
    std::vector<SharedAccess> accesses;
};

/// A kernel family: everything the rest of the generator knows of it. Pure functions; specs are resolved and row-major in D.
struct Family {
    std::string_view name;
    std::string_view summary;  ///< one line for --help and docs
    MathUnit math_unit = MathUnit::tensor_cores;
    /// Whether the heuristic may choose it for the problem unasked; unset: never, it is there to learn from.
    bool (*volunteers)(const GemmSpec&) = nullptr;

    /// Reasons this family cannot serve the problem whatever the config; empty when it can.
    std::vector<std::string> (*unsupported)(const GemmSpec&, const Arch&);
    /// Every config worth considering for the problem, unordered, constraints not yet applied.
    std::vector<KernelConfig> (*candidates)(const GemmSpec&, const GpuModel&);
    /// All violated rules, each with its numbers.
    std::vector<std::string> (*violations)(const GemmSpec&, const KernelConfig&, const Arch&);
    /// Why a config that breaks no rule is none to propose unasked (bank conflicts); each with its numbers.
    std::vector<std::string> (*objections)(const GemmSpec&, const KernelConfig&);
    KernelAnatomy (*anatomy)(const GemmSpec&, const KernelConfig&);
    CostEstimate (*cost)(const GemmSpec&, const KernelConfig&, const GpuModel&);

    /// The config's part of the kernel name. What follows from signature and config is spelt out too (trans, swizzle span);
    /// parse_config_name takes it as read: kernel_name() of what was parsed must give the same text again.
    std::string (*config_name)(const GemmSignature&, const KernelConfig&);
    KernelConfig (*parse_config_name)(std::string_view);
    ParameterMap (*parameters)(const KernelConfig&);
    KernelConfig (*with_parameters)(const KernelConfig&, const ParameterMap&);

    std::string_view template_file;
    RenderInput (*render_input)(const GemmSignature&, const KernelConfig&);
    std::vector<KernelEntry> (*entries)(const GemmSignature&, const KernelConfig&);
    /// Bytes of workspace a launch needs; 0 for most kernels.
    std::int64_t (*workspace_bytes)(const GemmSpec&, const KernelConfig&);
    ElementOwner (*owner)(const GemmSpec&, const KernelConfig&, std::int64_t row, std::int64_t column);
};

[[nodiscard]] std::span<const Family> family_table();
/// Throws ConfigError naming the known families and the nearest one.
[[nodiscard]] const Family& find_family(std::string_view name);
[[nodiscard]] const Family& family_of(const KernelConfig& config);

}  // namespace jitgemm
