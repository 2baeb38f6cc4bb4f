#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// Where a kernel's binary came from.
enum class CacheSource : std::uint8_t { memory, disk, compiled };
[[nodiscard]] std::string_view to_string(CacheSource source);

/// Why a kernel was chosen for its problem.
enum class ChoiceSource : std::uint8_t {
    exact,      ///< it won when this problem was tuned on this class of devices
    nearest,    ///< it won on a similar problem with the same types, layout and alignments
    heuristic,  ///< the cost model chose it; it was not measured
    forced,     ///< the caller named it
    hint,       ///< it beat the heuristic's choice in a search that was incomplete, or made by another version
    installed,  ///< it comes with the library, and beat the heuristic's choice on this class of devices
    stand_in,   ///< it serves until the chosen kernel has been compiled (OnMiss::serve)
};
[[nodiscard]] std::string_view to_string(ChoiceSource source);

/// Facts about a compiled kernel.
struct KernelInfo {
    std::string name;  ///< canonical kernel name
    std::string arch;
    int registers = 0;    ///< per thread
    int spill_bytes = 0;  ///< stores plus loads
    int stack_bytes = 0;
    // The next three describe the entry that multiplies, not those that pack operands or add partial sums.
    int threads = 0;
    int shared_bytes = 0;  ///< dynamic, that a block uses; a launch may request more
    std::int64_t blocks = 0;
    double compile_ms = 0;  ///< duration of the compile that made the binary, now or earlier
    CacheSource cache = CacheSource::compiled;
    ChoiceSource choice = ChoiceSource::forced;
    std::string choice_reason;  ///< a sentence for people
    std::vector<std::string> warnings;
};

}  // namespace jitgemm
