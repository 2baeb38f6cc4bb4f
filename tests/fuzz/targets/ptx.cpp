#include "runtime/emulator/launch.hpp"
#include "tests/fuzz/fuzz_targets.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace jitgemm::fuzz {
namespace {

using namespace emulator;

constexpr std::size_t kBufferBytes = 4096;
constexpr std::uint64_t kMostWork = 200'000;  // lane-instructions

/// The address of one buffer or the other in every 8 bytes.
std::vector<std::byte> parameters_of(const Function& entry, const std::array<DeviceAddress, 2>& buffers) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(entry.formal_bytes));
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(DeviceAddress)) {
        const DeviceAddress& buffer = buffers.at(at / sizeof(DeviceAddress) % buffers.size());
        std::memcpy(bytes.data() + at, &buffer, std::min(sizeof buffer, bytes.size() - at));
    }
    return bytes;
}

void run(const Program& program, const Function& entry, AsyncMode mode, std::uint64_t order_seed) {
    GlobalMemory memory(std::size_t{1} << 29);
    const std::array<DeviceAddress, 2> buffers{memory.allocate(kBufferBytes, "in"),
                                               memory.allocate(kBufferBytes, "out")};
    const LaunchConfig config{.entry = entry.name,
                              .grid = {2, 1, 1},
                              .block = {entry.required_threads > 0 ? entry.required_threads : 48, 1, 1},
                              .shared_bytes = 1024,
                              .order_seed = order_seed,
                              .async_mode = mode,
                              .threads = 1,
                              .work_limit = kMostWork};
    static_cast<void>(launch(program, config, memory, parameters_of(entry, buffers)));
}

}  // namespace

void ptx(std::string_view input) {
    const auto program = load_program(input);
    for (const Function& entry : program->decoded().functions) {
        if (!entry.entry) continue;
        for (const AsyncMode mode : {AsyncMode::eager, AsyncMode::late}) {
            try {
                run(*program, entry, mode, mode == AsyncMode::late ? 1 : 0);
            } catch (const Error&) {
            }
        }
    }
}

}  // namespace jitgemm::fuzz
