/// Launchers of batches, groups and texts, against a driver that writes down what it is asked. jitgemm's own launch
/// says what that must be.

#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "runtime/device/argument_packer.hpp"
#include "runtime/export/export_launcher.hpp"
#include "runtime/support/output_file.hpp"
#include "tests/catch.hpp"
#include "tests/support/c_program.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::uint64_t kGiga = std::uint64_t{1} << 32;  // each operand lies at a multiple of it
constexpr std::uint64_t kOffsets = 5 * kGiga, kRowIndex = kOffsets + 4096;
constexpr std::uint64_t kWorkspace = 6 * kGiga;
constexpr std::uint64_t kFirstOfText = 7 * kGiga;

constexpr const char* kDriver = R"(
CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                const cuuint64_t *extents, const cuuint64_t *pitches, const cuuint32_t *box,
                                const cuuint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
    const uint32_t facts[4] = {(uint32_t)type, rank, (uint32_t)swizzle, (uint32_t)promotion};
    unsigned char *bytes = (unsigned char *)map;
    (void)steps; (void)interleave; (void)fill;
    memset(map, 0, sizeof *map);
    memcpy(bytes, &address, 8);
    memcpy(bytes + 8, facts, 16);
    memcpy(bytes + 24, extents, 8 * rank);
    memcpy(bytes + 64, pitches, 8 * (rank - 1));
    memcpy(bytes + 96, box, 4 * rank);
    return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice *device) { *device = 0; return CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int *v, CUdevice_attribute a, CUdevice device) {
    (void)a; (void)device;
    *v = 132;
    return CUDA_SUCCESS;
}
CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char v, size_t bytes, CUstream s) {
    (void)p; (void)v; (void)bytes; (void)s;
    return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction f, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned ty, unsigned tz,
                        unsigned shared, CUstream s, void **parameters, void **extra) {
    int i;
    (void)ty; (void)tz; (void)shared; (void)s; (void)extra;
    printf("%s %u %u %u %u ", (const char *)f, x, y, z, threads);
    for (i = 0; i < ARGUMENT_BYTES; ++i) printf("%02x", ((unsigned char *)parameters[0])[i]);
    printf("\n");
    return CUDA_SUCCESS;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **parameters, void **extra) {
    return cuLaunchKernel(f, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ,
                          c->sharedMemBytes, c->hStream, parameters, extra);
}
static const void *at(uint64_t address) { return (const void *)(uintptr_t)address; }
)";

/// Encodes a tensor map as the C program's driver does.
class WritingDevice : public FakeDevice {
public:
    [[nodiscard]] EncodedTensorMap encode_tensor_map(const TiledTensorMap& map) override {
        EncodedTensorMap encoded;
        std::byte* const to = encoded.bytes.data();
        const std::array<std::uint32_t, 4> facts{type_number(map.type), static_cast<std::uint32_t>(map.rank),
                                                 static_cast<std::uint32_t>(map.swizzle),
                                                 static_cast<std::uint32_t>(map.promotion)};
        const auto rank = static_cast<std::size_t>(map.rank);
        std::memcpy(to, &map.address, 8);
        std::memcpy(to + 8, facts.data(), 16);
        std::memcpy(to + 24, map.extents.data(), 8 * rank);
        std::memcpy(to + 64, map.pitches.data(), 8 * (rank - 1));
        std::memcpy(to + 96, map.box.data(), 4 * rank);
        return encoded;
    }

private:
    /// CUtensorMapDataType.
    static std::uint32_t type_number(DataType type) {
        switch (type) {
            case DataType::s32: return 4;
            case DataType::f16: return 6;
            case DataType::f32: return 7;
            case DataType::bf16: return 9;
            case DataType::tf32: return 11;
            default: return 0;
        }
    }
};

/// A launch in C, and the same launch for jitgemm.
struct SoundLaunch {
    std::string c_text;
    GemmArguments arguments;
};

SoundLaunch sound_launch(const GemmSpec& spec, bool has_workspace) {
    SoundLaunch launch;
    launch.c_text =
        fmt::format("    arguments.a = at({0}u);\n    arguments.b = at({1}u);\n    arguments.d = (void *)at({2}u);\n",
                    kGiga, 2 * kGiga, 4 * kGiga);
    launch.arguments.a = kGiga;
    launch.arguments.b = 2 * kGiga;
    launch.arguments.d = 4 * kGiga;
    if (spec.c) {
        launch.c_text += fmt::format("    arguments.c = at({}u);\n    arguments.beta = 0.5f;\n", 3 * kGiga);
        launch.arguments.c = 3 * kGiga;
        launch.arguments.beta = 0.5F;
    }
    if (has_groups(spec)) {
        launch.c_text += fmt::format("    arguments.offsets = (const int32_t *)at({}u);\n", kOffsets);
        launch.arguments.offsets = kOffsets;
    }
    if (is_gathered(spec)) {
        launch.c_text += fmt::format("    arguments.row_index = (const int32_t *)at({}u);\n", kRowIndex);
        launch.arguments.row_index = kRowIndex;
    }
    if (has_workspace) {
        launch.c_text += fmt::format(
            "    arguments.workspace = (void *)at({}u);\n    arguments.workspace_bytes = 1 << 30;\n", kWorkspace);
        launch.arguments.workspace = kWorkspace;
    }
    std::uint64_t address = kFirstOfText;
    std::string given;
    for (const GemmOperand& operand : gemm_operands(spec)) {
        if (operand.pointer != nullptr) continue;
        given += fmt::format("        {{\"{}\", at({}u), 0}},\n", operand.name, address);
        launch.arguments.operands.set({operand.name, DevicePointer(address)});
        address += kGiga;
    }
    if (const EpilogueParts* const text = parts_of(spec))
        for (const EpilogueOperand& operand : text->operands) {
            if (!operand.is_scalar || operand.name == "alpha" || operand.name == "beta") continue;
            given += fmt::format("        {{\"{}\", NULL, 0.25f}},\n", operand.name);
            launch.arguments.operands.set({operand.name, 0.25F});
        }
    if (!given.empty())
        launch.c_text = fmt::format("    const jg_operand given[] = {{\n{}    }};\n", given) + launch.c_text +
                        "    arguments.operands = given;\n"
                        "    arguments.operand_count = sizeof given / sizeof given[0];\n";
    return launch;
}

struct Frozen {
    Problem problem;
    KernelConfig config;
    KernelSource source;
    WorkspaceLayout workspace;
};

Frozen frozen(const GemmSpec& spec, const char* gpu) {
    const Problem problem = problem_of(as_lines(resolved(spec)));
    const KernelConfig config = choose_config(problem, find_gpu(gpu));
    return {problem, config, generate(problem, config, *find_gpu(gpu).arch), workspace_layout(problem, config)};
}

/// The C program must print this for a sound launch. It comes from jitgemm's own way to launch.
std::string expected_launch(const Frozen& kernel, GemmArguments arguments) {
    if (kernel.problem.transposed) std::swap(arguments.a, arguments.b);
    if (kernel.workspace.bytes == 0) arguments.workspace = nullptr;
    KernelOperands operands{arguments};
    operands.counters = arguments.workspace.address + kernel.workspace.bytes - kernel.workspace.counters;
    operands.reduction_parts = arguments.workspace.address + kernel.workspace.reduction_parts;
    WritingDevice device;
    std::string text;
    for (const KernelEntry& entry : kernel.source.entries) {
        const GemmSpec& spec = kernel.problem.row_major();
        const PackedArguments packed = pack_arguments(entry.arguments, kernel.problem, operands, device);
        const ProblemGrid grid = problem_grid(entry.grid, spec);
        const int cluster = cluster_blocks(entry.cluster);
        text += fmt::format("{} {} {} {} {} {}\n", entry.function,
                            block_count(entry.grid, spec, cluster > 2 ? 132 * 10 / 11 : 132), grid.y, grid.z,
                            entry.threads, hexadecimal(packed.span()));
    }
    return text;
}

/// The output of a C program that makes `launches` with the launcher of the kernel.
std::string output_of(const Frozen& kernel, const std::string& launches) {
    const TemporaryFolder folder;
    const LauncherInput input{"taken", kernel.source, kernel.problem, kernel.workspace};
    write_new_file(folder / "cuda.h", std::string(kFakeCudaHeader) + kTensorMapsHeader);
    write_new_file(folder / "taken.h", launcher_header(input));
    write_new_file(folder / "taken.c", launcher_source(input));
    write_new_file(folder / "main.c", std::string(kQuietDriver) + kDriver +
                                          "int main(void) {\n    taken_kernel kernel;\n"
                                          "    jg_arguments arguments = JG_ARGUMENTS_INIT;\n"
                                          "    taken_problem problem = taken_exported_problem();\n" +
                                          launches + "    (void)problem;\n    return (int)taken_unload(&kernel);\n}\n");
    const auto [messages, built] =
        run(fmt::format("cd {} && cc -std=c99 -Wall -Wextra -Wconversion -pedantic -Werror -I. -DARGUMENT_BYTES={} "
                        "taken.c main.c -o main",
                        folder.path(), argument_layout(kernel.source.entries.front().arguments).bytes));
    INFO(messages);
    REQUIRE(built == 0);
    const auto [output, status] = run(fmt::format("cd {} && ./main", folder.path()));
    CHECK(status == 0);
    return output;
}

constexpr const char* kLoad = "    if (taken_load(&kernel, \"taken.cubin\") != CUDA_SUCCESS) return 1;\n";
constexpr const char* kLaunch = "    printf(\"%d\\n\", (int)taken_launch(&kernel, &arguments, 0));\n";
constexpr const char* kLaunchProblem =
    "    printf(\"%d\\n\", (int)taken_launch_problem(&kernel, &problem, &arguments, 0));\n";

void check_sound(const GemmSpec& spec, const char* gpu = "h200") {
    const Frozen kernel = frozen(spec, gpu);
    INFO(to_string(kernel.problem.asked) << " on " << gpu << ", " << kernel.source.name);
    const SoundLaunch launch = sound_launch(kernel.problem.asked, kernel.workspace.bytes != 0);
    // Declarations come first in the text of the launch.
    CHECK(output_of(kernel, launch.c_text + kLoad + kLaunch) == expected_launch(kernel, launch.arguments) + "0\n");
}

/// A launch after `change` is refused, and enqueues nothing.
void check_refused(const GemmSpec& spec, const std::string& change) {
    const Frozen kernel = frozen(spec, "h200");
    INFO(to_string(kernel.problem.asked) << ": " << change);
    const SoundLaunch launch = sound_launch(kernel.problem.asked, kernel.workspace.bytes != 0);
    CHECK(output_of(kernel, launch.c_text + kLoad + "    " + change + "\n" + kLaunchProblem) == "1\n");
}

}  // namespace

TEST_CASE("launchers of batches ask the driver for what jitgemm's own launch asks for") {
    if (!has_c_compiler()) SKIP_TEST("no C compiler 'cc'");
    const GemmSpec packed{.m = 200, .n = 96, .k = 136, .batch = 7};
    check_sound(packed);
    check_sound(packed, "a100");
    GemmSpec shared = packed;
    shared.batch_stride_b = 0;
    check_sound(shared);
    GemmSpec heads{.m = 128, .n = 64, .k = 64, .lda = 512, .ldb = 512, .ldd = 512, .batch = 8};
    heads.batch_stride_a = heads.batch_stride_b = heads.batch_stride_d = 64;
    check_sound(heads);
    GemmSpec sequences = heads;
    sequences.batch = 24;
    sequences.outer = OuterBatch{.inner = 8, .stride_b = 0, .stride_d = 128 * 512 + 64};
    check_sound(sequences);
    check_sound(sequences, "a100");
    GemmSpec with_c = packed;
    with_c.c = DataType::bf16;
    with_c.d_order = Order::column;
    check_sound(with_c);
    check_sound(with_c, "a100");
    check_sound({.m = 200, .n = 99, .k = 137, .batch = 7});  // copies in the workspace
    check_sound(
        {.m = 40, .n = 24, .k = 33, .a = DataType::f32, .b = DataType::f32, .d = DataType::f32, .batch = 70000});
}

TEST_CASE("launchers of groups ask the driver for what jitgemm's own launch asks for") {
    if (!has_c_compiler()) SKIP_TEST("no C compiler 'cc'");
    check_sound({.m = 1000, .n = 512, .k = 256, .groups = 13});
    check_sound({.m = 640, .n = 512, .k = 256, .groups = 10, .group_rows = 64});
    check_sound({.m = 640, .n = 512, .k = 1000, .layout = GemmLayout::nt, .ragged = Ragged::k, .groups = 10});
    check_sound({.m = 1000, .n = 512, .k = 256, .groups = 13, .epilogue = "d = w[m] * relu(acc + bias[b,n])"});
    check_sound({.m = 1000, .n = 512, .k = 256, .groups = 13, .source_rows = 300});
    for (const char* const gpu : {"a100", "h200"}) {
        check_sound({.m = 1000, .n = 511, .k = 255, .groups = 13}, gpu);
        check_sound({.m = 640, .n = 511, .k = 255, .groups = 10, .group_rows = 64}, gpu);
        check_sound({.m = 639, .n = 511, .k = 1001, .layout = GemmLayout::tn, .ragged = Ragged::k, .groups = 10}, gpu);
    }
    GemmSpec scaled{.m = 1000, .n = 512, .k = 256, .a = DataType::e4m3, .b = DataType::e4m3, .groups = 13};
    scaled.epilogue = "d = acc * sa[m,k/128] * sb[b,n/128,k/128]";
    check_sound(scaled, "rtx4090");
    scaled.epilogue = "x = acc * sa[m,k/128] * sb[b,n/128,k/128]; d[m,h] = silu(left(x)) * right(x)";
    check_sound(scaled);
    using enum DataType;
    check_sound({.m = 1000, .n = 512, .k = 256, .a = f32, .b = f32, .d = f32, .groups = 13});
    check_sound({.m = 64, .n = 96, .k = 1001, .a = f32, .b = f32, .d = f32, .ragged = Ragged::k, .groups = 13});
}

TEST_CASE("launchers of 8 bits and of f32 on tensor cores ask the driver for what jitgemm's own launch asks for") {
    if (!has_c_compiler()) SKIP_TEST("no C compiler 'cc'");
    using enum DataType;
    for (const char* const gpu : {"h200", "a100"}) {
        check_sound({.m = 512, .n = 384, .k = 256, .a = s8, .b = s8, .d = s32, .accumulator = s32}, gpu);
        check_sound({.m = 200, .n = 99, .k = 137, .a = s8, .b = s8, .d = bf16, .accumulator = s32}, gpu);
        for (const Math math : {Math::f16x3, Math::tf32, Math::bf16x6}) {
            check_sound({.m = 512, .n = 384, .k = 256, .a = f32, .d = f32, .math = math}, gpu);
            check_sound({.m = 2000, .n = 1999, .k = 1137, .a = f32, .d = f32, .math = math}, gpu);
        }
    }
}

TEST_CASE("launchers of symmetric products ask the driver for what jitgemm's own launch asks for") {
    if (!has_c_compiler()) SKIP_TEST("no C compiler 'cc'");
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nt})
        for (const Order order : {Order::row, Order::column})
            check_sound({.m = 512, .n = 512, .k = 256, .layout = layout, .d_order = order, .symmetric = true});
}

TEST_CASE("launchers of texts ask the driver for what jitgemm's own launch asks for") {
    if (!has_c_compiler()) SKIP_TEST("no C compiler 'cc'");
    for (const char* const gpu : {"h200", "a100"})
        for (const Order order : {Order::row, Order::column})
            for (const char* const text : {"d = relu(acc)", "d = silu(acc + bias[n]) * up[m,n]",
                                           "gate: f32; d = gate * acc + alpha * w[m] * s[0]",
                                           "d = relu(acc + beta * rest[m,n]); pre[m,n] = acc"})
                check_sound({.m = 200, .n = 256, .k = 128, .d_order = order, .epilogue = text}, gpu);
    check_sound({.m = 256, .n = 512, .k = 128, .epilogue = "d[m,h] = silu(even(acc)) * odd(acc)"});
    check_sound({.m = 256, .n = 1024, .k = 128, .epilogue = "d[m,h] = silu(left(acc)) * right(acc) + up[m,h]"});
    check_sound({.m = 200, .n = 256, .k = 128, .batch = 5, .epilogue = "d = acc + bias[b,n] + all[n]"});
    check_sound({.m = 200, .n = 256, .k = 128, .epilogue = "t = relu(acc); d = t; total[m] = sum(t)"});
    check_sound({.m = 256,
                 .n = 256,
                 .k = 512,
                 .a = DataType::e4m3,
                 .b = DataType::e4m3,
                 .epilogue = "d = acc * sa[m,k/128] * sb[n/128,k/128]"});
}

TEST_CASE("a launcher refuses operands that it could not launch with") {
    if (!has_c_compiler()) SKIP_TEST("no C compiler 'cc'");
    const GemmSpec batch{.m = 200, .n = 96, .k = 136, .batch = 7};
    for (const char* const change :
         {"problem.batch = -1;", "problem.batch_stride_a += 1;", "problem.batch_stride_d = 0;"})
        check_refused(batch, change);
    const GemmSpec groups{.m = 640, .n = 512, .k = 256, .groups = 10, .group_rows = 64};
    for (const char* const change : {"problem.groups = 0;", "problem.groups = 1025;", "problem.group_rows = 63;",
                                     "arguments.offsets = NULL;", "arguments.size = offsetof(jg_arguments, offsets);"})
        check_refused(groups, change);
    const GemmSpec gathered{.m = 1000, .n = 512, .k = 256, .groups = 13, .source_rows = 300};
    for (const char* const change :
         {"problem.source_rows = 0;", "problem.source_rows = -1;", "arguments.row_index = NULL;",
          "arguments.size = offsetof(jg_arguments, row_index);"})
        check_refused(gathered, change);
    const GemmSpec text{.m = 200, .n = 256, .k = 128, .epilogue = "gate: f32; d = gate * acc + bias[n]"};
    for (const char* const change :
         {"arguments.operand_count = 1;", "arguments.operands = NULL;", "arguments.alpha = 2;", "arguments.beta = 1;",
          "arguments.operand_count = 17;", "arguments.size = offsetof(jg_arguments, operands);"})
        check_refused(text, change);
    const Frozen kernel = frozen(text, "h200");
    const std::string others =
        "    const jg_operand twice[] = {{\"bias\", at(64u), 0}, {\"gate\", NULL, 2}, {\"bias\", at(64u), 0}};\n"
        "    const jg_operand unknown[] = {{\"bias\", at(64u), 0}, {\"gate\", NULL, 2}, {\"up\", at(64u), 0}};\n"
        "    const jg_operand misplaced[] = {{\"bias\", at(64u), 0}, {\"gate\", at(64u), 2}};\n"
        "    const jg_operand misaligned[] = {{\"bias\", at(65u), 0}, {\"gate\", NULL, 2}};\n"
        "    const jg_operand unnamed[] = {{\"bias\", at(64u), 0}, {NULL, NULL, 2}};\n";
    std::string launches = others + sound_launch(kernel.problem.asked, false).c_text + kLoad;
    for (const char* const list : {"twice", "unknown", "misplaced", "misaligned", "unnamed"})
        launches +=
            fmt::format("    arguments.operands = {0};\n    arguments.operand_count = sizeof {0} / sizeof {0}[0];\n",
                        list) +
            kLaunch;
    CHECK(output_of(kernel, launches) == "1\n1\n1\n1\n1\n");
}

TEST_CASE("an empty batch, and other sizes and strides, are launched as they are") {
    if (!has_c_compiler()) SKIP_TEST("no C compiler 'cc'");
    const Frozen kernel = frozen({.m = 200, .n = 96, .k = 136, .batch = 7}, "h200");
    REQUIRE(kernel.workspace.bytes == 0);
    const SoundLaunch launch = sound_launch(kernel.problem.asked, false);
    Frozen other = kernel;
    other.problem =
        problem_of(resolved({.m = 200, .n = 96, .k = 136, .batch = 3, .batch_stride_a = 0, .batch_stride_d = 40960}));
    CHECK(output_of(kernel, launch.c_text + kLoad + "    problem.batch = 0;\n" + kLaunchProblem +
                                "    problem.batch = 3;\n    problem.batch_stride_a = 0;\n"
                                "    problem.batch_stride_d = 40960;\n" +
                                kLaunchProblem) == "0\n" + expected_launch(other, launch.arguments) + "0\n");
}

TEST_CASE("the header of a launcher names the operands of a text, and its sizes") {
    const Frozen kernel =
        frozen({.m = 1000, .n = 512, .k = 256, .groups = 13, .epilogue = "gate: f32; d = gate * relu(acc + bias[b,n])"},
               "h200");
    const std::string header = launcher_header({"taken", kernel.source, kernel.problem, kernel.workspace});
    CHECK_THAT(header, ContainsSubstring("gate * relu(acc + bias[b,n])") && ContainsSubstring("bias (groups, n)") &&
                           ContainsSubstring("B (groups, k, n)") && ContainsSubstring("offsets (groups)") &&
                           ContainsSubstring("gate ") && ContainsSubstring("int64_t groups, group_rows;"));
}
