#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace jitgemm::testing {

/// A PTX program in which a warpgroup multiplies once. Its input is the image of both operands in shared memory, then
/// four words of A and the sums' words, thread by thread. Its output is the words of the sums.
struct WgmmaProgram {
    int tile_bytes = 0;                      ///< of both operands in shared memory, a multiple of 2,048
    int sum_registers = 0;                   ///< of a thread
    std::uint64_t place_a = 0, place_b = 0;  ///< descriptors, from the beginning of the tile on
    bool adds = true;                        ///< to what the sums hold
    std::string multiply;  ///< the wgmma instruction: sums %d0..., A as %a or as %a0 to %a3, B as %b, predicate %adds
};
[[nodiscard]] std::string ptx_of(const WgmmaProgram& program);

/// The text with the first `from` replaced. Throws std::logic_error if there is none.
[[nodiscard]] std::string with_replaced(std::string text, std::string_view from, std::string_view to);

/// "{%d0, %d1}"
[[nodiscard]] std::string register_list(const char* name, int count);

}  // namespace jitgemm::testing
