#include "runtime/cuda/cubin_parameters.hpp"

#include "runtime/compiler/nvrtc.hpp"
#include "tests/catch.hpp"

#include <string>

using namespace jitgemm;

namespace {

constexpr const char* kKernels = R"(
struct Small { void *a; int m; };
struct __align__(64) Map { char bytes[128]; };
struct WithMap { Map map; int *a; };
struct Large { int *a; char rest[5000]; };
extern "C" __global__ void none() {}
extern "C" __global__ void small(const Small s) { *(int *)s.a = s.m; }
extern "C" __global__ void with_map(const __grid_constant__ WithMap s) { *s.a = s.map.bytes[9]; }
extern "C" __global__ void two(const Small s, const int more) { *(int *)s.a = more; }
extern "C" __global__ void unused(const Small s, const int more, const int) { *(int *)s.a = more; }
extern "C" __global__ void large(const Large s) { *s.a = s.rest[4999]; }
extern "C" __global__ void two_large(const Large s, const Large) { *s.a = s.rest[4999]; }
)";

}  // namespace

TEST_CASE("a cubin tells how many parameters each of its kernels has, whatever the architecture") {
    const std::shared_ptr<Nvrtc> nvrtc = Nvrtc::load(Options::from_environment());
    for (const int arch : nvrtc->supported_archs()) {
        if (arch < 80) continue;
        INFO("sm_" << arch);
        const NvrtcOutput output =
            nvrtc->compile(kKernels, "kernel.cu", {"--gpu-architecture=sm_" + std::to_string(arch), "--std=c++17"});
        REQUIRE(output.ok);
        CHECK(parameter_count(output.code, "none") == 0);
        for (const char* const one : {"small", "with_map", "large"}) CHECK(parameter_count(output.code, one) == 1);
        for (const char* const two : {"two", "two_large"}) CHECK(parameter_count(output.code, two) == 2);
        CHECK(parameter_count(output.code, "unused") == 3);
    }
}
