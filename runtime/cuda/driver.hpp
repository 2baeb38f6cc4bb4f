#pragma once

#include <cuda.h>

#include <memory>
#include <string>
#include <vector>

namespace jitgemm {

class DynamicLibrary;

/// Entry points of libcuda, found by dlopen. There is one instance per process. cuda.h maps many names to versioned
/// ones by macro (cuMemAlloc → cuMemAlloc_v2). The lists below go through the same macros. The member, its type and the
/// symbol therefore all have the version of this build's cuda.h, and `driver().cuMemAlloc(...)` calls the right one.
struct DriverApi {
// clang-format off
#define JITGEMM_DRIVER_FUNCTIONS(X)                                                                                    \
    X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuGetErrorString)                                              \
    X(cuDeviceGetCount) X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceGetAttribute) X(cuDeviceTotalMem)                  \
    X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease) X(cuDevicePrimaryCtxGetState)                             \
    X(cuCtxGetCurrent) X(cuCtxSetCurrent) X(cuCtxPushCurrent) X(cuCtxPopCurrent) X(cuCtxGetDevice) X(cuCtxSynchronize) \
    X(cuMemAlloc) X(cuMemFree) X(cuMemGetInfo) X(cuMemcpyHtoD) X(cuMemcpyDtoH) X(cuMemsetD8) X(cuMemsetD8Async)        \
    X(cuMemcpyDtoDAsync) X(cuMemcpy2D)                                                                                 \
    X(cuModuleLoadData) X(cuModuleUnload) X(cuModuleGetFunction) X(cuFuncSetAttribute) X(cuFuncGetAttribute)           \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor) X(cuOccupancyMaxActiveClusters)                                     \
    X(cuLaunchKernel) X(cuLaunchKernelEx) X(cuTensorMapEncodeTiled)                                                    \
    X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamSynchronize) X(cuStreamWaitEvent) X(cuStreamGetId)                  \
    X(cuStreamBeginCapture) X(cuStreamEndCapture) X(cuStreamIsCapturing) X(cuThreadExchangeStreamCaptureMode)          \
    X(cuGraphInstantiateWithFlags) X(cuGraphLaunch) X(cuGraphExecDestroy) X(cuGraphDestroy)                            \
    X(cuUserObjectCreate) X(cuUserObjectRelease) X(cuGraphRetainUserObject)                                            \
    X(cuEventCreate) X(cuEventDestroy) X(cuEventRecord) X(cuEventSynchronize) X(cuEventElapsedTime)
// clang-format on
/// Younger than the oldest supported driver: null if the driver lacks them.
#define JITGEMM_DRIVER_OPTIONAL_FUNCTIONS(X) X(cuFuncLoad) X(cuFuncGetParamInfo) X(cuStreamGetCaptureInfo)

#define JITGEMM_DECLARE(name) decltype(&::name) name = nullptr;
    JITGEMM_DRIVER_FUNCTIONS(JITGEMM_DECLARE)
    JITGEMM_DRIVER_OPTIONAL_FUNCTIONS(JITGEMM_DECLARE)
#undef JITGEMM_DECLARE

    int version = 0;  ///< cuDriverGetVersion as 10 · major + minor, 130 = 13.0
    std::string path;
    std::shared_ptr<const DynamicLibrary> libcuda;
};

/// The driver, loaded and initialised once. Throws CudaError with the names and places that were tried, or with
/// cuInit's answer.
[[nodiscard]] const DriverApi& driver();
/// The same without the throw: null and a reason.
[[nodiscard]] const DriverApi* try_driver(std::string& reason);

/// The driver if cuInit fails only because it sees no GPU: only version and path are useful then. Null otherwise.
[[nodiscard]] const DriverApi* driver_without_gpus();
/// Why a driver sees no GPU, with the value of the variable that hides GPUs.
[[nodiscard]] std::string no_gpu_reason();

/// DriverApi::version; 0 without a driver.
[[nodiscard]] int driver_version();

/// The number of GPUs that the driver sees; if it is 0, `reason` says why.
[[nodiscard]] int gpu_count(std::string& reason);

/// The names that driver() tries, in order. The first is a soname for the system's own search.
[[nodiscard]] std::vector<std::string> driver_search_list();
/// Loads and initialises the first candidate that is a driver. The toolkit's stub library is not one. Throws as
/// driver() does.
[[nodiscard]] DriverApi load_driver(const std::vector<std::string>& candidates);

/// Throws CudaError with result and call unless `result` is CUDA_SUCCESS.
void check(CUresult result, const char* call);
/// Throws the CudaError of check(), with `detail` (may be empty) after the driver's own words.
[[noreturn]] void throw_cuda_error(CUresult result, const char* call, const std::string& detail);
#define JITGEMM_CHECK(expression) ::jitgemm::check(expression, #expression)

}  // namespace jitgemm
