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

struct Coordinate {
    long long row, column;
};

// Of the i-th element, counted along the lines of memory.
REFERENCE_FUNCTION Coordinate coordinate_of(const FillArguments& arguments, long long i) {
    if (arguments.column_stride == 1) return {i / arguments.columns, i % arguments.columns};
    return {i % arguments.rows, i / arguments.rows};
}

extern "C" __global__ void __launch_bounds__(256) reference_fill(const __grid_constant__ FillArguments arguments) {
    const long long count = arguments.rows * arguments.columns;
    for (long long i = global_thread(); i < count; i += global_threads()) {
        const Coordinate at = coordinate_of(arguments, i);
        const long long index = at.row * arguments.row_stride + at.column * arguments.column_stride;
        store_bits(arguments.data, index, arguments.type, filled(arguments, at.row, at.column));
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

struct CompareArguments {
    FillArguments fill;
    CheckResult* result;
    long long place;  // row · columns + column of the one element wanted; -1: all are counted
};
SAME_SIZE_AS_HOST(CompareArguments, 88);

// Elements that do not hold any more what reference_fill put there.
extern "C" __global__ void __launch_bounds__(256)
    reference_compare(const __grid_constant__ CompareArguments arguments) {
    const FillArguments& fill = arguments.fill;
    if (arguments.place >= 0) {
        if (global_thread() != 0) return;
        const FilledBits bits = filled_bits(fill, arguments.place / fill.columns, arguments.place % fill.columns);
        arguments.result->expected = bits.wanted;
        arguments.result->got = bits.found;
        return;
    }
    const long long count = fill.rows * fill.columns;
    Word wrong = 0;
    Word first = ~0ULL;
    for (long long i = global_thread(); i < count; i += global_threads()) {
        const Coordinate at = coordinate_of(fill, i);
        const FilledBits bits = filled_bits(fill, at.row, at.column);
        if (bits.wanted == bits.found) continue;
        ++wrong;
        const Word place = (Word)at.row * (Word)fill.columns + (Word)at.column;
        if (place < first) first = place;
    }
    record(arguments.result, wrong, first, 0.0);
}

// A kTile × kDepth piece of an operand whose rows are `outer` and whose columns are k; zero outside. The loop runs
// along whichever of the two lies contiguous in memory.
REFERENCE_FUNCTION void load_tile(double (*tile)[kTile + 1], const void* data, int type, long long outer_stride,
                                  long long k_stride, long long outer_begin, long long outer_end, long long k_begin,
                                  long long k_end) {
    for (int i = threadIdx.x; i < kTile * kDepth; i += kThreads) {
        const int row = k_stride == 1 ? i / kDepth : i % kTile;
        const int depth = k_stride == 1 ? i % kDepth : i / kTile;
        const long long outer = outer_begin + row;
        const long long k = k_begin + depth;
        const bool inside = outer < outer_end && k < k_end;
        tile[depth][row] = inside ? decode(load_bits(data, outer * outer_stride + k * k_stride, type), type) : 0.0;
    }
}

// `kBounded` also sums absolute products, which the bound of random inputs is a part of.
template <bool kBounded>
static __device__ __forceinline__ void check_tile(const CheckArguments& arguments, long long row_begin,
                                                  long long column_begin, double (*a_tile)[kTile + 1],
                                                  double (*b_tile)[kTile + 1]) {
    const int thread_row = threadIdx.x / kStep;
    const int thread_column = threadIdx.x % kStep;
    double sum[kPerThread][kPerThread] = {};
    double absolute[kPerThread][kPerThread] = {};
    const Operand& a = arguments.a;
    const Operand& b = arguments.b;

    for (long long k = 0; k < arguments.k; k += kDepth) {
        __syncthreads();
        load_tile(a_tile, a.data, a.type, a.row_stride, a.column_stride, row_begin, arguments.m, k, arguments.k);
        load_tile(b_tile, b.data, b.type, b.column_stride, b.row_stride, column_begin, arguments.n, k, arguments.k);
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
                    if (kBounded) absolute[i][j] = fma(fabs(a_values[i]), fabs(b_values[j]), absolute[i][j]);
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
            const long long row = row_begin + thread_row + i * kStep;
            const long long column = column_begin + thread_column + j * kStep;
            if (row >= arguments.m || column >= arguments.n) continue;
            const double error = relative_error(arguments, sum[i][j], absolute[i][j], row, column);
            if (error > largest) largest = error;
            if (error > 1.0) {
                ++wrong;
                const Word place = (Word)row * (Word)arguments.n + (Word)column;
                if (place < first) first = place;
            }
        }
    }
    record(arguments.result, wrong, first, largest);
}

template <bool kBounded>
static __device__ __forceinline__ void check_all(const CheckArguments& arguments) {
    __shared__ double a_tile[kDepth][kTile + 1];
    __shared__ double b_tile[kDepth][kTile + 1];
    const long long tiles_n = (arguments.n + kTile - 1) / kTile;
    const long long tiles = (arguments.m + kTile - 1) / kTile * tiles_n;
    for (long long tile = blockIdx.x; tile < tiles; tile += gridDim.x)
        check_tile<kBounded>(arguments, tile / tiles_n * kTile, tile % tiles_n * kTile, a_tile, b_tile);
}

extern "C" __global__ void __launch_bounds__(256, 2)
    reference_check_exact(const __grid_constant__ CheckArguments arguments) {
    check_all<false>(arguments);
}
extern "C" __global__ void __launch_bounds__(256, 2)
    reference_check_bounded(const __grid_constant__ CheckArguments arguments) {
    check_all<true>(arguments);
}

// Expected value and value found of the one element at (row, column). One block.
extern "C" __global__ void __launch_bounds__(256) reference_element(const __grid_constant__ CheckArguments arguments) {
    __shared__ double sums[kThreads];
    double sum = 0.0;
    for (long long k = threadIdx.x; k < arguments.k; k += kThreads)
        sum = fma(element(arguments.a, arguments.row, k), element(arguments.b, k, arguments.column), sum);
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int i = 1; i < kThreads; ++i) sum += sums[i];
    arguments.result->expected = finish(arguments, sum, 0.0, arguments.row, arguments.column).value;
    arguments.result->got = element(arguments.d, arguments.row, arguments.column);
}

// ---- guard bands ----------------------------------------------------------------------------------------------------

struct GuardArguments {
    const unsigned char* data;  // the whole buffer: front, `lines` lines of `run` bytes `pitch` apart, back
    long long front, lines, run, pitch, back;
    int pattern;
    int unused;
    CheckResult* result;
};
SAME_SIZE_AS_HOST(GuardArguments, 64);

// Counts bytes around the lines that are not the pattern any more.
extern "C" __global__ void __launch_bounds__(256) reference_guard(const __grid_constant__ GuardArguments arguments) {
    const long long gap = arguments.pitch - arguments.run;
    const long long gaps = arguments.lines > 1 ? (arguments.lines - 1) * gap : 0;
    const long long extent = arguments.lines > 0 ? (arguments.lines - 1) * arguments.pitch + arguments.run : 0;
    const long long count = arguments.front + gaps + arguments.back;
    Word damaged = 0;
    for (long long i = global_thread(); i < count; i += global_threads()) {
        long long at = i;
        if (i >= arguments.front + gaps) {
            at = i - gaps + extent;
        } else if (i >= arguments.front) {
            const long long line = (i - arguments.front) / gap;
            at = arguments.front + line * arguments.pitch + arguments.run + (i - arguments.front) % gap;
        }
        if (arguments.data[at] != arguments.pattern) ++damaged;
    }
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
