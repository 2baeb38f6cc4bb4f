#pragma once

#include <cstdint>

namespace jitgemm::emulator {

/// What a launch looks for. Turning one off never turns a right result into a wrong one.
struct Checks {
    bool bounds = true;  ///< out-of-range and misaligned accesses; off: out-of-range reads give 0, writes nothing
    bool shared_written = true;     ///< reads of shared memory never written
    bool global_written = true;     ///< reads of global memory never written, second stores where one is to be
    bool registers_written = true;  ///< reads of registers never written
    bool races = true;              ///< shared memory between warps
    bool copies_in_flight = true;   ///< accesses to bytes an asynchronous copy has yet to write
    bool grid_dependency = true;  ///< global memory touched before griddepcontrol.wait, where a launch may begin early
    bool barriers = true;         ///< divergence at barriers and counts that disagree; a deadlock is always one
};

/// When asynchronous copies are done: at issue, or at the last moment the program's waits allow. A program that is
/// right gives the same results in both.
enum class AsyncMode : std::uint8_t { eager, late };

}  // namespace jitgemm::emulator
