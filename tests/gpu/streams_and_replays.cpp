#include "tests/gpu/streams_and_replays.hpp"

#include "runtime/context/context_state.hpp"
#include "runtime/cuda/cuda_timing.hpp"
#include "runtime/verify/guarded_problem.hpp"
#include "tests/catch.hpp"
#include "tests/support/kernel_checks.hpp"

#include <cstddef>
#include <vector>

namespace jitgemm::testing {

void check_streams_and_replays(Context& context, const GemmSpec& spec, const KernelConfig& config) {
    const DriverApi& api = driver();
    Device& device = *state_of(context).device;
    const ScopedContext current(cuda_context(device));
    const std::size_t d_bytes = static_cast<std::size_t>(operand_extents(spec).d * bytes(spec.d));
    const GemmKernel kernel = check_kernel(context, spec, config);
    const GuardedProblem problem(state_of(context), spec, InputKind::normal, 7, 1.0F, 0.0F, Placement::generous);
    const CudaStream first, second;
    DeviceBuffer other = context.allocate(d_bytes);
    GemmArguments beside = problem.arguments();
    beside.d = other.data();
    // Both D begin as the problem's does: launches leave rows behind the last group as they are.
    std::vector<std::byte> before(d_bytes);
    device.copy_to_host(before.data(), problem.arguments().d, d_bytes);
    device.copy_to_device(other.data(), before.data(), d_bytes);
    for (int i = 0; i < 50; ++i) {
        kernel.launch(problem.arguments(), first.handle());
        kernel.launch(beside, second.handle());
    }
    first.synchronize();
    second.synchronize();
    std::vector<std::byte> once(d_bytes), again(d_bytes);
    device.copy_to_host(once.data(), problem.arguments().d, d_bytes);
    device.copy_to_host(again.data(), other.data(), d_bytes);
    CHECK(once == again);
    CHECK(problem.check().ok);

    JITGEMM_CHECK(api.cuStreamBeginCapture(first.handle(), CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < 3; ++i) kernel.launch(beside, first.handle());
    CUgraph graph = nullptr;
    JITGEMM_CHECK(api.cuStreamEndCapture(first.handle(), &graph));
    CUgraphExec executable = nullptr;
    JITGEMM_CHECK(api.cuGraphInstantiateWithFlags(&executable, graph, 0));
    device.copy_to_device(other.data(), before.data(), d_bytes);
    for (int i = 0; i < 30; ++i) JITGEMM_CHECK(api.cuGraphLaunch(executable, first.handle()));
    first.synchronize();
    JITGEMM_CHECK(api.cuGraphExecDestroy(executable));
    JITGEMM_CHECK(api.cuGraphDestroy(graph));
    device.copy_to_host(again.data(), other.data(), d_bytes);
    CHECK(once == again);
}

}  // namespace jitgemm::testing
