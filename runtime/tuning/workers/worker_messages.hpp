#pragma once

#include "runtime/tuning/search/services.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>

/// \file The messages between a sweep and its worker processes: one JSON document per line, {"TYPE": {fields}}.
/// docs/tuning-processes.md shows a conversation.

namespace jitgemm::tuning {

/// The version of these messages. A worker with another number belongs to another version.
inline constexpr int kWorkerProtocol = 3;

// ---- to a worker ----------------------------------------------------------------------------------------------------

/// The current TimeJob should end after the current turn. It is the only request that is sent before the previous one
/// is answered, and it has no answer.
struct StopTiming {};

using WorkerRequest = std::variant<CompileJob, VerifyJob, TimeJob, StopTiming>;

// ---- from a worker --------------------------------------------------------------------------------------------------

/// The first line: the worker is ready.
struct WorkerHello {
    int protocol = kWorkerProtocol;
    std::optional<DeviceFacts> facts;  ///< of a measuring worker's device
};

/// The data of a CudaError beside its message.
struct CudaFailure {
    std::string result;
    std::string call;
};

/// In place of a hello: the worker cannot work (no device, no NVRTC). In place of an answer: an error that is not the
/// job's.
struct WorkerRefusal {
    std::string message;
    std::optional<CudaFailure> cuda = {};
};

/// The kernel with this index of the TimeJob is launched next. If the process dies, this kernel was running.
struct WorkerTurn {
    std::size_t kernel = 0;
};

using WorkerReply = std::variant<WorkerHello, WorkerRefusal, CompileOutcome, VerifyOutcome, WorkerTurn, TimedSample,
                                 RoundEnd, TimeOutcome>;

/// One line, without its newline.
[[nodiscard]] std::string to_line(const WorkerRequest& request);
[[nodiscard]] std::string to_line(const WorkerReply& reply);
/// These throw Error with the flaw of the line.
[[nodiscard]] WorkerRequest parse_request(std::string_view line);
[[nodiscard]] WorkerReply parse_reply(std::string_view line);

}  // namespace jitgemm::tuning
