#pragma once

#include "generator/error.hpp"

namespace jitgemm::cli {

/// Thrown between two steps of long work after Ctrl-C.
class Interrupted : public Error {
public:
    Interrupted() : Error("interrupted") {}
};

/// From now on Ctrl-C asks the verb to stop at its next step; a second one, or two seconds without a step (a kernel
/// that never ends), ends the process at once. Either way it exits with 130.
void handle_interrupts();

[[nodiscard]] bool interrupted() noexcept;
void stop_if_interrupted();

}  // namespace jitgemm::cli
