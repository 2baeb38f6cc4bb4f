#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// Where a kernel's binary came from.
enum class CacheSource : std::uint8_t { memory, disk, compiled };
[[nodiscard]] std::string_view to_string(CacheSource source);

/// Why a kernel was taken for its problem.
enum class ChoiceSource : std::uint8_t {
    exact,      ///< it won when this very problem was tuned on this class of devices
    nearest,    ///< it won on a near problem of the same types, layout and alignment
    heuristic,  ///< the cost model's choice, unmeasured
    forced,     ///< the caller named it
    hint,       ///< faster than the heuristic's choice in a search that was cut short, narrowed or of other versions
    installed,  ///< comes with the library: measured faster than the heuristic's choice on this class of devices
};
[[nodiscard]] std::string_view to_string(ChoiceSource source);

/// What is known of a compiled kernel.
struct KernelInfo {
    std::string name;  ///< canonical kernel name
    std::string arch;
    int registers = 0;    ///< per thread
    int spill_bytes = 0;  ///< stores plus loads
    int stack_bytes = 0;
    // Of the launch that multiplies, not of one that packs operands or adds up sums.
    int threads = 0;
    int shared_bytes = 0;  ///< dynamic
    std::int64_t blocks = 0;
    double compile_ms = 0;  ///< of the compile that made the binary, whenever that was
    CacheSource cache = CacheSource::compiled;
    ChoiceSource choice = ChoiceSource::forced;
    std::string choice_reason;  ///< a sentence for people
    std::vector<std::string> warnings;
};

}  // namespace jitgemm
