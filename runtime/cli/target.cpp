#include "runtime/cli/target.hpp"

#include "jitgemm/options.hpp"
#include "runtime/cli/cli_context.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cuda/cuda_gpu_model.hpp"
#include "runtime/cuda/driver.hpp"
#include "runtime/tuning/store/tuned_records.hpp"

#include <fmt/format.h>

#include <optional>

namespace jitgemm::cli {
namespace {

constexpr std::string_view kAssumedArch = "sm_80";

Target named_gpu(const std::string& name, const std::optional<std::string>& arch) {
    const GpuModel& gpu = find_gpu(name);
    if (arch && &find_arch(*arch) != gpu.arch) {
        throw UsageError(
            fmt::format("--gpu {} is {}, not {}: leave one of --gpu and --arch out", name, gpu.arch->name, *arch));
    }
    return {gpu, "named by --gpu"};
}

Target machine_gpu() {
    std::string reason;
    if (std::optional<GpuModel> gpu = first_gpu(reason)) return {*std::move(gpu), "this machine's GPU"};
    return {typical_gpu(find_arch(kAssumedArch)), "assumed: no GPU here, and neither --arch nor --gpu", true};
}

}  // namespace

std::optional<GpuModel> first_gpu(std::string& reason) {
    if (gpu_count(reason) == 0) return std::nullopt;
    CUdevice device = 0;
    JITGEMM_CHECK(driver().cuDeviceGet(&device, 0));
    return read_gpu_model(device);
}

Target choose_target(const ProblemOptions& problem) {
    const std::optional<std::string> arch = problem.text("arch");
    if (const auto name = problem.text("gpu")) return named_gpu(*name, arch);
    if (arch) return {typical_gpu(find_arch(*arch)), "the typical GPU of --arch"};
    return machine_gpu();
}

tuning::TunedChoice choose_kernel(const ProblemOptions& problem, const Problem& asked, const Target& target) {
    const Options options = problem.options();
    return tuning::tuned_choices(options, target.gpu, TemplateSet::from_directory(options.template_directory))
        .choose(asked, target.gpu, problem.selection());
}

std::string describe(const Target& target) {
    const GpuModel& gpu = target.gpu;
    return fmt::format("{} ({}, {} SMs), {}", gpu.name, gpu.arch->name, gpu.sm_count, target.origin);
}

}  // namespace jitgemm::cli
