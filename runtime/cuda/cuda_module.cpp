#include "runtime/cuda/cuda_module.hpp"

#include "generator/base/spread_blocks.hpp"
#include "runtime/cuda/cubin_parameters.hpp"
#include "runtime/support/log.hpp"

#include <fmt/format.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace jitgemm {
namespace {

constexpr int kDefaultSharedBytes = 48 * 1024;  // more must be granted per function

std::string refusal_detail(CUresult result) {
    const int version = driver().version;
    switch (result) {
        case CUDA_ERROR_NO_BINARY_FOR_GPU: return "the binary is of another architecture than the GPU";
        case CUDA_ERROR_INVALID_IMAGE:
        case CUDA_ERROR_INVALID_SOURCE:
        case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
            return fmt::format(
                "the driver takes binaries of CUDA {}.x and older (it is for CUDA {}.{}): was this one built by a "
                "newer one?",
                version / 10, version / 10, version % 10);
        default: return "";
    }
}

CUmodule load_module(std::string_view binary) {
    const std::string image(binary);  // ends in the zero byte PTX needs
    CUmodule module = nullptr;
    const CUresult result = driver().cuModuleLoadData(&module, image.data());
    if (result != CUDA_SUCCESS) throw_cuda_error(result, "cuModuleLoadData", refusal_detail(result));
    return module;
}

CUfunction find_function(CUmodule module, const KernelEntry& entry) {
    CUfunction function = nullptr;
    const CUresult result = driver().cuModuleGetFunction(&function, module, entry.function.c_str());
    if (result != CUDA_SUCCESS) {
        throw_cuda_error(result, "cuModuleGetFunction",
                         fmt::format("wanted the extern \"C\" kernel '{}'", entry.function));
    }
    return function;
}

void grant(CUfunction function, const KernelEntry& entry, int shared_bytes) {
    if (shared_bytes > kDefaultSharedBytes) {
        const CUresult result =
            driver().cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared_bytes);
        if (result != CUDA_SUCCESS) {
            throw_cuda_error(
                result, "cuFuncSetAttribute",
                fmt::format("{} asks for {} bytes of dynamic shared memory", entry.function, shared_bytes));
        }
    }
    if (cluster_blocks(entry.cluster) > kPortableClusterBlocks) {
        JITGEMM_CHECK(driver().cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    }
}

// The driver loads code lazily; here and now, so that the first launch may already be a captured one.
void finish_loading(CUfunction function) {
    if (driver().cuFuncLoad != nullptr) {
        JITGEMM_CHECK(driver().cuFuncLoad(function));
        return;
    }
    int registers = 0;
    JITGEMM_CHECK(driver().cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
}

[[noreturn]] void refuse_parameters(CUresult result, const KernelEntry& entry, const std::string& taken) {
    throw_cuda_error(result, "cuFuncGetParamInfo",
                     fmt::format("{} takes {}, the launch passes one struct of {} bytes", entry.function, taken,
                                 argument_layout(entry.arguments).bytes));
}

// The driver takes each parameter from a pointer of its own, and knows nothing of how many there are or how much each
// points to: a kernel that asks for more than the one struct would have it read beyond. An edited dump can get there.
// The driver is never asked for a parameter that a sound kernel lacks: tools that watch its calls would report the
// failure as an error of the program.
void compare_arguments(CUfunction function, std::string_view binary, const KernelEntry& entry) {
    if (entry.arguments.empty()) return;
    if (parameter_count(binary, entry.function) > 1)
        refuse_parameters(CUDA_ERROR_INVALID_VALUE, entry, "more than one parameter");
    if (driver().cuFuncGetParamInfo == nullptr) return;
    std::size_t offset = 0;
    std::size_t bytes = 0;
    const CUresult result = driver().cuFuncGetParamInfo(function, 0, &offset, &bytes);
    if (result != CUDA_SUCCESS) refuse_parameters(result, entry, "no parameter");
    if (bytes != argument_layout(entry.arguments).bytes)
        refuse_parameters(CUDA_ERROR_INVALID_VALUE, entry, fmt::format("a parameter of {} bytes", bytes));
}

}  // namespace

CudaModule::CudaModule(std::shared_ptr<const CudaContext> context, std::string_view binary)
    : context_(std::move(context)), module_(load_module(binary)) {}

CudaModule::~CudaModule() {
    try {
        const ScopedContext current(*context_);
        const ScopedRelaxedCapture relaxed;
        log_unless_success(driver().cuModuleUnload(module_), "cuModuleUnload");
    } catch (const std::exception& error) {
        log().debug("module not unloaded: {}", error.what());  // its context is gone, and the module with it
    }
}

CUfunction CudaModule::prepare(std::string_view binary, const KernelEntry& entry, const Arch& arch) const {
    const CUfunction function = find_function(module_, entry);
    compare_arguments(function, binary, entry);
    grant(function, entry, most_shared_bytes(entry, arch));
    finish_loading(function);
    return function;
}

}  // namespace jitgemm
