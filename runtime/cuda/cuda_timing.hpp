#pragma once

#include "runtime/cuda/cuda_context.hpp"
#include "runtime/cuda/driver.hpp"
#include "runtime/device/device.hpp"

#include <functional>
#include <utility>

namespace jitgemm {

/// The context of a device. Throws Error if it is not a CUDA device.
[[nodiscard]] const CudaContext& cuda_context(const Device& device);

// Owners of the objects for timing. All are made, used and destroyed with the device's context current (ScopedContext).

/// A stream that does not wait for the default stream.
class CudaStream {
public:
    CudaStream();
    CudaStream(const CudaStream&) = delete;
    CudaStream& operator=(const CudaStream&) = delete;
    ~CudaStream();
    [[nodiscard]] CUstream handle() const { return handle_; }
    void synchronize() const;

private:
    CUstream handle_ = nullptr;
};

class CudaEvent {
public:
    CudaEvent();
    CudaEvent(const CudaEvent&) = delete;
    CudaEvent& operator=(const CudaEvent&) = delete;
    ~CudaEvent();
    void record(const CudaStream& stream) const;
    /// Waits for both events.
    [[nodiscard]] static double microseconds(const CudaEvent& start, const CudaEvent& stop);

private:
    CUevent handle_ = nullptr;
};

/// A captured sequence of launches, ready to be replayed (move-only).
class CudaGraph {
public:
    CudaGraph() = default;
    /// Captures the work that `record` enqueues on `stream`. An exception of `record` ends the capture and goes on.
    CudaGraph(const CudaStream& stream, const std::function<void(CUstream)>& record);
    CudaGraph(CudaGraph&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    CudaGraph& operator=(CudaGraph&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~CudaGraph();
    void launch(const CudaStream& stream) const;

private:
    CUgraphExec handle_ = nullptr;
};

}  // namespace jitgemm
