#pragma once

#include "jitgemm/error.hpp"

#include <string_view>

namespace jitgemm::cli {

/// Takes a terminal's line back.
inline constexpr std::string_view kClearLine = "\r\x1b[K";

/// Thrown between two steps of long work after Ctrl-C, SIGTERM or SIGHUP.
class Interrupted : public Error {
public:
    Interrupted() : Error("interrupted") {}
};

/// From now on Ctrl-C asks the verb to stop at its next step; a second one, or two seconds without a step (a kernel
/// that never ends, a long compile), ends the process at once. Either way it says so, with `json` in a document on
/// stdout as well, and exits with 130. SIGTERM (kill, a batch system) and SIGHUP (a closed terminal) do the same,
/// unless whoever started the process has them ignored (nohup).
void handle_interrupts(bool json);

/// From now on stdout has its document, whole or in part: a process that ends at once writes no second one.
void document_begins() noexcept;

[[nodiscard]] bool interrupted() noexcept;
void stop_if_interrupted();

}  // namespace jitgemm::cli
