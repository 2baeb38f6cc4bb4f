#pragma once

#include "runtime/cuda/driver.hpp"

#include <memory>

namespace jitgemm {

/// A CUcontext of modules, memory and launches. A retained primary context is released with the object.
class CudaContext {
public:
    /// The calling thread's current context, or null if it has none. A primary one is retained as well, so that it
    /// outlives its owner.
    [[nodiscard]] static std::shared_ptr<const CudaContext> current();
    /// The primary context of a device.
    [[nodiscard]] static std::shared_ptr<const CudaContext> primary(CUdevice device);

    CudaContext(CUcontext handle, CUdevice device, bool retained)
        : handle_(handle), device_(device), retained_(retained) {}
    CudaContext(const CudaContext&) = delete;
    CudaContext& operator=(const CudaContext&) = delete;
    ~CudaContext();

    [[nodiscard]] CUcontext handle() const { return handle_; }
    [[nodiscard]] CUdevice device() const { return device_; }

private:
    CUcontext handle_;
    CUdevice device_;
    bool retained_;
};

/// Makes a context the thread's current one for a scope, and then restores the previous one. Throws CudaError if it
/// cannot.
class ScopedContext {
public:
    explicit ScopedContext(const CudaContext& context);
    ScopedContext(const ScopedContext&) = delete;
    ScopedContext& operator=(const ScopedContext&) = delete;
    ~ScopedContext();
};

/// Lets the thread allocate, free and load modules while some stream is being captured. Our calls in this scope touch
/// no captured stream, but in the stricter modes the driver would refuse them and spoil the capture.
class ScopedRelaxedCapture {
public:
    ScopedRelaxedCapture();
    ScopedRelaxedCapture(const ScopedRelaxedCapture&) = delete;
    ScopedRelaxedCapture& operator=(const ScopedRelaxedCapture&) = delete;
    ~ScopedRelaxedCapture();

private:
    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

/// For destructors: logs a failed call and goes on. A driver or context that is gone has already freed its resources.
void log_unless_success(CUresult result, const char* call) noexcept;

}  // namespace jitgemm
