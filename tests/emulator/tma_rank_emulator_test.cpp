/// Copies through tensor maps of rank 3: the wrappers of that rank compile, and move a batch of matrices.

#include "generator/base/embedded_templates.hpp"
#include "generator/base/renderer.hpp"
#include "generator/families/shared/tma_text.hpp"
#include "runtime/compiler/compiler.hpp"
#include "runtime/emulator_device/emulator_device.hpp"
#include "tests/catch.hpp"
#include "tests/support/tensor_map_copy_checks.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;

namespace {

constexpr int kRows = 12, kColumns = 40, kMatrices = 3;  // of A, and of D
constexpr int kPitch = 48, kMatrixPitch = 640;           // elements
constexpr int kBoxRows = 4, kBoxColumns = 64, kBoxMatrices = 2;

// Thread 0 of block `row` copies the box of 4 rows, of two matrices at a time.
constexpr const char* kKernel = R"(
struct GemmArgs {
    TensorMap map_a, map_d;
};

extern "C" __global__ void copy(const __grid_constant__ GemmArgs args) {
    extern __shared__ __align__(1024) unsigned char box[];
    __shared__ __align__(8) unsigned long long full;
    const unsigned barrier = static_cast<unsigned>(__cvta_generic_to_shared(&full));
    const unsigned target = static_cast<unsigned>(__cvta_generic_to_shared(box));
    if (threadIdx.x != 0) return;
    const int row = blockIdx.x * 4;
    mbarrier_init(barrier, 1);
    fence_proxy_async();
    for (int matrix = 0; matrix < 3; matrix += 2) {
        mbarrier_arrive_expect(barrier, 4 * 64 * 2 * 2);
        tma_load(target, args.map_a, 0, row, matrix, barrier);
        mbarrier_wait(barrier, matrix / 2 & 1);
        tma_store(target, args.map_d, 0, row, matrix);
        tma_store_commit();
        tma_store_wait_read<0>();
    }
}
)";

std::string body() {
    RenderInput input{.macros = {{"GEMM_STORE_TMA", 1}, {"GEMM_MBARRIER_ARRIVE", 0}}, .generated = {}};
    input.generated["tma_copies.inl"] = tma_wrappers({3}, {.stores = true});
    return render(TemplateSet::embedded(), "ptx/tma.cuh", input) +
           render(TemplateSet::embedded(), "ptx/mbarrier.cuh", input) + kKernel;
}

KernelEntry entry() {
    // The problem's n is the number of matrices, ldb the elements from one to the next.
    const auto map = [](ArgumentRole role) {
        return TensorMapArgument{role,
                                 {{kBoxColumns, ArgumentRole::k},
                                  {kBoxRows, ArgumentRole::m},
                                  {kBoxMatrices, ArgumentRole::n, ArgumentRole::ldb}},
                                 TensorMapSwizzle::span128};
    };
    return {.function = "copy",
            .threads = 32,
            .shared_bytes = kBoxRows * kBoxColumns * kBoxMatrices * 2,
            .grid = {.tile_m = kBoxRows, .tile_n = kBoxColumns, .matrix = GridMatrix::a},
            .arguments = {map(ArgumentRole::a), map(ArgumentRole::d)}};
}

GemmKernel kernel_of(ContextState& context) {
    const KernelText text{
        .name = "copy_rank_3", .arch = context.device->model().arch, .body = body(), .entries = {entry()}};
    const LoadedKernel loaded = context.load(text, text.body);
    auto state = std::make_shared<KernelState>(problem_of({.m = kRows,
                                                           .n = kMatrices,
                                                           .k = kColumns,
                                                           .layout = GemmLayout::tt,
                                                           .lda = kPitch,
                                                           .ldb = kMatrixPitch,
                                                           .ldd = kPitch}));
    auto loaded_kernel = std::make_shared<LoadedKernel>();
    loaded_kernel->source = std::make_shared<const KernelSource>(KernelSource{text, {}});
    state->kernel = std::move(loaded_kernel);
    state->entries.emplace_back(text.entries.front(), loaded.functions.front(), state->problem, *context.device);
    state->device = context.device;
    state->workspaces = context.workspaces;
    return KernelAccess::make(std::move(state));
}

}  // namespace

TEST_CASE("a batch of matrices is copied through tensor maps of rank 3, and nothing around them") {
    ContextState context(Options::from_environment(), std::make_shared<EmulatorDevice>(find_arch("sm_90a"), 0),
                         make_nvrtc_compiler(Options::from_environment(), 0, ""));
    const GemmKernel kernel = kernel_of(context);
    Device& device = *context.device;
    constexpr std::size_t kElements = std::size_t{kMatrices} * kMatrixPitch;
    std::vector<std::uint16_t> a(kElements), d(kElements);
    for (std::size_t i = 0; i < kElements; ++i) a[i] = static_cast<std::uint16_t>(i + 1);
    const DevicePointer source = device.allocate(kElements * 2), target = device.allocate(kElements * 2);
    device.copy_to_device(source, a.data(), kElements * 2);
    device.fill_bytes(target, kUncopied, kElements * 2);
    kernel.launch(TensorMapCopy::arguments(source, target));
    device.synchronize(nullptr);
    device.copy_to_host(d.data(), target, kElements * 2);
    int wrong = 0;
    for (std::size_t i = 0; i < kElements; ++i) {
        const std::size_t row = i % kMatrixPitch / kPitch, column = i % kMatrixPitch % kPitch;
        const bool is_inside = row < kRows && column < kColumns;
        if (d[i] != (is_inside ? a[i] : kUncopied * 0x101)) ++wrong;
    }
    CHECK(wrong == 0);
    device.free(source);
    device.free(target);
}
