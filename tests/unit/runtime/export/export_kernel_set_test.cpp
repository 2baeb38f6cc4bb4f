#include "runtime/export/export_kernel_set.hpp"

#include "generator/families/family.hpp"
#include "generator/generate.hpp"
#include "runtime/device/argument_packer.hpp"
#include "runtime/export/export_dispatcher.hpp"
#include "runtime/support/file_system.hpp"
#include "runtime/support/output_file.hpp"
#include "tests/catch.hpp"
#include "tests/support/c_program.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kPlaceOfA = 0x100000000;
constexpr std::uint64_t kPlaceOfB = 0x200000000;
constexpr std::uint64_t kPlaceOfD = 0x400000000;
constexpr std::uint64_t kPlaceOfWorkspace = 0x500000000;
constexpr std::uint64_t kPlaceOfBias = 0x600000000;
constexpr std::uint64_t kPlaceOfUp = 0x700000000;

KernelSet set_for(const GemmSpec& spec, std::int64_t first_m, std::int64_t last_m) {
    return build_kernel_set(spec, first_m, last_m, find_gpu("a100"));
}

struct Compiles {
    std::vector<std::string> names;
    CompiledKernel operator()(const KernelSource& source, const Problem&) {
        names.push_back(source.name);
        CompiledKernel compiled;
        compiled.arch = source.arch->name;
        compiled.binary = "cubin of " + source.name;
        return compiled;
    }
};

std::vector<std::string> write_set(const KernelSet& set, const fs::path& folder, const ExportOptions& options = {}) {
    Compiles compiles;
    export_kernel_set(set, *find_gpu("a100").arch, TemplateSet::embedded(), std::ref(compiles), folder, options);
    return compiles.names;
}

// ---- the dispatcher against a driver that writes down what it is asked ----------------------------------------------

/// Asks the dispatcher for every m of the command line, in steps. A module is the name of its file. sizes.h lists the
/// functions of each file with the bytes of their arguments. The launches of one m are one line.
constexpr const char* kMainOfSet = R"(
#include "taken.h"
#include "jitgemm/jitgemm.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sizes.h"
static char files[64][64];
static int file_count, loaded, refuse_at = -1;
CUresult cuModuleLoad(CUmodule *m, const char *path) {
    if (file_count == refuse_at) return CUDA_ERROR_NOT_FOUND;
    strcpy(files[file_count], strrchr(path, '/') + 1);
    *m = (CUmodule)files[file_count++];
    ++loaded;
    return CUDA_SUCCESS;
}
CUresult cuModuleLoadData(CUmodule *m, const void *image) { (void)image; *m = 0; return CUDA_SUCCESS; }
CUresult cuModuleUnload(CUmodule m) { --loaded; return m == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS; }
CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name) {
    int i;
    for (i = 0; sizes[i].file != NULL; ++i)
        if (strcmp(sizes[i].file, (const char *)m) == 0 && strcmp(sizes[i].function, name) == 0) {
            *f = (CUfunction)&sizes[i];
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}
CUresult cuFuncGetAttribute(int *v, CUfunction_attribute a, CUfunction f) { (void)a; (void)f; *v = 1; return 0; }
CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute a, int v) { (void)f; (void)a; (void)v; return 0; }
CUresult cuCtxGetDevice(CUdevice *d) { *d = 0; return CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int *v, CUdevice_attribute a, CUdevice d) { (void)a; (void)d; *v = 108; return 0; }
CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char v, size_t n, CUstream s) {
    (void)v; (void)s;
    printf(" zero %llx %d", p, (int)(n > 0));
    return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction f, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned ty, unsigned tz,
                        unsigned shared, CUstream s, void **parameters, void **extra) {
    const struct entry *entry = (const struct entry *)f;
    int i;
    (void)s; (void)extra;
    printf(" %s %s %u %u %u ", entry->file, entry->function, x * y * z, threads * ty * tz, shared);
    for (i = 0; i < entry->bytes; ++i) printf("%02x", ((unsigned char *)parameters[0])[i]);
    return CUDA_SUCCESS;
}
int main(int count, char **words) {
    taken_kernels kernels;
    jg_arguments arguments = JG_ARGUMENTS_INIT;
    const jg_operand given[2] = {{"bias", (const void *)(uintptr_t)0x600000000, 0},
                                 {"up", (const void *)(uintptr_t)0x700000000, 0}};
    int64_t m;
    (void)count;
    refuse_at = 1;
    printf("%d %d\n", (int)taken_load(&kernels, "folder"), loaded);
    refuse_at = -1;
    file_count = 0;
    printf("%d\n", (int)taken_load(&kernels, "folder"));
    arguments.a = (const void *)(uintptr_t)0x100000000;
    arguments.b = (const void *)(uintptr_t)0x200000000;
    arguments.d = (void *)(uintptr_t)0x400000000;
    arguments.workspace = TAKEN_WORKSPACE_BYTES > 0 ? (void *)(uintptr_t)0x500000000 : NULL;
    arguments.workspace_bytes = TAKEN_WORKSPACE_BYTES;
    if (HAS_OPERANDS) {
        arguments.operands = given;
        arguments.operand_count = 2;
    }
    for (m = atoll(words[1]); m <= atoll(words[2]); m += atoll(words[3])) {
        const int kernel = taken_kernel_of(m);
        CUresult result;
        printf("%lld %s", (long long)m, kernel < 0 ? "none" : taken_kernel_names[kernel]);
        result = taken_launch(&kernels, m, &arguments, 0);
        printf(" %d\n", (int)result);
    }
    printf("%d %d\n", (int)taken_unload(&kernels), loaded);
    return 0;
}
)";

std::string output_of(const std::string& command) {
    const testing::TemporaryFolder folder;
    const std::string file = folder / "output";
    const int status = std::system((command + " >" + file + " 2>&1").c_str());
    std::string output = read_file(file).value_or("");
    INFO(command << "\n" << output);
    REQUIRE(status == 0);
    return output;
}

std::string cubin_of(const KernelSet& set, std::size_t kernel) {
    for (std::size_t i = 0; i < set.kernels.size(); ++i)
        if (set.kernels[i].body == set.kernels[kernel].body) return fmt::format("taken_{}.cubin", i);
    return {};
}

std::vector<KernelEntry> entries_of(const KernelSet& set, std::int64_t m) {
    const KernelConfig& config = set.kernels[set.range_of(m).kernel].id.config;
    return generate(set.problem(m), config, *find_gpu("a100").arch).entries;
}

std::string sizes_text(const KernelSet& set) {
    std::string text = "static const struct entry { const char *file, *function; int bytes; } sizes[] = {\n";
    for (std::size_t i = 0; i < set.kernels.size(); ++i) {
        const std::int64_t m = std::ranges::find(set.ranges, i, &KernelRange::kernel)->first_m;
        for (const KernelEntry& entry : entries_of(set, m))
            text += fmt::format("{{\"{}\", \"{}\", {}}},\n", cubin_of(set, i), entry.function,
                                argument_layout(entry.arguments).bytes);
    }
    return text + "{NULL, NULL, 0}};\n";
}

/// The dispatcher, compiled with the flags of strict C99, and its launchers.
class Dispatcher {
public:
    explicit Dispatcher(const KernelSet& set) {
        write_set(set, folder_ / "set", {.name = "taken", .force = false});
        write_new_file(folder_ / "set/cuda.h", testing::kFakeCudaHeader);
        write_new_file(folder_ / "set/main.c", kMainOfSet);
        write_new_file(folder_ / "set/sizes.h", sizes_text(set));
        output_of(
            fmt::format("cd {}/set && cc -std=c99 -Wall -Wextra -Wconversion -pedantic -Werror -I. -I{}/include "
                        "-DHAS_OPERANDS={} taken*.c main.c -o main",
                        folder_.path(), JITGEMM_SOURCE_DIR, set.spec.epilogue.empty() ? 0 : 1));
    }
    [[nodiscard]] std::vector<std::string> lines(std::int64_t first, std::int64_t last, std::int64_t step = 1) const {
        std::istringstream output(output_of(fmt::format("{}/set/main {} {} {}", folder_.path(), first, last, step)));
        std::vector<std::string> lines;
        for (std::string line; std::getline(output, line);) lines.push_back(line);
        return lines;
    }

private:
    testing::TemporaryFolder folder_;
};

GemmArguments arguments_of(const KernelSet& set, std::int64_t m) {
    const Problem problem = set.problem(m);
    GemmArguments arguments{.a = problem.transposed ? kPlaceOfB : kPlaceOfA,
                            .b = problem.transposed ? kPlaceOfA : kPlaceOfB,
                            .d = kPlaceOfD};
    if (workspace_layout(problem, set.kernels[set.range_of(m).kernel].id.config).bytes != 0)
        arguments.workspace = kPlaceOfWorkspace;
    if (!set.spec.epilogue.empty())
        arguments.operands = {{"bias", DevicePointer(kPlaceOfBias)}, {"up", DevicePointer(kPlaceOfUp)}};
    return arguments;
}

/// The fake driver must write this for m. It comes from jitgemm's own way to launch a kernel of a set.
std::string expected_line(const KernelSet& set, std::int64_t m) {
    const KernelRange* const range = set.find(m);
    if (range == nullptr) return fmt::format("{} none 1", m);
    const Problem problem = set.problem(m);
    testing::FakeDevice device;
    std::string line = fmt::format("{} {}", m, kernel_name(set.kernels[range->kernel].id));
    for (const KernelEntry& entry : entries_of(set, m)) {
        const std::int64_t blocks = block_count(entry.grid, problem.row_major(), 108);
        if (blocks == 0) continue;
        const PackedArguments packed = pack_arguments(entry.arguments, problem, {arguments_of(set, m)}, device);
        line += fmt::format(" {} {} {} {} {} ", cubin_of(set, range->kernel), entry.function, blocks, entry.threads,
                            entry.shared_bytes);
        for (const std::byte one : packed.span()) line += fmt::format("{:02x}", static_cast<unsigned>(one));
    }
    return line + " 0";
}

void check_dispatcher(const KernelSet& set, std::int64_t first, std::int64_t last, std::int64_t step = 1) {
    const std::vector<std::string> lines = Dispatcher(set).lines(first, last, step);
    REQUIRE(lines.size() == static_cast<std::size_t>((last - first) / step + 4));
    CHECK(lines[0] == (set.kernels.size() > 1 ? "500 0" : "0 1"));
    CHECK(lines[1] == "0");
    for (std::int64_t m = first, i = 2; m <= last; m += step, ++i)
        REQUIRE(lines[static_cast<std::size_t>(i)] == expected_line(set, m));
    CHECK(lines.back().starts_with("0 "));
}

}  // namespace

TEST_CASE("an exported set has a launcher for each kernel, a cubin for each text, and says what it is") {
    const testing::TemporaryFolder folder;
    const KernelSet set = set_for({.m = 0, .n = 512, .k = 512}, 1, 3000);
    REQUIRE(set.kernels.size() > 1);
    const std::vector<std::string> compiled = write_set(set, folder / "out");
    CHECK(compiled.size() == set.body_count());
    const std::vector<std::string> files = files_in(folder / "out");
    const std::set<std::string> names(files.begin(), files.end());
    for (std::size_t i = 0; i < set.kernels.size(); ++i) {
        CHECK(names.contains(fmt::format("gemm_bf16_tn_{}.c", i)));
        CHECK(names.contains(fmt::format("gemm_bf16_tn_{}.h", i)));
    }
    CHECK(names.size() == 2 * set.kernels.size() + 2 * set.body_count() + 3);
    for (const std::string& name : names) {
        INFO(name);
        if (!name.ends_with(".cu"))
            CHECK(read_file(folder / ("out/" + name)).value_or("@").find('@') == std::string::npos);
    }
    const auto meta = nlohmann::json::parse(read_file(folder / "out/meta.json").value_or(""));
    CHECK(parse_kernel_set(meta.at("set").dump()) == set);
    CHECK(meta.at("cubins").size() == set.body_count());
    CHECK_THROWS_WITH(write_set(set, folder / "out"), ContainsSubstring("not empty"));
    CHECK_THROWS_WITH(write_set(set, folder / "other", {.name = "2fast", .force = false}),
                      ContainsSubstring("'2fast' cannot name C functions"));
}

TEST_CASE("the dispatcher launches the kernel that the set names, as jitgemm does") {
    if (!testing::has_c_compiler()) SKIP_TEST("no C compiler 'cc'");
    SECTION("weights") { check_dispatcher(set_for({.m = 0, .n = 512, .k = 512}, 1, 3000), 0, 3001); }
    SECTION("operands of a text, a vector and a matrix in D's order") {
        GemmSpec spec{.m = 0, .n = 512, .k = 512, .epilogue = "d = relu(acc + bias[n]) * up[m,n]"};
        check_dispatcher(set_for(spec, 1, 600), 0, 601);
        spec.d_order = Order::column;
        check_dispatcher(set_for(spec, 1, 300), 0, 301, 7);
    }
    SECTION("odd n and k, a range from 5") { check_dispatcher(set_for({.m = 0, .n = 257, .k = 129}, 5, 700), 3, 703); }
    SECTION("sums of several splits in a workspace") {
        const KernelSet set = set_for({.m = 0, .n = 96, .k = 16384}, 1, 600);
        bool needs_workspace = false;
        for (std::int64_t m = 1; m <= 600; ++m)
            needs_workspace |=
                workspace_layout(set.problem(m), set.kernels[set.range_of(m).kernel].id.config).bytes != 0;
        CHECK(needs_workspace);
        check_dispatcher(set, 1, 600);
    }
    SECTION("alignments that depend on m") {
        const KernelSet set =
            set_for({.m = 0, .n = 256, .k = 256, .layout = GemmLayout::nn, .d_order = Order::column}, 1, 600);
        CHECK(set.ranges.front().multiple > 1);
        check_dispatcher(with_own_single_row(set), 1, 600);
    }
    SECTION("a single row that is another operand") {
        const KernelSet set = set_for({.m = 0, .n = 256, .k = 256, .d_order = Order::column}, 1, 64);
        CHECK(with_own_single_row(set).kernels.size() > set.kernels.size());
        check_dispatcher(with_own_single_row(set), 1, 64);
    }
    SECTION("to the largest m") {
        check_dispatcher(set_for({.m = 0, .n = 64, .k = 64}, 1, kLargestExtent), 1, kLargestExtent, 40'000'003);
    }
}

TEST_CASE("a single row that is another operand of the kernel has a launcher of its own") {
    const KernelSet set =
        set_for({.m = 0, .n = 256, .k = 256, .layout = GemmLayout::tn, .d_order = Order::column}, 1, 64);
    const KernelSet split = with_own_single_row(set);
    for (std::int64_t m = 1; m <= 64; ++m) {
        REQUIRE(split.find(m) != nullptr);
        REQUIRE(split.kernels[split.find(m)->kernel].id == set.kernels[set.find(m)->kernel].id);
        if (m > 1) REQUIRE(set.problem(m).transposed != set.problem(1).transposed);
        if (m > 1) REQUIRE(split.find(m)->kernel != split.find(1)->kernel);
    }
}

TEST_CASE("dispatchers compile with the real cuda.h, without a warning, as C99, C11 and C++") {
    const char* const include = "/usr/local/cuda/include";
    if (!fs::exists(fs::path(include) / "cuda.h")) SKIP_TEST("no CUDA toolkit in /usr/local/cuda");
    if (!testing::has_c_compiler()) SKIP_TEST("no C compiler 'cc'");
    const testing::TemporaryFolder folder;
    const GpuModel& gpu = find_gpu("h200");
    for (const Order order : {Order::row, Order::column}) {
        const KernelSet set =
            build_kernel_set({.m = 0, .n = 512, .k = 4096, .c = DataType::bf16, .d_order = order}, 1, 500, gpu);
        Compiles compiles;
        export_kernel_set(set, *gpu.arch, TemplateSet::embedded(), std::ref(compiles), folder / "set",
                          {.name = fmt::format("set_of_{}", order == Order::row ? "rows" : "columns"), .force = true});
    }
    for (const char* const language : {"cc -std=c99", "cc -std=c11", "c++ -x c++ -std=c++17"})
        output_of(
            fmt::format("cd {}/set && {} -Wall -Wextra -Wconversion -Wsign-conversion -pedantic -Werror "
                        "-fsyntax-only -isystem {} *.c",
                        folder.path(), language, include));
}
