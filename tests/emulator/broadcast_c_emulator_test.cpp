/// GemmSpec's and GemmArguments' broadcast_c on the emulator: C is one row in memory of just that size, added to each
/// row of D before it is rounded.

#include "runtime/support/element_codec.hpp"
#include "runtime/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/one_in.hpp"
#include "tests/support/simt_hierarchical_checks.hpp"
#include "tests/support/simt_long_k_checks.hpp"
#include "tests/support/simt_variants.hpp"
#include "tests/support/sliced_k_checks.hpp"
#include "tests/support/wgmma_checks.hpp"

#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

constexpr float kAlpha = 2.0F, kBeta = -0.5F;

/// Elements in memory, and their values.
struct Elements {
    DataType type;
    std::vector<std::byte> memory;
    Elements(DataType of, std::int64_t count) : type(of), memory(static_cast<std::size_t>(count * bytes(of))) {}
    void set(std::int64_t i, double value) {
        const std::uint32_t bits = element_bits(value, type);
        std::memcpy(&memory[static_cast<std::size_t>(i * bytes(type))], &bits, static_cast<std::size_t>(bytes(type)));
    }
    [[nodiscard]] double at(std::int64_t i) const { return element_value(memory.data(), type, i); }
    [[nodiscard]] DeviceBuffer on(Context& context) const {
        DeviceBuffer buffer = context.allocate(memory.size());
        buffer.copy_from_host(memory.data(), memory.size());
        return buffer;
    }
};

/// Of packed matrices all elements are the problem's. Sums are exact in any order.
Elements integers(DataType type, std::int64_t count, unsigned seed) {
    Elements elements(type, count);
    std::minstd_rand random(seed);
    for (std::int64_t i = 0; i < count; ++i) elements.set(i, static_cast<double>(random() % 7) - 3);
    return elements;
}

/// An operand read by row and column.
struct Matrix {
    Elements elements;
    Order order;
    std::int64_t ld;
    [[nodiscard]] double at(std::int64_t row, std::int64_t column) const {
        return elements.at(order == Order::row ? row * ld + column : column * ld + row);
    }
};

std::int64_t run_of_d(const GemmSpec& spec) { return spec.d_order == Order::row ? spec.n : spec.m; }

/// D as it should be: rounded once, from what is exact.
Elements expected_d(const GemmSpec& spec, const Matrix& a, const Matrix& b, const Elements& c) {
    Elements d(spec.d, spec.m * spec.n);
    for (std::int64_t row = 0; row < spec.m; ++row)
        for (std::int64_t column = 0; column < spec.n; ++column) {
            double sum = 0;
            for (std::int64_t i = 0; i < spec.k; ++i) sum += a.at(row, i) * b.at(i, column);
            const bool by_row = spec.d_order == Order::row;
            d.set(by_row ? row * spec.n + column : column * spec.m + row,
                  kAlpha * sum + kBeta * c.at(by_row ? column : row));
        }
    return d;
}

/// CHECKs one launch with exactly the row that it may read; the launch says that it is one where the spec doesn't.
void check(const GemmKernel& kernel, Context& context) {
    const GemmSpec& spec = kernel.spec();
    INFO(kernel.info().name << " for " << to_string(spec));
    const Matrix a{integers(spec.a, spec.m * spec.k, 1), order_a(spec.layout), spec.lda};
    const Matrix b{integers(spec.b, spec.k * spec.n, 2), order_b(spec.layout), spec.ldb};
    const Elements c = integers(*spec.c, run_of_d(spec), 3);
    const DeviceBuffer of_a = a.elements.on(context), of_b = b.elements.on(context), of_c = c.on(context);
    Elements d(spec.d, spec.m * spec.n);
    const DeviceBuffer of_d = context.allocate(d.memory.size());
    kernel.launch({.a = of_a.data(),
                   .b = of_b.data(),
                   .c = of_c.data(),
                   .d = of_d.data(),
                   .alpha = kAlpha,
                   .beta = kBeta,
                   .broadcast_c = !spec.broadcast_c});
    context.synchronize();
    of_d.copy_to_host(d.memory.data(), d.memory.size());
    CHECK(d.memory == expected_d(spec, a, b, c).memory);
}

GemmSpec with_c(GemmSpec spec, DataType c) {
    spec.c = c;
    return spec;
}

GemmSpec by_column(GemmSpec spec) {
    spec.d_order = Order::column;
    return spec;
}

/// Rows of every alignment, by row and by column, C of D's type and of another; as few as fill a tile and a part of
/// one.
std::vector<GemmSpec> problems(GemmLayout layout, DataType type, const std::vector<Sizes>& sizes) {
    std::vector<GemmSpec> specs;
    for (const auto& [m, n, k] : sizes) {
        const GemmSpec spec = spec_of(layout, m, n, k, type);
        specs.push_back(with_c(spec, type));
        specs.push_back(by_column(with_c(spec, specs.size() % 4 == 1 ? DataType::f32 : type)));
    }
    return specs;
}

/// The config as near to the variant as the problem allows: D that can't be turned around isn't, nor stored by TMA.
KernelConfig fitting(Context& context, const GemmSpec& spec, KernelConfig config) {
    const Arch& arch = *state_of(context).device->model().arch;
    const Problem problem = problem_of(spec);
    if (family_name(config) == "wgmma_warp_specialized")
        for (const auto& [name, value] :
             {std::pair{"swap_ab", "0"}, std::pair{"store", "smem"}, std::pair{"early", "none"}})
            if (!family_of(config).violations(problem, config, arch).empty())
                config = with_parameters(config, {{name, value}});
    return config;
}

GemmSpec of_one_row(GemmSpec spec) {
    spec.broadcast_c = true;
    return spec;
}

/// A and B are constant, so that early copies are made. Whether spec or launch say that C is one row, it is one kernel,
/// and the arguments are the same. So the launch says it once for each family.
void check_variant(Context& context, GemmSpec spec, const KernelConfig& config) {
    spec.constant_a = spec.constant_b = true;
    const KernelConfig fits = fitting(context, spec, config);
    const GemmKernel of_all = state_of(context).build(problem_of(spec), fits);
    const GemmKernel of_row = state_of(context).build(problem_of(of_one_row(spec)), fits);
    CHECK(of_row.info().name == of_all.info().name);
    CHECK(state_of(of_row).compiled().binary == state_of(of_all).compiled().binary);
    check(of_row, context);
    static std::set<std::string> tried;
    if (tried.insert(std::string(family_name(config))).second) check(of_all, context);
}

template <typename Config>
KernelConfig variant_of(std::string_view parameters) {
    return with_parameters({Config{}}, parse_parameters(std::string(parameters)));
}

}  // namespace

TEST_CASE("a row of C on the emulator: mma_multistage, whole, split and in clusters") {
    const std::vector<GemmSpec> specs = problems(GemmLayout::tn, DataType::bf16, {{67, 33, 75}, {72, 40, 104}});
    OneIn tried(2);
    for (const char* variant : kVariants)
        for (const GemmSpec& spec : specs)
            if (tried.next()) check_variant(on_emulator(), spec, variant_of<MmaMultistageConfig>(variant));
    for (const char* variant : kClusterVariants)
        for (const GemmSpec& spec : specs)
            if (tried.next()) check_variant(on_hopper(), spec, variant_of<MmaMultistageConfig>(variant));
    const KernelConfig packed = variant_of<MmaMultistageConfig>(
        "block=64x64x32,warp=32x32,stages=3,pack=ab,split_k=2,dependent_launch=1");  // what TMA can't address
    for (const GemmSpec& spec : problems(GemmLayout::tn, DataType::bf16, {{67, 33, 75}}))
        check_variant(on_hopper(), spec, packed);
}

TEST_CASE("a row of C on the emulator: wgmma_warp_specialized, every variant") {
    std::size_t i = 0;
    OneIn tried(3);
    for (const std::string_view variant : kWgmmaVariants) {
        const Sizes size = i / kLayouts.size() % 2 == 0 ? Sizes{72, 136, 72} : Sizes{67, 75, 129};
        for (const GemmSpec& spec : problems(kLayouts[i % kLayouts.size()], DataType::bf16, {size}))
            if (tried.next()) check_variant(on_hopper(), spec, variant_of<WgmmaWarpSpecializedConfig>(variant));
        ++i;
    }
}

TEST_CASE("a row of C on the emulator: mma_sliced_k") {
    for (const std::string_view variant : kSlicedKVariants) {
        const KernelConfig config = variant_of<MmaSlicedKConfig>(variant);
        // The few rows are D's where D^T is computed, else its columns.
        const bool swapped = variant.find("swap_ab=1") != std::string_view::npos;
        for (const std::int64_t few : {1, 7})
            check_variant(
                on_hopper(),
                with_c(swapped ? spec_of(GemmLayout::tn, few, 136, 264) : spec_of(GemmLayout::tn, 136, few, 264),
                       DataType::bf16),
                config);
    }
}

TEST_CASE("a row of C on the emulator: wmma and SIMT families") {
    std::vector<KernelConfig> configs;
    for (const SimtVariant& variant : simt_variants()) configs.push_back(variant.config());
    for (const std::string_view variant : kHierarchicalVariants)
        configs.push_back(variant_of<SimtHierarchicalConfig>(variant));
    for (const std::string_view variant : kLongKVariants) configs.push_back(variant_of<SimtLongKConfig>(variant));
    // Each config takes one size by rows and the other one by columns, and its neighbours the other way.
    const std::vector<GemmSpec> specs = problems(GemmLayout::tt, DataType::f32, {{37, 67, 31}, {40, 56, 100}});
    OneIn tried(2);
    for (std::size_t i = 0; i < configs.size(); ++i)
        for (const std::size_t spec : {i % 2, 3 - i % 2})
            if (tried.next()) check_variant(on_emulator(), specs[spec], configs[i]);
    GemmSpec wmma = with_c(spec_of(GemmLayout::tn, 72, 40, 104, DataType::f16), DataType::f16);
    for (const char* parameters : {"block=64x32x32,warp=32x16,stages=3,async=false,double_buffer=false",
                                   "block=32x64x32,warp=16x32,mma=16x16x16,stages=5,cache=cg,l2_prefetch=256"})
        check_variant(on_emulator(), wmma, variant_of<WmmaMultistageConfig>(parameters));
}

TEST_CASE("a row of C on the emulator: chosen kernels, and an element less than the row is caught") {
    OneIn tried(2);
    for (const DataType type : {DataType::bf16, DataType::f16, DataType::f32})
        for (const GemmLayout layout : kLayouts)
            for (const GemmSpec& spec : problems(layout, type, {{1, 17, 33}, {17, 1, 33}, {65, 31, 40}, {48, 64, 0}}))
                for (Context* const context : {&on_emulator(), &on_hopper()}) {
                    if (!tried.next()) continue;
                    check(context->kernel(spec), *context);
                    check(context->kernel(of_one_row(spec)), *context);
                }

    const GemmKernel kernel = on_emulator().kernel(with_c(spec_of(GemmLayout::tn, 40, 24, 16), DataType::f32));
    const auto buffer = [](std::int64_t elements, int of_bytes) {
        DeviceBuffer made = on_emulator().allocate(static_cast<std::size_t>(elements * of_bytes));
        const std::vector<std::byte> zeros(made.size_bytes());
        made.copy_from_host(zeros.data(), zeros.size());
        return made;
    };
    const DeviceBuffer a = buffer(40 * 16, 2), b = buffer(24 * 16, 2), c = buffer(23, 4), d = buffer(40 * 24, 2);
    GemmArguments arguments{
        .a = a.data(), .b = b.data(), .c = c.data(), .d = d.data(), .beta = 1.0F, .broadcast_c = true};
    CHECK_THROWS_WITH(kernel.launch(arguments), ContainsSubstring("92"));
    arguments.beta = 0.0F;  // nothing of C is read
    arguments.c = nullptr;
    CHECK_NOTHROW(kernel.launch(arguments));
}

TEST_CASE("a row of C on the emulator: verified as any problem, between guard bands, and a wrong one is found") {
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::tt})
        for (const GemmSpec& full :
             problems(layout, DataType::bf16, {{65, 31, 40}, {1, 17, 33}, {40, 56, 24}, {7, 5, 0}}))
            for (const float beta : {0.5F, 0.0F, 1.0F}) {
                const GemmKernel kernel = on_hopper().kernel(of_one_row(full));
                const Verification verdict =
                    verify(state_of(on_hopper()), kernel, {.alpha = 1.0F, .beta = beta, .use_cpu = true});
                INFO(to_string(kernel.spec()) << "\n" << verdict.message);
                CHECK(verdict.ok);
            }

    const GemmSpec spec = resolved(of_one_row(with_c(spec_of(GemmLayout::tn, 9, 24, 16), DataType::f32)));
    const GuardedProblem problem(state_of(on_emulator()), spec, InputKind::integers, 1, 1.0F, 1.0F);
    GemmArguments arguments = problem.arguments();
    on_emulator().kernel(spec).launch(arguments);
    CHECK(problem.check().ok);
    arguments.beta = -1.0F;
    on_emulator().kernel(spec).launch(arguments);
    CHECK(problem.check().wrong > 0);
}
