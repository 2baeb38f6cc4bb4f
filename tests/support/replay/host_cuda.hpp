#pragma once

/// \file As much of CUDA as the body of a dump needs to be compiled as C++ for the CPU, where each thread of a block
/// runs by itself: what a thread reads from shared memory, or of a matrix, decides no address.
/// tests/support/replay_source.cpp has turned inline PTX into calls of instruction().

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#define __device__
#define __global__
#define __forceinline__ inline
#define __align__(bytes) alignas(bytes)
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __shared__ static  // of a known size; threads take turns

struct Index {
    unsigned x = 0, y = 0, z = 0;
};
inline Index threadIdx, blockIdx, blockDim, gridDim;

struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

inline int min(int a, int b) { return a < b ? a : b; }
inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
inline long long min(long long a, long long b) { return a < b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
inline long long max(long long a, long long b) { return a > b ? a : b; }
using std::fmaf;

inline void __syncthreads() {}
inline void __syncwarp() {}
inline float __shfl_xor_sync(unsigned, float value, int) { return value; }
inline float __uint_as_float(unsigned bits) { return static_cast<float>(bits); }
inline unsigned __float_as_uint(float value) { return static_cast<unsigned>(value); }
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((static_cast<std::uint64_t>(high) << 32 | low) >> (shift & 31));
}
inline unsigned __byte_perm(unsigned, unsigned, unsigned) { return 0; }  // no replay asks for values

namespace replay {

/// Larger than a block's shared memory on any GPU.
alignas(128) inline char shared_memory[256 * 1024];

template <typename T>
std::uint64_t operand(const T& value) {
    if constexpr (std::is_pointer_v<T>)
        return reinterpret_cast<std::uintptr_t>(value);
    else
        return static_cast<std::uint64_t>(value);
}
template <typename T>
std::uint64_t output(T& value) {
    value = {};
    return 0;
}

/// A cp.async among the instructions of one asm statement, its operands as they stand there; of others nothing matters.
struct AsyncCopy {
    bool present = false;
    int size_operand = -1;  ///< else `size`
    int size = 0;
    int read_operand = -1;   ///< bytes that are read, the rest is zero
    bool ignorable = false;  ///< operand 2 says whether it is in range
    bool skippable = false;  ///< operand 3 says whether it is skipped
};
AsyncCopy parse(const char* text);
void perform(const AsyncCopy& copy, std::initializer_list<std::uint64_t> operands);

}  // namespace replay

inline std::uint64_t __cvta_generic_to_shared(const void* pointer) {
    return static_cast<std::uint64_t>(static_cast<const char*>(pointer) - replay::shared_memory);
}
