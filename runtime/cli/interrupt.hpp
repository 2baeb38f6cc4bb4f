#pragma once

#include "jitgemm/error.hpp"

#include <string_view>

namespace jitgemm::cli {

/// Clears a terminal's line.
inline constexpr std::string_view kClearLine = "\r\x1b[K";

/// Thrown between two steps of long work after Ctrl-C, SIGTERM or SIGHUP.
class Interrupted : public Error {
public:
    Interrupted() : Error("interrupted") {}
};

/// From now on Ctrl-C asks the verb to stop at its next step. A second Ctrl-C, or two seconds without a step (a kernel
/// that never ends, a long compile), ends the process at once. Both write a message, with `json` also a document on
/// stdout, and exit with 130. SIGTERM (kill, a batch system) and SIGHUP (a closed terminal) do the same, unless they
/// are ignored from the start (nohup).
void handle_interrupts(bool json);

/// From now on stdout has its document, whole or in part. A process that ends at once writes no second one.
void document_begins() noexcept;

[[nodiscard]] bool interrupted() noexcept;
void stop_if_interrupted();

}  // namespace jitgemm::cli
