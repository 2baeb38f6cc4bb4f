#pragma once

#include "runtime/cuda/driver.hpp"

#include <memory>

namespace jitgemm {

/// A CUcontext that modules, memory and launches belong to; a retained primary context is released with the object.
class CudaContext {
public:
    /// The calling thread's current context, or null when it has none. A primary one is retained as well, so that it
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

/// Makes a context the thread's current one for a scope, and then the one before it again. Throws CudaError when it
/// cannot.
class ScopedContext {
public:
    explicit ScopedContext(const CudaContext& context);
    ScopedContext(const ScopedContext&) = delete;
    ScopedContext& operator=(const ScopedContext&) = delete;
    ~ScopedContext();
};

/// Lets the thread allocate, free and load modules while some stream is being captured: none of our calls in such a
/// scope touches a captured stream, and in the stricter modes the driver would refuse them and spoil the capture.
class ScopedRelaxedCapture {
public:
    ScopedRelaxedCapture();
    ScopedRelaxedCapture(const ScopedRelaxedCapture&) = delete;
    ScopedRelaxedCapture& operator=(const ScopedRelaxedCapture&) = delete;
    ~ScopedRelaxedCapture();

private:
    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

/// For destructors: logs a failed call and goes on. A driver or context that is already gone took what we free with it.
void log_unless_success(CUresult result, const char* call) noexcept;

}  // namespace jitgemm
