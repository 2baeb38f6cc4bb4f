#pragma once

#include <cstdint>

namespace jitgemm::emulator {

/// The checks of a launch. Turning one off never turns a right result into a wrong one.
struct Checks {
    bool bounds =
        true;  ///< out-of-range and misaligned accesses; if off, out-of-range reads give 0 and writes do nothing
    bool shared_written = true;  ///< reads of shared memory never written
    bool global_written =
        true;  ///< reads of global memory never written, and second stores to bytes that must be stored once
    bool registers_written = true;  ///< reads of registers never written
    bool races = true;              ///< races between warps on shared memory
    bool copies_in_flight = true;   ///< accesses to bytes that an asynchronous copy will still write
    bool grid_dependency = true;    ///< global memory touched before griddepcontrol.wait, if the launch may begin early
    bool barriers = true;           ///< divergence at barriers, and counts that disagree; a deadlock is always reported
};

/// When asynchronous copies are complete: at issue, or at the last moment that the program's waits allow. A correct
/// program gives the same results in both modes.
enum class AsyncMode : std::uint8_t { eager, late };

}  // namespace jitgemm::emulator
