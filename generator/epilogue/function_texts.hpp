#pragma once

#include <string_view>

/// \file CUDA texts of the functions of an epilogue. A kernel needs no header for them. Functions of NaN are NaN, but
/// for drelu and roundings to integers.
namespace jitgemm::function_text {

inline constexpr std::string_view kRelu =
    R"(__device__ __forceinline__ float relu(float x) {  // max(x, 0), and NaN of NaN
    return x < 0.0f ? 0.0f : x;
}
)";

inline constexpr std::string_view kDrelu = R"(__device__ __forceinline__ float drelu(float x) {  // the slope of relu
    return x > 0.0f ? 1.0f : 0.0f;
}
)";

inline constexpr std::string_view kMax =
    R"(__device__ __forceinline__ float max_f32(float x, float y) {  // NaN of a NaN
    float result;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
    return result;
}
)";

inline constexpr std::string_view kMin =
    R"(__device__ __forceinline__ float min_f32(float x, float y) {  // NaN of a NaN
    float result;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(y));
    return result;
}
)";

inline constexpr std::string_view kClamp = R"(__device__ __forceinline__ float clamp(float x, float low, float high) {
    asm("max.NaN.f32 %0, %0, %1;" : "+f"(x) : "f"(low));
    asm("min.NaN.f32 %0, %0, %1;" : "+f"(x) : "f"(high));
    return x;
}
)";

inline constexpr std::string_view kSigmoid =
    R"(__device__ __forceinline__ float sigmoid(float x) {  // 1 / (1 + e^-x)
    float power, inverse;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * -1.4426950408889634f));
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(power + 1.0f));
    return inverse;
}
)";

inline constexpr std::string_view kFastSigmoid =
    R"(__device__ __forceinline__ float fast_sigmoid(float x) {  // (1 + tanh(x / 2)) / 2
    float tanh;
    asm("tanh.approx.f32 %0, %1;" : "=f"(tanh) : "f"(0.5f * x));
    return fmaf(0.5f, tanh, 0.5f);
}
)";

inline constexpr std::string_view kSilu = R"(__device__ __forceinline__ float silu(float x) {  // x / (1 + e^-x)
    float power, inverse;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * -1.4426950408889634f));
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(power + 1.0f));
    return x * inverse;
}
)";

inline constexpr std::string_view kFastSilu =
    R"(__device__ __forceinline__ float fast_silu(float x) {  // x / 2 * (1 + tanh(x / 2))
    const float half = 0.5f * x;
    float tanh;
    asm("tanh.approx.f32 %0, %1;" : "=f"(tanh) : "f"(half));
    return fmaf(half, tanh, half);
}
)";

inline constexpr std::string_view kDsilu = R"(__device__ __forceinline__ float dsilu(float x) {  // the slope of silu
    const float s = sigmoid(x);
    return s * fmaf(x, 1.0f - s, 1.0f);
}
)";

inline constexpr std::string_view kTanh = R"(__device__ __forceinline__ float tanh_f32(float x) {
    const float size = fabsf(x), square = x * x;
    // Near 0 a polynomial: 1 - 2 / (e^2x + 1) would cancel there.
    float near = fmaf(1.57394409e-2f, square, -5.23025580e-2f);
    near = fmaf(near, square, 1.33152470e-1f);
    near = fmaf(near, square, -3.33327681e-1f);
    near = fmaf(near * square, x, x);
    float power, inverse;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(size * 2.8853900817779268f));
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(power + 1.0f));
    const float far = fmaf(-2.0f, inverse, 1.0f);
    return size < 0.55f ? near : x < 0.0f ? -far : far;
}
)";

inline constexpr std::string_view kFastTanh = R"(__device__ __forceinline__ float fast_tanh(float x) {
    float result;
    asm("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}
)";

inline constexpr std::string_view kGelu =
    R"(__device__ __forceinline__ float gelu(float x) {  // x / 2 * (1 + tanh(u)), as x / (1 + e^(-2u))
    float power, inverse;
    const float exponent = x * fmaf(-0.1029432395800235f, x * x, -2.302208198144325f);  // -2u * log2(e)
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(exponent));
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(power + 1.0f));
    return x * inverse;
}
)";

inline constexpr std::string_view kFastGelu =
    R"(__device__ __forceinline__ float fast_gelu(float x) {  // x / 2 * (1 + tanh(u))
    const float half = 0.5f * x;
    const float u = 0.7978845608028654f * fmaf(0.044715f * x, x * x, x);
    float tanh;
    asm("tanh.approx.f32 %0, %1;" : "=f"(tanh) : "f"(u));
    return fmaf(half, tanh, half);
}
)";

inline constexpr std::string_view kGeluErf =
    R"(__device__ __forceinline__ float gelu_erf(float x) {  // x / 2 * (1 + erf(x / sqrt(2)))
    const float half = 0.5f * x;
    return fmaf(half, erf_f32(0.7071067811865476f * x), half);
}
)";

inline constexpr std::string_view kDgelu = R"(__device__ __forceinline__ float dgelu(float x) {  // the slope of gelu
    x = x > 10.0f ? 10.0f : x < -10.0f ? -10.0f : x;  // beyond, it is 1 or 0
    const float square = x * x;
    const float s = sigmoid(1.5957691216057308f * fmaf(0.044715f * x, square, x));
    const float slope = 1.5957691216057308f * fmaf(0.134145f, square, 1.0f);
    return fmaf(x * s * (1.0f - s), slope, s);
}
)";

inline constexpr std::string_view kErf = R"(__device__ __forceinline__ float erf_f32(float x) {
    const float size = fabsf(x), square = x * x;
    float near = fmaf(-5.96761703e-4f, square, 4.99119423e-3f);
    near = fmaf(near, square, -2.67681349e-2f);
    near = fmaf(near, square, 1.12819925e-1f);
    near = fmaf(near, square, -3.76125336e-1f);
    near = fmaf(near, square, 1.28379166e-1f);
    near = fmaf(near, x, x);
    // Beyond 0.93 as 1 - e^p; p is the same from 4 on, where erf is 1.
    const float t = size > 4.0f ? 4.0f : size;
    float p = fmaf(-1.72853470e-5f, t, 3.83197126e-4f);
    p = fmaf(p, t * t, fmaf(-3.88396438e-3f, t, 2.42546219e-2f));
    p = fmaf(p, t, -1.06777877e-1f);
    p = fmaf(p, t, -6.34846687e-1f);
    p = fmaf(p, t, -1.28717512e-1f);
    p = fmaf(p, t, -t);
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(p * 1.4426950408889634f));
    const float far = 1.0f - power;
    return size <= 0.927734375f ? near : x < 0.0f ? -far : far;
}
)";

inline constexpr std::string_view kExp = R"(__device__ __forceinline__ float exp_f32(float x) {
    x = x > 89.0f ? 89.0f : x < -104.0f ? -104.0f : x;  // beyond, infinity or 0
    const float product = x * 1.4426950408889634f;
    const float rest = fmaf(x, 1.925963033500e-8f, fmaf(x, 1.4426950408889634f, -product));  // the product's error
    float power;
    asm("ex2.approx.f32 %0, %1;" : "=f"(power) : "f"(product));
    return power * fmaf(rest, 0.6931471805599453f, 1.0f);
}
)";

inline constexpr std::string_view kExp2 = R"(__device__ __forceinline__ float exp2_f32(float x) {
    float result;
    asm("ex2.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}
)";

inline constexpr std::string_view kLog = R"(__device__ __forceinline__ float log_f32(float x) {
    float result;
    asm("lg2.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result * 0.6931471805599453f;
}
)";

inline constexpr std::string_view kLog2 = R"(__device__ __forceinline__ float log2_f32(float x) {
    float result;
    asm("lg2.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}
)";

inline constexpr std::string_view kSqrt = R"(__device__ __forceinline__ float sqrt_f32(float x) {
    float result;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}
)";

inline constexpr std::string_view kRsqrt = R"(__device__ __forceinline__ float rsqrt_f32(float x) {
    float result;
    asm("rsqrt.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}
)";

inline constexpr std::string_view kRoundF16 = R"(__device__ __forceinline__ float round_f16(float x) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
}
)";

inline constexpr std::string_view kRoundBf16 = R"(__device__ __forceinline__ float round_bf16(float x) {
    unsigned bits;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(x), "f"(0.0f));
    return __uint_as_float(bits & 0xffff0000u);
}
)";

inline constexpr std::string_view kRoundE4m3 =
    R"(__device__ __forceinline__ float round_e4m3(float x) {  // at most 448
    unsigned short bits;
    unsigned halves;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(bits) : "f"(0.0f), "f"(x));
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(bits));
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(static_cast<unsigned short>(halves)));
    return x;
}
)";

inline constexpr std::string_view kRoundE5m2 =
    R"(__device__ __forceinline__ float round_e5m2(float x) {  // at most 57344
    unsigned short bits;
    unsigned halves;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(bits) : "f"(0.0f), "f"(x));
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(bits));
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(static_cast<unsigned short>(halves)));
    return x;
}
)";

inline constexpr std::string_view kRoundS8 =
    R"(__device__ __forceinline__ float round_s8(float x) {  // -128 .. 127; 0 of NaN
    int value;
    asm("cvt.rni.s32.f32 %0, %1;" : "=r"(value) : "f"(x));
    return static_cast<float>(value < -128 ? -128 : value > 127 ? 127 : value);
}
)";

inline constexpr std::string_view kRoundS32 =
    R"(__device__ __forceinline__ float round_s32(float x) {  // 0 of NaN
    int value;
    asm("cvt.rni.s32.f32 %0, %1;" : "=r"(value) : "f"(x));
    return static_cast<float>(value);
}
)";

}  // namespace jitgemm::function_text
