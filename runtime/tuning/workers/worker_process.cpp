#include "runtime/tuning/workers/worker_process.hpp"

#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm::tuning {
namespace {

constexpr std::size_t kQuotedLines = 5;

/// The last few lines: they say why a process died.
std::string last_lines(const std::string& text) {
    std::size_t begin = text.size();
    while (begin > 0 && text[begin - 1] == '\n') --begin;
    const std::size_t end = begin;
    for (std::size_t lines = 0; lines < kQuotedLines && begin > 0 && begin != std::string::npos; ++lines) {
        const std::size_t newline = text.rfind('\n', begin - 1);
        if (newline == std::string::npos) return text.substr(0, end);
        begin = newline;
    }
    return begin < end ? text.substr(begin + 1, end - begin - 1) : std::string();
}

/// A refusal is told as the worker's own error would have been told here.
[[noreturn]] void throw_no_start(const std::string& program, const WorkerEnd& end) {
    if (!end.refusal) throw Error(fmt::format("{} did not start: {}", program, end.message));
    if (const auto& cuda = end.refusal->cuda) throw CudaError(end.message, cuda->result, cuda->call);
    throw Error(end.message);
}

void check_protocol(const WorkerHello& hello, const std::string& program) {
    if (hello.protocol == kWorkerProtocol) return;
    throw Error(
        fmt::format("{} speaks version {} of the workers' protocol, not {}", program, hello.protocol, kWorkerProtocol));
}

}  // namespace

Patience::Clock::time_point Patience::next_look() {
    last_ = Clock::now();
    return last_ + std::min<Clock::duration>(left_, kLookInterval);
}

void Patience::looked() { left_ -= std::min<Clock::duration>(Clock::now() - last_, 2 * kLookInterval); }

WorkerProcess::WorkerProcess(const std::vector<std::string>& words, Clock::duration patience) : child_(words) {
    const std::variant<WorkerReply, WorkerEnd> first = receive(Clock::now() + patience);
    if (const auto* end = std::get_if<WorkerEnd>(&first)) throw_no_start(words.front(), *end);
    const auto* hello = std::get_if<WorkerHello>(&std::get<WorkerReply>(first));
    if (hello == nullptr) throw Error(words.front() + " did not send its first message");
    check_protocol(*hello, words.front());
    hello_ = *hello;
}

// A worker that cannot be written to has ended; receive() tells how.
void WorkerProcess::send(const WorkerRequest& request) { static_cast<void>(child_.send(to_line(request))); }

std::string WorkerProcess::with_last_words(const std::string& message) const {
    const std::string words = last_lines(child_.stderr_tail());
    return words.empty() ? message : message + "; its last words:\n" + words;
}

WorkerEnd WorkerProcess::end_of(const ExitStatus& status) {
    ended_ = true;
    return {.tells_nothing = was_killed(status),
            .message = with_last_words(fmt::format("the process ended with {}", to_string(status)))};
}

WorkerEnd WorkerProcess::kill(bool timed_out, const std::string& why) {
    child_.kill();
    ended_ = true;
    return {.timed_out = timed_out, .message = with_last_words(why)};
}

std::optional<std::variant<WorkerReply, WorkerEnd>> WorkerProcess::receive_until(Clock::time_point deadline) {
    const Received received = child_.receive(deadline);
    if (received.kind == Received::Kind::timed_out) return std::nullopt;
    if (received.kind == Received::Kind::ended) return end_of(received.status);
    try {
        WorkerReply reply = parse_reply(received.line);
        const auto* refusal = std::get_if<WorkerRefusal>(&reply);
        if (refusal == nullptr) return reply;
        WorkerEnd end = kill(false, refusal->message);
        end.tells_nothing = true;
        end.refusal = *refusal;
        return end;
    } catch (const Error& error) {
        return kill(false, fmt::format("the process sent a malformed message: {}", error.what()));
    }
}

std::variant<WorkerReply, WorkerEnd> WorkerProcess::receive(Clock::time_point deadline,
                                                            const std::function<void()>& meanwhile) {
    const Clock::time_point begin = Clock::now();
    Patience patience(deadline - begin);
    do {
        meanwhile();
        if (auto reply = receive_until(patience.next_look())) return *std::move(reply);
        patience.looked();
    } while (!patience.is_over());
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return kill(true, fmt::format("no answer within {:.3g} s", seconds));
}

}  // namespace jitgemm::tuning
