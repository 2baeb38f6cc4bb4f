#include "runtime/device/launch.hpp"
#include "runtime/device/argument_packer.hpp"
#include "tests/catch.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/says.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::uint64_t kA = 0x10000000;
constexpr std::uint64_t kB = 0x20000000;
constexpr std::uint64_t kC = 0x30000000;
constexpr std::uint64_t kD = 0x40000000;

GemmSpec spec_with_c(std::int64_t m = 64, std::int64_t n = 96, std::int64_t k = 128) {
    return resolved({.m = m, .n = n, .k = k, .c = DataType::bf16});
}

GemmSpec spec_with_row_of_c(Order order = Order::row) {
    return resolved(
        {.m = 64, .n = 96, .k = 128, .c = DataType::bf16, .d_order = order, .ldc = 200, .broadcast_c = true});
}

GemmArguments sound_arguments() { return {.a = kA, .b = kB, .c = kC, .d = kD, .alpha = 2.0F, .beta = 0.5F}; }

std::vector<std::string> launch_problems(const GemmSpec& spec, const GemmArguments& arguments,
                                         std::size_t workspace_bytes) {
    std::vector<std::string> problems = jitgemm::launch_problems(problem_of(spec), arguments, workspace_bytes);
    if (LaunchRegions(spec).are_sound(arguments, workspace_bytes)) CHECK(problems.empty());
    return problems;
}

std::string only_problem(const GemmSpec& spec, const GemmArguments& arguments, std::size_t workspace_bytes = 0) {
    const std::vector<std::string> problems = launch_problems(spec, arguments, workspace_bytes);
    REQUIRE(problems.size() == 1);
    return problems.front();
}

PackedArguments packed_for(const std::vector<KernelArgument>& layout, const GemmSpec& spec,
                           const GemmArguments& arguments) {
    jitgemm::testing::FakeDevice device;
    return pack_arguments(layout, {.asked = spec, .signature = {}}, {arguments}, device);
}

template <class Struct>
Struct unpacked(const PackedArguments& packed) {
    REQUIRE(packed.size == sizeof(Struct));
    Struct result;
    std::memcpy(&result, packed.bytes.data(), sizeof(Struct));
    return result;
}

}  // namespace

TEST_CASE("arguments are packed as the compiler lays out the kernel's struct") {
    struct Arguments {
        std::uint64_t a, b, c, d;
        std::int32_t m;
        std::int64_t n;  // four bytes of padding before it
        float alpha;
        std::int32_t k;
        std::int64_t lda, ldb, ldc, ldd;
        float beta;  // four bytes of padding after it
    };
    const std::vector<KernelArgument> layout = {
        PointerArgument{ArgumentRole::a},     PointerArgument{ArgumentRole::b},
        PointerArgument{ArgumentRole::c},     PointerArgument{ArgumentRole::d},
        ExtentArgument{ArgumentRole::m},      ExtentArgument{ArgumentRole::n, 8},
        ScalarArgument{ArgumentRole::alpha},  ExtentArgument{ArgumentRole::k},
        ExtentArgument{ArgumentRole::lda, 8}, ExtentArgument{ArgumentRole::ldb, 8},
        ExtentArgument{ArgumentRole::ldc, 8}, ExtentArgument{ArgumentRole::ldd, 8},
        ScalarArgument{ArgumentRole::beta}};
    GemmSpec spec = spec_with_c();
    spec.n = 5'000'000'000;
    spec.lda = 200;
    spec.ldb = 201;
    spec.ldc = 6'000'000'000;
    spec.ldd = 7'000'000'000;

    REQUIRE(argument_layout(layout).bytes == sizeof(Arguments));
    const auto packed = unpacked<Arguments>(packed_for(layout, spec, sound_arguments()));
    CHECK(packed.a == kA);
    CHECK(packed.b == kB);
    CHECK(packed.c == kC);
    CHECK(packed.d == kD);
    CHECK(packed.m == 64);
    CHECK(packed.n == 5'000'000'000);
    CHECK(packed.alpha == 2.0F);
    CHECK(packed.k == 128);
    CHECK(packed.lda == 200);
    CHECK(packed.ldb == 201);
    CHECK(packed.ldc == 6'000'000'000);
    CHECK(packed.ldd == 7'000'000'000);
    CHECK(packed.beta == 0.5F);
}

TEST_CASE("alpha of zero passes k of zero, and a workspace its address") {
    struct Arguments {
        std::uint64_t workspace;
        std::int32_t k;
        float alpha;
    };
    const std::vector<KernelArgument> layout = {PointerArgument{ArgumentRole::workspace},
                                                ExtentArgument{ArgumentRole::k}, ScalarArgument{ArgumentRole::alpha}};
    GemmArguments arguments = sound_arguments();
    arguments.workspace = DevicePointer(kC);
    CHECK(unpacked<Arguments>(packed_for(layout, spec_with_c(), arguments)).k == 128);
    arguments.alpha = -0.0F;
    const auto packed = unpacked<Arguments>(packed_for(layout, spec_with_c(), arguments));
    CHECK(packed.k == 0);
    CHECK(packed.workspace == kC);
}

TEST_CASE("a C that is one row has no pitch") {
    struct Arguments {
        std::uint64_t c;
        std::int64_t ldc, ldd;
    };
    const std::vector<KernelArgument> layout = {PointerArgument{ArgumentRole::c}, ExtentArgument{ArgumentRole::ldc, 8},
                                                ExtentArgument{ArgumentRole::ldd, 8}};
    GemmArguments arguments = sound_arguments();
    CHECK(unpacked<Arguments>(packed_for(layout, spec_with_c(), arguments)).ldc == 96);
    arguments.broadcast_c = true;
    const auto packed = unpacked<Arguments>(packed_for(layout, spec_with_c(), arguments));
    CHECK(packed.c == kC);
    CHECK(packed.ldc == 0);
    CHECK(packed.ldd == 96);
    for (const bool broadcast_c : {false, true}) {  // said by the spec, the launch may say it again
        arguments.broadcast_c = broadcast_c;
        CHECK(unpacked<Arguments>(packed_for(layout, spec_with_row_of_c(), arguments)).ldc == 0);
    }
}

TEST_CASE("a C that is one row lies apart from D, which may begin right behind it") {
    GemmArguments arguments = sound_arguments();
    arguments.broadcast_c = true;
    CHECK(launch_problems(spec_with_c(), arguments, 0).empty());
    const std::uint64_t row = 96 * 2;
    arguments.c = kD - row;
    CHECK(launch_problems(spec_with_c(), arguments, 0).empty());
    arguments.c = kD + 64 * row;
    CHECK(launch_problems(spec_with_c(), arguments, 0).empty());
    for (const std::uint64_t c : {kD, kD - row + 16, kD + 64 * row - 16}) {
        arguments.c = c;
        CHECK_THAT(only_problem(spec_with_c(), arguments), ContainsSubstring("overlaps C"));
    }
    GemmSpec column_major{.m = 64, .n = 96, .k = 128, .c = DataType::bf16};
    column_major.d_order = Order::column;
    const GemmSpec by_column = resolved(column_major);
    arguments.c = kD - 64 * 2;
    CHECK(launch_problems(by_column, arguments, 0).empty());
    arguments.c = kD - 64 * 2 + 16;
    CHECK_THAT(only_problem(by_column, arguments), testing::Says("added", "D"));
}

TEST_CASE("a spec whose C is one row needs no launch that says so") {
    GemmArguments arguments = sound_arguments();
    const std::uint64_t row = 96 * 2;
    for (const bool broadcast_c : {false, true}) {
        arguments.broadcast_c = broadcast_c;
        for (const std::uint64_t c : {kD - row, kD + 64 * row}) {
            arguments.c = c;
            CHECK(launch_problems(spec_with_row_of_c(), arguments, 0).empty());
        }
        for (const std::uint64_t c : {kD, kD - row + 16, kD + 64 * row - 16}) {
            arguments.c = c;
            CHECK_THAT(only_problem(spec_with_row_of_c(), arguments),
                       ContainsSubstring("one row that is added to all"));
        }
        arguments.c = kD - 64 * 2;
        CHECK(launch_problems(spec_with_row_of_c(Order::column), arguments, 0).empty());
        arguments.c = kD - 64 * 2 + 16;
        CHECK_THAT(only_problem(spec_with_row_of_c(Order::column), arguments), ContainsSubstring("overlaps C"));
    }
}

TEST_CASE("a C that is one row needs a C in the spec, and is not read where beta is 0") {
    GemmArguments arguments = sound_arguments();
    arguments.broadcast_c = true;
    arguments.beta = 0.0F;
    arguments.c = nullptr;
    CHECK(launch_problems(spec_with_c(), arguments, 0).empty());
    for (const std::int64_t m : {64, 0})
        CHECK_THAT(only_problem(resolved({.m = m, .n = 64, .k = 64}), arguments),
                   testing::Says("broadcast_c", "spec", "C"));
}

TEST_CASE("sound arguments have no problems") {
    CHECK(launch_problems(spec_with_c(), sound_arguments(), 0).empty());
    GemmArguments in_place = sound_arguments();
    in_place.c = in_place.d;
    CHECK(launch_problems(spec_with_c(), in_place, 0).empty());
}

TEST_CASE("beta needs a C in the spec, whatever the extents") {
    GemmArguments arguments = sound_arguments();
    CHECK_THAT(only_problem(resolved({.m = 64, .n = 64, .k = 64}), arguments),
               testing::Says("beta", "0.5", "spec", "C"));
    CHECK_THAT(only_problem(resolved({.m = 0, .n = 64, .k = 64}), arguments), ContainsSubstring("no C"));
    arguments.beta = std::numeric_limits<float>::quiet_NaN();
    CHECK_THAT(only_problem(resolved({.m = 64, .n = 64, .k = 64}), arguments), ContainsSubstring("no C"));
}

TEST_CASE("a pointer that is read or written may not be null") {
    const auto without = [](DevicePointer GemmArguments::*operand) {
        GemmArguments arguments = sound_arguments();
        arguments.*operand = nullptr;
        return only_problem(spec_with_c(), arguments);
    };
    CHECK(without(&GemmArguments::a) == "A is null");
    CHECK(without(&GemmArguments::b) == "B is null");
    CHECK(without(&GemmArguments::c) == "C is null");
    CHECK(without(&GemmArguments::d) == "D is null");
}

TEST_CASE("a pointer that nothing is read through may be anything") {
    CHECK(launch_problems(spec_with_c(), {.c = kC, .d = kD, .alpha = 0.0F, .beta = 1.0F}, 0).empty());
    CHECK(launch_problems(spec_with_c(64, 96, 0), {.c = kC, .d = kD, .beta = 1.0F}, 0).empty());
    CHECK(launch_problems(spec_with_c(), {.a = kA, .b = kB, .d = kD}, 0).empty());
    CHECK(launch_problems(spec_with_c(0, 96, 64), {}, 0).empty());
    CHECK(launch_problems(spec_with_c(64, 0, 64), {}, 0).empty());
}

TEST_CASE("pointers are held to the alignment of the spec, each to its own") {
    GemmSpec spec = spec_with_c();
    spec.align_a = 4;
    GemmArguments arguments = sound_arguments();
    arguments.a = DevicePointer(kA + 4);
    CHECK(launch_problems(spec, arguments, 0).empty());
    arguments.a = DevicePointer(kA + 2);
    CHECK_THAT(only_problem(spec, arguments), testing::Says("A", "0x10000002", "aligned", "4"));
    arguments = sound_arguments();
    arguments.d = DevicePointer(kD + 8);
    CHECK_THAT(only_problem(spec, arguments), ContainsSubstring("D at 0x40000008"));
    arguments = sound_arguments();
    arguments.c = DevicePointer(kC + 8);
    CHECK_THAT(only_problem(spec, arguments), ContainsSubstring("C at 0x30000008"));
    arguments.beta = 0.0F;
    CHECK(launch_problems(spec, arguments, 0).empty());
}

TEST_CASE("D may not overlap what is read") {
    const GemmSpec spec = spec_with_c(64, 64, 64);  // every matrix has 8192 bytes
    GemmArguments arguments = sound_arguments();
    arguments.a = DevicePointer(kD + 8192);
    CHECK(launch_problems(spec, arguments, 0).empty());
    arguments.a = DevicePointer(kD + 8192 - 16);
    CHECK(only_problem(spec, arguments) == "D [0x40000000, 0x40002000) overlaps A [0x40001ff0, 0x40003ff0)");
    arguments.a = DevicePointer(kD - 8192 + 16);
    CHECK_THAT(only_problem(spec, arguments), ContainsSubstring("overlaps A"));
    arguments.alpha = 0.0F;
    CHECK(launch_problems(spec, arguments, 0).empty());

    arguments = sound_arguments();
    arguments.b = DevicePointer(kD);
    CHECK_THAT(only_problem(spec, arguments), ContainsSubstring("overlaps B"));
    arguments = sound_arguments();
    arguments.c = DevicePointer(kD + 128);
    CHECK_THAT(only_problem(spec, arguments), testing::Says("D", "exactly", "C"));
}

TEST_CASE("D in place of C needs C's type and leading dimension") {
    GemmArguments arguments = sound_arguments();
    arguments.c = arguments.d;
    GemmSpec spec = resolved({.m = 64, .n = 64, .k = 64, .c = DataType::bf16, .ldc = 72});
    CHECK_THAT(only_problem(spec, arguments), ContainsSubstring("overlaps C"));
    spec = resolved({.m = 64, .n = 64, .k = 64, .c = DataType::f32});
    CHECK_THAT(only_problem(spec, arguments), ContainsSubstring("overlaps C"));
    spec = resolved({.m = 64, .n = 64, .k = 64, .c = DataType::bf16, .ldc = 72, .ldd = 72});
    CHECK(launch_problems(spec, arguments, 0).empty());
}

TEST_CASE("columns of one buffer may be A and D side by side") {
    // A is columns 0 to 63 and D columns 64 to 127 of one row-major matrix with 128 columns.
    const GemmSpec spec = resolved({.m = 32, .n = 64, .k = 64, .lda = 128, .ldd = 128});
    CHECK(launch_problems(spec, {.a = kA, .b = kB, .d = kA + 128}, 0).empty());
    CHECK(launch_problems(spec, {.a = kA + 128, .b = kB, .d = kA}, 0).empty());
    CHECK_THAT(only_problem(spec, {.a = kA, .b = kB, .d = kA + 112}), ContainsSubstring("overlaps A"));
    CHECK_THAT(only_problem(spec, {.a = kA + 112, .b = kB, .d = kA}), ContainsSubstring("overlaps A"));
    CHECK_THAT(only_problem(spec, {.a = kA, .b = kB, .d = kA + 144}),
               ContainsSubstring("overlaps A"));  // D wraps into the next row
}

TEST_CASE("D in place of C needs C's batch stride") {
    GemmSpec spec{.m = 64, .n = 96, .k = 128, .c = DataType::bf16, .batch = 3};
    GemmArguments arguments = sound_arguments();
    arguments.d = kC;
    CHECK(launch_problems(resolved(spec), arguments, 0).empty());
    for (const std::int64_t stride : {0, 2 * 64 * 96}) {
        spec.batch_stride_c = stride;
        CHECK_THAT(only_problem(resolved(spec), arguments), ContainsSubstring("batch stride"));
    }
}

TEST_CASE("matrices of a batch that lie side by side are between A's columns as a whole") {
    GemmSpec spec{.m = 64, .n = 32, .k = 32, .lda = 512, .ldd = 512, .batch = 3};
    spec.batch_stride_d = 32;
    GemmArguments arguments{.a = kA, .b = kB};
    for (const std::int64_t stride_a : {0, 32, 64 * 512}) {
        spec.batch_stride_a = stride_a;
        arguments.d = kA + std::uint64_t{2 * 96};  // behind the heads of A
        CHECK(launch_problems(resolved(spec), arguments, 0).empty());
        arguments.d = kA + std::uint64_t{2 * 32};  // where the second head of A is
        CHECK(launch_problems(resolved(spec), arguments, 0).empty() == (stride_a != 32));
        arguments.d = kA - std::uint64_t{2 * 32};  // D's second head is where A's first is
        CHECK_FALSE(launch_problems(resolved(spec), arguments, 0).empty());
    }
}

TEST_CASE("extents follow the layout, column-major D too") {
    // A of nn is column-major: 3 columns of 64; D column-major: 5 columns of 64.
    const GemmSpec spec = resolved({.m = 64, .n = 5, .k = 3, .layout = GemmLayout::nn, .d_order = Order::column});
    const std::uint64_t a_bytes = 3 * 64 * 2;
    const std::uint64_t d_bytes = 5 * 64 * 2;
    CHECK(launch_problems(spec, {.a = kD - a_bytes, .b = kB, .d = kD}, 0).empty());
    CHECK(launch_problems(spec, {.a = kD + d_bytes, .b = kB, .d = kD}, 0).empty());
    CHECK(launch_problems(spec, {.a = kD - a_bytes + 16, .b = kB, .d = kD}, 0).size() == 1);
    CHECK(launch_problems(spec, {.a = kD + d_bytes - 16, .b = kB, .d = kD}, 0).size() == 1);
}

TEST_CASE("a caller's workspace is large enough and aligned") {
    GemmArguments arguments = sound_arguments();
    CHECK(launch_problems(spec_with_c(), arguments, 1024).empty());
    arguments.workspace = DevicePointer(std::uint64_t{0x50000000});
    arguments.workspace_bytes = 1023;
    CHECK_THAT(only_problem(spec_with_c(), arguments, 1024), testing::Says("1023", "needs", "1024"));
    arguments.workspace_bytes = 1024;
    CHECK(launch_problems(spec_with_c(), arguments, 1024).empty());
    arguments.workspace = DevicePointer(std::uint64_t{0x50000008});
    CHECK_THAT(only_problem(spec_with_c(), arguments, 1024), testing::Says("aligned", "16"));
    for (const std::int64_t m : {64, 0})  // tuning may bring a kernel that needs one
        CHECK_THAT(only_problem(spec_with_c(m), arguments, 0), testing::Says("aligned", "16"));
}

TEST_CASE("all bytes of a caller's workspace lie apart from every operand that a launch touches") {
    const GemmSpec spec = spec_with_c(64, 64, 64);  // every matrix has 8192 bytes
    constexpr std::uint64_t kMatrixBytes = 8192;
    GemmArguments arguments = sound_arguments();
    arguments.workspace_bytes = 4096;
    for (const std::uint64_t operand : {kA, kB, kC, kD}) {
        for (const std::uint64_t apart : {operand - 4096, operand + kMatrixBytes}) {
            arguments.workspace = DevicePointer(apart);
            CHECK(launch_problems(spec, arguments, 1024).empty());
        }
        for (const std::uint64_t within : {operand - 4080, operand, operand + 4096, operand + kMatrixBytes - 16}) {
            arguments.workspace = DevicePointer(within);
            CHECK_THAT(only_problem(spec, arguments, 1024),
                       ContainsSubstring("the workspace") && ContainsSubstring("overlaps"));
            CHECK(launch_problems(spec, arguments, 0).size() == 1);  // a better kernel may use it
        }
    }
    arguments.workspace = DevicePointer(kA);
    arguments.alpha = 0.0F;  // A is not read
    CHECK(launch_problems(spec, arguments, 1024).empty());
    arguments = sound_arguments();
    arguments.workspace = DevicePointer(kD + kMatrixBytes);
    arguments.workspace_bytes = std::numeric_limits<std::size_t>::max();  // no address is so large
    CHECK(launch_problems(spec, arguments, 1024).empty());
    arguments.workspace = DevicePointer(kC - 16);
    CHECK(launch_problems(spec, arguments, 1024).size() == 2);  // C and D
}

TEST_CASE("a workspace of the pitch of a matrix, or beside a C of one row, is compared byte by byte") {
    const GemmSpec spec = spec_with_c(64, 64, 64);
    GemmArguments arguments = sound_arguments();
    arguments.workspace = DevicePointer(kD + 64);
    arguments.workspace_bytes = 128;  // a row of D
    CHECK_THAT(only_problem(spec, arguments), ContainsSubstring("overlaps D"));
    arguments.broadcast_c = true;
    arguments.workspace = DevicePointer(kC + 64);
    CHECK_THAT(only_problem(spec, arguments), ContainsSubstring("overlaps C"));
    arguments.workspace = DevicePointer(kC + 128);
    CHECK(launch_problems(spec, arguments, 0).empty());
}

TEST_CASE("regions know the usual launches to be sound, and leave the others to the list of operands") {
    const GemmSpec spec = spec_with_c(64, 64, 64);
    const LaunchRegions regions(spec);
    GemmArguments arguments = sound_arguments();
    CHECK(regions.are_sound(arguments, 0));
    arguments.c = arguments.d;
    CHECK(regions.are_sound(arguments, 0));
    arguments.workspace = DevicePointer(kD + 8192);
    arguments.workspace_bytes = 1024;
    CHECK(regions.are_sound(arguments, 1024));
    CHECK(regions.are_sound({.c = kC, .d = kD, .alpha = 0.0F, .beta = 1.0F}, 0));
    CHECK(regions.are_sound({.a = kA, .b = kB, .d = kD}, 0));
    arguments = sound_arguments();
    arguments.broadcast_c = true;
    CHECK_FALSE(regions.are_sound(arguments, 0));
    CHECK(LaunchRegions(spec_with_row_of_c()).are_sound(arguments, 0));
    CHECK_FALSE(LaunchRegions(spec_with_c(0)).are_sound(arguments, 0));
    CHECK_FALSE(LaunchRegions().are_sound(arguments, 0));
}

TEST_CASE("groups: where they end, and which rows of A they read, is to be given and lies apart") {
    constexpr std::uint64_t kOffsets = 0x50000000, kRowIndex = 0x60000000, kOfText = 0x70000000;
    for (const char* const text : {"", "d = acc * w[m]"}) {
        const GemmSpec spec = resolved({.m = 64, .n = 96, .k = 128, .groups = 3, .source_rows = 20, .epilogue = text});
        GemmArguments sound{.a = kA, .b = kB, .d = kD, .offsets = kOffsets, .row_index = kRowIndex};
        if (!spec.epilogue.empty()) sound.operands.set({"w", DevicePointer(kOfText)});
        CHECK(launch_problems(spec, sound, 0).empty());
        CHECK(LaunchRegions(spec).are_sound(sound, 0));
        for (const auto member : {&GemmArguments::offsets, &GemmArguments::row_index}) {
            const std::string name = member == &GemmArguments::offsets ? "offsets" : "row_index";
            GemmArguments wrong = sound;
            wrong.*member = {};
            CHECK_THAT(only_problem(spec, wrong), ContainsSubstring(name + " is null"));
            wrong.*member = kD + 64;
            CHECK_THAT(only_problem(spec, wrong),
                       ContainsSubstring("overlaps " + name) && ContainsSubstring(name + " must lie apart"));
        }
        GemmArguments near = sound;
        near.a = kD - 20 * 256;  // A has 20 rows
        CHECK(launch_problems(spec, near, 0).empty());
    }
}

TEST_CASE("arrays of addresses are what a launch checks, and matrices may lie anywhere") {
    GemmSpec spec = spec_with_c();
    spec.batch = 3;
    spec.pointers = true;
    spec = resolved(spec);
    GemmArguments arguments = sound_arguments();
    arguments.a = arguments.b = kD + 8;  // arrays may overlap
    CHECK(launch_problems(spec, arguments, 0).empty());
    CHECK(LaunchRegions(spec).are_sound(arguments, 0));
    arguments.d = kD + 4;
    CHECK_THAT(only_problem(spec, arguments),
               testing::Says("the array of D's addresses", "less aligned than the 8 bytes of an address"));
    arguments.d = nullptr;
    CHECK_THAT(only_problem(spec, arguments), testing::Says("the array of D's addresses is null"));
    arguments.d = kD;
    arguments.workspace = kC + 16;
    arguments.workspace_bytes = 16;
    CHECK_THAT(only_problem(spec, arguments), testing::Says("the workspace", "overlaps", "C's addresses"));
    arguments.workspace = kC + 32;  // behind three addresses
    CHECK(launch_problems(spec, arguments, 0).empty());
    const auto in = [&](std::uint64_t last) {
        return address_problems(spec, arguments, [&](const GemmOperand& operand, DevicePointer array) {
            return array.address == kC ? std::vector<std::uint64_t>{kC, kC, last}
                                       : std::vector<std::uint64_t>(static_cast<std::size_t>(operand.batch), kA);
        });
    };
    CHECK(in(kC).empty());
    REQUIRE(in(kC + 8).size() == 1);
    CHECK_THAT(in(kC + 8).front(), testing::Says("C of problem 2", "less aligned than the 16 bytes"));
    CHECK_THAT(in(0).front(), testing::Says("C of problem 2 is null"));
    arguments.beta = 0.0F;
    CHECK(in(0).empty());
}

TEST_CASE("regions call no launch sound that the list of operands refuses") {
    std::mt19937 random(17);
    const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
    const auto address = [&] { return below(12) == 0 ? 0 : kA + static_cast<std::uint64_t>(below(600)) * 8; };
    int sound = 0;
    int refused = 0;
    for (int i = 0; i < 40000; ++i) {
        GemmSpec spec{.m = below(9), .n = below(9), .k = below(9)};
        spec.layout = static_cast<GemmLayout>(below(4));
        spec.d_order = static_cast<Order>(below(2));
        if (below(2) == 0) spec.c = below(3) == 0 ? DataType::f32 : DataType::bf16;
        if (below(2) == 0) spec.lda = spec.ldb = spec.ldc = spec.ldd = 16;
        spec.broadcast_c = spec.c.has_value() && below(4) == 0;
        spec = resolved(spec);
        const GemmArguments arguments{.a = address(),
                                      .b = address(),
                                      .c = address(),
                                      .d = address(),
                                      .alpha = static_cast<float>(below(4)),
                                      .beta = static_cast<float>(below(2)),
                                      .workspace = below(2) == 0 ? 0 : address(),
                                      .workspace_bytes = static_cast<std::size_t>(below(256)),
                                      .broadcast_c = below(8) == 0};
        const auto needed = static_cast<std::size_t>(below(2)) * 64;
        const bool is_sound = LaunchRegions(spec).are_sound(arguments, needed);
        const bool is_refused = !jitgemm::launch_problems(problem_of(spec), arguments, needed).empty();
        REQUIRE_FALSE((is_sound && is_refused));
        sound += is_sound ? 1 : 0;
        refused += is_refused ? 1 : 0;
    }
    CHECK(sound > 1000);
    CHECK(refused > 10000);
}

TEST_CASE("regions know the usual launches with a text to be sound, and none that the list of operands refuses") {
    constexpr std::array kNames{"s", "bias", "up", "beta", "other"};
    constexpr std::array kTexts{"d = relu(acc + bias[n])",
                                "s: f32; d = s * acc + up[m,n]",
                                "s: f32; bias: f32[m]; d = alpha * acc + beta * up[m,n] + s * bias[m]",
                                "bias: f32[0]; d = bias[0] * acc",
                                "d = acc; pre[m,n] = acc + up[m,n]",
                                "one: f32[m,n]; one[m,n] = acc; d = beta * acc; two[m,n] = acc + bias[n]"};
    std::mt19937 random(18);
    const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
    const auto address = [&] {
        return DevicePointer(below(20) == 0 ? 0 : kA + static_cast<std::uint64_t>(below(600)) * 8);
    };
    int sound = 0, refused = 0;
    for (int i = 0; i < 20000; ++i) {
        GemmSpec spec{.m = 1 + below(8), .n = 1 + below(8), .k = below(9)};
        spec.d_order = static_cast<Order>(below(2));
        spec.epilogue = kTexts.at(static_cast<std::size_t>(below(6)));
        spec = resolved(spec);
        GemmArguments arguments{.a = address(), .b = address(), .d = address()};
        if (below(4) == 0) arguments.alpha = static_cast<float>(below(3));
        if (below(4) == 0) arguments.beta = static_cast<float>(below(2));
        for (const EpilogueOperand& operand : parts_of(spec)->operands) {
            if (operand.name == "alpha" || operand.name == "beta" || below(12) == 0) continue;
            if (operand.is_scalar != (below(20) == 0))
                arguments.operands.set({operand.name, static_cast<float>(below(2))});
            else
                arguments.operands.set({operand.name, address()});
        }
        for (const EpilogueOutput& output : parts_of(spec)->outputs)
            if (is_beside_d(output) && below(20) != 0) arguments.operands.set({output.name, address()});
        if (below(12) == 0) arguments.operands.set({kNames.at(static_cast<std::size_t>(below(5))), address()});
        const bool is_sound = LaunchRegions(spec).are_sound(arguments, 0);
        const bool is_refused = !jitgemm::launch_problems(problem_of(spec), arguments, 0).empty();
        REQUIRE_FALSE((is_sound && is_refused));
        sound += is_sound ? 1 : 0;
        refused += is_refused ? 1 : 0;
    }
    CHECK(sound > 1000);
    CHECK(refused > 1000);
    GemmSpec spec{.m = 64, .n = 64, .k = 64, .epilogue = "d = relu(acc + bias[n]) + up[m,n]"};
    GemmArguments in_place{
        .a = kA, .b = kB, .d = kD, .operands = {{"up", DevicePointer(kD)}, {"bias", DevicePointer(kC)}}};
    CHECK(LaunchRegions(resolved(spec)).are_sound(in_place, 0));
}

TEST_CASE("outputs beside D are checked as D is") {
    GemmSpec spec{.m = 64, .n = 64, .k = 64, .epilogue = "d = relu(acc); pre[m,n] = acc + up[m,n]"};
    constexpr std::uint64_t kBytes = 64 * 64 * 2;
    constexpr std::uint64_t kPre = kD + kBytes, kUp = kPre + kBytes;
    const auto said = [&](std::uint64_t pre, std::uint64_t up) {
        const GemmArguments arguments{
            .a = kA, .b = kB, .d = kD, .operands = {{"up", DevicePointer(up)}, {"pre", DevicePointer(pre)}}};
        const std::vector<std::string> problems = launch_problems(spec, arguments, 0);
        if (LaunchRegions(resolved(spec)).are_sound(arguments, 0)) CHECK(problems.empty());
        return problems.empty() ? std::string() : problems.front();
    };
    CHECK(said(kPre, kUp).empty());
    CHECK(said(kPre, kPre).empty());  // exactly a matrix that is read
    CHECK(said(kPre, kD).empty());
    for (const std::uint64_t up : {kUp, kPre, kD})  // the quick check takes all three
        CHECK(
            LaunchRegions(resolved(spec))
                .are_sound(
                    {.a = kA, .b = kB, .d = kD, .operands = {{"up", DevicePointer(up)}, {"pre", DevicePointer(kPre)}}},
                    0));
    CHECK_THAT(said(0, kUp), testing::Says("pre is null"));
    CHECK_THAT(said(kPre + 2, kUp + 16), testing::Says("pre", "less aligned"));
    CHECK_THAT(said(kPre - 16, kUp), testing::Says("pre", "overlaps", "D"));
    CHECK_THAT(said(kD, kUp), testing::Says("pre", "overlaps", "D"));
    CHECK_THAT(said(kPre, kPre + 16), testing::Says("pre", "overlaps", "up", "may only be exactly up"));
    CHECK_THAT(said(kA, kUp), testing::Says("pre", "overlaps", "A"));
    const GemmArguments without{.a = kA, .b = kB, .d = kD, .operands = {{"up", DevicePointer(kUp)}}};
    CHECK_THAT(only_problem(spec, without), testing::Says("pre is null"));
}

TEST_CASE("all problems are told at once") {
    const std::vector<std::string> problems =
        launch_problems(spec_with_c(), {.b = kB + 1, .d = nullptr, .beta = 1.0F}, 0);
    CHECK(problems.size() == 4);  // D, A and C null, B misaligned
}
