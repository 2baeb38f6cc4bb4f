#pragma once

#include "generator/base/tensor_map.hpp"
#include "tests/support/ptx_run.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace jitgemm::testing {

/// A kernel of hand-written instructions with tensor maps. Its body finds what PtxRun's does, but for the threads' own
/// parts of the buffers and their sizes: `tile`, 16 KiB of shared memory at a multiple of 1024; `bars`, eight mbarriers
/// that are yet to be made; %in and %out; %map0, %map1 …, the generic addresses of up to 32 maps, which come in one
/// parameter.
struct TmaRun {
    std::string body;
    std::vector<TiledTensorMap> maps = {};  ///< `address` counts from the beginning of the input, or of the output:
    std::vector<bool> of_output = {};       ///< of each map which; the input where nothing is said
    std::vector<std::byte> input = {};
    std::size_t output_bytes = 0;
    int threads = 32;
    std::int64_t blocks = 1;
    std::array<int, 3> cluster = {1, 1, 1};
    emulator::AsyncMode async_mode = emulator::AsyncMode::eager;
    emulator::Checks checks = {};
    std::uint64_t order_seed = 0;
    std::uint64_t work_limit = 10'000'000;
    bool thread_limit = true;  ///< the kernel has .maxntid
    bool undefined = false;    ///< of both buffers; the output is to be stored once

    /// Braces alone, as in fault_of({…}), always mean a PtxRun.
    friend std::optional<Fault> fault_of(const TmaRun& run);
};

struct TmaResult {
    std::vector<std::byte> output;  ///< 0xEE where nothing was written
    emulator::Counters counters;
};

[[nodiscard]] TmaResult run_tma(const TmaRun& run);

/// 0, 1, 2 … modulo 251, so that no power of two repeats.
[[nodiscard]] std::vector<std::byte> counting_input(std::size_t bytes);

/// Thread 0 makes mbarrier `number` of `bars` for `arrivals`, with the fence that copies need.
[[nodiscard]] std::string make_mbarrier(int number, int arrivals);
/// Waits until the mbarrier's phase of that parity is complete.
[[nodiscard]] std::string wait_mbarrier(int number, int parity);
/// Every thread of 32 copies its part of the tile's first bytes to `%out`.
[[nodiscard]] std::string copy_tile_out(int bytes);

}  // namespace jitgemm::testing
