#pragma once

#include "generator/arch.hpp"
#include "generator/kernel_config.hpp"
#include "generator/kernel_source.hpp"
#include "generator/renderer.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// Predicted time of one config on one GPU, split by what it is spent on; `total` is what candidates are ordered by.
struct CostEstimate {
    double total_us = 0;
    double math_us = 0;  ///< tensor cores, waves and tile quantisation included
    double dram_us = 0;
    double l2_us = 0;
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
    int lane = 0;
    int accumulator_register = 0;  ///< index into the thread's accumulator fragment
};

/// A kernel family: everything the rest of the generator knows of it. Pure functions; specs are resolved and row-major in D.
struct Family {
    std::string_view name;
    std::string_view summary;  ///< one line for --help and docs

    /// Reasons this family cannot serve the problem whatever the config; empty when it can.
    std::vector<std::string> (*unsupported)(const GemmSpec&, const Arch&);
    /// Every config worth considering for the problem, unordered, constraints not yet applied.
    std::vector<KernelConfig> (*candidates)(const GemmSpec&, const Arch&);
    /// All violated rules, each with its numbers.
    std::vector<std::string> (*violations)(const GemmSpec&, const KernelConfig&, const Arch&);
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
