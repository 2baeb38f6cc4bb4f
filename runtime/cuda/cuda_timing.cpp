#include "runtime/cuda/cuda_timing.hpp"

#include "jitgemm/error.hpp"
#include "runtime/cuda/cuda_device.hpp"

#include <fmt/format.h>

#include <memory>

namespace jitgemm {
namespace {

void destroy_graph(CUgraph graph) noexcept {
    if (graph != nullptr) log_unless_success(driver().cuGraphDestroy(graph), "cuGraphDestroy");
}

CUgraph capture(const CudaStream& stream, const std::function<void(CUstream)>& record) {
    CUgraph graph = nullptr;
    // Relaxed: a peer may allocate on first use.
    JITGEMM_CHECK(driver().cuStreamBeginCapture(stream.handle(), CU_STREAM_CAPTURE_MODE_RELAXED));
    try {
        record(stream.handle());
    } catch (...) {
        static_cast<void>(
            driver().cuStreamEndCapture(stream.handle(), &graph));  // the first error is the one that tells
        destroy_graph(graph);
        throw;
    }
    JITGEMM_CHECK(driver().cuStreamEndCapture(stream.handle(), &graph));
    return graph;
}

}  // namespace

const CudaContext& cuda_context(const Device& device) {
    const auto* cuda = dynamic_cast<const CudaDevice*>(&device);
    if (cuda == nullptr) throw Error(fmt::format("timing needs a CUDA device, but this is {}", device.name()));
    return cuda->context();
}

CudaStream::CudaStream() { JITGEMM_CHECK(driver().cuStreamCreate(&handle_, CU_STREAM_NON_BLOCKING)); }

CudaStream::~CudaStream() { log_unless_success(driver().cuStreamDestroy(handle_), "cuStreamDestroy"); }

void CudaStream::synchronize() const { JITGEMM_CHECK(driver().cuStreamSynchronize(handle_)); }

CudaEvent::CudaEvent() { JITGEMM_CHECK(driver().cuEventCreate(&handle_, CU_EVENT_DEFAULT)); }

CudaEvent::~CudaEvent() { log_unless_success(driver().cuEventDestroy(handle_), "cuEventDestroy"); }

void CudaEvent::record(const CudaStream& stream) const {
    JITGEMM_CHECK(driver().cuEventRecord(handle_, stream.handle()));
}

double CudaEvent::microseconds(const CudaEvent& start, const CudaEvent& stop) {
    JITGEMM_CHECK(driver().cuEventSynchronize(stop.handle_));
    float milliseconds = 0;
    JITGEMM_CHECK(driver().cuEventElapsedTime(&milliseconds, start.handle_, stop.handle_));
    return 1000.0 * static_cast<double>(milliseconds);
}

CudaGraph::CudaGraph(const CudaStream& stream, const std::function<void(CUstream)>& record) {
    const std::unique_ptr<CUgraph_st, void (*)(CUgraph)> graph(capture(stream, record), destroy_graph);
    JITGEMM_CHECK(driver().cuGraphInstantiateWithFlags(&handle_, graph.get(), 0));
}

CudaGraph::~CudaGraph() {
    if (handle_ != nullptr) log_unless_success(driver().cuGraphExecDestroy(handle_), "cuGraphExecDestroy");
}

void CudaGraph::launch(const CudaStream& stream) const {
    JITGEMM_CHECK(driver().cuGraphLaunch(handle_, stream.handle()));
}

}  // namespace jitgemm
