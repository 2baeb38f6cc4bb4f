#include "runtime/cli/output.hpp"

#include "runtime/cli/interrupt.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <system_error>

#include <sys/ioctl.h>
#include <unistd.h>

namespace jitgemm::cli {
namespace {

constexpr std::size_t kUsualColumns = 80;

void write(std::FILE* stream, std::string_view bytes) { std::fwrite(bytes.data(), 1, bytes.size(), stream); }

std::size_t columns() {
    winsize size{};
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
    return known ? size.ws_col : kUsualColumns;
}

/// Cuts `line` so that it fits into one line before `tail`. A longer one would wrap, and could not be taken back.
std::string cut(std::string_view line, std::string_view tail) {
    const std::size_t room = columns() - std::min(columns(), tail.size() + 1);
    return fmt::format("{}{}", line.substr(0, room), tail);
}

std::string waited(std::chrono::steady_clock::duration time) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
    return seconds == 0 ? std::string() : fmt::format(" ... {} s", seconds);
}

}  // namespace

Output::Output(bool json, std::chrono::milliseconds patience)
    : json_(json), terminal_(isatty(STDERR_FILENO) != 0), patience_(patience) {}

Output::~Output() {
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
        clear();
    }
    end_.notify_all();
    if (ticker_.joinable()) ticker_.join();
}

void Output::text(std::string_view text) {
    if (json_) return;
    const std::lock_guard lock(mutex_);
    clear();
    write(raw_only_ ? stderr : stdout, text);
}

void Output::document(const Json& document) {
    if (!json_) return;
    const std::lock_guard lock(mutex_);
    if (document_written_) throw std::logic_error("a second JSON document on stdout");
    document_written_ = true;
    document_begins();
    clear();
    write(stdout, document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void Output::raw(std::string_view bytes) {
    const std::lock_guard lock(mutex_);
    clear();
    write(stdout, bytes);
}

void Output::note(std::string_view line) {
    const std::lock_guard lock(mutex_);
    clear();
    write(stderr, fmt::format("{}\n", line));
}

void Output::progress(std::string_view line) {
    const std::lock_guard lock(mutex_);
    if (line.empty()) return clear();
    if (line == progress_) return;
    progress_ = line;
    progress_since_ = Clock::now();
    told_ = false;
    if (terminal_) show();
    if (!ticker_.joinable()) start_ticker();
}

void Output::start_ticker() {
    try {
        ticker_ = std::thread([this] {
            std::unique_lock ticking(mutex_);
            count_seconds(ticking);
        });
    } catch (const std::system_error&) {
        return;  // the process may have no more threads: nobody counts the seconds
    }
}

void Output::show() {
    write(stderr, fmt::format("{}{}", kClearLine, cut(progress_, waited(Clock::now() - progress_since_))));
    std::fflush(stderr);
}

void Output::tell() {
    const Clock::duration time = Clock::now() - progress_since_;
    if (told_ || time < patience_) return;
    told_ = true;
    write(stderr, fmt::format("jitgemm: {}{}\n", progress_, waited(time)));
}

void Output::clear() {
    if (progress_.empty()) return;
    progress_.clear();
    if (!terminal_) return;
    write(stderr, kClearLine);
    std::fflush(stderr);
}

void Output::count_seconds(std::unique_lock<std::mutex>& lock) {
    while (!end_.wait_for(lock, std::chrono::seconds(1), [this] { return ended_; })) {
        if (!progress_.empty()) terminal_ ? show() : tell();
    }
}

bool Output::finish() {
    progress("");
    return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

std::string counted(std::int64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace jitgemm::cli
