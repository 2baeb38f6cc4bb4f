#pragma once

#include "generator/base/arch.hpp"
#include "jitgemm/gemm_spec.hpp"

namespace jitgemm {

/// Bytes of A and B, each once.
[[nodiscard]] double operand_bytes(const GemmSpec& spec);

/// The least bytes that DRAM moves: each operand is read or written once. A C of one row counts as one row.
[[nodiscard]] double compulsory_bytes(const GemmSpec& spec);

/// D's part of compulsory_bytes().
[[nodiscard]] double bytes_of_d(const GemmSpec& spec);

/// C's part of compulsory_bytes(). It is 0 without C.
[[nodiscard]] double compulsory_bytes_of_c(const GemmSpec& spec);

/// The place of a problem between a GPU's math unit and its DRAM.
struct Roofline {
    MathInstruction instruction = MathInstruction::mma;
    double flops = 0;
    double bytes = 0;               ///< compulsory_bytes
    double intensity = 0;           ///< flop per byte; 0 without bytes
    double peak_flops = 0;          ///< per second, of this instruction on f16 or f32 at the sustained clock
    double dram_bytes = 0;          ///< per second, the datasheet's
    double ridge = 0;               ///< flop per byte above which the math unit is the limit
    double attainable_flops = 0;    ///< per second: the lower of peak and intensity · bandwidth
    double least_microseconds = 0;  ///< flops at the attainable rate

    [[nodiscard]] MathUnit unit() const { return unit_of(instruction); }
    [[nodiscard]] bool bound_by_dram() const { return intensity < ridge; }
};

[[nodiscard]] Roofline roofline(const GemmSpec& spec, const GpuModel& gpu,
                                MathInstruction instruction = MathInstruction::mma);

}  // namespace jitgemm
