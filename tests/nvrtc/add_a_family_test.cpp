/// docs/add-a-family.md, followed to the letter: its code blocks become files of a copy of the generator, which is
/// compiled with the host's compiler; the kernel that it generates runs on the emulator.

#include "generator/families/shared/gemm_arguments.hpp"
#include "runtime/compiler/compiler.hpp"
#include "runtime/emulator_device/emulator_device.hpp"
#include "tests/catch.hpp"
#include "tests/support/temporary_folder.hpp"

#include "runtime/context/context_state.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

using namespace jitgemm;
using jitgemm::testing::TemporaryFolder;
using jitgemm::testing::text_in;
namespace fs = std::filesystem;

namespace {

struct Block {
    std::string file;
    std::string language;
    std::string text;
};

/// Code blocks behind a line that is nothing but a file's name.
std::vector<Block> blocks_of(const std::string& page) {
    std::vector<Block> blocks;
    std::istringstream lines(page);
    std::string before;
    for (std::string line; std::getline(lines, line); before = line) {
        const bool is_named = before.size() > 2 && before.front() == '`' && before.back() == '`';
        if (!line.starts_with("```") || !is_named) continue;
        Block block{before.substr(1, before.size() - 2), line.substr(3), {}};
        while (std::getline(lines, line) && line != "```") block.text += line + '\n';
        blocks.push_back(std::move(block));
    }
    return blocks;
}

/// Lines with a plus go in behind the line before them, lines with a minus go.
void apply_diff(const fs::path& file, const std::string& diff) {
    std::string text = text_in(file.string());
    std::istringstream lines(diff);
    std::size_t at = 0;
    for (std::string line; std::getline(lines, line);) {
        const std::string rest = line.substr(1) + '\n';
        if (line.front() == '+') {
            text.insert(at, rest);
            at += rest.size();
            continue;
        }
        INFO("not in the file: " << rest);
        at = text.find(rest);
        REQUIRE(at != std::string::npos);
        if (line.front() == '-')
            text.erase(at, rest.size());
        else
            at += rest.size();
    }
    std::ofstream(file) << text;
}

/// The copy with the page's changes; answers the folders and files that these touch.
std::set<std::string> follow_page(const fs::path& copy) {
    std::set<std::string> touched;
    for (const char* const part : {"generator", "include", "templates"})
        fs::copy(fs::path(JITGEMM_SOURCE_DIR) / part, copy / part, fs::copy_options::recursive);
    for (const Block& block : blocks_of(text_in(JITGEMM_SOURCE_DIR "/docs/add-a-family.md"))) {
        const fs::path file = copy / block.file;
        if (block.language == "diff") {
            apply_diff(file, block.text);
            touched.insert(block.file);
            continue;
        }
        const fs::path folder = fs::path(block.file).parent_path();
        touched.insert(folder.string());
        fs::create_directories(file.parent_path());
        std::ofstream(file) << block.text;
    }
    return touched;
}

/// Files of one folder, a dozen to a unit, as the build has them.
std::vector<std::string> write_units(const fs::path& copy) {
    constexpr std::size_t kFilesPerUnit = 12;
    std::map<fs::path, std::set<std::string>> folders;
    for (const auto& entry : fs::recursive_directory_iterator(copy / "generator")) {
        const fs::path folder = entry.path().parent_path();
        if (entry.path().extension() == ".cpp" && folder.filename() != "draw") folders[folder].insert(entry.path());
    }
    std::vector<std::string> units;
    for (const auto& [folder, files] : folders) {
        std::size_t count = 0;
        for (const std::string& file : files) {
            if (count++ % kFilesPerUnit == 0)
                units.push_back((copy / fmt::format("unit_{}.cpp", units.size())).string());
            std::ofstream(units.back(), std::ios::app) << fmt::format("#include \"{}\"\n", file);
        }
    }
    return units;
}

/// Headers that nearly every unit reads, compiled once.
constexpr std::string_view kSharedHeaders =
    "#include <algorithm>\n#include <array>\n#include <map>\n#include <set>\n#include <sstream>\n#include <string>\n"
    "#include <vector>\n#include <fmt/format.h>\n#include \"generator/families/family.hpp\"\n";

/// Compiles the units, as many at a time as there are cores, and links them to the driver.
bool build_driver(const fs::path& copy) {
    std::string units = JITGEMM_SOURCE_DIR "/tests/data/add_a_family_driver.cpp\n";
    for (const std::string& unit : write_units(copy)) units += unit + '\n';
    std::ofstream(copy / "units") << units;
    std::ofstream(copy / "shared.hpp") << kSharedHeaders;
    const std::string command = fmt::format(
        "cd {} && compile='c++ -std=c++20 -O0 -w -DXXH_INLINE_ALL= -I. -Iinclude' && "
        "$compile -x c++-header shared.hpp -o shared.hpp.gch && "
        "xargs -P $(nproc) -n 1 $compile -include shared.hpp -c < units && c++ *.o {} -o driver",
        copy.string(), JITGEMM_GENERATOR_LIBRARY);
    return std::system(command.c_str()) == 0;
}

/// The driver's output, read.
struct Generated {
    std::string name;
    bool name_comes_back = false;
    bool is_batch_invariant = true;
    int threads = 0;
    int tile_m = 0;
    int tile_n = 0;
    std::string body;
};

Generated generated(const fs::path& copy, const std::string& parameters) {
    const std::string out = (copy / "out").string();
    REQUIRE(std::system(
                fmt::format("{0}/driver {0}/templates simt_compensated {1} > {2} 2>&1", copy.string(), parameters, out)
                    .c_str()) == 0);
    std::istringstream lines(text_in(out));
    Generated kernel;
    lines >> kernel.name >> kernel.name_comes_back >> kernel.is_batch_invariant >> kernel.threads >> kernel.tile_m >>
        kernel.tile_n;
    lines.ignore(1);
    kernel.body = text_in(out).substr(static_cast<std::size_t>(lines.tellg()));
    return kernel;
}

/// D of the kernel for f32 tn 300 x 200 x 100 on the emulator.
std::vector<float> product(const Generated& kernel, const std::vector<float>& a, const std::vector<float>& b) {
    const GemmSpec spec = resolved(parse_shape_line("f32 tn 300 200 100"));
    const auto device = std::make_shared<EmulatorDevice>(find_arch("sm_90a"), 0);
    ContextState context(Options{}, device, make_nvrtc_compiler(Options::from_environment(), 0, ""));
    const KernelEntry entry{.function = "gemm",
                            .threads = kernel.threads,
                            .grid = {.tile_m = kernel.tile_m, .tile_n = kernel.tile_n},
                            .arguments = gemm_arguments(problem_of(spec).signature, false)};
    const LoadedKernel loaded = context.load(
        {.name = kernel.name, .arch = &find_arch("sm_90a"), .body = kernel.body, .entries = {entry}}, kernel.body);
    const LoadedEntry launched(entry, loaded.functions.front(), problem_of(spec), *device);
    std::vector<float> d(300 * 200);
    const KernelOperands operands{
        {.a = device->allocate(a.size() * 4), .b = device->allocate(b.size() * 4), .d = device->allocate(d.size() * 4)},
        {}};
    device->copy_to_device(operands.a, a.data(), a.size() * 4);
    device->copy_to_device(operands.b, b.data(), b.size() * 4);
    PackedArguments packed;
    launched.plan->arguments.pack({problem_of(spec), new_problem_id()}, operands, *device, packed);
    device->launch(launched.function(), launched.shape, packed.span(), nullptr);
    device->copy_to_host(d.data(), operands.d, d.size() * 4);
    return d;
}

/// A's rows begin with 2^24 and end with -2^24: a plain f32 sum loses the ones between them, a compensated one doesn't.
bool keeps_small_terms(const Generated& kernel) {
    std::vector<float> a(300 * 100, 1.0F);
    const std::vector<float> b(200 * 100, 1.0F);
    for (std::size_t row = 0; row < 300; ++row) {
        a[row * 100] = 16777216.0F;
        a[row * 100 + 99] = -16777216.0F;
    }
    const std::vector<float> d = product(kernel, a, b);
    return std::all_of(d.begin(), d.end(), [](float value) { return value == 98.0F; });
}

}  // namespace

TEST_CASE(
    "a family added as docs/add-a-family.md says touches a folder, a template and a line, and its kernel is right",
    "[heavy]") {
    if (std::system("command -v c++ >/dev/null 2>&1") != 0) SKIP_TEST("no C++ compiler 'c++'");
    const TemporaryFolder folder;
    const fs::path copy = folder.path();
    CHECK(follow_page(copy) == std::set<std::string>{"generator/families/simt_compensated",
                                                     "generator/families/table.hpp", "templates/ladder"});
    REQUIRE(build_driver(copy));

    const Generated usual = generated(copy, "block=8x32");
    CHECK(usual.name == "simt_compensated_f32_tn_8x32");
    CHECK(usual.name_comes_back);
    CHECK_FALSE(usual.is_batch_invariant);  // its sums differ from other families'
    CHECK(keeps_small_terms(usual));
    const Generated unrolled = generated(copy, "block=8x32,unroll=8");
    CHECK(unrolled.name == "simt_compensated_f32_tn_8x32_unroll8");
    CHECK(unrolled.body.find("kUnroll = 8;") != std::string::npos);
    CHECK(keeps_small_terms(unrolled));
}
