#include "runtime/cuda/cuda_context.hpp"

#include "runtime/support/log.hpp"

namespace jitgemm {
namespace {

// The retained primary context of `device` if it is `handle`, else null. Does not create a primary context.
bool retain_if_primary(CUdevice device, CUcontext handle) {
    unsigned int flags = 0;
    int active = 0;
    JITGEMM_CHECK(driver().cuDevicePrimaryCtxGetState(device, &flags, &active));
    if (active == 0) return false;
    CUcontext primary = nullptr;
    JITGEMM_CHECK(driver().cuDevicePrimaryCtxRetain(&primary, device));
    if (primary == handle) return true;
    JITGEMM_CHECK(driver().cuDevicePrimaryCtxRelease(device));
    return false;
}

}  // namespace

std::shared_ptr<const CudaContext> CudaContext::current() {
    CUcontext handle = nullptr;
    JITGEMM_CHECK(driver().cuCtxGetCurrent(&handle));
    if (handle == nullptr) return nullptr;
    CUdevice device = 0;
    JITGEMM_CHECK(driver().cuCtxGetDevice(&device));
    return std::make_shared<const CudaContext>(handle, device, retain_if_primary(device, handle));
}

std::shared_ptr<const CudaContext> CudaContext::primary(CUdevice device) {
    CUcontext handle = nullptr;
    JITGEMM_CHECK(driver().cuDevicePrimaryCtxRetain(&handle, device));
    return std::make_shared<const CudaContext>(handle, device, true);
}

CudaContext::~CudaContext() {
    if (retained_) log_unless_success(driver().cuDevicePrimaryCtxRelease(device_), "cuDevicePrimaryCtxRelease");
}

ScopedContext::ScopedContext(const CudaContext& context) { JITGEMM_CHECK(driver().cuCtxPushCurrent(context.handle())); }

ScopedContext::~ScopedContext() {
    CUcontext popped = nullptr;
    log_unless_success(driver().cuCtxPopCurrent(&popped), "cuCtxPopCurrent");
}

ScopedRelaxedCapture::ScopedRelaxedCapture() { JITGEMM_CHECK(driver().cuThreadExchangeStreamCaptureMode(&mode_)); }

ScopedRelaxedCapture::~ScopedRelaxedCapture() {
    log_unless_success(driver().cuThreadExchangeStreamCaptureMode(&mode_), "cuThreadExchangeStreamCaptureMode");
}

void log_unless_success(CUresult result, const char* call) noexcept {
    if (result == CUDA_SUCCESS || result == CUDA_ERROR_DEINITIALIZED || result == CUDA_ERROR_CONTEXT_IS_DESTROYED)
        return;
    const char* name = nullptr;
    if (driver().cuGetErrorName(result, &name) != CUDA_SUCCESS || name == nullptr) name = "unknown CUresult";
    log().error("{}: {}", call, name);
}

}  // namespace jitgemm
