#include "runtime/cli/interrupt.hpp"

#include "runtime/cli/exit_codes.hpp"

#include <csignal>
#include <cstdint>
#include <ctime>

#include <unistd.h>

namespace jitgemm::cli {
namespace {

constexpr unsigned kGraceSeconds = 2;
/// One Ctrl-C may come twice: from the terminal, and from a program that started the tool and passes its own on.
constexpr std::int64_t kSameNanoseconds = 250'000'000;
constexpr std::string_view kMessage = "jitgemm: interrupted\n";
/// The text that report_failure() prints for Interrupted. It is a constant, because a signal handler can't make one.
constexpr std::string_view kDocument = R"({
  "error": {
    "kind": "interrupted",
    "message": "interrupted"
  },
  "exit_code": 130
}
)";

// A signal handler can reach nothing but globals.
volatile std::sig_atomic_t stop_requested = 0;
volatile std::sig_atomic_t document_wanted = 0;
volatile std::sig_atomic_t on_terminal = 0;
volatile std::int64_t stop_requested_at = 0;  // written and read by the handler alone

void write_to(int file, std::string_view text) {
    if (::write(file, text.data(), text.size()) < 0) return;  // there is nobody left to tell
}

void exit_now(int) {
    if (on_terminal != 0) write_to(STDERR_FILENO, kClearLine);
    write_to(STDERR_FILENO, kMessage);
    if (document_wanted != 0) write_to(STDOUT_FILENO, kDocument);
    _exit(kExitInterrupted);
}

/// Of a clock that only goes forward.
std::int64_t nanoseconds() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

void request_stop(int number) {
    if (stop_requested != 0) {
        if (nanoseconds() - stop_requested_at < kSameNanoseconds) return;
        exit_now(number);
    }
    stop_requested_at = nanoseconds();
    stop_requested = 1;
    alarm(kGraceSeconds);
}

void install(int signal_number, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(signal_number, &action, nullptr);
}

bool is_ignored(int signal_number) {
    struct sigaction action {};
    return sigaction(signal_number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void handle_interrupts(bool json) {
    document_wanted = json ? 1 : 0;
    on_terminal = isatty(STDERR_FILENO);
    install(SIGINT, request_stop);
    for (const int signal_number : {SIGTERM, SIGHUP})
        if (!is_ignored(signal_number)) install(signal_number, request_stop);
    install(SIGALRM, exit_now);
}

void document_begins() noexcept { document_wanted = 0; }

bool interrupted() noexcept { return stop_requested != 0; }

void stop_if_interrupted() {
    if (interrupted()) throw Interrupted();
}

}  // namespace jitgemm::cli
