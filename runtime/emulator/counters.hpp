#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm::emulator {

enum class InstructionKind : std::uint8_t {
    move,
    integer,
    logic,
    compare,
    convert,
    float32,
    float64,
    half,
    special_function,
    global_load,
    global_store,
    shared_load,
    shared_store,
    local,
    parameter,
    atomic,
    async_copy,
    async_wait,
    bulk_copy,
    matrix_load,
    matrix_store,
    tensor,
    warp,
    barrier,
    control,
};
inline constexpr std::size_t kInstructionKinds = 25;
[[nodiscard]] std::string_view to_string(InstructionKind kind);

/// The work of one instruction, of one kind, or of a whole launch. Executions without an active lane are not counted.
struct Tally {
    std::uint64_t warps = 0;              ///< executions by a warp
    std::uint64_t lanes = 0;              ///< executions by a lane
    std::uint64_t global_read_bytes = 0;  ///< requested by lanes; a byte that two lanes request counts twice
    std::uint64_t global_written_bytes = 0;
    std::uint64_t sectors = 0;  ///< 32-byte sectors of global memory that the L1 passes on, summed over requests
    std::uint64_t l2_sectors =
        0;  ///< sectors that come from the L2 or go to it if the L1 holds none; some copies have more
    std::uint64_t wavefronts = 0;        ///< passes over the shared-memory banks
    std::uint64_t ideal_wavefronts = 0;  ///< wavefronts without conflicts
    std::uint64_t peer_bytes = 0;        ///< shared memory of other blocks of the cluster that lanes read or wrote
    std::uint64_t operations = 0;        ///< multiplications and additions of tensor cores
    Tally& operator+=(const Tally& other);
    friend bool operator==(const Tally&, const Tally&) = default;
};

/// One PTX instruction that was executed.
struct LineTally {
    int ptx_line = 0;
    std::string file;  ///< from .loc; empty when the PTX has no line information
    int source_line = 0;
    InstructionKind kind = InstructionKind::move;
    std::string text;
    Tally tally;
};

struct Counters {
    Tally total;
    std::array<Tally, kInstructionKinds> kinds;
    std::vector<LineTally> lines;  ///< by PTX line
    std::uint64_t blocks = 0;

    [[nodiscard]] const Tally& of(InstructionKind kind) const { return kinds.at(static_cast<std::size_t>(kind)); }
    /// The sums over lines with the same source line (the text is the first one's), in order of file and line.
    [[nodiscard]] std::vector<LineTally> by_source_line() const;
    /// Adds the counters of another entry of a kernel.
    Counters& operator+=(const Counters& other);
};

class Program;
/// `tallies` has one entry for each instruction of the program.
[[nodiscard]] Counters make_counters(const Program& program, const std::vector<Tally>& tallies, std::uint64_t blocks);

}  // namespace jitgemm::emulator
