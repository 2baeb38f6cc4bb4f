#pragma once

#include "runtime/emulator/launch.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace jitgemm::testing {

/// A kernel made of hand-written instructions. Its body finds: %rd0, %rd1, %rd2 and so on free, as %r, %rs, %f, %fd and
/// %p; %thread the thread's index; %in and %out the addresses of the two buffers, %own_in and %own_out those of the
/// thread's own 32 bytes of them; `tile`, 4096 bytes of shared memory; `dynamic`, what the launch gives.
struct PtxRun {
    std::string body;
    int threads = 32;
    std::int64_t blocks = 1;
    std::vector<std::uint32_t> input = {};  ///< 8 words per thread
    std::string functions = {};             ///< before the kernel
    std::string target = "sm_90";
    int shared_bytes = 0;
    emulator::AsyncMode async_mode = emulator::AsyncMode::eager;
    emulator::Checks checks = {};
    std::uint64_t order_seed = 0;
    std::uint64_t work_limit = 0;
    std::array<int, 3> cluster = {1, 1, 1};
    int host_threads = 0;  ///< 0: one per core
    emulator::StopRequest stop = {};
};

struct PtxResult {
    std::vector<std::uint32_t> output;  ///< 8 words per thread of the grid, 0xEEEEEEEE where nothing was written
    emulator::Counters counters;
};

[[nodiscard]] std::string ptx_text(const PtxRun& run);
[[nodiscard]] PtxResult run_ptx(const PtxRun& run);

/// The text and the kind of a run's fault. Both are empty if there is none.
struct Fault {
    emulator::FaultKind kind{};
    std::string text;
};
[[nodiscard]] std::optional<Fault> fault_of(const PtxRun& run);

/// Launches an entry with parameters (u64 input, u64 output) of its own.
[[nodiscard]] PtxResult run_entry(const emulator::Program& program, const emulator::LaunchConfig& config,
                                  std::span<const std::uint32_t> input, std::size_t output_words,
                                  const emulator::StopRequest& stop = {});

/// Word `word` of each thread's output.
[[nodiscard]] std::vector<std::uint32_t> words(const PtxResult& result, std::size_t word = 0);
/// The function's values for each thread's index.
[[nodiscard]] std::vector<std::uint32_t> for_threads(int threads,
                                                     const std::function<std::uint32_t(std::uint32_t)>& function);

}  // namespace jitgemm::testing
