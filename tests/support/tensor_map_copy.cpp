#include "tests/support/tensor_map_copy.hpp"

#include <fmt/format.h>

namespace jitgemm::testing {
namespace {

constexpr std::size_t kCounterBytes = 8;
constexpr int kThreads = 64;

// By box rows and columns.
constexpr const char* kBody = R"(
constexpr int kBoxRows = {};
constexpr int kBoxColumns = {};
constexpr int kBoxBytes = kBoxRows * kBoxColumns * 2;

struct alignas(64) TensorMap {{ unsigned long long words[16]; }};
struct Arguments {{
    TensorMap map_a;     // (m, k)
    TensorMap map_d;     // (m, k)
    unsigned* counters;  // the next tile, and how many blocks have ended
    int m, k;
}};

__device__ unsigned shared_address(const void* pointer) {{
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}}

__device__ void wait(const unsigned barrier, const unsigned parity) {{
    asm volatile(
        "{{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}}\n" :: "r"(barrier), "r"(parity) : "memory");
}}

extern "C" __global__ void __launch_bounds__(64) copy(const __grid_constant__ Arguments args) {{
    extern __shared__ __align__(1024) unsigned char box[];
    __shared__ __align__(8) unsigned long long full;
    __shared__ unsigned next;
    const unsigned barrier = shared_address(&full), target = shared_address(box);
    if (threadIdx.x == 0) {{
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(barrier) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }}
    __syncthreads();
    asm volatile("griddepcontrol.wait;" ::: "memory");
    const unsigned boxes_m = (args.m + kBoxRows - 1) / kBoxRows, boxes_k = (args.k + kBoxColumns - 1) / kBoxColumns;
    for (unsigned phase = 0;; phase ^= 1) {{
        if (threadIdx.x == 0) next = atomicAdd(args.counters, 1u);
        __syncthreads();
        const unsigned tile = next;
        if (tile >= boxes_m * boxes_k) break;
        const int row = static_cast<int>(tile / boxes_k) * kBoxRows;
        const int column = static_cast<int>(tile % boxes_k) * kBoxColumns;
        if (threadIdx.x == 0) {{
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                         :: "r"(barrier), "n"(kBoxBytes) : "memory");
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                         "[%0], [%1, {{%2, %3}}], [%4];"
                         :: "r"(target), "l"(&args.map_a), "r"(column), "r"(row), "r"(barrier) : "memory");
        }}
        wait(barrier, phase);
        __syncthreads();
        if (threadIdx.x == 0) {{
            asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {{%1, %2}}], [%3];"
                         :: "l"(&args.map_d), "r"(column), "r"(row), "r"(target) : "memory");
            asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
        }}
        __syncthreads();
    }}
    if (threadIdx.x == 0 && atomicAdd(args.counters + 1, 1u) == gridDim.x - 1) {{
        atomicExch(args.counters, 0u);
        atomicExch(args.counters + 1, 0u);
    }}
}}
)";

KernelEntry entry_of(TensorMapSwizzle swizzle, int rows, int columns) {
    const auto map = [&](ArgumentRole role) {
        return TensorMapArgument{role,
                                 {static_cast<std::uint32_t>(columns), static_cast<std::uint32_t>(rows)},
                                 swizzle,
                                 L2Promotion::bytes128};
    };
    return {.function = "copy",
            .threads = kThreads,
            .shared_bytes = rows * columns * 2,
            .programmatic_launch = true,
            .grid = {.tile_m = rows, .tile_n = columns, .matrix = GridMatrix::a, .blocks = PersistentBlocks{2}},
            .arguments = {map(ArgumentRole::a), map(ArgumentRole::d), PointerArgument{ArgumentRole::counters},
                          ExtentArgument{ArgumentRole::m}, ExtentArgument{ArgumentRole::k}}};
}

int box_width(TensorMapSwizzle swizzle) { return (swizzle == TensorMapSwizzle::none ? 64 : span_bytes(swizzle)) / 2; }

LoadedKernel load(ContextState& context, TensorMapSwizzle swizzle, int rows) {
    const int columns = box_width(swizzle);
    const KernelText text{.name = fmt::format("copy_{}x{}", rows, columns),
                          .arch = context.device->model().arch,
                          .body = fmt::format(fmt::runtime(kBody), rows, columns),
                          .entries = {entry_of(swizzle, rows, columns)}};
    LoadedKernel loaded = context.load(text, text.body);
    loaded.source = std::make_shared<const KernelSource>(KernelSource{text, {}});
    return loaded;
}

}  // namespace

TensorMapCopy::TensorMapCopy(ContextState& context, TensorMapSwizzle swizzle, int rows)
    : context_(context), rows_(rows), columns_(box_width(swizzle)), loaded_(load(context, swizzle, rows)) {}

GemmKernel TensorMapCopy::kernel(std::int64_t rows, std::int64_t columns, std::int64_t lda, std::int64_t ldd) const {
    auto state =
        std::make_shared<KernelState>(problem_of({.m = rows, .n = columns, .k = columns, .lda = lda, .ldd = ldd}));
    state->kernel = std::make_shared<const LoadedKernel>(loaded_);
    state->entries.emplace_back(loaded_.source->entries.front(), loaded_.functions.front(), state->problem,
                                *context_.device);
    state->workspace_bytes = state->counter_bytes = kCounterBytes;
    state->device = context_.device;
    state->workspaces = context_.workspaces;
    return KernelAccess::make(std::move(state));
}

}  // namespace jitgemm::testing
