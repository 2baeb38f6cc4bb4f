// Device side of verification and measurement: fills operands, computes every expected element of D in double precision
// and compares in place, looks for damage around D, reads memory to leave a clean cache. Written to be right before
// fast, and to share nothing with generated kernels. Positions and strides are 64 bits wide; grids are one-dimensional
// and loop over what they do not cover.

constexpr int kTile = 64;   // rows and columns of D a block checks at a time
constexpr int kDepth = 16;  // of K in shared memory
constexpr int kThreads = 256;
constexpr int kStep = 16;  // a thread owns rows and columns kStep apart
constexpr int kPerThread = kTile / kStep;

REFERENCE_FUNCTION long long global_thread() { return (long long)blockIdx.x * blockDim.x + threadIdx.x; }
REFERENCE_FUNCTION long long global_threads() { return (long long)gridDim.x * blockDim.x; }

// ---- fill -----------------------------------------------------------------------------------------------------------

// Of the i-th element, counted along the lines of memory.
REFERENCE_FUNCTION Place place_in_memory(const FillArguments& arguments, long long i) {
    const Extents extents = arguments.extents;
    if (arguments.matrix.column_stride == 1) return place_of(i, extents);
    const Place turned = place_of(i, {extents.problems, extents.columns, extents.rows});
    return {turned.problem, turned.column, turned.row};
}

extern "C" __global__ void __launch_bounds__(256) reference_fill(const __grid_constant__ FillArguments arguments) {
    const Operand& matrix = arguments.matrix;
    const long long count = count_of(arguments.extents);
    for (long long i = global_thread(); i < count; i += global_threads()) {
        const Place at = place_in_memory(arguments, i);
        store_bits(matrix.data, index_of(matrix, at), matrix.type, filled(arguments, at));
    }
}

// ---- check ----------------------------------------------------------------------------------------------------------

// Finds nothing wrong in most threads, so plain atomics do.
REFERENCE_FUNCTION void record(CheckResult* result, Word wrong, Word first, double largest) {
    if (wrong != 0) {
        atomicAdd(&result->wrong, wrong);
        atomicMin(&result->first, first);
    }
    if (largest > 0.0) atomicMax(&result->largest_error, double_bits(largest));
}

// Elements that do not hold any more what reference_fill put there.
extern "C" __global__ void __launch_bounds__(256)
    reference_compare(const __grid_constant__ CompareArguments arguments) {
    const FillArguments& fill = arguments.fill;
    if (arguments.number >= 0) {
        if (global_thread() != 0) return;
        const FilledBits bits = filled_bits(fill, place_of(arguments.number, fill.extents));
        arguments.result->expected = bits.wanted;
        arguments.result->got = bits.found;
        return;
    }
    const long long count = count_of(fill.extents);
    Word wrong = 0;
    Word first = ~0ULL;
    for (long long i = global_thread(); i < count; i += global_threads()) {
        const Place at = place_in_memory(fill, i);
        const FilledBits bits = filled_bits(fill, at);
        if (bits.wanted == bits.found) continue;
        ++wrong;
        const Word number = number_of(at, fill.extents);
        if (number < first) first = number;
    }
    record(arguments.result, wrong, first, 0.0);
}

// A kTile × kDepth piece of an operand whose rows are `outer` and whose columns are k; zero outside. The loop runs
// along whichever of the two lies contiguous in memory.
template <typename Element>
static __device__ __forceinline__ void load_tile(double (*tile)[kTile + 1], bool k_is_contiguous, long long outer_begin,
                                                 long long outer_end, long long k_begin, long long k_end,
                                                 Element element_at) {
    for (int i = threadIdx.x; i < kTile * kDepth; i += kThreads) {
        const int row = k_is_contiguous ? i / kDepth : i % kTile;
        const int depth = k_is_contiguous ? i % kDepth : i / kTile;
        const long long outer = outer_begin + row;
        const long long k = k_begin + depth;
        tile[depth][row] = outer < outer_end && k < k_end ? element_at(outer, k) : 0.0;
    }
}

// The use of a tile's sums.
enum Purpose { kCheckExact, kCheckBounded, kStoreSums };

// All but kCheckExact also sum absolute products, which the bound of random inputs is a part of.
template <Purpose kPurpose>
static __device__ __forceinline__ void check_tile(const CheckArguments& arguments, Place begin,
                                                  double (*a_tile)[kTile + 1], double (*b_tile)[kTile + 1]) {
    const int thread_row = threadIdx.x / kStep;
    const int thread_column = threadIdx.x % kStep;
    double sum[kPerThread][kPerThread] = {};
    double absolute[kPerThread][kPerThread] = {};
    const Extents extents = arguments.extents;
    const auto a_at = [&](long long row, long long k) { return scaled_a(arguments, begin.problem, row, k); };
    const auto b_at = [&](long long column, long long k) { return scaled_b(arguments, begin.problem, k, column); };

    for (long long k = 0; k < arguments.k; k += kDepth) {
        __syncthreads();
        load_tile(a_tile, arguments.a.column_stride == 1, begin.row, extents.rows, k, arguments.k, a_at);
        load_tile(b_tile, arguments.b.row_stride == 1, begin.column, extents.columns, k, arguments.k, b_at);
        __syncthreads();
        UNROLL_SOME
        for (int depth = 0; depth < kDepth; ++depth) {
            double a_values[kPerThread], b_values[kPerThread];
            UNROLL_ALL
            for (int i = 0; i < kPerThread; ++i) {
                a_values[i] = a_tile[depth][thread_row + i * kStep];
                b_values[i] = b_tile[depth][thread_column + i * kStep];
            }
            UNROLL_ALL
            for (int i = 0; i < kPerThread; ++i) {
                UNROLL_ALL
                for (int j = 0; j < kPerThread; ++j) {
                    sum[i][j] = fma(a_values[i], b_values[j], sum[i][j]);
                    if (kPurpose != kCheckExact)
                        absolute[i][j] = fma(fabs(a_values[i]), fabs(b_values[j]), absolute[i][j]);
                }
            }
        }
    }

    Word wrong = 0;
    Word first = ~0ULL;
    double largest = 0.0;
    UNROLL_ALL
    for (int i = 0; i < kPerThread; ++i) {
        UNROLL_ALL
        for (int j = 0; j < kPerThread; ++j) {
            const Place at = {begin.problem, begin.row + thread_row + i * kStep,
                              begin.column + thread_column + j * kStep};
            if (at.row >= extents.rows || at.column >= extents.columns) continue;
            if (kPurpose == kStoreSums) {
                arguments.sums[number_of(at, extents)] = {sum[i][j], absolute[i][j]};
                continue;
            }
            const double error = relative_error(arguments, sum[i][j], absolute[i][j], at);
            if (error > largest) largest = error;
            if (error > 1.0) {
                ++wrong;
                const Word number = number_of(at, extents);
                if (number < first) first = number;
            }
        }
    }
    if (kPurpose != kStoreSums) record(arguments.result, wrong, first, largest);
}

template <Purpose kPurpose>
static __device__ __forceinline__ void check_all(const CheckArguments& arguments) {
    __shared__ double a_tile[kDepth][kTile + 1];
    __shared__ double b_tile[kDepth][kTile + 1];
    const Extents extents = arguments.extents;
    const Extents tiles = {extents.problems, (extents.rows + kTile - 1) / kTile, (extents.columns + kTile - 1) / kTile};
    for (long long i = blockIdx.x; i < count_of(tiles); i += gridDim.x) {
        const Place tile = place_of(i, tiles);
        check_tile<kPurpose>(arguments, {tile.problem, tile.row * kTile, tile.column * kTile}, a_tile, b_tile);
    }
}

extern "C" __global__ void __launch_bounds__(256, 2)
    reference_check_exact(const __grid_constant__ CheckArguments arguments) {
    check_all<kCheckExact>(arguments);
}
extern "C" __global__ void __launch_bounds__(256, 2)
    reference_check_bounded(const __grid_constant__ CheckArguments arguments) {
    check_all<kCheckBounded>(arguments);
}
extern "C" __global__ void __launch_bounds__(256, 2) reference_sums(const __grid_constant__ CheckArguments arguments) {
    check_all<kStoreSums>(arguments);
}

// Expected value and value found of one element. One block.
extern "C" __global__ void __launch_bounds__(256) reference_element(const __grid_constant__ CheckArguments arguments) {
    __shared__ double sums[kThreads];
    const Place at = arguments.at;
    double sum = 0.0;
    for (long long k = threadIdx.x; k < arguments.k; k += kThreads)
        sum = fma(scaled_a(arguments, at.problem, at.row, k), scaled_b(arguments, at.problem, k, at.column), sum);
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int i = 1; i < kThreads; ++i) sum += sums[i];
    arguments.result->expected = finish(arguments, sum, 0.0, at).value;
    arguments.result->got = element(arguments.d, at);
}

// ---- guard bands ----------------------------------------------------------------------------------------------------

// Counts bytes around the lines that are not the pattern any more.
extern "C" __global__ void __launch_bounds__(256) reference_guard(const __grid_constant__ GuardArguments arguments) {
    const long long count = guard_count(arguments);
    Word damaged = 0;
    for (long long i = global_thread(); i < count; i += global_threads())
        if (arguments.data[guard_place(arguments, i)] != arguments.pattern) ++damaged;
    if (damaged != 0) atomicAdd(&arguments.result->guard_damage, damaged);
}

// ---- cache flush ----------------------------------------------------------------------------------------------------

struct ReadArguments {
    const uint4* data;
    long long count;
    Word* sink;  // written only when every word read is one in 2^64
};

// Reads memory, so that the cache holds clean lines of it and nothing else.
extern "C" __global__ void __launch_bounds__(256) reference_read(const __grid_constant__ ReadArguments arguments) {
    Word sum = 0;
    for (long long i = global_thread(); i < arguments.count; i += global_threads()) {
        const uint4 value = arguments.data[i];
        sum += mixed(((Word)value.x << 32 | value.y) ^ ((Word)value.z << 32 | value.w));
    }
    if (sum == 0x0123456789abcdefULL) *arguments.sink = sum;
}
