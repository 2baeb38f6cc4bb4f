#pragma once

#include "generator/base/roofline.hpp"
#include "generator/base/tile_shape.hpp"
#include "runtime/cli/ladder/rungs.hpp"
#include "runtime/cli/output.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace jitgemm::cli {

/// The result of a rung. `refused`: no kernel of it serves the problem. `skipped`: an option left it out.
enum class RungStatus { ok, wrong, refused, skipped, failed };
[[nodiscard]] std::string_view to_string(RungStatus status);

/// Microseconds per launch; for the CPU, of all of D.
struct RungTime {
    double median_us = 0;
    double low_us = 0;
    double high_us = 0;
    int rounds = 0;
    std::string protocol;       ///< "steady" or "cold", as for bench; "loop" for the CPU
    bool extrapolated = false;  ///< from a part of D
};

/// The emulator's counts of one launch.
struct RungCounts {
    std::uint64_t instructions = 0;  ///< executed by warps
    std::uint64_t sectors = 0;       ///< of 32 bytes of global memory
    std::uint64_t wavefronts = 0;    ///< of shared memory
    std::uint64_t ideal_wavefronts = 0;
    std::uint64_t tensor_operations = 0;
};

/// A kernel that was built.
struct RungKernel {
    std::string name;  ///< canonical kernel name
    std::string body;  ///< the generated file without its banner
    MathUnit unit = MathUnit::tensor_cores;
    double global_bytes = 0;  ///< bytes that it requests from global memory: computed, or counted on the emulator
    std::optional<double> conflicts;  ///< wavefronts of the mainloop over the ideal; unset without shared memory
    int registers = 0;                ///< 0: not known, as in PTX
    int spill_bytes = 0;
    int shared_bytes = 0;
    int threads = 0;
    std::int64_t blocks = 0;
    TileShape tile;  ///< block tile; zeros if it is not known
};

struct RungReport {
    Rung rung;
    RungStatus status = RungStatus::ok;
    std::string reason;   ///< why it is not ok; for an ok rung, where its figures come from, if that needs words
    std::string command;  ///< prints its source
    std::optional<RungKernel> kernel;
    std::optional<RungTime> time;
    std::optional<double> peer_us;  ///< cuBLASLt's, in the same rounds
    std::optional<RungCounts> counts;
    std::optional<std::size_t> same_as;  ///< an earlier rung with the same kernel, whose figures these are
};

/// cuBLASLt's best algorithm with a right result.
struct LadderPeer {
    std::string algorithm;
    std::optional<double> microseconds;
    std::string reason;  ///< why there is none
};

struct LadderReport {
    GemmSpec spec;  ///< resolved
    float alpha = 1.0F;
    float beta = 0.0F;
    std::string device;
    GpuModel gpu;
    bool emulated = false;  ///< counts replace times
    LadderPeer peer;
    std::vector<RungReport> rungs;
    bool interrupted = false;

    [[nodiscard]] Roofline roofline_of(MathUnit unit) const {
        return roofline(spec, gpu, fastest_instruction(*gpu.arch, unit));
    }
};

// ---- figures of a rung; unset where what they follow from is not known --------------------------------------------

[[nodiscard]] std::optional<double> tflops_of(const LadderReport& report, const RungReport& rung);
/// The speed as a part of cuBLASLt's; 1 if they are equal.
[[nodiscard]] std::optional<double> share_of_peer(const RungReport& rung);
/// The speed as a part of the peak of the rung's math unit at the sustained clock.
[[nodiscard]] std::optional<double> share_of_peak(const LadderReport& report, const RungReport& rung);
/// Floating-point operations per byte of global_bytes.
[[nodiscard]] std::optional<double> kernel_intensity(const LadderReport& report, const RungReport& rung);

// ---- figures as text: as many digits as say something --------------------------------------------------------------

[[nodiscard]] std::string microseconds_text(double microseconds);
[[nodiscard]] std::string tflops_text(double tflops);
/// "NVIDIA H200 (sm_90a)". An emulator's name already has its architecture.
[[nodiscard]] std::string device_text(const LadderReport& report);

// ---- as text, piece by piece as the rungs come in -------------------------------------------------------------------

[[nodiscard]] std::string ladder_heading(const LadderReport& report);
[[nodiscard]] std::string ladder_row(const LadderReport& report, std::size_t rung);
[[nodiscard]] std::string ladder_footing(const LadderReport& report);

/// docs/explore.md documents the fields. They do not change. Unknown values are null.
[[nodiscard]] Json ladder_document(const LadderReport& report);

/// One self-contained page: charts, a table, and for each rung its figures, its generated source and the changes
/// against the previous rung.
[[nodiscard]] std::string ladder_page(const LadderReport& report);

}  // namespace jitgemm::cli
