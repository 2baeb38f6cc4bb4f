// Element codecs and random numbers of the reference kernels: integer arithmetic only, no instruction and no formula
// shared with generated kernels. Compiled by NVRTC in front of reference_kernels.cu, and by the host's compiler in
// host_reference.cpp.
#ifdef __CUDACC__
#define REFERENCE_FUNCTION static __device__ __forceinline__
#define REFERENCE_FUNCTION_APART static __device__ __noinline__
#define UNROLL_ALL _Pragma("unroll")
#define UNROLL_SOME _Pragma("unroll 4")
#else
#include <bit>
#include <cmath>
#define REFERENCE_FUNCTION static inline
#define REFERENCE_FUNCTION_APART static
#define UNROLL_ALL
#define UNROLL_SOME
#endif

typedef unsigned long long Word;

// Numbers of DataType.
enum ElementType { kF16, kBf16, kF32, kTf32, kE4m3, kE5m2, kS8, kS32 };

// ---- bits -----------------------------------------------------------------------------------------------------------

#ifdef __CUDACC__
REFERENCE_FUNCTION Word double_bits(double value) { return (Word)__double_as_longlong(value); }
REFERENCE_FUNCTION double double_from_bits(Word bits) { return __longlong_as_double((long long)bits); }
REFERENCE_FUNCTION float cosine_of_pi_times(float value) { return cospif(value); }
#else
REFERENCE_FUNCTION Word double_bits(double value) { return std::bit_cast<Word>(value); }
REFERENCE_FUNCTION double double_from_bits(Word bits) { return std::bit_cast<double>(bits); }
REFERENCE_FUNCTION float cosine_of_pi_times(float value) {
    return (float)std::cos(3.14159265358979323846 * (double)value);
}
#endif

// 2^exponent, for exponents of normal doubles.
REFERENCE_FUNCTION double power_of_two(int exponent) { return double_from_bits((Word)(exponent + 1023) << 52); }

REFERENCE_FUNCTION double not_a_number() { return double_from_bits(0x7ff8000000000000ULL); }
REFERENCE_FUNCTION double infinity() { return double_from_bits(0x7ff0000000000000ULL); }

// ---- one element ----------------------------------------------------------------------------------------------------

REFERENCE_FUNCTION int bytes_of(int type) {
    return type == kF32 || type == kTf32 || type == kS32 ? 4 : type == kF16 || type == kBf16 ? 2 : 1;
}

REFERENCE_FUNCTION int exponent_bits_of(int type) { return type == kF16 || type == kE5m2 ? 5 : type == kE4m3 ? 4 : 8; }

// Stored fraction bits; a tf32 lies in memory as an f32.
REFERENCE_FUNCTION int fraction_bits_of(int type) {
    return type == kF16 ? 10 : type == kBf16 ? 7 : type == kE4m3 ? 3 : type == kE5m2 ? 2 : 23;
}

// The exact value of a stored element.
REFERENCE_FUNCTION double decode(unsigned bits, int type) {
    if (type == kS8) return (double)(signed char)bits;
    if (type == kS32) return (double)(int)bits;
    const int fraction_bits = fraction_bits_of(type);
    const int exponent_bits = exponent_bits_of(type);
    const int top = (1 << exponent_bits) - 1;
    const int bias = top >> 1;
    const int exponent = (int)(bits >> fraction_bits) & top;
    const unsigned fraction = bits & ((1u << fraction_bits) - 1);
    const bool negative = (bits >> (fraction_bits + exponent_bits)) & 1;

    double magnitude;
    if (type == kE4m3 && exponent == top && fraction == 7) {
        magnitude = not_a_number();  // e4m3 has a NaN and no infinity
    } else if (type != kE4m3 && exponent == top) {
        magnitude = fraction != 0 ? not_a_number() : infinity();
    } else if (exponent == 0) {
        magnitude = (double)fraction * power_of_two(1 - bias - fraction_bits);
    } else {
        magnitude = (double)(fraction + (1u << fraction_bits)) * power_of_two(exponent - bias - fraction_bits);
    }
    return negative ? -magnitude : magnitude;
}

// A real number as a small float, rounded once to nearest, ties to even; beyond the largest finite value infinity
// (e4m3 and e5m2: the largest).
REFERENCE_FUNCTION unsigned encode_float(double value, int type) {
    const int fraction_bits = fraction_bits_of(type);
    const int exponent_bits = exponent_bits_of(type);
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const unsigned sign = (unsigned)(double_bits(value) >> 63) << (fraction_bits + exponent_bits);
    const Word magnitude = double_bits(value) & 0x7fffffffffffffffULL;
    if (magnitude > 0x7ff0000000000000ULL) return sign | ((1u << (fraction_bits + exponent_bits)) - 1);

    const int exponent = (int)(magnitude >> 52) - 1023;
    const Word fraction = magnitude & 0xfffffffffffffULL;
    const Word significand = exponent == -1023 ? 0 : fraction | (1ULL << 52);  // doubles below 2^-1022 count as zero
    const bool subnormal = exponent < 1 - bias;
    int dropped = 52 - fraction_bits + (subnormal ? 1 - bias - exponent : 0);
    if (dropped > 54) dropped = 54;  // less than half of the smallest subnormal
    const Word rest = significand & ((1ULL << dropped) - 1);
    const Word half = 1ULL << (dropped - 1);
    Word kept = significand >> dropped;
    if (rest > half || (rest == half && (kept & 1))) ++kept;

    // The leading one of a normal significand carries into the exponent field; so does a round-up to the next power of
    // two.
    const Word rounded = subnormal ? kept : kept + ((Word)(exponent + bias - 1) << fraction_bits);
    const Word infinite = ((1ULL << exponent_bits) - 1) << fraction_bits;
    // The largest finite values of 8 bits.
    const Word largest = type == kE4m3 ? infinite | 6 : type == kE5m2 ? infinite - 1 : infinite;
    return sign | (unsigned)(rounded < largest ? rounded : largest);
}

REFERENCE_FUNCTION unsigned encode(double value, int type) {
    if (type == kS8) return (unsigned)(int)rint(value < -128 ? -128 : value > 127 ? 127 : value) & 0xff;
    if (type == kS32)
        return (unsigned)(int)rint(value < -2147483648.0 ? -2147483648.0 : value > 2147483647.0 ? 2147483647.0 : value);
    return encode_float(value, type);
}

// ---- random numbers: a function of seed and position, so that any element can be made anywhere ----------------------

// Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014 (the SplitMix64 output function).
REFERENCE_FUNCTION Word mixed(Word value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31);
}

REFERENCE_FUNCTION Word random_word(Word seed, Word position) {
    return mixed(mixed(seed) + (position + 1) * 0x9e3779b97f4a7c15ULL);
}

// Uniform in 0 .. count - 1, from the upper half of a random word.
REFERENCE_FUNCTION Word below(Word random, Word count) { return ((random >> 32) * count) >> 32; }

// Standard normal by Box and Muller.
REFERENCE_FUNCTION float standard_normal(Word random) {
    const float u = ((float)(unsigned)(random >> 40) + 1.0f) * 5.9604644775390625e-08f;  // (0, 1], steps of 2^-24
    const float v = (float)(unsigned)(random & 0xffffff) * 5.9604644775390625e-08f;      // [0, 1)
    return sqrtf(-2.0f * logf(u)) * cosine_of_pi_times(2.0f * v);
}
