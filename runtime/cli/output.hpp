#pragma once

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace jitgemm::cli {

/// Keeps its fields in the order of their insertion.
using Json = nlohmann::ordered_json;

/// The output of a verb: results go to stdout, everything else to stderr. With --json stdout carries only one document.
/// Several threads may use it.
class Output {
public:
    /// `patience`: how long a step may be silent if stderr is not a terminal.
    explicit Output(bool json, std::chrono::milliseconds patience = std::chrono::seconds(5));
    ~Output();
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    [[nodiscard]] bool json() const { return json_; }
    /// From now on stdout only carries raw(): a table for programs. text() goes to stderr.
    void keep_stdout_for_raw() { raw_only_ = true; }
    /// A result for people; dropped with --json.
    void text(std::string_view text);
    /// The one document; dropped without --json. A second call throws std::logic_error.
    void document(const Json& document);
    /// Bytes that are written as they are, in every mode: the output of `dump` and `bench --csv -`.
    void raw(std::string_view bytes);
    /// A line on stderr.
    void note(std::string_view line);
    /// Replaces the progress line on stderr. An empty line clears it. A line that stays shows its age from the first
    /// second on: " ... 2 s". It is cut to the terminal's width. If stderr is not a terminal, only a line that stays is
    /// written, once: " ... 5 s".
    void progress(std::string_view line);
    /// Flushes. False if stdout did not take everything (full disk, closed pipe).
    [[nodiscard]] bool finish();

private:
    using Clock = std::chrono::steady_clock;
    // The next functions need mutex_ to be held.
    void start_ticker();
    void show();
    void tell();
    void clear();
    void count_seconds(std::unique_lock<std::mutex>& lock);

    bool json_;
    bool terminal_;
    std::chrono::milliseconds patience_;
    bool raw_only_ = false;  // set once, before anything runs
    std::mutex mutex_;       // guards the members below
    bool document_written_ = false;
    std::string progress_;  // empty: none is shown
    Clock::time_point progress_since_;
    bool told_ = false;  // the line was written although there is no terminal
    bool ended_ = false;
    std::condition_variable end_;
    std::thread ticker_;  // runs once there is progress to show
};

/// "1 winner", "2 winners".
[[nodiscard]] std::string counted(std::int64_t count, std::string_view noun);

}  // namespace jitgemm::cli
