/// Launches that begin while the one before ends: a chain in which each reads what the one before it wrote last, and
/// writes what that one read, has the same bits as one launch after the other.

#include "generator/families/family.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/cuda/cuda_timing.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/support/kernel_checks.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

Context& context() {
    static Context shared;
    return shared;
}

struct Link {
    DataType type;
    std::int64_t m, size;  ///< D (m, size) = A (m, size) · B (size, size)
    KernelConfig config;
    const char* parameters;
};
const Link kLinks[] = {
    {DataType::bf16, 192, 256, {MmaMultistageConfig{}}, "block=64x64x32,warp=32x32,stages=3"},
    {DataType::bf16, 190, 254, {MmaMultistageConfig{}}, "block=64x64x32,warp=32x32,stages=3,split_k=2"},
    {DataType::bf16,
     192,
     256,
     {MmaMultistageConfig{}},
     "block=32x64x32,warp=32x32,stages=3,split_k=4,reduction=cluster"},
    {DataType::bf16, 191, 255, {MmaMultistageConfig{}}, "block=64x64x32,warp=32x32,stages=3,pack=ab,split_k=2"},
    {DataType::bf16, 192, 256, {WgmmaWarpSpecializedConfig{}}, "block=64x64x64,warpgroup=64x64,stages=4"},
    {DataType::bf16, 192, 256, {WgmmaWarpSpecializedConfig{}}, "block=64x64x64,warpgroup=64x64,stages=3,early=b"},
    {DataType::bf16,
     192,
     1024,
     {WgmmaWarpSpecializedConfig{}},
     "block=64x128x64,warpgroup=64x128,stages=4,swap_ab=1,early=a,cluster=2x1,stream_k=100"},
    {DataType::bf16, 191, 255, {WgmmaWarpSpecializedConfig{}}, "block=64x64x64,warpgroup=64x64,stages=4,store=smem"},
    {DataType::bf16,
     191,
     1023,
     {WgmmaWarpSpecializedConfig{}},
     "block=64x64x64,warpgroup=64x64,stages=4,store=smem,stream_k=100"},
    {DataType::bf16, 8, 1024, {MmaSlicedKConfig{}}, "block=16x8x256,swap_ab=1,stages=4"},
    {DataType::bf16, 24, 1024, {MmaSlicedKConfig{}}, "block=32x32x256,swap_ab=1,stages=3,early=1"},
    {DataType::f32, 100, 256, {SimtHierarchicalConfig{}}, "block=32x32x16,warp=16x32,thread=4x4,copy_slices=2"},
    {DataType::f32,
     100,
     255,
     {SimtHierarchicalConfig{}},
     "block=32x32x16,warp=16x32,thread=4x4,copy_slices=2,split_k=3"},
    {DataType::f32, 40, 256, {SimtLongKConfig{}}, "thread=8x8,lanes=4x8x1,warps=4,block_k=32,stages=3,split_k=5"}};

std::size_t bytes_of(const Link& link, std::int64_t rows) {
    return static_cast<std::size_t>(rows * link.size * bytes(link.type));
}

/// Random values of about 1 / sqrt(size), so that products of many matrices neither vanish nor overflow.
std::vector<std::byte> random_matrix(const Link& link, std::int64_t rows, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, rows == link.size ? 1 / std::sqrt(static_cast<float>(link.size)) : 1);
    std::vector<std::byte> matrix(bytes_of(link, rows));
    for (std::size_t at = 0; at < matrix.size(); at += static_cast<std::size_t>(bytes(link.type))) {
        const float value = normal(random);
        const auto* const bits = reinterpret_cast<const std::byte*>(&value);  // NOLINT: bf16 is an f32's upper half
        std::memcpy(&matrix[at], bits + 4 - bytes(link.type), static_cast<std::size_t>(bytes(link.type)));
    }
    return matrix;
}

/// The result of a chain of launches, with or without a wait for each.
std::vector<std::byte> chain(const Link& link, const GemmKernel& kernel, bool one_by_one) {
    constexpr int kLaunches = 41;
    DeviceBuffer b = context().allocate(bytes_of(link, link.size));
    std::array<DeviceBuffer, 2> x{context().allocate(bytes_of(link, link.m)),
                                  context().allocate(bytes_of(link, link.m))};
    b.copy_from_host(random_matrix(link, link.size, 1).data(), bytes_of(link, link.size));
    x[0].copy_from_host(random_matrix(link, link.m, 2).data(), bytes_of(link, link.m));
    const CudaStream stream;
    for (std::size_t i = 0; i < kLaunches; ++i) {
        kernel.launch({.a = x.at(i % 2).data(), .b = b.data(), .d = x.at((i + 1) % 2).data()}, stream.handle());
        if (one_by_one) stream.synchronize();
    }
    stream.synchronize();
    std::vector<std::byte> left(bytes_of(link, link.m));
    state_of(context()).device->copy_to_host(left.data(), x[kLaunches % 2].data(), left.size());
    return left;
}

}  // namespace

TEST_CASE("launches that begin early read nothing stale and overwrite nothing that is still read", "[threads]") {
    REQUIRE_GPU();
    const ScopedContext current(cuda_context(*state_of(context()).device));
    const Arch& arch = *state_of(context()).device->model().arch;
    if (!arch.has_dependent_launch) SKIP_TEST("this GPU has no griddepcontrol");
    for (const Link& link : kLinks) {
        INFO(family_name(link.config) << ' ' << link.parameters);
        GemmSpec spec = spec_of(GemmLayout::tt, link.m, link.size, link.size, link.type);
        spec.d = link.type;
        spec.constant_b = true;
        spec = resolved(spec);
        ParameterMap parameters = parse_parameters(link.parameters);
        parameters["dependent_launch"] = "1";
        const KernelConfig config = with_parameters(link.config, parameters);
        if (!family_of(config).violations(problem_of(spec), config, arch).empty()) continue;  // wgmma elsewhere
        const GemmKernel kernel = check_kernel(context(), spec, config);
        const std::vector<std::byte> expected = chain(link, kernel, true);
        for (int round = 0; round < 20; ++round) CHECK(chain(link, kernel, false) == expected);
    }
}
