/// Groups of rows and of K on a GPU: schedules, sizes, texts, and graphs whose offsets change between replays.

#include "generator/heuristics.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/cuda/cuda_timing.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/gpu/streams_and_replays.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/wgmma_configs.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

#define REQUIRE_WGMMA(context) \
    if (!state_of(context).device->model().arch->has_wgmma) SKIP_TEST("no wgmma before sm_90a")

GemmSpec groups_of(std::int64_t groups, const Sizes& size, DataType type = DataType::bf16,
                   GemmLayout layout = GemmLayout::tn) {
    GemmSpec spec = spec_of(layout, size[0], size[1], size[2], type);
    spec.groups = groups;
    return spec;
}

constexpr std::string_view kMma = "mma_multistage", kSimt = "simt_hierarchical", kWgmma = "wgmma_warp_specialized";

std::string_view family_of_choice(const GemmSpec& spec, Context& context) {
    return family_name(choose_config(problem_of(spec), state_of(context).device->model()));
}

}  // namespace

TEST_CASE("groups on a GPU: all schedules, stores and clusters") {
    REQUIRE_GPU();
    Context context;
    REQUIRE_WGMMA(context);
    std::uint64_t seed = 0;
    for (const char* const parameters :
         {"block=128x128x64,warpgroup=64x128,stages=4", "block=128x192x64,warpgroup=128x192,schedule=pingpong,stages=4",
          "block=256x128x64,warpgroup=128x128,schedule=overlapped,stages=3",
          "block=64x256x64,warpgroup=64x256,schedule=pingpong,stages=4",
          "block=192x104x64,warpgroup=64x104,stages=4,store=smem",
          "block=128x128x64,warpgroup=64x128,stages=4,cluster=2x1",
          "block=64x64x64,warpgroup=64x64,schedule=pingpong,stages=6,cluster=1x2",
          "block=64x40x64,warpgroup=64x40,stages=6,cluster=2x2"})
        for (const Sizes& size : {Sizes{3000, 520, 264}, Sizes{130, 1096, 72}}) {
            ++seed;
            GemmSpec spec = groups_of(seed % 2 == 0 ? 30 : 200, size, DataType::bf16,
                                      seed % 3 == 0 ? GemmLayout::tt : GemmLayout::tn);
            if (seed % 2 == 0) spec.c = spec.d;
            if (seed % 4 == 0) spec.group_rows = 25, spec.m = 25 * spec.groups;
            INFO(parameters);
            static_cast<void>(check_kernel(context, spec, KernelConfig{wgmma_config(parameters)},
                                           {.beta = spec.c ? 2.0F : 0.0F, .seed = seed}));
        }
}

TEST_CASE("groups on a GPU: random problems of every type") {
    REQUIRE_GPU();
    Context context;
    REQUIRE_WGMMA(context);
    std::mt19937_64 random(17);
    const auto below = [&](std::uint64_t end) { return static_cast<std::int64_t>(random() % end); };
    for (std::uint64_t i = 0; i < 60; ++i) {
        constexpr std::array kTypes{DataType::bf16, DataType::f16, DataType::e4m3, DataType::s8, DataType::f32};
        const DataType type = kTypes.at(static_cast<std::size_t>(below(5)));
        const bool may_turn = bytes(type) == 2 && below(2) == 0;
        GemmSpec spec =
            groups_of(1 + below(i % 5 == 0 ? 1024 : 40), {1 + below(4000), 16 * (1 + below(60)), 16 * (1 + below(60))},
                      type, may_turn ? GemmLayout::tt : GemmLayout::tn);
        if (type == DataType::f32) spec.math = Math::tf32;
        if (below(3) == 0) spec.group_rows = 1 + below(90), spec.m = spec.groups * spec.group_rows;
        if (below(3) == 0) spec.expected_rows = 1 + below(300);
        if (below(4) == 0 && type != DataType::s8) spec.epilogue = "w: f32[m]; d = (acc + bias[b,n]) * w[m]";
        INFO(to_string(spec));
        static_cast<void>(check_chosen(context, spec, {.seed = i}));
    }
}

TEST_CASE("groups on a GPU: random problems of odd sizes in every layout, without wgmma and with it") {
    using enum DataType;
    REQUIRE_GPU();
    Context context;
    std::mt19937_64 random(31);
    const auto below = [&](std::uint64_t end) { return static_cast<std::int64_t>(random() % end); };
    std::map<std::string_view, int> families;
    for (std::uint64_t i = 0; i < 96; ++i) {
        const DataType type = std::array{bf16, f16, f32}.at(i % 3);
        GemmSpec spec = groups_of(1 + below(i % 8 == 0 ? 1024 : 40), {1 + below(4000), 1 + below(700), 1 + below(700)},
                                  type, kLayouts.at(i % 4));
        constexpr std::array kMaths{Math::ieee, Math::ieee, Math::tf32, Math::f16x3};
        if (type == f32) spec.math = kMaths.at(i / 12 % 4);
        const bool of_k = i / 3 % 3 == 2;
        if (of_k) {
            spec.ragged = Ragged::k;
            spec.groups = 1 + spec.groups % 20;
            std::swap(spec.m, spec.k);
            if (below(2) == 0) spec.d = f32;
        } else if (below(3) == 0) {
            spec.group_rows = 1 + below(90), spec.m = spec.groups * spec.group_rows;
        }
        if (below(3) == 0) spec.c = spec.d;
        if (below(3) == 0) spec.expected_rows = 1 + below(300);
        if (!spec.c && below(3) == 0)
            spec.epilogue = of_k ? "d = relu(acc + bias[b,n])" : "w: f32[m]; d = (acc + bias[b,n]) * w[m]";
        ++families[family_of_choice(spec, context)];
        INFO(to_string(spec));
        static_cast<void>(check_chosen(context, spec, {.beta = spec.c ? 2.0F : 0.0F, .seed = i}));
    }
    CHECK(families[kMma] > 20);
    CHECK(families[kSimt] > 10);
}

TEST_CASE("groups on a GPU: launches on two streams, and replays of a graph") {
    using enum DataType;
    REQUIRE_GPU();
    Context context;
    const bool has_wgmma = state_of(context).device->model().arch->has_wgmma;
    std::map<std::string_view, int> families;
    for (const bool of_k : {false, true})
        for (const bool has_room : {false, true})
            for (const DataType type : {bf16, f32})
                for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nt}) {
                    if (of_k && has_room) continue;
                    GemmSpec spec = groups_of(24, of_k ? Sizes{136, 72, 3000} : Sizes{3000, 136, 72}, type, layout);
                    if (of_k) spec.ragged = Ragged::k;
                    if (has_room) spec.group_rows = 125;
                    INFO(to_string(spec));
                    ++families[family_of_choice(spec, context)];
                    const Problem problem = problem_of(spec);
                    check_streams_and_replays(context, problem.asked,
                                              choose_config(problem, state_of(context).device->model()));
                }
    CHECK(families[kMma] > 0);
    CHECK(families[kSimt] > 0);
    CHECK((families[kWgmma] > 0) == has_wgmma);
}

TEST_CASE("groups on a GPU: scales of blocks of K of pairs of columns") {
    REQUIRE_GPU();
    Context context;
    REQUIRE_WGMMA(context);
    std::mt19937_64 random(37);
    const auto below = [&](std::uint64_t end) { return static_cast<std::int64_t>(random() % end); };
    constexpr std::array kOfA{"sa[m,k/128]", "sa[k/128,m]"};
    constexpr std::array kOfB{"sb[b,n/128,k/128]", "sb[b,k/128,n]", "sb[b,n,k/128]", "sb[b,k/128,n/128]"};
    constexpr std::array kOfD{"silu(left(x)) * right(x)", "silu(even(x)) * odd(x)", "left(x) - right(x) * w[m]"};
    for (std::uint64_t i = 0; i < 48; ++i) {
        GemmSpec spec = groups_of(1 + below(i % 6 == 0 ? 300 : 40),
                                  {1 + below(4000), 256 * (1 + below(5)), 16 * (1 + below(90))}, DataType::e4m3);
        if (i % 4 == 1) spec.b = DataType::e5m2;
        spec.d = i % 3 == 0 ? DataType::f16 : DataType::bf16;
        if (below(2) == 0) spec.m += 4 - spec.m % 4, spec.k = 512 * (1 + below(4));  // TMA may load scales
        if (below(3) == 0) spec.group_rows = 1 + below(90), spec.m = spec.groups * spec.group_rows;
        if (below(3) == 0) spec.expected_rows = 1 + below(300);
        spec.epilogue =
            std::string("x = acc * ") + kOfA.at(i % 2) + " * " + kOfB.at(i / 2 % 4) + "; d[m,h] = " + kOfD.at(i % 3);
        INFO(to_string(spec));
        static_cast<void>(check_chosen(context, spec, {.seed = i}));
    }
}

TEST_CASE("gathered rows on a GPU: all schedules, rows that repeat and rows that A does not have") {
    REQUIRE_GPU();
    Context context;
    REQUIRE_WGMMA(context);
    std::uint64_t seed = 0;
    for (const char* const parameters :
         {"block=128x128x64,warpgroup=64x128,stages=4", "block=128x192x64,warpgroup=128x192,schedule=pingpong,stages=4",
          "block=256x128x64,warpgroup=128x128,schedule=overlapped,stages=3",
          "block=64x256x64,warpgroup=64x256,schedule=pingpong,stages=4",
          "block=192x104x64,warpgroup=64x104,stages=4,store=smem",
          "block=128x128x64,warpgroup=64x128,stages=4,cluster=2x1",
          "block=64x40x128,warpgroup=64x40,stages=6,cluster=4x1"})
        for (const Sizes& size : {Sizes{3000, 520, 264}, Sizes{130, 1096, 72}}) {
            ++seed;
            GemmSpec spec = groups_of(seed % 2 == 0 ? 30 : 200, size, DataType::bf16,
                                      seed % 3 == 0 ? GemmLayout::tt : GemmLayout::tn);
            spec.source_rows = seed % 4 == 1 ? 1 : 1000;
            if (seed % 2 == 0) spec.c = spec.d;
            if (seed % 4 == 0) spec.group_rows = 25, spec.m = 25 * spec.groups;
            INFO(parameters << ", " << to_string(spec));
            static_cast<void>(check_kernel(context, spec, KernelConfig{wgmma_config(parameters)},
                                           {.beta = spec.c ? 2.0F : 0.0F, .seed = seed}));
        }
    std::mt19937_64 random(29);
    const auto below = [&](std::uint64_t end) { return static_cast<std::int64_t>(random() % end); };
    for (std::uint64_t i = 0; i < 40; ++i) {
        constexpr std::array kTypes{DataType::bf16, DataType::f16, DataType::e4m3, DataType::s8};
        GemmSpec spec = groups_of(1 + below(i % 5 == 0 ? 1024 : 40),
                                  {1 + below(4000), 16 * (1 + below(60)), 16 * (1 + below(60))}, kTypes.at(i % 4));
        spec.source_rows = 1 + below(5000);
        if (below(3) == 0) spec.group_rows = 1 + below(90), spec.m = spec.groups * spec.group_rows;
        if (below(4) == 0 && i % 4 != 3) spec.epilogue = "w: f32[m]; d = (acc + bias[b,n]) * w[m]";
        INFO(to_string(spec));
        static_cast<void>(check_chosen(context, spec, {.seed = i}));
    }
}

TEST_CASE("groups and batches on a GPU: scales of blocks of K") {
    REQUIRE_GPU();
    Context context;
    REQUIRE_WGMMA(context);
    std::mt19937_64 random(23);
    const auto below = [&](std::uint64_t end) { return static_cast<std::int64_t>(random() % end); };
    constexpr std::array kOfA{"sa[k/128,m]", "sa[m,k/128]", "sa[b,k/128,m]", "sa[b,m/128,k/128]"};
    constexpr std::array kOfB{"sb[b,n/128,k/128]", "sb[b,k/128,n/128]", "sb[b,n,k/128]", "sb[b,k/128,n]",
                              "sb[n,k/128]"};
    for (std::uint64_t i = 0; i < 80; ++i) {
        const bool in_groups = i % 4 != 0;
        GemmSpec spec = groups_of(1 + below(i % 5 == 0 ? 300 : 40),
                                  {1 + below(4000), 8 * (1 + below(120)), 16 * (1 + below(120))}, DataType::e4m3);
        spec.d = std::array{DataType::bf16, DataType::f16, DataType::f32}.at(i % 3);
        if (below(3) == 0) spec.group_rows = 1 + below(90), spec.m = spec.groups * spec.group_rows;
        if (below(2) == 0) spec.m += (4 - spec.m % 4) * (spec.group_rows == 0 ? 1 : 0);
        if (below(3) == 0) spec.expected_rows = 1 + below(300);
        if (!in_groups) {
            spec.batch = 1 + spec.groups % 9;
            spec.m = 1 + below(500);
            spec.groups = spec.group_rows = spec.expected_rows = 0;
        }
        spec.epilogue = std::string("d = acc * ") + kOfA.at(static_cast<std::size_t>(below(in_groups ? 2 : 4))) +
                        " * " + kOfB.at(static_cast<std::size_t>(below(5))) + (below(2) == 0 ? "" : " + bias[b,n]");
        INFO(to_string(spec));
        static_cast<void>(check_chosen(context, spec, {.seed = i}));
    }
    for (const char* const parameters :
         {"block=256x128x128,warpgroup=128x128,stages=3,slices=1",
          "block=128x192x128,warpgroup=64x192,stages=3,slices=2",
          "block=64x256x128,warpgroup=64x256,schedule=pingpong,stages=3,slices=2",
          "block=192x128x128,warpgroup=64x128,stages=3,slices=2", "block=64x24x128,warpgroup=64x24,stages=6"})
        for (const char* const way : {"tma", "threads"}) {
            GemmSpec spec = groups_of(30, {6000, 520, 1000}, DataType::e4m3);
            spec.lda = spec.ldb = 1008;
            spec.epilogue = "d = acc * sa[k/128,m] * sb[b,n/128,k/128]";
            INFO(parameters << ", " << way);
            static_cast<void>(check_kernel(
                context, spec,
                KernelConfig{wgmma_config(std::string(parameters) + ",promote=128,scales=" + std::string(way))}));
        }
}

TEST_CASE("groups on a GPU: a graph replays with other sizes, which the host never reads") {
    REQUIRE_GPU();
    Context context;
    REQUIRE_WGMMA(context);
    Device& device = *state_of(context).device;
    constexpr int kGroups = 4, kRows = 256, kColumns = 64, kDepth = 64;
    const ScopedContext current(cuda_context(device));
    const GemmKernel kernel = context.kernel(groups_of(kGroups, {kRows, kColumns, kDepth}));
    // A is all ones. B of group g has g + 1 on its diagonal.
    std::vector<std::uint16_t> a(kRows * kDepth, 0x3f80), b(kGroups * kDepth * kColumns), d(kRows * kColumns);
    constexpr std::array<std::uint16_t, kGroups> kValues{0x3f80, 0x4000, 0x4040, 0x4080};
    for (std::size_t g = 0; g < kGroups; ++g)
        for (std::size_t i = 0; i < kDepth; ++i) b[(g * kColumns + i) * kDepth + i] = kValues.at(g);
    DeviceBuffer on_device[] = {context.allocate(2 * a.size()), context.allocate(2 * b.size()),
                                context.allocate(2 * d.size()), context.allocate(4 * kGroups)};
    on_device[0].copy_from_host(a.data(), 2 * a.size());
    on_device[1].copy_from_host(b.data(), 2 * b.size());
    const GemmArguments arguments{
        .a = on_device[0].data(), .b = on_device[1].data(), .d = on_device[2].data(), .offsets = on_device[3].data()};
    const CudaStream stream;
    const CudaGraph graph(stream, [&](CUstream handle) { kernel.launch(arguments, handle); });
    for (const auto& ends : {std::array{10, 10, 100, 200}, std::array{256, 256, 256, 256}, std::array{0, 0, 0, 7},
                             std::array{1, 2, 3, 4}, std::array{0, 0, 0, 0}}) {
        on_device[3].copy_from_host(ends.data(), 4 * kGroups);
        device.fill_bytes(on_device[2].data(), 0x55, 2 * d.size());
        device.synchronize(nullptr);
        graph.launch(stream);
        stream.synchronize();
        on_device[2].copy_to_host(d.data(), 2 * d.size());
        int wrong = 0;
        for (std::size_t i = 0; i < d.size(); ++i) {
            const int row = static_cast<int>(i) / kColumns;
            std::size_t group = 0;
            while (group < kGroups && row >= ends.at(group)) ++group;
            wrong += d[i] != (group == kGroups ? 0x5555 : kValues.at(group)) ? 1 : 0;
        }
        INFO(ends[0] << ", " << ends[1] << ", " << ends[2] << ", " << ends[3]);
        CHECK(wrong == 0);
    }
}

TEST_CASE("groups of K on a GPU: all schedules, clusters, random problems") {
    REQUIRE_GPU();
    Context context;
    REQUIRE_WGMMA(context);
    std::uint64_t seed = 0;
    for (const char* const parameters :
         {"block=128x128x64,warpgroup=64x128,stages=4", "block=128x192x64,warpgroup=128x192,schedule=pingpong,stages=4",
          "block=256x128x64,warpgroup=128x128,schedule=overlapped,stages=3",
          "block=128x256x64,warpgroup=64x256,stages=3,cluster=2x1",
          "block=64x64x128,warpgroup=64x64,schedule=pingpong,stages=4,cluster=1x2",
          "block=64x40x64,warpgroup=64x40,stages=6,cluster=2x2"})
        for (const Sizes& size : {Sizes{1032, 520, 3001}, Sizes{264, 1096, 250}}) {
            ++seed;
            GemmSpec spec = groups_of(seed % 2 == 0 ? 5 : 40, size, DataType::bf16, GemmLayout::nt);
            spec.ragged = Ragged::k;
            if (seed % 2 == 0) spec.c = spec.d = DataType::f32;
            INFO(parameters);
            static_cast<void>(check_kernel(context, spec, KernelConfig{wgmma_config(parameters)},
                                           {.beta = spec.c ? 1.0F : 0.0F, .seed = seed}));
        }
    std::mt19937_64 random(19);
    const auto below = [&](std::uint64_t end) { return static_cast<std::int64_t>(random() % end); };
    for (std::uint64_t i = 0; i < 40; ++i) {
        GemmSpec spec =
            groups_of(1 + below(i % 5 == 0 ? 1024 : 20), {8 * (1 + below(80)), 8 * (1 + below(80)), 1 + below(9000)},
                      below(2) == 0 ? DataType::bf16 : DataType::f16, GemmLayout::nt);
        spec.ragged = Ragged::k;
        if (below(2) == 0) spec.d = DataType::f32;
        if (below(3) == 0) spec.c = spec.d;
        if (below(3) == 0) spec.d_order = Order::column;
        if (below(3) == 0) spec.expected_rows = 1 + below(3000);
        if (!spec.c && below(3) == 0) spec.epilogue = "d = relu(acc + bias[b,n])";
        INFO(to_string(spec));
        static_cast<void>(check_chosen(context, spec, {.beta = spec.c ? 1.0F : 0.0F, .seed = i}));
    }
}

TEST_CASE("groups of K on a GPU: a graph replays with other ends, and nothing outside a group counts") {
    REQUIRE_GPU();
    Context context;
    REQUIRE_WGMMA(context);
    Device& device = *state_of(context).device;
    constexpr int kGroups = 4, kRows = 64, kColumns = 128, kDepth = 1000, kUsed = 900;
    const ScopedContext current(cuda_context(device));
    GemmSpec spec = groups_of(kGroups, {kRows, kColumns, kDepth}, DataType::bf16, GemmLayout::nt);
    spec.ragged = Ragged::k;
    spec.d = DataType::f32;
    const GemmKernel kernel = context.kernel(spec);
    // All ones, so that an element is the size of its group. Behind kUsed, all is NaN.
    std::vector<std::uint16_t> a(kRows * kDepth, 0x3f80), b(kColumns * kDepth, 0x3f80);
    std::fill(a.begin() + kRows * kUsed, a.end(), std::uint16_t{0x7fff});
    std::fill(b.begin() + kColumns * kUsed, b.end(), std::uint16_t{0x7fff});
    std::vector<float> d(kGroups * kRows * kColumns);
    DeviceBuffer on_device[] = {context.allocate(2 * a.size()), context.allocate(2 * b.size()),
                                context.allocate(4 * d.size()), context.allocate(4 * kGroups)};
    on_device[0].copy_from_host(a.data(), 2 * a.size());
    on_device[1].copy_from_host(b.data(), 2 * b.size());
    const GemmArguments arguments{
        .a = on_device[0].data(), .b = on_device[1].data(), .d = on_device[2].data(), .offsets = on_device[3].data()};
    const CudaStream stream;
    const CudaGraph graph(stream, [&](CUstream handle) { kernel.launch(arguments, handle); });
    for (const auto& ends : {std::array{10, 10, 100, 200}, std::array{900, 900, 900, 900}, std::array{0, 0, 0, 7},
                             std::array{1, 65, 66, 899}, std::array{0, 0, 0, 0}, std::array{64, 128, 192, 900}}) {
        on_device[3].copy_from_host(ends.data(), 4 * kGroups);
        device.fill_bytes(on_device[2].data(), 0x55, 4 * d.size());
        device.synchronize(nullptr);
        graph.launch(stream);
        stream.synchronize();
        on_device[2].copy_to_host(d.data(), 4 * d.size());
        int wrong = 0;
        for (std::size_t i = 0; i < d.size(); ++i) {
            const std::size_t group = i / (kRows * kColumns);
            wrong += d[i] != static_cast<float>(ends.at(group) - (group == 0 ? 0 : ends.at(group - 1))) ? 1 : 0;
        }
        INFO(ends[0] << ", " << ends[1] << ", " << ends[2] << ", " << ends[3]);
        CHECK(wrong == 0);
    }
}
