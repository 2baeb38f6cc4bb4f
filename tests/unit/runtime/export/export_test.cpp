#include "runtime/export/export.hpp"

#include "generator/base/spread_blocks.hpp"
#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "runtime/device/argument_packer.hpp"
#include "runtime/export/export_launcher.hpp"
#include "runtime/support/file_system.hpp"
#include "runtime/support/output_file.hpp"
#include "tests/catch.hpp"
#include "tests/support/c_program.hpp"
#include "tests/support/fake_device.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kA = 0x100000000;
constexpr std::uint64_t kB = 0x200000000;
constexpr std::uint64_t kC = 0x300000000;
constexpr std::uint64_t kD = 0x400000000;
constexpr std::uint64_t kWorkspace = 0x500000000;

struct TemporaryFolder {
    fs::path path = fs::temp_directory_path() / ("jitgemm-export-test-" + unique_suffix());
    TemporaryFolder() { fs::create_directories(path); }
    ~TemporaryFolder() { remove_tree(path); }
};

std::string text_of(const fs::path& path) { return read_file(path).value_or("no such file"); }

std::set<std::string> names_in(const fs::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
    return names;
}

struct Exported {
    GemmSpec spec;
    KernelConfig config;
    KernelSource source;
    CompiledKernel compiled;
};

Exported exported(const GemmSpec& asked, const ParameterMap& parameters = {}) {
    Exported kernel;
    kernel.spec = resolved(asked);
    kernel.config = with_parameters(choose_config(problem_of(asked), find_gpu("a100")), parameters);
    kernel.source = generate(problem_of(asked), kernel.config, find_arch("sm_90a"));
    kernel.compiled.arch = "sm_90a";
    kernel.compiled.binary = "the cubin";
    kernel.compiled.report.registers = 128;
    return kernel;
}

void write(const Exported& kernel, const fs::path& folder, const ExportOptions& options = {}) {
    export_kernel(kernel.source, problem_of(kernel.spec), kernel.compiled, folder, options);
}

// ---- the launcher against a driver that writes down what it is asked ------------------------------------------------

constexpr const char* kMain = R"(
#include "taken.h"
#include "jitgemm/jitgemm.h"
#include <stdio.h>
#include <string.h>
CUresult cuModuleLoad(CUmodule *m, const char *path) { printf("load %s\n", path); *m = 0; return CUDA_SUCCESS; }
CUresult cuModuleLoadData(CUmodule *m, const void *image) { (void)image; *m = 0; return CUDA_SUCCESS; }
CUresult cuModuleUnload(CUmodule m) { (void)m; printf("unload\n"); return CUDA_SUCCESS; }
CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name) {
    (void)m;
    *f = (CUfunction)name;
    return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int *v, CUfunction_attribute a, CUfunction f) {
    (void)a;
    *v = 128;
    return f == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute a, int v) {
    printf("grant %s %d %d\n", (const char *)f, (int)a, v);
    return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction f, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned ty, unsigned tz,
                        unsigned shared, CUstream s, void **parameters, void **extra) {
    int i;
    (void)s; (void)extra;
    printf("%s %u %u %u %u ", (const char *)f, x * y * z, threads, ty * tz, shared);
    for (i = 0; i < ARGUMENT_BYTES; ++i) printf("%02x", ((unsigned char *)parameters[0])[i]);
    printf("\n");
    return CUDA_SUCCESS;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **parameters, void **extra) {
    unsigned i;
    for (i = 0; i < c->numAttrs; ++i)
        if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            printf("early %d\n", c->attrs[i].value.programmaticStreamSerializationAllowed);
        else
            printf("cluster %d %u %u %u\n", (int)c->attrs[i].id, c->attrs[i].value.clusterDim.x,
                   c->attrs[i].value.clusterDim.y, c->attrs[i].value.clusterDim.z);
    return cuLaunchKernel(f, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ,
                          c->sharedMemBytes, c->hStream, parameters, extra);
}
CUresult cuCtxGetDevice(CUdevice *device) { *device = 0; return CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int *v, CUdevice_attribute a, CUdevice device) {
    (void)a; (void)device;
    *v = 132;
    return CUDA_SUCCESS;
}
static jg_arguments operands(void) {
    jg_arguments arguments = JG_ARGUMENTS_INIT;
    arguments.a = (const void *)(uintptr_t)0x100000000;
    arguments.b = (const void *)(uintptr_t)0x200000000;
    arguments.d = (void *)(uintptr_t)0x400000000;
    arguments.alpha = 2;
#if HAS_C
    arguments.c = (const void *)(uintptr_t)0x300000000;
    arguments.beta = 0.5f;
#endif
#if HAS_WORKSPACE
    arguments.workspace = (void *)(uintptr_t)0x500000000;
    arguments.workspace_bytes = 1 << 30;
#endif
    return arguments;
}
int main(void) {
    taken_kernel kernel;
    taken_problem problem = taken_exported_problem();
    jg_arguments arguments = operands();
    struct { jg_arguments known; float newer; } longer;
    if (taken_load(&kernel, "taken.cubin") != CUDA_SUCCESS) return 1;
    printf("%d\n", taken_launch(&kernel, &arguments, 0));
    arguments.alpha = 0;
    arguments.a = NULL;
    printf("%d\n", taken_launch_problem(&kernel, &problem, &arguments, 0));
    arguments.alpha = 2;
    printf("%d\n", taken_launch(&kernel, &arguments, 0));
    arguments.a = (const void *)(uintptr_t)0x100000001;
    printf("%d\n", taken_launch(&kernel, &arguments, 0));
    arguments = operands();
    problem.ldd -= 1;
    printf("%d\n", taken_launch_problem(&kernel, &problem, &arguments, 0));
    problem.m = 0;
    printf("%d\n", taken_launch_problem(&kernel, &problem, &arguments, 0));
    arguments.size -= 1;
    printf("%d\n", taken_launch(&kernel, &arguments, 0));
    printf("%d\n", taken_launch(&kernel, NULL, 0));
    arguments = operands();
    arguments.beta = 1;
    printf("%d\n", HAS_C ? 1 : (int)taken_launch(&kernel, &arguments, 0));
    memset(&longer, 0, sizeof longer);
    longer.known = operands();
    longer.known.size = sizeof longer;
    longer.newer = 1;
    printf("%d\n", taken_launch(&kernel, &longer.known, 0));
    longer.newer = 0;
    printf("%d\n", taken_launch(&kernel, &longer.known, 0));
    arguments = operands();
    arguments.dependent_launch = 3;
    printf("%d\n", taken_launch(&kernel, &arguments, 0));
    arguments.dependent_launch = 2;
    printf("%d\n", taken_launch(&kernel, &arguments, 0));
    arguments.dependent_launch = 1;
    printf("%d\n", taken_launch(&kernel, &arguments, 0));
    arguments.dependent_launch = 3; /* behind what an older header has */
    arguments.size = offsetof(jg_arguments, dependent_launch);
    printf("%d\n", taken_launch(&kernel, &arguments, 0));
    arguments = operands();
    arguments.broadcast_c = 2;
    printf("%d\n", taken_launch(&kernel, &arguments, 0));
    arguments.size = offsetof(jg_arguments, broadcast_c);
    printf("%d\n", taken_launch(&kernel, &arguments, 0));
    arguments = operands();
    arguments.broadcast_c = 1;
    printf("%d\n", taken_launch(&kernel, &arguments, 0));
    return taken_unload(&kernel);
}
)";

bool has_workspace(const Exported& kernel) {
    return family_of(kernel.config).workspace_bytes(problem_of(kernel.spec), kernel.config) != 0;
}

bool begins_early(const Exported& kernel) { return kernel.source.entries.front().programmatic_launch; }

// The fake driver must write this for one launch. It comes from jitgemm's own way to launch.
std::string expected_launch(const Exported& kernel, float alpha, bool early = true, bool broadcast_c = false) {
    const Problem problem = problem_of(kernel.spec);
    const bool swapped = problem.transposed;
    const GemmSpec& row_major = problem.row_major();
    GemmArguments arguments{.a = swapped ? kB : kA, .b = swapped ? kA : kB, .d = kD, .alpha = alpha};
    if (alpha == 0) (swapped ? arguments.b : arguments.a) = nullptr;
    if (kernel.spec.c) {
        arguments.c = kC;
        arguments.beta = 0.5F;
        arguments.broadcast_c = broadcast_c;
    }
    if (has_workspace(kernel)) arguments.workspace = kWorkspace;
    FakeDevice device;
    std::string text;
    for (const KernelEntry& entry : kernel.source.entries) {
        const PackedArguments packed = pack_arguments(entry.arguments, problem, {arguments}, device);
        if (block_count(entry.grid, row_major) == 0) continue;  // packing an operand without elements
        if (entry.cluster[0] > 1)
            text += fmt::format("cluster 4 {} {} {}\n", entry.cluster[0], entry.cluster[1], entry.cluster[2]);
        if (entry.programmatic_launch) text += fmt::format("early {}\n", early ? 1 : 0);
        const std::int64_t blocks = block_count(entry.grid, row_major);
        const int shared_bytes = early ? launched_shared_bytes(entry, blocks, find_gpu("h200")) : entry.shared_bytes;
        text += fmt::format("{} {} {} 1 {} {}\n", entry.function, blocks, entry.threads, shared_bytes,
                            hexadecimal(packed.span()));
    }
    return text;
}

std::string expected_grants(const Exported& kernel) {
    std::string text;
    for (const KernelEntry& entry : kernel.source.entries) {
        const int most = most_shared_bytes(entry, find_arch("sm_90a"));
        if (most > 48 * 1024) text += fmt::format("grant {} 8 {}\n", entry.function, most);
        if (entry.cluster[0] > 8) text += fmt::format("grant {} 14 1\n", entry.function);
    }
    return text;
}

// The launcher's calls of the driver: for one sound launch, then with alpha 0, then for unsound ones.
std::string launcher_output(const Exported& kernel) {
    const TemporaryFolder folder;
    write(kernel, folder.path, {.name = "taken", .force = false});
    write_new_file(folder.path / "cuda.h", kFakeCudaHeader);
    write_new_file(folder.path / "main.c", kMain);
    const std::string in_folder = "cd " + folder.path.string() + " && ";
    const auto [messages, status] = run(
        in_folder +
        fmt::format("flags='-std=c99 -Wall -Wextra -Wconversion -pedantic -Werror -I. -I{}/include -DARGUMENT_BYTES={} "
                    "-DHAS_C={} -DHAS_WORKSPACE={}'; cc $flags taken.c main.c -o main && "
                    "cc $flags -include jitgemm/jitgemm.h -fsyntax-only main.c",
                    JITGEMM_SOURCE_DIR, argument_layout(kernel.source.entries.front().arguments).bytes,
                    kernel.spec.c ? 1 : 0, has_workspace(kernel) ? 1 : 0));
    INFO(messages);
    REQUIRE(status == 0);
    const auto [output, result] = run(in_folder + "./main");
    CHECK(result == 0);
    return output;
}

void check_launcher(const Exported& kernel) {
    CHECK(launcher_output(kernel) ==
          "load taken.cubin\n" + expected_grants(kernel) + expected_launch(kernel, 2) + "0\n" +
              expected_launch(kernel, 0) + "0\n1\n1\n1\n0\n1\n1\n1\n1\n" + expected_launch(kernel, 2) + "0\n1\n" +
              (begins_early(kernel) ? expected_launch(kernel, 2) + "0\n" : "1\n") + expected_launch(kernel, 2, false) +
              "0\n" + expected_launch(kernel, 2) + "0\n1\n" + expected_launch(kernel, 2) + "0\n" +
              (kernel.spec.c ? expected_launch(kernel, 2, true, true) + "0\n" : "1\n") + "unload\n");
}

}  // namespace

TEST_CASE("an export holds the cubin, the launcher, the source and the facts") {
    const TemporaryFolder folder;
    const Exported kernel = exported({.m = 1000, .n = 777, .k = 999});
    write(kernel, folder.path / "deep" / "out/");
    const fs::path out = folder.path / "deep" / "out";
    CHECK(names_in(out) == std::set<std::string>{"gemm_bf16_tn.cubin", "gemm_bf16_tn.h", "gemm_bf16_tn.c",
                                                 "gemm_bf16_tn.cu", "meta.json"});
    CHECK(names_in(out.parent_path()) == std::set<std::string>{"out"});  // no temporary folder is left
    CHECK(text_of(out / "gemm_bf16_tn.cubin") == "the cubin");
    CHECK(text_of(out / "gemm_bf16_tn.cu") == dump(kernel.source, problem_of(kernel.spec)));
    CHECK(text_of(out / "gemm_bf16_tn.h").find('@') == std::string::npos);
    CHECK(text_of(out / "gemm_bf16_tn.c").find('@') == std::string::npos);

    const auto meta = nlohmann::json::parse(text_of(out / "meta.json"));
    CHECK(meta.at("kernel") == kernel.source.name);
    CHECK(parse_gemm_spec(meta.at("spec").get<std::string>()) == kernel.spec);
    CHECK(meta.at("registers") == 128);
    CHECK(meta.at("entries").at(0).at("threads") == kernel.source.entries.front().threads);
    CHECK(meta.at("entries").at(0).at("arguments").size() == kernel.source.entries.front().arguments.size());
}

TEST_CASE("an export spares what is there") {
    const TemporaryFolder folder;
    const Exported kernel = exported({.m = 512, .n = 512, .k = 512});
    write(kernel, folder.path);  // there, but empty
    CHECK_THROWS_WITH(write(kernel, folder.path), ContainsSubstring("not empty"));

    write_new_file(folder.path / "notes.txt", "mine");
    Exported newer = kernel;
    newer.compiled.binary = "a newer cubin";
    write(newer, folder.path, {.name = "", .force = true});
    CHECK(text_of(folder.path / "gemm_bf16_tn.cubin") == "a newer cubin");
    CHECK(text_of(folder.path / "notes.txt") == "mine");
    CHECK_THROWS_WITH(write(kernel, folder.path / "notes.txt"), ContainsSubstring("not a folder"));
}

TEST_CASE("an export into a folder that is there keeps its mode, and follows links") {
    const TemporaryFolder folder;
    const Exported kernel = exported({.m = 512, .n = 512, .k = 512});
    fs::create_directory(folder.path / "out");
    fs::permissions(folder.path / "out", static_cast<fs::perms>(0750));
    fs::create_directory_symlink("out", folder.path / "link");
    write(kernel, folder.path / "link");
    CHECK(fs::is_symlink(folder.path / "link"));
    CHECK(fs::status(folder.path / "out").permissions() == static_cast<fs::perms>(0750));

    fs::rename(folder.path / "out/gemm_bf16_tn.h", folder.path / "elsewhere.h");
    fs::create_symlink("../elsewhere.h", folder.path / "out/gemm_bf16_tn.h");
    write_output_file(folder.path / "elsewhere.h", "old");
    write(kernel, folder.path / "out", {.name = "", .force = true});
    CHECK(fs::is_symlink(folder.path / "out/gemm_bf16_tn.h"));
    CHECK(text_of(folder.path / "elsewhere.h") != "old");
}

TEST_CASE("what cannot be exported to is known before the work, and named") {
    CHECK_THROWS_WITH(require_export_folder("/proc/deep/out", false),
                      ContainsSubstring("cannot write /proc/deep/out:"));
    const TemporaryFolder folder;
    require_export_folder(folder.path / "deep/out", false);
    CHECK(fs::is_empty(folder.path));
}

TEST_CASE("an export is named as C allows") {
    const TemporaryFolder folder;
    const Exported kernel = exported({.m = 512, .n = 512, .k = 512});
    for (const char* name : {"my-gemm", "2fast", "a b", "../x"}) {
        CHECK_THROWS_WITH(write(kernel, folder.path / "out", {.name = name, .force = false}),
                          ContainsSubstring("cannot name C"));
    }
    CHECK_FALSE(fs::exists(folder.path / "out"));
}

TEST_CASE("an export's header has the launch arguments of jitgemm.h, word for word") {
    const TemporaryFolder folder;
    write(exported({.m = 512, .n = 512, .k = 512}), folder.path, {.name = "taken", .force = false});
    const std::string ours = text_of(fs::path(JITGEMM_SOURCE_DIR) / "include/jitgemm/jitgemm.h");
    const std::size_t begin = ours.find("#ifndef JG_ARGUMENTS_INIT\n");
    const std::size_t end = ours.find("#endif\n", begin);
    REQUIRE(end != std::string::npos);
    CHECK_THAT(text_of(folder.path / "taken.h"), ContainsSubstring(ours.substr(begin, end - begin)));
}

TEST_CASE("the launcher asks the driver for what jitgemm's own launch asks for") {
    if (!has_c_compiler()) SKIP_TEST("no C compiler 'cc'");
    SECTION("plain") { check_launcher(exported({.m = 1000, .n = 776, .k = 1000})); }
    SECTION("with C") {
        check_launcher(exported({.m = 1000,
                                 .n = 776,
                                 .k = 1000,
                                 .a = DataType::f16,
                                 .b = DataType::f16,
                                 .c = DataType::f32,
                                 .d = DataType::f32}));
    }
    SECTION("column-major D") {
        check_launcher(exported(
            {.m = 1000, .n = 776, .k = 1000, .c = DataType::bf16, .layout = GemmLayout::nn, .d_order = Order::column}));
    }
    SECTION("a C of one row") {
        for (const Order order : {Order::row, Order::column})
            check_launcher(
                exported({.m = 1000, .n = 776, .k = 1000, .c = DataType::bf16, .d_order = order, .broadcast_c = true}));
    }
    SECTION("packed operands") {  // whose grids cover A and B, not D
        check_launcher(exported({.m = 300, .n = 40, .k = 4001}, {{"pack", "ab"}}));
        check_launcher(exported({.m = 300, .n = 40, .k = 4001, .d_order = Order::column}, {{"pack", "ab"}}));
    }
    SECTION("remainder tiles") {  // 16 x 7 tiles: 4 are left over
        const DataType f32 = DataType::f32;
        check_launcher(
            exported({.m = 1000, .n = 776, .k = 1000, .a = f32, .b = f32, .d = f32}, {{"block", "64x128x16"},
                                                                                      {"warp", "32x32"},
                                                                                      {"thread", "8x4"},
                                                                                      {"copy_slices", "8"},
                                                                                      {"min_blocks_per_sm", "2"},
                                                                                      {"split_k", "1"},
                                                                                      {"blocks_per_wave", "9"}}));
    }
    SECTION("operands of one line, whose leading dimension nobody uses") {
        const DataType f32 = DataType::f32;
        check_launcher(exported({.m = 1, .n = 64, .k = 777}));
        check_launcher(exported({.m = 1, .n = 777, .k = 64}));
        check_launcher(exported({.m = 777, .n = 1, .k = 777, .layout = GemmLayout::nn}));
        check_launcher(exported({.m = 1, .n = 64, .k = 777, .a = f32, .b = f32, .d = f32}));
    }
    SECTION("packed operands without elements") {
        const Exported kernel = exported({.m = 300, .n = 40, .k = 0, .align_a = 2, .align_b = 2}, {{"pack", "ab"}});
        REQUIRE(kernel.source.entries.size() == 2);
        CHECK_THAT(launcher_output(kernel),
                   StartsWith("load taken.cubin\n" + expected_grants(kernel) + expected_launch(kernel, 2) + "0\n"));
    }
    SECTION("a cluster of more blocks than every GPU takes") {
        const Exported kernel =
            exported({.m = 128, .n = 256, .k = 8192}, {{"split_k", "16"}, {"reduction", "cluster"}});
        REQUIRE(kernel.source.entries.front().cluster[0] == 16);
        check_launcher(kernel);
    }
    SECTION("launches that begin early") {
        check_launcher(exported({.m = 128, .n = 256, .k = 8192}, {{"split_k", "2"}, {"dependent_launch", "1"}}));
        check_launcher(exported({.m = 128, .n = 256, .k = 8192},
                                {{"split_k", "2"}, {"reduction", "cluster"}, {"dependent_launch", "1"}}));
    }
    SECTION("split K") { check_launcher(exported({.m = 128, .n = 256, .k = 8192}, {{"split_k", "2"}})); }
}

TEST_CASE("the launcher of a kernel that leaves edges unchecked takes its own shape alone") {
    const GemmSpec f32{.m = 1024, .n = 1024, .k = 512, .a = DataType::f32, .b = DataType::f32, .d = DataType::f32};
    const auto launcher_of = [&](const char* edges) {
        const TemporaryFolder folder;
        write(exported(f32, {{"predicated", edges}, {"split_k", "1"}}), folder.path, {.name = "taken", .force = false});
        return text_of(folder.path / "taken.c");
    };
    CHECK_THAT(launcher_of("0"), ContainsSubstring("problem->m != 1024 || problem->n != 1024 || problem->k != 512"));
    CHECK_THAT(launcher_of("1"), !ContainsSubstring("problem->m != 1024"));
}

TEST_CASE("a launcher takes no extents that the kernel could not count") {
    const auto launcher_of = [](const ParameterMap& parameters) {
        const TemporaryFolder folder;
        write(exported({.m = 1024, .n = 1024, .k = 512}, parameters), folder.path, {.name = "taken", .force = false});
        return text_of(folder.path / "taken.c");
    };
    CHECK_THAT(launcher_of({{"group", "16"}}),
               ContainsSubstring("problem->m > 2147418111") && !ContainsSubstring("m != 1024"));
    CHECK_THAT(launcher_of({{"group", "1024"}}), ContainsSubstring("problem->m != 1024"));
}

TEST_CASE("an export's entries say all of their grids") {
    const TemporaryFolder folder;
    const Exported kernel = exported({.m = 300, .n = 40, .k = 4001}, {{"pack", "ab"}});
    write(kernel, folder.path, {.name = "taken", .force = false});
    const auto entries = nlohmann::json::parse(text_of(folder.path / "meta.json")).at("entries");
    REQUIRE(entries.size() == kernel.source.entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto& grid = entries.at(i).at("grid");
        GridRule rule{.tile_m = grid.at("tile_m"), .tile_n = grid.at("tile_n"), .splits = grid.at("splits")};
        const std::string matrix = grid.at("matrix");
        for (const GridMatrix known : {GridMatrix::a, GridMatrix::b, GridMatrix::ab, GridMatrix::d_quads})
            if (matrix == to_string(known)) rule.matrix = known;
        if (grid.at("blocks").at("rule") == "capped") rule.blocks = CappedBlocks{grid.at("blocks").at("most")};
        CHECK(rule == kernel.source.entries[i].grid);
    }
}

// Tensor maps, a grid that depends on the GPU, counters, attributes: what no family asks for yet, of a kernel that has
// them.
std::string launcher_with_everything() {
    const Exported kernel = exported({.m = 1000, .n = 504, .k = 304, .d_order = Order::column});
    KernelSource source = kernel.source;
    KernelEntry& entry = source.entries.front();
    const auto map = [](ArgumentRole role) {
        return TensorMapArgument{role, {64, 128}, TensorMapSwizzle::span128, L2Promotion::bytes128};
    };
    entry.arguments = {map(ArgumentRole::a), map(ArgumentRole::b), map(ArgumentRole::d),
                       PointerArgument{ArgumentRole::counters}, ExtentArgument{ArgumentRole::k}};
    entry.grid.blocks = PersistentBlocks{1, 2};
    entry.cluster = {2, 1, 1};
    entry.programmatic_launch = true;
    return launcher_source({"taken", source, problem_of(kernel.spec), {512, 256}});
}

TEST_CASE("a launcher encodes tensor maps of packed operands in the workspace, with the pitches of the copies") {
    const Exported kernel = exported({.m = 301, .n = 40, .k = 4001}, {{"pack", "ab"}});
    KernelSource source = kernel.source;
    const auto map = [](ArgumentRole role) {
        return TensorMapArgument{role, {64, 128}, TensorMapSwizzle::span128, L2Promotion::bytes128};
    };
    source.entries.back().arguments = {map(ArgumentRole::packed_a), map(ArgumentRole::packed_b)};
    const std::string text = launcher_source({"taken", source, problem_of(kernel.spec), {512, 256}});
    const std::string pitch = "(problem->k > 32 ? (problem->k + 63) / 64 * 64 : problem->k > 16 ? 32 : 16)";
    CHECK_THAT(text, ContainsSubstring("problem->workspace, problem->k, problem->m, " + pitch + ", 64, 128"));
    CHECK_THAT(text, ContainsSubstring("problem->workspace + (CUdeviceptr)((problem->m * " + pitch +
                                       " * 2 + 255) / 256 * 256), problem->k, problem->n, " + pitch + ", 64, 128"));
}

TEST_CASE("a launcher encodes tensor maps of the caller's matrices, zeroes counters and asks for the GPU's SMs") {
    const std::string text = launcher_with_everything();
    // D is column-major: the kernel's A is the caller's B, k contiguous, one run for each of n.
    CHECK_THAT(text,
               ContainsSubstring(
                   "problem->alpha == 0 || problem->k == 0 ? CUDA_SUCCESS : encode_tensor_map(&arguments.map_a, "
                   "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, problem->b, problem->k, problem->n, problem->ldb, 64, 128, "
                   "CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B)"));
    CHECK_THAT(text,
               ContainsSubstring(
                   "encode_tensor_map(&arguments.map_d, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, problem->d, problem->m, "
                   "problem->n, problem->ldd"));
    CHECK_THAT(text, ContainsSubstring("cuMemsetD8Async(problem->workspace + 256, 0, 256, stream)"));
    CHECK_THAT(text, ContainsSubstring("arguments.counters = problem->workspace + 256;"));
    CHECK_THAT(text, ContainsSubstring("greatest(sm_count(2) * 1 / 2, 1)) * 2"));
    CHECK_THAT(text, ContainsSubstring("config.numAttrs = 2;"));
}

TEST_CASE("a launcher encodes a tensor map of C, or of the one row that it is, unless beta is 0") {
    Exported kernel = exported({.m = 1000, .n = 504, .k = 304, .c = DataType::bf16});
    kernel.source.entries.front().arguments = {
        TensorMapArgument{ArgumentRole::c, {64, 128}, TensorMapSwizzle::span128, L2Promotion::bytes128}};
    CHECK_THAT(launcher_source({"taken", kernel.source, problem_of(kernel.spec), {}}),
               ContainsSubstring("problem->beta == 0 ? CUDA_SUCCESS : encode_tensor_map(&arguments.map_c, "
                                 "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, problem->c, problem->n, "
                                 "problem->broadcasts_c ? 1 : problem->m, problem->ldc, 64, 128"));
    kernel.spec.broadcast_c = true;
    CHECK_THAT(launcher_source({"taken", kernel.source, problem_of(kernel.spec), {}}),
               ContainsSubstring("CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, problem->c, problem->n, 1, 0, 64, 128"));
    CHECK_THAT(launcher_header({"taken", kernel.source, problem_of(kernel.spec), {}}),
               ContainsSubstring(" + beta * C (n).") && ContainsSubstring("int64_t lda, ldb, ldd;") &&
                   ContainsSubstring("C (n) ") &&
                   ContainsSubstring("added to each row of D, pointer aligned to 16 bytes"));
}

/// One of each that the text of a launcher depends on.
std::vector<GemmSpec> specs_of_every_kind() {
    const DataType f16 = DataType::f16, f32 = DataType::f32;
    std::vector<GemmSpec> specs{{.m = 1000, .n = 777, .k = 999},
                                {.m = 4096, .n = 4096, .k = 4096},
                                {.m = 1, .n = 4096, .k = 4096},
                                {.m = 128, .n = 256, .k = 65536},
                                {.m = 33, .n = 8, .k = 2, .a = f16, .b = f16, .d = f16, .layout = GemmLayout::nn},
                                {.m = 1000, .n = 776, .k = 1000, .a = f32, .b = f32, .d = f32},
                                {.m = 8, .n = 8, .k = 100000, .a = f32, .b = f32, .d = f32}};
    const std::size_t plain = specs.size();
    for (std::size_t i = 0; i < plain; ++i) {
        GemmSpec with_c = specs[i];
        with_c.c = with_c.d;
        with_c.d_order = Order::column;
        specs.push_back(with_c);
        with_c.broadcast_c = true;
        specs.push_back(with_c);
        GemmSpec constant = specs[i];
        constant.constant_b = true;
        constant.deterministic = Determinism::batch_invariant;
        specs.push_back(constant);
    }
    return specs;
}

TEST_CASE("launchers compile with the real cuda.h, without a warning, as C99, C11 and C++") {
    const char* const include = "/usr/local/cuda/include";
    if (!fs::exists(fs::path(include) / "cuda.h")) SKIP_TEST("no CUDA toolkit in /usr/local/cuda");
    if (!has_c_compiler()) SKIP_TEST("no C compiler 'cc'");
    const TemporaryFolder folder;
    const auto put = [&](const std::string& name, const std::string& header, const std::string& source) {
        write_new_file(folder.path / (name + ".h"), header);
        write_new_file(folder.path / (name + ".c"), source);
    };
    const GemmSpec any{.m = 1000, .n = 504, .k = 304, .d_order = Order::column};
    put("taken", launcher_header({"taken", exported(any).source, problem_of(any), {512, 256}}),
        launcher_with_everything());
    int count = 0;
    for (const GemmSpec& asked : specs_of_every_kind()) {
        for (const char* const gpu : {"h200", "a100"}) {
            const Problem problem = problem_of(asked);
            const KernelConfig config = choose_config(problem, find_gpu(gpu));
            const KernelSource source = generate(problem, config, *find_gpu(gpu).arch);
            const WorkspaceLayout workspace = workspace_layout(problem, config);
            const LauncherInput input{fmt::format("gemm_{}", ++count), source, problem, workspace};
            put(input.name, launcher_header(input), launcher_source(input));
        }
    }
    for (const char* const language : {"cc -std=c99", "cc -std=c11", "c++ -x c++ -std=c++17"}) {
        const auto [messages, status] =
            run(fmt::format("cd {} && {} -Wall -Wextra -Wconversion -Wsign-conversion -pedantic -Werror -fsyntax-only "
                            "-isystem {} *.c",
                            folder.path.string(), language, include));
        INFO(messages);
        CHECK(status == 0);
    }
}

// ---- tensor maps, against a driver that looks at where they are encoded ---------------------------------------------

// Launches at several depths of the stack, so that no variable is aligned by chance.
constexpr const char* kTensorMapsMain = R"(
static int misaligned = 0;
CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                const cuuint64_t *extents, const cuuint64_t *pitches, const cuuint32_t *box,
                                const cuuint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
    (void)type; (void)rank; (void)extents; (void)pitches; (void)box; (void)steps; (void)interleave; (void)swizzle;
    (void)promotion; (void)fill;
    misaligned += (uintptr_t)map % 64 != 0;
    memset(map, 0, sizeof *map);
    memcpy(map, &address, sizeof address);
    return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction f, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned ty, unsigned tz,
                        unsigned shared, CUstream s, void **parameters, void **extra) {
    int i;
    (void)f; (void)x; (void)y; (void)z; (void)threads; (void)ty; (void)tz; (void)shared; (void)s; (void)extra;
    for (i = 0; i < ARGUMENT_BYTES; ++i) printf("%02x", ((unsigned char *)parameters[0])[i]);
    printf("\n");
    return CUDA_SUCCESS;
}
static int launch_deep(int depth, const taken_kernel *kernel, const jg_arguments *arguments) {
    volatile char room[24];
    room[0] = (char)depth;
    if (depth > 0) return launch_deep(depth - 1, kernel, arguments) + room[1] * 0;
    return (int)taken_launch(kernel, arguments, 0);
}
int main(void) {
    taken_kernel kernel;
    jg_arguments arguments = JG_ARGUMENTS_INIT;
    int depth;
    arguments.a = (const void *)(uintptr_t)0x100000000;
    arguments.b = (const void *)(uintptr_t)0x200000000;
    arguments.d = (void *)(uintptr_t)0x400000000;
    if (taken_load(&kernel, "taken.cubin") != CUDA_SUCCESS) return 1;
    for (depth = 0; depth < 8; ++depth)
        if (launch_deep(depth, &kernel, &arguments) != 0) return 2;
    return misaligned == 0 ? 0 : 3;
}
)";

TEST_CASE("a launcher's tensor maps lie where driver and kernel expect them, as C99, C11 and C++") {
    if (!has_c_compiler()) SKIP_TEST("no C compiler 'cc'");
    Exported kernel = exported({.m = 1000, .n = 504, .k = 304});
    KernelEntry& entry = kernel.source.entries.front();
    const auto map = [](ArgumentRole role) {
        return TensorMapArgument{role, {64, 128}, TensorMapSwizzle::span128, L2Promotion::bytes128};
    };
    entry = {.function = "gemm", .threads = 128, .grid = entry.grid, .arguments = {}};
    entry.arguments = {ExtentArgument{ArgumentRole::m},
                       map(ArgumentRole::a),
                       ExtentArgument{ArgumentRole::n},
                       map(ArgumentRole::b),
                       map(ArgumentRole::d),
                       ExtentArgument{ArgumentRole::k}};
    const ArgumentLayout layout = argument_layout(entry.arguments);
    std::string expected(layout.bytes, '\0');
    const std::array<std::uint64_t, 6> values{1000, kA, 504, kB, kD, 304};
    for (std::size_t i = 0; i < values.size(); ++i)
        std::memcpy(expected.data() + layout.fields[i].offset, &values.at(i),
                    std::min<std::size_t>(layout.fields[i].bytes, sizeof values.at(i)));
    const std::string line = hexadecimal(std::as_bytes(std::span(expected))) + "\n";
    std::string launches;
    for (int depth = 0; depth < 8; ++depth) launches += line;

    const TemporaryFolder folder;
    write_new_file(folder.path / "cuda.h", std::string(kFakeCudaHeader) + kTensorMapsHeader);
    write_new_file(folder.path / "taken.h", launcher_header({"taken", kernel.source, problem_of(kernel.spec), {}}));
    write_new_file(folder.path / "taken.c", launcher_source({"taken", kernel.source, problem_of(kernel.spec), {}}));
    write_new_file(folder.path / "main.c", std::string(kQuietDriver) + kTensorMapsMain);
    for (const char* const language : {"cc -std=c99", "cc -std=c99 -O2", "cc -std=c11", "c++ -x c++ -std=c++17"}) {
        INFO(language);
        const auto [messages, built] =
            run(fmt::format("cd {} && {} -Wall -Wextra -Werror -I. -DARGUMENT_BYTES={} taken.c main.c -o main",
                            folder.path.string(), language, layout.bytes));
        INFO(messages);
        REQUIRE(built == 0);
        const auto [output, status] = run("cd " + folder.path.string() + " && ./main");
        CHECK(output == launches);
        CHECK(status == 0);
    }
}
