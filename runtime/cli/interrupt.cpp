#include "runtime/cli/interrupt.hpp"

#include "runtime/cli/exit_codes.hpp"

#include <csignal>

#include <unistd.h>

namespace jitgemm::cli {
namespace {

constexpr unsigned kGraceSeconds = 2;
volatile std::sig_atomic_t stop_requested = 0;  // a signal handler can reach nothing but a global

void exit_now(int) { _exit(kExitInterrupted); }

void request_stop(int) {
    if (stop_requested != 0) _exit(kExitInterrupted);
    stop_requested = 1;
    alarm(kGraceSeconds);
}

void install(int signal_number, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(signal_number, &action, nullptr);
}

}  // namespace

void handle_interrupts() {
    install(SIGINT, request_stop);
    install(SIGALRM, exit_now);
}

bool interrupted() noexcept { return stop_requested != 0; }

void stop_if_interrupted() {
    if (interrupted()) throw Interrupted();
}

}  // namespace jitgemm::cli
