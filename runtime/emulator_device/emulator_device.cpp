#include "runtime/emulator_device/emulator_device.hpp"

#include "generator/base/occupancy.hpp"
#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "jitgemm/error.hpp"
#include "runtime/emulator/encoded_tensor_map.hpp"
#include "runtime/support/hash.hpp"
#include "runtime/support/log.hpp"
#include "runtime/support/thread_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <utility>
#include <vector>

namespace jitgemm {
namespace {

/// The rate of mma.sync on one core of a laptop, with all checks on (docs/emulator.md).
constexpr double kGflopPerSecond = 0.5;

GpuModel emulated_gpu(const Arch& arch) {
    GpuModel model = typical_gpu(arch);
    model.name = fmt::format("emulator ({})", arch.name);
    return model;
}

std::uint64_t next_memory_region() {
    static std::atomic<std::uint64_t> next = 0;
    return next++;
}

std::string seconds_text(double seconds) {
    return seconds < 120 ? fmt::format("{:.0f} seconds", seconds) : fmt::format("{:.0f} minutes", seconds / 60);
}

[[noreturn]] void refuse(const std::string& work, double gflop, double gflop_limit) {
    throw ConfigError("the problem is too large for the emulator",
                      {fmt::format("{}, about {} of one core; the limit is {:.4g} GFLOP (--emulator-limit, in the "
                                   "library emulator_gflop; 0 lifts it)",
                                   work, seconds_text(gflop / kGflopPerSecond), gflop_limit)});
}

thread_local const std::atomic<bool>* stop_flag = nullptr;  // StopFlagScope's

double checked_limit(double gflop_limit) {
    if (gflop_limit >= 0) return gflop_limit;
    throw ConfigError("invalid limit for the emulator",
                      {fmt::format("emulator_gflop is {}: expected GFLOP, 0 for no limit", gflop_limit)});
}

}  // namespace

struct EmulatorDevice::LoadedProgram : Module {
    std::shared_ptr<const emulator::Program> program;
};

namespace {

/// A Function's handle points to this object, which is its module, too.
struct EmulatedFunction : Module {
    std::shared_ptr<const emulator::Program> program;
    std::shared_ptr<Module> loaded;  // keeps programs_ from forgetting it
    std::string entry;
    bool blocks_in_order = false;
};

void check_target(const emulator::Program& program, const Arch& arch) {
    if (program.compute_capability() <= arch.compute_capability) return;
    throw Error(fmt::format("the PTX is for sm_{}, the emulator is {}: name a newer one with --device emulator:ARCH",
                            program.compute_capability(), arch.name));
}

void check_shared(const KernelEntry& entry, const Arch& arch) {
    if (entry.shared_bytes <= arch.shared_bytes_per_block) return;
    throw Error(fmt::format("{} asks for {} bytes of dynamic shared memory, a block of {} has {}", entry.function,
                            entry.shared_bytes, arch.name, arch.shared_bytes_per_block));
}

/// A GPU's driver is given one pointer, to the struct of all arguments.
void check_parameters(const emulator::Function& function, const KernelEntry& entry) {
    const auto expected = static_cast<std::int64_t>(argument_layout(entry.arguments).bytes);
    if (entry.arguments.empty()) return;
    if (function.parameters.size() == 1 && function.formal_bytes == expected) return;
    throw Error(fmt::format("{} takes {} parameters of {} bytes, the launch passes one struct of {}", entry.function,
                            function.parameters.size(), function.formal_bytes, expected));
}

}  // namespace

EmulatorDevice::EmulatorDevice(const Arch& arch, double gflop_limit)
    : model_(emulated_gpu(arch)),
      gflop_limit_(checked_limit(gflop_limit)),
      memory_(kEmulatedMemory, next_memory_region()) {}

DevicePointer EmulatorDevice::allocate(std::size_t bytes) { return DevicePointer{memory_.allocate(bytes, "a buffer")}; }

DevicePointer EmulatorDevice::allocate_zeroed(std::size_t bytes) {
    const DevicePointer pointer = allocate(bytes);
    fill_bytes(pointer, 0, bytes);
    return pointer;
}

void EmulatorDevice::free(DevicePointer pointer) noexcept {
    if (!pointer) return;
    try {
        memory_.free(pointer.address);
    } catch (const std::exception& error) {
        log().error("{}", error.what());
    }
}

void EmulatorDevice::copy_to_device(DevicePointer destination, const void* source, std::size_t bytes) {
    memory_.copy_in(destination.address, {static_cast<const std::byte*>(source), bytes});
}

void EmulatorDevice::copy_to_host(void* destination, DevicePointer source, std::size_t bytes) {
    memory_.copy_out({static_cast<std::byte*>(destination), bytes}, source.address);
}

void EmulatorDevice::fill_bytes(DevicePointer destination, std::uint8_t value, std::size_t bytes) {
    memory_.fill(destination.address, value, bytes);
}

void EmulatorDevice::name_memory(DevicePointer allocation, const std::string& name) {
    memory_.rename(allocation.address, name);
}

void EmulatorDevice::guard_memory(DevicePointer first, std::size_t bytes, const std::string& name) {
    memory_.guard(first.address, bytes, name);
}

void EmulatorDevice::undefine_memory(DevicePointer first, std::size_t bytes, bool stored_once) {
    memory_.undefine(first.address, bytes, stored_once);
}

std::size_t EmulatorDevice::unwritten_bytes(DevicePointer first, std::size_t bytes) const {
    return memory_.unwritten(first.address, bytes);
}

void EmulatorDevice::check_counters(DevicePointer first, std::size_t bytes) {
    if (bytes == 0) return;
    std::vector<std::uint32_t> counters(bytes / sizeof(std::uint32_t));
    copy_to_host(counters.data(), first, bytes);
    const auto left = std::ranges::find_if(counters, [](std::uint32_t counter) { return counter != 0; });
    if (left == counters.end()) return;
    throw emulator::EmulatorFault(emulator::FaultKind::counters,
                                  fmt::format("counter {} of {} holds {} when the kernel ends, not 0",
                                              left - counters.begin(), counters.size(), *left));
}

std::shared_ptr<EmulatorDevice::LoadedProgram> EmulatorDevice::program_of(std::string_view ptx) {
    const std::scoped_lock lock(mutex_);
    std::weak_ptr<LoadedProgram>& known = programs_[hash_hex(ptx)];
    if (std::shared_ptr<LoadedProgram> loaded = known.lock()) return loaded;
    auto loaded = std::make_shared<LoadedProgram>();
    loaded->program = emulator::load_program(ptx);
    known = loaded;
    return loaded;
}

Function EmulatorDevice::load(std::string_view binary, const KernelEntry& entry) {
    const std::shared_ptr<LoadedProgram> loaded = program_of(binary);
    check_target(*loaded->program, *model_.arch);
    check_shared(entry, *model_.arch);
    check_parameters(loaded->program->entry(entry.function), entry);  // entry() throws when it is not there
    auto function = std::make_shared<EmulatedFunction>();
    function->program = loaded->program;
    function->loaded = loaded;
    function->entry = entry.function;
    function->blocks_in_order = entry.blocks_in_order;
    void* const handle = function.get();
    return {handle, std::move(function)};
}

int EmulatorDevice::blocks_per_sm(const Function& /*function*/, const LaunchShape& shape) {
    return occupancy({.threads = shape.threads, .registers = 0, .shared_bytes = shape.shared_bytes}, *model_.arch)
        .blocks();
}

EncodedTensorMap EmulatorDevice::encode_tensor_map(const TiledTensorMap& map) {
    return emulator::encode_tensor_map(map);
}

emulator::LaunchConfig EmulatorDevice::config_of(const LaunchShape& shape) const {
    return {.entry = {},
            .grid = {shape.blocks, shape.problems.y, shape.problems.z},
            .block = {shape.threads, 1, 1},
            .shared_bytes = shape.shared_bytes,
            .cluster = shape.cluster,
            .order_seed = mode_.order_seed,
            .programmatic = shape.programmatic,
            .async_mode = mode_.async_mode,
            .checks = mode_.checks,
            .compute_capability = model_.arch->compute_capability,
            .threads = mode_.threads,
            .work_limit = mode_.work_limit != 0 ? mode_.work_limit : emulated_work_limit(gflop_limit_)};
}

void EmulatorDevice::launch(const Function& function, const LaunchShape& shape, std::span<const std::byte> arguments,
                            Stream /*stream*/) {
    const auto& emulated = *static_cast<const EmulatedFunction*>(function.handle);
    const UsualThreadState kept;  // its arithmetic is a GPU's
    emulator::LaunchConfig config;
    emulator::StopRequest stop;
    bool count = false;
    {
        const std::scoped_lock lock(mutex_);
        config = config_of(shape);
        stop = stop_;
        count = mode_.count;
    }
    if (stop_flag != nullptr)
        stop = [flag = stop_flag, of_device = std::move(stop)] { return flag->load() || (of_device && of_device()); };
    config.entry = emulated.entry;
    config.blocks_in_order = emulated.blocks_in_order;
    const emulator::Counters counters = emulator::launch(*emulated.program, config, memory_, arguments, stop);
    if (!count) return;
    const std::scoped_lock lock(mutex_);
    counters_ += counters;
}

StopFlagScope::StopFlagScope(const std::atomic<bool>& flag) : outer_(std::exchange(stop_flag, &flag)) {}
StopFlagScope::~StopFlagScope() { stop_flag = outer_; }

void EmulatorDevice::set_mode(const EmulatorMode& mode) {
    const std::scoped_lock lock(mutex_);
    mode_ = mode;
}

EmulatorMode EmulatorDevice::mode() const {
    const std::scoped_lock lock(mutex_);
    return mode_;
}

void EmulatorDevice::set_stop_request(emulator::StopRequest stop) {
    const std::scoped_lock lock(mutex_);
    stop_ = std::move(stop);
}

emulator::Counters EmulatorDevice::take_counters() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(counters_, {});
}

EmulatorDevice* as_emulator(Device& device) { return dynamic_cast<EmulatorDevice*>(&device); }

std::uint64_t emulated_work_limit(double gflop_limit) {
    constexpr double kSmallProblems = 1e9;
    return gflop_limit <= 0 ? 0 : static_cast<std::uint64_t>(gflop_limit * 1e9 + kSmallProblems);
}

double padded_flops(const Problem& problem, const KernelConfig& config) {
    const GemmSpec& spec = problem.row_major();
    const TileShape block = family_of(config).anatomy(problem, config).block;
    const auto padded = [](std::int64_t extent, int tile) {
        const double whole = std::max(tile, 1);
        return std::ceil(static_cast<double>(extent) / whole) * whole;
    };
    return 2 * padded(spec.m, block.m) * padded(spec.n, block.n) * padded(spec.k, block.k);
}

void require_emulable(const GemmSpec& spec, double gflop_limit) {
    const double gflop = flops(spec) / 1e9;
    if (gflop_limit <= 0 || gflop <= gflop_limit) return;
    refuse(fmt::format("m={} n={} k={} takes {:.4g} GFLOP per launch", spec.m, spec.n, spec.k, gflop), gflop,
           gflop_limit);
}

void require_emulable(const Problem& problem, const KernelConfig& config, double gflop_limit) {
    const GemmSpec& spec = problem.asked;
    const double gflop = padded_flops(problem, config) / 1e9;
    if (gflop_limit <= 0 || gflop <= gflop_limit) return;
    refuse(fmt::format("m={} n={} k={} takes {:.4g} GFLOP per launch in whole tiles of {}", spec.m, spec.n, spec.k,
                       gflop, kernel_name(problem, config)),
           gflop, gflop_limit);
}

}  // namespace jitgemm
