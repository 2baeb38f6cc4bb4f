#pragma once

#include "runtime/tuning/search/services.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>

/// \file What a sweep and its worker processes say to each other: one JSON document per line, {"TYPE": {fields}}.
/// docs/tuning-processes.md shows a conversation.

namespace jitgemm::tuning {

/// Of this file's messages; a worker with another number is another version's.
inline constexpr int kWorkerProtocol = 2;

// ---- to a worker ----------------------------------------------------------------------------------------------------

/// The TimeJob at hand shall end after the turn under way. The one request that is sent before another is answered; it
/// has no answer of its own.
struct StopTiming {};

using WorkerRequest = std::variant<CompileJob, VerifyJob, TimeJob, StopTiming>;

// ---- from a worker --------------------------------------------------------------------------------------------------

/// The first line: it is ready.
struct WorkerHello {
    int protocol = kWorkerProtocol;
    std::optional<DeviceFacts> facts;  ///< of a measuring worker's device
};

/// What a CudaError has beside its words.
struct CudaFailure {
    std::string result;
    std::string call;
};

/// In place of a hello: it never will be (no device, no NVRTC). In place of an answer: an error that is not the job's.
struct WorkerRefusal {
    std::string message;
    std::optional<CudaFailure> cuda = {};
};

/// The kernel of that index of the TimeJob is launched next: who it was, should the process not live to tell.
struct WorkerTurn {
    std::size_t kernel = 0;
};

using WorkerReply = std::variant<WorkerHello, WorkerRefusal, CompileOutcome, VerifyOutcome, WorkerTurn, TimedSample,
                                 RoundEnd, TimeOutcome>;

/// One line, without its newline.
[[nodiscard]] std::string to_line(const WorkerRequest& request);
[[nodiscard]] std::string to_line(const WorkerReply& reply);
/// Throw Error saying what is wrong with the line.
[[nodiscard]] WorkerRequest parse_request(std::string_view line);
[[nodiscard]] WorkerReply parse_reply(std::string_view line);

}  // namespace jitgemm::tuning
