#include "runtime/cli/target.hpp"

#include "runtime/cli/exit_codes.hpp"
#include "runtime/device.hpp"

#include <fmt/format.h>

namespace jitgemm::cli {
namespace {

constexpr std::string_view kAssumedArch = "sm_80";

Target named_gpu(const std::string& name, const std::optional<std::string>& arch) {
    const GpuModel& gpu = find_gpu(name);
    if (arch && &find_arch(*arch) != gpu.arch) {
        throw UsageError(fmt::format("--gpu {} is {}, not {}: leave one of --gpu and --arch out", name, gpu.arch->name, *arch));
    }
    return {gpu, "named by --gpu"};
}

Target machine_gpu(const Options& options) {
    try {
        return {open_device(options)->model(), "this machine's GPU"};
    } catch (const Error&) {
        return {typical_gpu(find_arch(kAssumedArch)), "assumed: no GPU here, and neither --arch nor --gpu", true};
    }
}

}  // namespace

Target choose_target(const ProblemOptions& problem) {
    const std::optional<std::string> arch = problem.text("arch");
    if (const auto name = problem.text("gpu")) return named_gpu(*name, arch);
    if (arch) return {typical_gpu(find_arch(*arch)), "the typical GPU of --arch"};
    return machine_gpu(problem.options());
}

std::string describe(const Target& target) {
    const GpuModel& gpu = target.gpu;
    return fmt::format("{} ({}, {} SMs), {}", gpu.name, gpu.arch->name, gpu.sm_count, target.origin);
}

}  // namespace jitgemm::cli
