#pragma once

#include "jitgemm/gemm_spec.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

/// \file What a program asked for, written down as a shape file. The record belongs to the process, as the log does.

namespace jitgemm {

/// The most lines that a record holds.
inline constexpr std::size_t kMostRecordedLines = 100'000;

/// From now on each problem that a context is asked for is appended to the file, once, as a line that shape files take.
/// A kernel set is one line with a range, "m=1:8192".
/// Lines that other processes add meanwhile count as well. An empty name ends the record. Returns the name that it had
/// before, empty where there was none. Throws Error, which names the file, where that is no regular file that can be
/// written; then all stays as it was.
std::string record_requests(const std::string& file);

/// JITGEMM_RECORD, empty where it is not set.
[[nodiscard]] std::string record_file_from_environment();
/// Once per process: begins a record in the file that JITGEMM_RECORD names. Throws as record_requests() does.
void record_as_environment_says();

extern std::atomic<bool> requests_are_recorded;  ///< whether note_request() has anything to do
/// Records a problem. If it can't be written, the record ends with a warning in the log. Problems that no rule allows
/// are left out.
void record_request(const GemmSpec& spec) noexcept;
/// The same for a kernel set.
void record_request(const GemmSpec& spec, std::int64_t first_m, std::int64_t last_m) noexcept;

inline void note_request(const GemmSpec& spec) noexcept {
    if (requests_are_recorded.load(std::memory_order_relaxed)) [[unlikely]]
        record_request(spec);
}
inline void note_request(const GemmSpec& spec, std::int64_t first_m, std::int64_t last_m) noexcept {
    if (requests_are_recorded.load(std::memory_order_relaxed)) [[unlikely]]
        record_request(spec, first_m, last_m);
}

}  // namespace jitgemm
