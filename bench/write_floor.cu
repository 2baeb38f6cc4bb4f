// How quickly a row-major matrix of 16-bit elements can be written tile by tile: what a GEMM of short K can't beat.
//
//     nvcc -O3 -std=c++17 -arch=sm_90a bench/write_floor.cu -o write_floor && ./write_floor [ROWS COLUMNS]
//
// Prints microseconds and TB/s of a memset and of stores one behind the other, then a row per way of storing and tile,
// with a column per order in which blocks take the tiles: along rows, so that what is written at once is contiguous;
// eight rows of tiles together, as is usual where operands are to be shared in L2; along columns. The matrix (16384 x
// 16384, or what is asked for) is larger than L2; the median of 15 runs of 5 launches counts. 1 TB is 10^12 bytes.
//
// Two kernels write tiles: `by_stores`, 16 bytes per thread, neighbours along a row, and `by_boxes`, one thread per
// block that has TMA copy boxes of whatever shared memory holds (PTX ISA, "cp.async.bulk.tensor"), 128-byte swizzled
// ones of 64 columns or plain ones.

#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int kRuns = 15;
constexpr int kLaunches = 5;
constexpr int kElementBytes = 2;
constexpr int kSide = 256;  // that all tiles divide
constexpr double kLeastBytes = 256e6, kMostBytes = 8e9;
constexpr int kBoxBytes = 64 * 256 * kElementBytes;  // of the largest

enum class Order { along_rows, eight_rows, along_columns };
constexpr Order kOrders[] = {Order::along_rows, Order::eight_rows, Order::along_columns};

/// Of the matrix, a tile or a box, in elements; or a position.
struct Extent {
    int rows, columns;
};

#define CHECK(call)                                                                  \
    do {                                                                             \
        const auto error = (call);                                                   \
        if (error != decltype(error){}) {                                            \
            std::fprintf(stderr, "error: %s: %d\n", #call, static_cast<int>(error)); \
            std::exit(1);                                                            \
        }                                                                            \
    } while (false)

/// Where the tile begins that is taken as number `index`.
__device__ Extent tile_at(int index, Extent matrix, Extent tile, Order order) {
    const Extent tiles{matrix.rows / tile.rows, matrix.columns / tile.columns};
    const int height = order == Order::along_rows ? 1 : order == Order::eight_rows ? 8 : tiles.rows;
    const int group = index / (height * tiles.columns);
    const int inside = index % (height * tiles.columns);
    const int rows = min(height, tiles.rows - group * height);
    return {(group * height + inside % rows) * tile.rows, inside / rows * tile.columns};
}

__device__ int tile_count(Extent matrix, Extent tile) {
    return matrix.rows / tile.rows * (matrix.columns / tile.columns);
}

__global__ void __launch_bounds__(512) one_behind_the_other(uint4* data, std::size_t vectors) {
    const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t at = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; at < vectors; at += threads)
        data[at] = {1, 2, 3, 4};
}

__global__ void __launch_bounds__(256) by_stores(uint4* data, Extent matrix, Extent tile, Order order) {
    constexpr int kVector = sizeof(uint4) / kElementBytes;
    const int of_row = tile.columns / kVector;
    for (int index = blockIdx.x; index < tile_count(matrix, tile); index += gridDim.x) {
        const Extent begin = tile_at(index, matrix, tile, order);
        for (int at = threadIdx.x; at < tile.rows * of_row; at += blockDim.x) {
            const std::size_t row = begin.rows + at / of_row;
            data[(row * matrix.columns + begin.columns) / kVector + at % of_row] = {1, 2, 3, 4};
        }
    }
}

/// A block of 32 threads.
__global__ void __launch_bounds__(32)
    by_boxes(const __grid_constant__ CUtensorMap map, Extent matrix, Extent tile, Extent box, Order order) {
    extern __shared__ __align__(1024) char staged[];  // kBoxBytes
    if (threadIdx.x != 0) return;
    const auto address = static_cast<unsigned>(__cvta_generic_to_shared(staged));
    for (int index = blockIdx.x; index < tile_count(matrix, tile); index += gridDim.x) {
        const Extent begin = tile_at(index, matrix, tile, order);
        for (int row = 0; row < tile.rows; row += box.rows)
            for (int column = 0; column < tile.columns; column += box.columns) {
                asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
                             "r"(begin.columns + column), "r"(begin.rows + row), "r"(address)
                             : "memory");
                asm volatile("cp.async.bulk.commit_group;");
                asm volatile("cp.async.bulk.wait_group.read 8;" ::: "memory");
            }
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/// The matrix in device memory.
class Written {
public:
    explicit Written(Extent matrix) : matrix_(matrix) {
        CHECK(cudaMalloc(&data_, bytes()));
        CHECK(cudaEventCreate(&begin_));
        CHECK(cudaEventCreate(&end_));
        CHECK(cudaDeviceGetAttribute(&sm_count_, cudaDevAttrMultiProcessorCount, 0));
    }

    [[nodiscard]] std::size_t bytes() const { return std::size_t{1} * matrix_.rows * matrix_.columns * kElementBytes; }

    /// Of one memset.
    double memset_us() {
        return time([&] { CHECK(cudaMemsetAsync(data_, 1, bytes())); });
    }
    double one_behind_the_other_us() {
        return time([&] { one_behind_the_other<<<sm_count_, 512>>>(data_, bytes() / sizeof(uint4)); });
    }
    double by_stores_us(Extent tile, Order order) {
        return time([&] { by_stores<<<4 * sm_count_, 256>>>(data_, matrix_, tile, order); });
    }
    double by_boxes_us(Extent tile, Extent box, int per_sm, Order order) {
        const CUtensorMap map = tensor_map(box);
        return time([&] { by_boxes<<<per_sm * sm_count_, 32, kBoxBytes>>>(map, matrix_, tile, box, order); });
    }

private:
    /// Swizzled where the box has rows of 128 bytes.
    [[nodiscard]] CUtensorMap tensor_map(Extent box) const {
        void* encode = nullptr;
        cudaDriverEntryPointQueryResult found;
        CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found));
        CHECK(found);
        const cuuint64_t extents[] = {cuuint64_t(matrix_.columns), cuuint64_t(matrix_.rows)};
        const cuuint64_t pitch[] = {extents[0] * kElementBytes};
        const cuuint32_t box_extents[] = {cuuint32_t(box.columns), cuuint32_t(box.rows)};
        const cuuint32_t steps[] = {1, 1};
        const bool is_swizzled = box.columns * kElementBytes == 128;
        CUtensorMap map;
        CHECK(reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
            &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data_, extents, pitch, box_extents, steps,
            CU_TENSOR_MAP_INTERLEAVE_NONE, is_swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
            CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
        return map;
    }

    template <typename Launch>
    double time(Launch launch) {
        std::vector<float> milliseconds;
        for (int run = 0; run < kRuns; ++run) {
            CHECK(cudaEventRecord(begin_));
            for (int i = 0; i < kLaunches; ++i) launch();
            CHECK(cudaGetLastError());
            CHECK(cudaEventRecord(end_));
            CHECK(cudaEventSynchronize(end_));
            CHECK(cudaEventElapsedTime(&milliseconds.emplace_back(), begin_, end_));
        }
        std::nth_element(milliseconds.begin(), milliseconds.begin() + kRuns / 2, milliseconds.end());
        return milliseconds[kRuns / 2] * 1e3 / kLaunches;
    }

    Extent matrix_;
    uint4* data_ = nullptr;
    int sm_count_ = 0;
    cudaEvent_t begin_{}, end_{};
};

void print_time(double us, std::size_t bytes) { std::printf(" %8.2f us %5.2f TB/s", us, bytes / us / 1e6); }

std::string text(Extent extent) { return std::to_string(extent.rows) + "x" + std::to_string(extent.columns); }

template <typename Time>
void print_orders(const std::string& name, std::size_t bytes, Time time) {
    std::printf("%-44s", name.c_str());
    for (const Order order : kOrders) print_time(time(order), bytes);
    std::printf("\n");
    std::fflush(stdout);
}

void print_all(Written& matrix) {
    const std::size_t bytes = matrix.bytes();
    std::printf("%-44s", "memset");
    print_time(matrix.memset_us(), bytes);
    std::printf("\n%-44s", "stores one behind the other");
    print_time(matrix.one_behind_the_other_us(), bytes);
    std::printf("\n%-44s %22s %22s %22s\n", "", "along rows", "eight rows", "along columns");
    const Extent tiles[] = {{128, 64}, {256, 64}, {128, 128}, {256, 128}, {64, 256}, {128, 256}, {256, 256}};
    for (const Extent tile : tiles)
        print_orders("stores, tile " + text(tile), bytes,
                     [&](Order order) { return matrix.by_stores_us(tile, order); });
    struct Boxes {
        Extent box;
        int per_sm;
    };
    for (const Boxes& boxes : {Boxes{{16, 64}, 1}, {{16, 64}, 2}, {{64, 64}, 1}, {{64, 256}, 1}})
        for (const Extent tile : tiles) {
            if (tile.columns < boxes.box.columns) continue;
            const std::string name =
                "boxes of " + text(boxes.box) + ", " + std::to_string(boxes.per_sm) + " per SM, tile ";
            print_orders(name + text(tile), bytes,
                         [&](Order order) { return matrix.by_boxes_us(tile, boxes.box, boxes.per_sm, order); });
        }
}

/// An extent that all tiles divide; 0 for what is none.
int extent_of(const char* word) {
    char* end = nullptr;
    const long extent = std::strtol(word, &end, 10);
    return *end == '\0' && extent >= kSide && extent <= 1 << 24 && extent % kSide == 0 ? static_cast<int>(extent) : 0;
}

}  // namespace

int main(int argc, char** argv) {
    const Extent asked = argc == 3 ? Extent{extent_of(argv[1]), extent_of(argv[2])} : Extent{16384, 16384};
    const double bytes = 1.0 * asked.rows * asked.columns * kElementBytes;
    if ((argc != 1 && argc != 3) || bytes < kLeastBytes || bytes > kMostBytes) {
        std::fprintf(stderr, "error: ROWS and COLUMNS are multiples of %d, of %.0f to %.0f MB together\n", kSide,
                     kLeastBytes / 1e6, kMostBytes / 1e6);
        return 2;
    }
    Written matrix(asked);
    print_all(matrix);
    return 0;
}
