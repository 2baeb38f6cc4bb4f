#include "tests/support/emulated_ptx.hpp"

#include "tests/support/ptx_run.hpp"

#include <cstddef>
#include <cstring>

namespace jitgemm::testing {

std::vector<std::uint32_t> emulated(const emulator::Program& module, const PtxProgram& program) {
    constexpr std::size_t kLanes = 32;
    const emulator::LaunchConfig config{.entry = program.name, .block = {kLanes, 1, 1}};
    return run_entry(module, config, program.inputs, static_cast<std::size_t>(program.output_words) * kLanes).output;
}

std::vector<std::uint64_t> emulated(const ScalarInstruction& instruction, int compute_capability,
                                    std::vector<std::uint64_t> operands) {
    constexpr std::size_t kThreads = 128;  // a block
    const std::size_t count = operands.size() / 3;
    const std::size_t blocks = (count + kThreads - 1) / kThreads;
    operands.resize(3 * kThreads * blocks);
    std::vector<std::uint32_t> input(2 * operands.size());
    std::memcpy(input.data(), operands.data(), operands.size() * sizeof operands[0]);
    const auto module = emulator::load_program(scalar_ptx(instruction, compute_capability));
    const emulator::LaunchConfig config{
        .entry = "scalar", .grid = {static_cast<std::int64_t>(blocks), 1, 1}, .block = {kThreads, 1, 1}};
    const std::vector<std::uint32_t> output = run_entry(*module, config, input, 2 * kThreads * blocks).output;
    std::vector<std::uint64_t> results(count);
    std::memcpy(results.data(), output.data(), count * sizeof results[0]);
    return results;
}

}  // namespace jitgemm::testing
