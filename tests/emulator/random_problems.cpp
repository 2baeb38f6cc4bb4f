#include "tests/emulator/random_problems.hpp"

#include "generator/base/operand.hpp"
#include "generator/base/operand_parts.hpp"
#include "generator/base/packed_operand.hpp"
#include "generator/base/round_up.hpp"
#include "generator/families/family.hpp"
#include "generator/heuristics.hpp"
#include "runtime/emulator_device/emulator_device.hpp"
#include "tests/support/random_bits.hpp"
#include "tests/support/random_epilogue.hpp"
#include "tests/support/specs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace jitgemm::testing {
namespace {

constexpr std::uint64_t kSharers = 8;    // problems of one kernel
constexpr std::uint64_t kOwnChoice = 8;  // of so many groups one takes the heuristic's kernels
constexpr int kTries = 20000;

/// How large problems and tiles may be.
struct Reach {
    std::uint32_t largest;  // M, N and K
    double most_flops;      // of a launch in whole tiles
    int most_tile;          // elements of D
};
/// A problem takes less than a second on the emulator. Larger tiles would take seconds to compile.
constexpr Reach kEmulated{300, 0.15e9, 128 * 128};
constexpr Reach kOnGpu{1200, 20e9, 256 * 256};
const Reach& reach_of(const ProblemScope& scope) { return scope.gpu == nullptr ? kEmulated : kOnGpu; }

template <typename T, std::size_t N>
const T& pick(RandomBits& random, const std::array<T, N>& values) {
    return values[random.below(N)];
}

bool chance(RandomBits& random, std::uint32_t one_in) { return random.below(one_in) == 0; }

std::uint64_t mixed(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
    return RandomBits(RandomBits(RandomBits(seed).next() ^ stream).next() ^ index).next();
}

// ---- what a kernel is made for --------------------------------------------------------------------------------------

/// Of every operand in bytes; 0: what its leading dimension gives.
struct Alignments {
    int a = 0, b = 0, c = 0, d = 0;
};

/// Texts with every kind of operand and guard; the matrix is x.
constexpr std::array<std::string_view, 24> kTexts{"d = relu(acc + bias[n])",
                                                  "d = silu(acc + bias[n]) * x[m,n]",
                                                  "bias: f32[n]; d = gelu(alpha * acc + bias[n])",
                                                  "x: f16[m,n]; d = acc + x[m,n]",
                                                  "x: f32[m,n]; scale: f32; d = scale * acc + beta * x[m,n]",
                                                  "row: f32[m]; d = acc * row[m]",
                                                  "row: f16[m]; column: bf16[n]; d = acc * row[m] + column[n]",
                                                  "s: f32[0]; d = acc * s[0]",
                                                  "limit: f32; d = clamp(acc, -limit, limit)",
                                                  "d = select(x[m,n] > 0, acc, 0.5 * acc)",
                                                  "t = acc + bias[n]; d = t * sigmoid(1.702 * t)",
                                                  "d = tanh(alpha * acc) + beta * c[m,n] * row[m]",
                                                  "one: f32; two: f32; d = one * two * acc + one * bias[n]",
                                                  "d = bf16(acc) * 0.25 - abs(acc)",
                                                  "d[m,h] = silu(left(acc)) * right(acc)",
                                                  "t = acc + bias[n]; d[m,h] = gelu(even(t)) * odd(t) + x[m,h]",
                                                  "d[m,h] = left(acc) - column[h] * right(alpha * acc) * row[m]",
                                                  "t = alpha * acc + bias[n]; d = relu(t); pre[m,n] = t",
                                                  "whole: f32[m,n]; half: f16[m,n]; whole[m,n] = acc * row[m]; "
                                                  "half[m,n] = acc * 0.5 + beta * x[m,n]; d = abs(acc)",
                                                  "pre: bf16[m,n]; pre[m,n] = -acc; d = x[m,n] - acc",
                                                  "t = acc + bias[n]; d = relu(t); grad[n] = sum(t)",
                                                  "t = alpha * acc; d = t; squares[m] = sum(t * t); "
                                                  "greatest[0] = max(abs(t)) / 448",
                                                  "pre: f32[m,n]; t = acc * row[m] + beta * x[m,n]; pre[m,n] = t; "
                                                  "d = exp(-abs(t)); low[n] = min(t); high[m] = max(t); "
                                                  "all[0] = sum(exp(-abs(t)))",
                                                  "t = silu(left(acc)) * right(acc); d[m,h] = t; sums[h] = sum(t); "
                                                  "high[m] = max(exp(t * 0))"};

/// Texts of batches.
constexpr std::array<std::string_view, 5> kBatchTexts{
    "d = relu(acc + bias[b,n])", "row: f16[b,m]; d = acc * row[b,m] + beta * x[b,m,n]",
    "s: f32[b]; d = silu(acc * s[b] + bias[n]) * x[m,n]", "t = acc + bias[b,n]; d = abs(t); pre[b,m,n] = t",
    "d[m,h] = left(acc) + right(alpha * acc) * x[b,m,h]"};

/// Texts of groups of rows. Groups of K have those of batches.
constexpr std::array<std::string_view, 4> kGroupTexts{
    "d = relu(acc + bias[b,n])", "row: f16[m]; d = acc * row[m] + beta * x[m,n]",
    "t = acc + bias[b,n]; d = abs(t); pre[m,n] = t", "d[m,h] = left(acc) + right(alpha * acc) * x[m,h]"};

/// Texts with scales of blocks of K; the last two are those of groups and batches.
constexpr std::array<std::string_view, 6> kScaledTexts{
    "d = acc * sa[m,k/128] * sb[n/128,k/128]",
    "d = relu(acc * sb[k/128,n]) + beta * x[m,n]",
    "t = acc * sa[k/128,m] * sb[n,k/128]; d = t; pre[m,n] = -t",
    "x = acc * sa[m,k/128] * sb[k/128,n]; d[m,h] = left(x) * right(x)",
    "d = acc * sa[m,k/128] * sb[b,n/128,k/128]",
    "x = acc * sb[b,n,k/128]; d[m,h] = even(x) - odd(x)"};

/// The same with 8-bit floats.
void make_float8(RandomBits& random, GemmSpec& spec) {
    constexpr std::array kFloat8{DataType::e4m3, DataType::e5m2};
    spec.a = pick(random, kFloat8);
    spec.b = pick(random, kFloat8);
    spec.accumulator = DataType::f32;
    spec.sums = chance(random, 2) ? Summation::fast : Summation::promoted;
    if (chance(random, 3)) spec.d = pick(random, kFloat8);
}

/// In the place of any other text.
std::string_view random_scaled_text(RandomBits& random, const GemmSpec& spec) {
    const bool has_problems = is_batched(spec) || has_groups(spec);
    return kScaledTexts.at(has_problems ? 4 + random.below(2) : random.below(4));
}

/// The same with integers.
void make_int8(RandomBits& random, GemmSpec& spec) {
    constexpr std::array kOutputs{DataType::s32, DataType::s32, DataType::s8, DataType::bf16, DataType::f32};
    spec.a = spec.b = DataType::s8;
    spec.accumulator = DataType::s32;
    spec.d = pick(random, kOutputs);
    if (spec.d == DataType::s32) spec.c = std::nullopt;
    spec.broadcast_c = spec.broadcast_c && spec.c;
    spec.sums = Summation::usual;
}

/// Groups of rows or of K.
void make_groups(RandomBits& random, GemmSpec& spec) {
    spec.groups = 1 + random.below(6);
    spec.ragged = chance(random, 3) ? Ragged::k : Ragged::m;
    spec.broadcast_c = false;
    if (spec.epilogue.empty()) return;
    spec.epilogue = spec.ragged == Ragged::k ? pick(random, kBatchTexts) : pick(random, kGroupTexts);
}

/// A product with its own transpose, in full precision.
void make_symmetric(RandomBits& random, GemmSpec& spec) {
    spec.symmetric = true;
    spec.b = spec.a;
    spec.layout = chance(random, 2) ? GemmLayout::tn : GemmLayout::nt;
    if (spec.math != Math::tf32) spec.math = Math::ieee;
}

/// Operands that no launch prepares, where the rules of batches and groups allow it.
void make_prepared(RandomBits& random, GemmSpec& spec) {
    constexpr std::array kOperands{Prepared::a, Prepared::b, Prepared::ab};
    if (spec.groups != 0 || spec.pointers || spec.symmetric || (is_batched(spec) && has_parts(spec))) return;
    spec.prepared = pick(random, kOperands);
}

GemmSpec random_types(RandomBits& random) {
    constexpr std::array kInputs{DataType::bf16, DataType::bf16, DataType::f16, DataType::f16, DataType::f32};
    constexpr std::array kOutputs{DataType::bf16, DataType::f16, DataType::f32};
    GemmSpec spec;
    spec.a = pick(random, kInputs);
    spec.b = spec.a;  // only e4m3 and e5m2 mix
    spec.d = chance(random, 2) ? spec.a : pick(random, kOutputs);
    if (chance(random, 3)) spec.c = chance(random, 2) ? spec.d : pick(random, kOutputs);
    spec.accumulator = spec.a == DataType::f16 && chance(random, 3) ? DataType::f16 : DataType::f32;
    spec.layout = pick(random, kLayouts);
    spec.constant_a = chance(random, 4);
    spec.constant_b = chance(random, 4);
    spec.broadcast_c = spec.c && chance(random, 3);
    if (!spec.c && chance(random, 3)) spec.epilogue = pick(random, kTexts);
    if (chance(random, 6)) make_float8(random, spec);
    if (chance(random, 8)) make_int8(random, spec);
    constexpr std::array kMaths{Math::ieee, Math::f16x3, Math::bf16x3, Math::tf32, Math::bf16x6, Math::tf32x3};
    if (spec.a == DataType::f32) spec.math = pick(random, kMaths);
    if (chance(random, 5)) {
        spec.batch = 2;
        if (!spec.epilogue.empty()) spec.epilogue = pick(random, kBatchTexts);
        spec.pointers = chance(random, 5);
    }
    if (!is_batched(spec) && chance(random, 6)) make_groups(random, spec);
    if (is_float8(spec.a) && spec.sums == Summation::promoted && !spec.c && spec.ragged == Ragged::m &&
        chance(random, 2))
        spec.epilogue = random_scaled_text(random, spec);
    if (!spec.c && spec.epilogue.empty() && !spec.pointers && spec.groups == 0 && chance(random, 10))
        make_symmetric(random, spec);
    if (chance(random, 6)) make_prepared(random, spec);
    if (chance(random, 8)) spec.deterministic = Determinism::batch_invariant;
    return spec;
}

int random_alignment(RandomBits& random, DataType type) {
    constexpr std::array kAlignments{16, 16, 8, 4, 2};
    if (bytes(type) == 1 && chance(random, 4)) return 1;
    return std::max(pick(random, kAlignments), bytes(type));
}

Alignments random_alignments(RandomBits& random, const GemmSpec& spec) {
    Alignments alignments{random_alignment(random, spec.a), random_alignment(random, spec.b),
                          random_alignment(random, spec.c.value_or(spec.d)), random_alignment(random, spec.d)};
    if (bytes(spec.d) == 1 && !chance(random, 4)) alignments.d = kTmaAlignment;              // as wgmma needs it
    if (spec.groups != 0 && chance(random, 2)) alignments.a = alignments.b = kTmaAlignment;  // the same
    return alignments;
}

// ---- sizes ----------------------------------------------------------------------------------------------------------

std::int64_t random_extent(RandomBits& random, const Reach& reach) {
    constexpr std::array<std::int64_t, 20> kPredicated{1,  2,  3,  7,  8,  9,   15,  16,  17,  31,
                                                       32, 33, 63, 64, 65, 127, 128, 129, 255, 257};
    switch (random.below(4)) {
        case 0: return 1 + random.below(reach.largest);
        case 1: return 1 + random.below(40);
        case 2: return 8 * (1 + random.below(reach.largest / 8));
        default: return pick(random, kPredicated);
    }
}

/// Of lines of `run` elements: as packed as the alignment allows, or with room between them.
std::int64_t random_pitch(RandomBits& random, std::int64_t run, int alignment, DataType type) {
    const std::int64_t unit = std::max(alignment / bytes(type), 1);
    const std::int64_t packed = (run + unit - 1) / unit * unit;
    return chance(random, 2) ? packed : packed + unit * random.below(12);
}

/// Matrices of a text lie as D does, each with its own pitch, and those that are read with their own alignment.
void add_matrices(RandomBits& random, GemmSpec& spec, const Alignments& alignments) {
    if (spec.epilogue.empty()) return;
    for (const GemmOperand& one : gemm_operands(spec)) {
        if (one.pointer != nullptr || !one.is_matrix()) continue;
        const int asked = one.is_written ? random_alignment(random, one.type) : alignments.c;
        const int alignment = std::max(asked, bytes(one.type));
        spec.epilogue = spec.epilogue.with(
            one.name, {.ld = random_pitch(random, one.run(), alignment, one.type), .align = alignment});
    }
}

/// Whole pairs, most often by eight.
void make_pairs(RandomBits& random, GemmSpec& spec) {
    spec.n = round_up<std::int64_t>(spec.n, chance(random, 4) ? 2 : 16);
    spec.d_order = Order::row;
}

/// A stride of matrices that lie one behind the other, with room between them or without.
std::int64_t random_stride(RandomBits& random, const GemmOperand& operand, int alignment) {
    const std::int64_t unit = std::max(alignment / bytes(operand.type), 1);
    return round_up<std::int64_t>(operand.lines() * operand.leading_dimension(), unit) + unit * random.below(12);
}

/// Of a matrix that is read: all problems may share it, and those of problems may overlap.
std::int64_t random_input_stride(RandomBits& random, const GemmOperand& operand, int alignment) {
    const std::int64_t unit = std::max(alignment / bytes(operand.type), 1);
    if (chance(random, 4)) return 0;
    return chance(random, 4) ? unit * (1 + random.below(40)) : random_stride(random, operand, alignment);
}

/// D, and C with it, one behind the other or side by side in each line.
void add_batch_of_d(RandomBits& random, GemmSpec& spec, const GemmOperand& d, int alignment) {
    const std::int64_t unit = std::max(alignment / bytes(spec.d), 1);
    spec.batch_stride_d = random_stride(random, d, alignment);
    if (!chance(random, 3)) return;
    spec.batch_stride_d = round_up<std::int64_t>(d.run(), unit);
    spec.ldd = spec.batch_stride_d * std::max<std::int64_t>(spec.batch, 1) + unit * random.below(3);
}

/// A second dimension, whose matrices of D lie behind those of the first.
void add_outer_batch(RandomBits& random, GemmSpec& spec, const Alignments& alignments) {
    const bool has_pairs = size_of_d(spec).columns != spec.n;
    const auto has_scales = [&](const GemmOperand& one) { return one.is_block_scale(); };
    if (spec.batch == 0 || has_pairs || std::ranges::any_of(gemm_operands(spec), has_scales)) return;
    OuterBatch outer{.inner = spec.batch};
    spec.batch *= 1 + random.below(3);
    spec.outer = outer;
    const OperandList operands = gemm_operands(spec);
    outer.stride_a = random_input_stride(random, *operands.find("a"), alignments.a);
    outer.stride_b = random_input_stride(random, *operands.find(spec.symmetric ? "a" : "b"), alignments.b);
    if (const GemmOperand* const c = operands.find("c")) outer.stride_c = random_input_stride(random, *c, alignments.c);
    const std::int64_t unit = std::max(alignments.d / bytes(spec.d), 1);
    GemmOperand d = *operands.find("d");
    d.outer_stride = 0;
    outer.stride_d = round_up<std::int64_t>(d.extent(), unit) + unit * random.below(5);
    if (is_prepared_a(spec)) outer.stride_a = 0;
    if (is_prepared_b(spec)) outer.stride_b = 0;
    spec.outer = outer;
}

/// The problems of a batch have one prepared operand.
void share_prepared(GemmSpec& spec) {
    if (is_prepared_a(spec)) spec.batch_stride_a = 0;
    if (is_prepared_b(spec)) spec.batch_stride_b = 0;
}

void add_batch(RandomBits& random, GemmSpec& spec, const Alignments& alignments) {
    constexpr std::array<std::int64_t, 5> kBatches{0, 2, 2, 3, 5};
    spec.batch = pick(random, kBatches);
    if (spec.pointers) return;
    const OperandList operands = gemm_operands(spec);
    spec.batch_stride_a = random_input_stride(random, *operands.find("a"), alignments.a);
    spec.batch_stride_b = random_input_stride(random, *operands.find(spec.symmetric ? "a" : "b"), alignments.b);
    share_prepared(spec);
    if (const GemmOperand* const c = operands.find("c"))
        spec.batch_stride_c = random_input_stride(random, *c, alignments.c);
    add_batch_of_d(random, spec, *operands.find("d"), alignments.d);
    if (chance(random, 3)) add_outer_batch(random, spec, alignments);
}

/// B is A transposed: its numbers are left out.
void take_b_from_a(GemmSpec& spec) {
    spec.n = spec.m;
    spec.ldb = 0;
    spec.ldd = std::max(spec.ldd, spec.m);
    spec.align_b = 0;
    spec.align_d = 0;
    spec.batch_stride_b = kPackedBatch;
    if (!spec.outer) return;
    OuterBatch outer = *spec.outer;
    outer.stride_b = kPackedBatch;
    spec.outer = outer;
}

void add_group_sizes(RandomBits& random, GemmSpec& spec) {
    if (spec.groups == 0) return;
    if (chance(random, 3)) spec.expected_rows = 1 + random.below(100);
    if (spec.ragged == Ragged::k) return;
    spec.d_order = Order::row;
    if (!chance(random, 3)) return;
    spec.group_rows = 1 + random.below(60);
    spec.m = spec.groups * spec.group_rows;
}

/// wgmma stores D of 8 bits 16 bytes at a time: rows of D, or columns where it lies by columns.
void make_whole_vectors_of_d(RandomBits& random, GemmSpec& spec, const Alignments& alignments) {
    if (bytes(spec.d) != 1 || alignments.d != kTmaAlignment || chance(random, 5)) return;
    const bool has_pairs = size_of_d(spec).columns != spec.n;
    std::int64_t& run = spec.d_order == Order::row ? spec.n : spec.m;
    run = round_up<std::int64_t>(run, has_pairs ? 2 * kTmaAlignment : kTmaAlignment);
}

void add_sizes(RandomBits& random, GemmSpec& spec, const Alignments& alignments, const Reach& reach) {
    spec.m = random_extent(random, reach);
    spec.n = random_extent(random, reach);
    spec.k = random_extent(random, reach);
    spec.d_order = chance(random, 3) ? Order::column : Order::row;
    add_group_sizes(random, spec);
    if (size_of_d(spec).columns != spec.n) make_pairs(random, spec);
    make_whole_vectors_of_d(random, spec, alignments);
    const auto run = [](Order order, std::int64_t rows, std::int64_t columns) {
        return order == Order::row ? columns : rows;
    };
    spec.lda = random_pitch(random, run(order_a(spec.layout), spec.m, spec.k), alignments.a, spec.a);
    spec.ldb = random_pitch(random, run(order_b(spec.layout), spec.k, spec.n), alignments.b, spec.b);
    spec.ldc = random_pitch(random, run(spec.d_order, spec.m, spec.n), alignments.c, spec.c.value_or(spec.d));
    spec.ldd = random_pitch(random, run(spec.d_order, spec.m, spec.n), alignments.d, spec.d);
    spec.align_a = alignments.a;
    spec.align_b = alignments.b;
    spec.align_c = alignments.c;
    spec.align_d = alignments.d;
    add_matrices(random, spec, alignments);
    if (spec.symmetric) take_b_from_a(spec);
    if (is_batched(spec)) add_batch(random, spec, alignments);
    if (spec.symmetric) take_b_from_a(spec);
}

VerifyOptions random_options(RandomBits& random, const GemmSpec& spec) {
    constexpr std::array kAlphas{1.0F, 1.0F, 1.0F, -2.0F, 0.5F, 1.7F, 0.0F};
    constexpr std::array kBetas{0.0F, 1.0F, 1.0F, -0.5F, 2.0F, 0.3F};
    VerifyOptions options;
    options.alpha = pick(random, kAlphas);
    options.beta = spec.c || !spec.epilogue.empty() ? pick(random, kBetas) : 0.0F;
    options.seed = 1 + random.below(1000);
    return options;
}

// ---- kernels --------------------------------------------------------------------------------------------------------

/// The config with some of its parameters changed, where it has them and they go together.
KernelConfig varied(RandomBits& random, const KernelConfig& config) {
    constexpr std::array<const char*, 3> kPacks{"a", "b", "ab"};
    const ParameterMap known = family_of(config).parameters(config);
    ParameterMap changed;
    if (known.contains("split_k") && chance(random, 2)) changed["split_k"] = std::to_string(2 + random.below(5));
    if (known.contains("reduction") && chance(random, 2)) changed["reduction"] = "cluster";
    if (known.contains("pack") && chance(random, 4)) changed["pack"] = pick(random, kPacks);
    try {
        return with_parameters(config, changed);
    } catch (const ConfigError&) {
        return config;
    }
}

bool fits(const Problem& problem, const KernelConfig& config, const Arch& arch, const Reach& reach) {
    const Family& family = family_of(config);
    if (!family.unsupported(problem, arch).empty() || !family.violations(problem, config, arch).empty()) return false;
    const TileShape block = family.anatomy(problem, config).block;
    return block.m * block.n <= reach.most_tile && padded_flops(problem, config) <= reach.most_flops;
}

std::optional<KernelConfig> random_config(RandomBits& random, const GemmSpec& spec, const GpuModel& gpu,
                                          const Reach& reach) {
    const Problem problem = problem_of(spec);
    std::vector<const Family*> serving;
    for (const Family& family : family_table())
        if (family.unsupported(problem, *gpu.arch).empty()) serving.push_back(&family);
    if (serving.empty()) return std::nullopt;
    const Family& family = *serving[random.below(static_cast<std::uint32_t>(serving.size()))];
    const std::vector<KernelConfig> candidates = family.candidates(problem, gpu);
    for (int i = 0; i < 100 && !candidates.empty(); ++i) {
        const KernelConfig& candidate = candidates[random.below(static_cast<std::uint32_t>(candidates.size()))];
        const KernelConfig config = varied(random, candidate);
        if (fits(problem, config, *gpu.arch, reach)) return config;
    }
    return std::nullopt;
}

const GpuModel& random_gpu(RandomBits& random, const ProblemScope& scope) {
    static const std::array kGpus{&typical_gpu(find_arch("sm_80")), &typical_gpu(find_arch("sm_89")),
                                  &typical_gpu(find_arch("sm_90a"))};
    return scope.gpu != nullptr ? *scope.gpu : *pick(random, kGpus);
}

// ---- kinds ----------------------------------------------------------------------------------------------------------

bool has_scales(const GemmSpec& spec) {
    return std::ranges::any_of(kScaledTexts,
                               [&](std::string_view text) { return spec.epilogue == EpilogueText(text); });
}

struct Kind {
    std::string_view name;
    bool (*holds)(const GemmSpec& spec);
};

constexpr std::array<Kind, 9> kKinds{{
    {"batches", [](const GemmSpec& spec) { return is_batched(spec); }},
    {"groups", [](const GemmSpec& spec) { return spec.groups != 0; }},
    {"float8", [](const GemmSpec& spec) { return is_float8(spec.a); }},
    {"int8", [](const GemmSpec& spec) { return spec.a == DataType::s8; }},
    {"scales", has_scales},
    {"single", [](const GemmSpec& spec) { return spec.math != Math::ieee; }},
    {"prepared", [](const GemmSpec& spec) { return spec.prepared != Prepared::none; }},
    {"symmetric", [](const GemmSpec& spec) { return spec.symmetric; }},
    {"epilogues", [](const GemmSpec& spec) { return !spec.epilogue.empty(); }},
}};

/// Of the kind that the scope names.
GemmSpec random_types(RandomBits& random, const ProblemScope& scope) {
    if (scope.kind.empty()) return random_types(random);
    const auto kind = std::ranges::find(kKinds, scope.kind, &Kind::name);
    if (kind == kKinds.end()) throw std::invalid_argument(fmt::format("{} is no kind of problems", scope.kind));
    for (int i = 0; i < kTries; ++i)
        if (const GemmSpec spec = random_types(random); kind->holds(spec)) return spec;
    throw std::logic_error(fmt::format("no random problem has the kind {}", scope.kind));
}

/// The fields that the problems of a group share.
struct Group {
    const GpuModel* gpu = nullptr;
    GemmSpec types;
    Alignments alignments;
    KernelConfig config;
};

Group random_group(std::uint64_t seed, std::uint64_t index, const ProblemScope& scope) {
    RandomBits random(mixed(seed, 1, index));
    for (int i = 0; i < kTries; ++i) {
        Group group;
        group.gpu = &random_gpu(random, scope);
        group.types = random_types(random, scope);
        group.alignments = random_alignments(random, group.types);
        GemmSpec first = group.types;
        add_sizes(random, first, group.alignments, reach_of(scope));
        const std::optional<KernelConfig> config = random_config(random, first, *group.gpu, reach_of(scope));
        if (!config) continue;
        group.config = *config;
        return group;
    }
    throw std::logic_error("no random kernel fits any problem");
}

/// Problem for the heuristic: any types and alignments, the latter most often just what the leading dimensions give.
std::optional<RandomProblem> problem_of_heuristic(RandomBits& random, const ProblemScope& scope) {
    RandomProblem problem;
    problem.gpu = &random_gpu(random, scope);
    GemmSpec spec = random_types(random, scope);
    add_sizes(random, spec, random_alignments(random, spec), reach_of(scope));
    spec.align_a = spec.align_b = spec.align_c = spec.align_d = 0;
    problem.spec = resolved(spec);
    try {
        problem.config = choose_config(problem_of(problem.spec), *problem.gpu);
    } catch (const ConfigError&) {
        return std::nullopt;  // types that no family serves
    }
    if (padded_flops(problem_of(problem.spec), problem.config) > reach_of(scope).most_flops) return std::nullopt;
    return problem;
}

std::optional<RandomProblem> problem_of_group(RandomBits& random, const Group& group, const Reach& reach) {
    RandomProblem problem{.gpu = group.gpu, .spec = group.types, .config = group.config, .options = {}};
    add_sizes(random, problem.spec, group.alignments, reach);
    problem.spec = resolved(problem.spec);
    if (!fits(problem_of(problem.spec), problem.config, *group.gpu->arch, reach)) return std::nullopt;
    return problem;
}

/// No kernel has an element for four columns: such operands become matrices, and such reductions go over rows.
std::string kernels_text(std::string text) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kInstead{
        {{"q[m,n/4]", "q[m,n]"}, {"r[m,n/4]", "r[n]"}, {"r[m,h/4]", "r[h]"}}};
    for (const auto& [from, to] : kInstead)
        for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from))
            text.replace(at, from.size(), to);
    return text;
}

}  // namespace

RandomProblem random_problem(std::uint64_t seed, std::uint64_t index, const ProblemScope& scope) {
    RandomBits random(mixed(seed, 2, index));
    const std::uint64_t number = index / kSharers;
    const bool own_choice = number % kOwnChoice == kOwnChoice - 1;
    const std::optional<Group> group = own_choice ? std::nullopt : std::optional(random_group(seed, number, scope));
    for (int i = 0; i < kTries; ++i) {
        std::optional<RandomProblem> problem =
            group ? problem_of_group(random, *group, reach_of(scope)) : problem_of_heuristic(random, scope);
        if (!problem) continue;
        problem->options = random_options(random, problem->spec);
        return *problem;
    }
    throw std::logic_error("no random problem fits the kernel");
}

RandomProblem random_text_problem(std::uint64_t seed, std::uint64_t index) {
    RandomBits random(mixed(seed, 3, index));
    for (int i = 0; i < kTries; ++i) {
        RandomProblem problem{
            .gpu = &random_gpu(random, {}), .spec = random_types(random), .config = {}, .options = {}};
        GemmSpec& spec = problem.spec;
        if (is_batched(spec) || has_groups(spec) || spec.symmetric) continue;
        spec.c = std::nullopt;
        spec.broadcast_c = false;
        spec.epilogue = EpilogueText(kernels_text(random_epilogue(random.next())));
        spec.m = spec.n = spec.k = 64;
        if (!problems(spec).empty()) continue;  // add_sizes() reads the text
        add_sizes(random, spec, random_alignments(random, spec), kEmulated);
        if (!problems(spec).empty()) continue;
        spec = resolved(spec);
        const std::optional<KernelConfig> config = random_config(random, spec, *problem.gpu, kEmulated);
        if (!config) continue;
        problem.config = *config;
        problem.options = random_options(random, spec);
        return problem;
    }
    throw std::logic_error("no kernel fits any random text");
}

std::string describe(const RandomProblem& problem) {
    return fmt::format("{}: {}, alpha {}, beta {}, {}", problem.gpu->arch->name, to_string(problem.spec),
                       problem.options.alpha, problem.options.beta,
                       kernel_name(problem_of(problem.spec), problem.config));
}

}  // namespace jitgemm::testing
