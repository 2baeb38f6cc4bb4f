/// The renderer may not change what a template means: nvcc on the template with -D and nvcc on the dump give the same
/// code.

#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "runtime/cli/subprocess.hpp"
#include "tests/catch.hpp"
#include "tests/support/dump_samples.hpp"
#include "tests/support/one_in.hpp"
#include "tests/support/simt_variants.hpp"
#include "tests/support/sliced_k_checks.hpp"
#include "tests/support/specs.hpp"
#include "tests/support/temporary_folder.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace {

using namespace jitgemm;
using jitgemm::testing::dump_samples;
using jitgemm::testing::DumpSample;
using jitgemm::testing::OneIn;
using jitgemm::testing::put_text;
using jitgemm::testing::SampleExtent;
using jitgemm::testing::simt_variants;
using jitgemm::testing::SimtVariant;
using jitgemm::testing::TemporaryFolder;
using jitgemm::testing::text_in;

constexpr const char* kArchName = "sm_80";

bool has_nvcc() {
    static const bool found = cli::run_program({"nvcc", "--version"}).has_value();
    return found;
}

void compile(const std::vector<std::string>& words) {
    const auto result = cli::run_program(words);
    REQUIRE(result);
    REQUIRE(result->exit_code == 0);
}

/// As far as PTX: what ptxas might say it says of the kernel alone.
void compile_without_warning(const std::string& program) {
    const TemporaryFolder folder;
    put_text(folder / "main.cu", program);
    compile({"nvcc", "-gencode", "arch=compute_90a,code=compute_90a", "-std=c++17", "-Werror", "all-warnings",
             "-Xcompiler", "-Wall,-Wextra,-Werror", "-c", "-o", folder / "main.o", folder / "main.cu"});
}

/// Contents of every section whose name starts with ".text." in an ELF64 file, by name.
std::map<std::string, std::string> text_sections(const std::string& elf) {
    const auto number = [&](std::size_t offset, int bytes) {
        std::uint64_t value = 0;
        for (int i = bytes - 1; i >= 0; --i)
            value = value << 8 | static_cast<unsigned char>(elf.at(offset + static_cast<std::size_t>(i)));
        return static_cast<std::size_t>(value);
    };
    const std::size_t table = number(0x28, 8);
    const std::size_t size = number(0x3A, 2);
    const std::size_t names = number(table + number(0x3E, 2) * size + 0x18, 8);
    std::map<std::string, std::string> sections;
    for (std::size_t i = 0; i < number(0x3C, 2); ++i) {
        const std::size_t header = table + i * size;
        const std::string name = elf.c_str() + names + number(header, 4);
        if (name.rfind(".text.", 0) == 0)
            sections[name] = elf.substr(number(header + 0x18, 8), number(header + 0x20, 8));
    }
    return sections;
}

std::vector<std::string> macro_flags(const GemmSpec& spec, const KernelConfig& config) {
    std::vector<std::string> flags;
    for (const auto& [name, value] : family_of(config).render_input(problem_of(spec).signature, config).macros)
        flags.push_back("-D" + name + "=" + std::to_string(value));
    return flags;
}

/// The pieces of the template that are not its defaults, as files to be found before those. nvcc compiles what a dump
/// leaves out, too: functions that nobody calls.
void put_pieces(const TemporaryFolder& folder, const std::string& templates, const RenderInput& input) {
    for (const auto& [name, piece] : input.pieces)
        if (!piece.empty() && !name.ends_with(".cu") && !input.generated.contains(piece))
            put_text(folder / name, "#include \"" + templates + "/" + piece + "\"\n");
    const auto aliases = input.generated.find("copies.inl");
    if (aliases != input.generated.end()) put_text(folder / "copies.inl", aliases->second);
}

/// Compiles both ways; `kind` is "-ptx" or "-cubin". Returns the two files' contents.
std::pair<std::string, std::string> compile_both(const GemmSpec& spec, const KernelConfig& config,
                                                 const std::string& kind, const std::string& arch = kArchName) {
    TemporaryFolder folder;
    const KernelSource source = generate(problem_of(spec), config, find_arch(arch));
    put_text(folder / "dump.cu", dump(source, problem_of(spec)));
    const std::vector<std::string> common{"nvcc", "-arch=" + arch, "-std=c++17", kind};
    std::vector<std::string> of_dump = common;
    of_dump.insert(of_dump.end(), {"-o", folder / "dump.out", folder / "dump.cu"});
    compile(of_dump);
    std::vector<std::string> of_template = common;
    for (std::string& flag : macro_flags(spec, config)) of_template.push_back(std::move(flag));
    const std::string templates = std::string(JITGEMM_SOURCE_DIR) + "/templates";
    const RenderInput input = family_of(config).render_input(problem_of(spec).signature, config);
    put_pieces(folder, templates, input);
    std::string root(family_of(config).template_file);
    if (const auto piece = input.pieces.find(root); piece != input.pieces.end()) root = piece->second;
    of_template.insert(of_template.end(), {"-I", folder.path(), "-I", templates + "/defaults", "-I", templates, "-o",
                                           folder / "template.out", templates + "/" + root});
    compile(of_template);
    return {text_in(folder / "dump.out"), text_in(folder / "template.out")};
}

/// PTX without its comments, which name nothing but the compiler anyway.
std::string code_of(const std::string& ptx) {
    std::string code;
    for (std::size_t begin = 0; begin < ptx.size();) {
        const std::size_t end = std::min(ptx.find('\n', begin), ptx.size());
        const std::string line = ptx.substr(begin, end - begin);
        if (line.rfind("//", 0) != 0 && line.find(".loc") == std::string::npos) code += line + '\n';
        begin = end + 1;
    }
    return code;
}

struct Case {
    const char* name;
    GemmSpec spec;
    ParameterMap parameters;
    KernelConfig base{MmaMultistageConfig{}};

    [[nodiscard]] KernelConfig config() const { return with_parameters(base, parameters); }
};

GemmSpec spec_of(GemmLayout layout, std::int64_t m, std::int64_t n, std::int64_t k) {
    return resolved(testing::spec_of(layout, m, n, k));
}

GemmSpec with_c(GemmSpec spec, DataType c, DataType d) {
    spec.c = c;
    spec.d = d;
    spec.ldc = spec.ldd = 0;
    spec.align_c = spec.align_d = 0;
    return resolved(spec);
}

GemmSpec f16(GemmSpec spec, DataType accumulator) {
    spec.a = spec.b = spec.d = DataType::f16;
    spec.accumulator = accumulator;
    return spec;
}

std::vector<Case> cases() {
    const ParameterMap small{{"block", "64x64x32"}, {"warp", "32x32"}};
    const auto plus = [&](ParameterMap more) {
        more.insert(small.begin(), small.end());
        return more;
    };
    using enum GemmLayout;
    return {
        {"tn", spec_of(tn, 512, 512, 512), small},
        {"nn, zig-zag", spec_of(nn, 512, 512, 512), plus({{"rasterization", "zigzag"}})},
        {"nt, padding", spec_of(nt, 512, 512, 512), plus({{"shared", "padding"}})},
        {"tt, row, narrow ldmatrix", spec_of(tt, 512, 512, 512),
         plus({{"rasterization", "row"}, {"ldsm_a", "1"}, {"ldsm_b", "2"}})},
        {"odd pitches", spec_of(tn, 511, 513, 515), small},
        {"odd pitches, M/N-major", spec_of(nt, 511, 513, 515), plus({{"rasterization", "column"}})},
        {"packed", spec_of(tn, 511, 513, 515), plus({{"pack", "ab"}})},
        {"packed and split", spec_of(tt, 511, 512, 515), plus({{"pack", "a"}, {"split_k", "3"}})},
        {"8-byte alignment", spec_of(tn, 500, 500, 500), small},
        {"4-byte alignment", spec_of(nn, 510, 510, 510), plus({{"rasterization", "grouped_n"}})},
        {"C in bf16", with_c(spec_of(tn, 512, 512, 512), DataType::bf16, DataType::bf16), small},
        {"C in f32, D in f16", with_c(spec_of(tn, 512, 511, 512), DataType::f32, DataType::f16), small},
        {"D in f32", with_c(spec_of(tn, 512, 512, 512), DataType::f32, DataType::f32), small},
        {"split with C", with_c(spec_of(tn, 512, 512, 512), DataType::f16, DataType::bf16), plus({{"split_k", "2"}})},
        {"f16 sums", f16(spec_of(tn, 512, 512, 512), DataType::f16), small},
        {"f16, k8 instruction", f16(spec_of(nt, 512, 512, 512), DataType::f32),
         plus({{"mma", "16x8x8"}, {"stages", "2"}})},
        {"f16 sums, k8 instruction", f16(spec_of(tn, 512, 512, 512), DataType::f16),
         plus({{"mma", "16x8x8"}, {"ldsm_b", "1"}})}};
}

std::vector<Case> wmma_cases() {
    const KernelConfig base{WmmaMultistageConfig{}};
    using enum GemmLayout;
    return {{"wmma, f16 sums", f16(spec_of(tn, 512, 512, 512), DataType::f16), {}, base},
            {"wmma, f32 sums, .ca, no prefetch",
             f16(spec_of(nt, 512, 512, 512), DataType::f32),
             {{"cache", "ca"}, {"l2_prefetch", "0"}},
             base},
            {"wmma, bf16, one buffer, through registers",
             spec_of(nn, 512, 512, 512),
             {{"stages", "1"}, {"async", "0"}, {"padding", "0"}, {"double_buffer", "0"}, {"rasterization", "row"}},
             base},
            {"wmma, bf16, one buffer, C in f32",
             with_c(spec_of(tt, 512, 512, 512), DataType::f32, DataType::bf16),
             {{"stages", "1"}, {"rasterization", "column"}, {"block", "128x128x32"}},
             base},
            {"wmma, odd pitches, two stages",
             f16(spec_of(tn, 511, 513, 515), DataType::f16),
             {{"stages", "2"}, {"double_buffer", "0"}, {"block", "128x64x32"}, {"warp", "32x32"}},
             base},
            {"wmma, 4- and 16-byte rows, through registers",
             f16(spec_of(nn, 512, 510, 510), DataType::f32),
             {{"async", "0"}, {"block", "128x64x32"}, {"warp", "32x32"}, {"l2_prefetch", "256"}},
             base},
            {"wmma, D in f32 with f16 sums",
             with_c(f16(spec_of(tt, 500, 500, 500), DataType::f16), DataType::f16, DataType::f32),
             {{"l2_prefetch", "64"}, {"stages", "4"}},
             base}};
}

/// Every variant of the plain SIMT families, each with another type, layout and C.
std::vector<std::pair<GemmSpec, SimtVariant>> simt_cases() {
    const std::vector<SimtVariant> variants = simt_variants();
    std::vector<std::pair<GemmSpec, SimtVariant>> cases;
    for (std::size_t i = 0; i < variants.size(); ++i) {
        using enum DataType;
        GemmSpec spec = gemm_spec_of_type(std::array{f32, f16, bf16}.at(i % 3));
        spec.m = spec.n = spec.k = 333;
        spec.layout = std::array{GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt}.at(i % 4);
        if (i % 2 == 1) spec.c = std::array{f32, bf16, f16}.at(i / 2 % 3);
        cases.emplace_back(resolved(spec), variants[i]);
    }
    return cases;
}

/// simt_hierarchical with every way to copy, in f32 and 16 bits.
std::vector<Case> hierarchical_cases() {
    const KernelConfig base{SimtHierarchicalConfig{}};
    const auto f32 = [](GemmLayout layout, std::int64_t size) {
        return resolved(testing::spec_of(layout, size, size, size, DataType::f32));
    };
    using enum GemmLayout;
    return {{"hierarchical, transposed", f32(tn, 512), {}, base},
            {"hierarchical, straight", f32(nt, 512), {{"copy_slices", "15"}, {"rasterization", "zigzag"}}, base},
            {"hierarchical, whole tiles", f32(nn, 512), {{"predicated", "0"}, {"order", "right"}}, base},
            {"hierarchical, both ways, odd sizes",
             f32(tt, 333),
             {{"k_lanes", "8"}, {"double_buffer", "0"}, {"order", "even"}},
             base},
            {"hierarchical, split K, C", with_c(f32(nn, 512), DataType::bf16, DataType::f16), {{"split_k", "3"}}, base},
            {"hierarchical, rows of D through shared memory", f32(tt, 333), {{"store", "smem"}}, base},
            {"hierarchical, bf16 through registers",
             spec_of(tt, 333, 333, 333),
             {{"copy", "reg"}, {"stages", "2"}, {"block", "64x64x16"}, {"warp", "32x32"}, {"thread", "8x4"}},
             base}};
}

/// simt_long_k with both ways to lie in shared memory, lanes along K and none.
std::vector<Case> long_k_cases() {
    const KernelConfig base{SimtLongKConfig{}};
    const auto f32 = [](GemmLayout layout, std::int64_t m, std::int64_t n) {
        return resolved(testing::spec_of(layout, m, n, 100001, DataType::f32));
    };
    using enum GemmLayout;
    return {
        {"long K, rows of k", f32(tn, 32, 64), {}, base},
        {"long K, rows of one k", f32(nt, 3, 5), {{"thread", "3x5"}, {"lanes", "1x1x32"}, {"block_k", "1024"}}, base},
        {"long K, one of each, C",
         with_c(f32(tt, 37, 60), DataType::bf16, DataType::f16),
         {{"thread", "10x8"}, {"split_k", "100"}},
         base}};
}

}  // namespace

TEST_CASE("template and dump compile to the same PTX over a sample of the space") {
    if (!has_nvcc()) SKIP_TEST("no nvcc: the equivalence of templates and dumps is not tested");
    std::vector<Case> all = cases();
    std::ranges::move(wmma_cases(), std::back_inserter(all));
    std::ranges::move(hierarchical_cases(), std::back_inserter(all));
    std::ranges::move(long_k_cases(), std::back_inserter(all));
    OneIn tried(2);
    for (const Case& one : all) {
        if (!tried.next()) continue;
        INFO(one.name);
        const KernelConfig config = one.config();
        const auto [of_dump, of_template] = compile_both(one.spec, config, "-ptx");
        REQUIRE(code_of(of_dump).size() > 1000);
        CHECK(code_of(of_dump) == code_of(of_template));
    }
}

TEST_CASE("every kernel's template compiles alone, with the defaults") {
    if (!has_nvcc()) SKIP_TEST("no nvcc here");
    const std::filesystem::path templates = std::filesystem::path(JITGEMM_SOURCE_DIR) / "templates";
    const TemporaryFolder folder;
    int kernels = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(templates)) {
        if (entry.path().extension() != ".cu") continue;
        INFO(entry.path().string());
        compile({"nvcc", "-gencode", "arch=compute_90a,code=compute_90a", "-std=c++17", "-ptx", "-I",
                 templates / "defaults", "-I", templates, "-o", folder / "alone.ptx", entry.path()});
        ++kernels;
    }
    CHECK(kernels > 0);
}

TEST_CASE("template and dump of mma_sliced_k compile to the same PTX") {
    if (!has_nvcc()) SKIP_TEST("no nvcc: the equivalence of templates and dumps is not tested");
    for (std::size_t i = 0; i < testing::kSlicedKVariants.size(); ++i) {
        const KernelConfig config =
            with_parameters({MmaSlicedKConfig{}}, parse_parameters(testing::kSlicedKVariants[i]));
        const bool few_rows = parameters_of(config).at("swap_ab") == "1";
        GemmSpec spec = spec_of(testing::kLayouts[i % 4], few_rows ? 8 : 520, few_rows ? 520 : 8, 512);
        spec.constant_a = spec.constant_b = true;
        if (i % 2 == 1) spec = with_c(spec, DataType::f32, i % 3 == 0 ? DataType::f32 : DataType::bf16);
        if (i == 2) spec = f16(spec, DataType::f16);
        INFO(testing::kSlicedKVariants[i] << ", " << to_string(spec));
        const auto [of_dump, of_template] = compile_both(spec, config, "-ptx", "sm_90a");
        REQUIRE(code_of(of_dump).size() > 1000);
        CHECK(code_of(of_dump) == code_of(of_template));
    }
}

TEST_CASE("template and dump of the SIMT families compile to the same PTX") {
    if (!has_nvcc()) SKIP_TEST("no nvcc: the equivalence of templates and dumps is not tested");
    for (const auto& [spec, variant] : simt_cases()) {
        INFO(variant.family << " " << variant.parameters << ", " << to_string(spec));
        const auto [of_dump, of_template] = compile_both(spec, variant.config(), "-ptx");
        REQUIRE(code_of(of_dump).size() > 1000);
        CHECK(code_of(of_dump) == code_of(of_template));
    }
}

TEST_CASE("a dump with its main is a program that nvcc and g++ compile without any warning, for a K of 0, too") {
    if (!has_nvcc()) SKIP_TEST("no nvcc: dumps with their main are not compiled");
    std::map<std::string_view, std::vector<DumpSample>> by_family;
    for (const DumpSample& sample : dump_samples(SampleExtent::alignments_by_turns))
        if (!is_batched(sample.spec) && !sample.spec.symmetric) by_family[family_name(sample.config)].push_back(sample);
    CHECK(by_family.size() == family_table().size());
    bool no_products = false;
    for (const auto& [family, samples] : by_family) {
        DumpSample sample = samples[samples.size() / 2];
        if (no_products) sample.spec.k = 0;
        INFO(family << " " << parameters_text(sample.config) << ", " << to_string(sample.spec));
        compile_without_warning(dump(sample.source(), problem_of(sample.spec)) +
                                host_main(sample.source(), problem_of(sample.spec)));
        no_products = !no_products;
    }
}

TEST_CASE("the dump of a batch with its main is a program that nvcc builds without a warning") {
    if (!has_nvcc()) SKIP_TEST("no nvcc: dumps with their main are not compiled");
    std::set<std::string_view> families;
    for (const DumpSample& sample : dump_samples(SampleExtent::alignments_by_turns)) {
        if (!is_batched(sample.spec) || is_grouped(sample.spec) || !sample.spec.epilogue.empty()) continue;
        if (!families.insert(family_name(sample.config)).second) continue;
        INFO(sample.source().name << ", " << to_string(sample.spec));
        compile_without_warning(dump(sample.source(), problem_of(sample.spec)) +
                                host_main(sample.source(), problem_of(sample.spec)));
    }
    CHECK(families.size() >= 3);
}

TEST_CASE("dumps of nested batches and symmetric products with their main are programs that nvcc builds") {
    using Catch::Matchers::ContainsSubstring;
    if (!has_nvcc()) SKIP_TEST("no nvcc: dumps with their main are not compiled");
    const auto program_of = [](const char* line) {
        const Problem problem = problem_of(parse_shape_line(line));
        const KernelSource source = generate(problem, choose_config(problem, find_gpu("h200")), find_arch("sm_90a"));
        return dump(source, problem) + host_main(source, problem);
    };
    const std::string nested = program_of("bf16 tn 200 136 72 batch=24 batch-inner=6 outer-stride-b=0");
    CHECK_THAT(nested, ContainsSubstring("kOuterStrideB = 0;") && ContainsSubstring("problem / kBatchInner"));
    compile_without_warning(nested);
    compile_without_warning(program_of("f16 nn 77 65 33 batch=12 batch-inner=4 batch-stride-a=0 c=f16"));
    const std::string symmetric = program_of("bf16 tn 4096 4096 512 symmetric=yes");
    CHECK_THAT(symmetric, ContainsSubstring("b = a;") && ContainsSubstring("kFlops = 8592031744"));
    compile_without_warning(symmetric);
    compile_without_warning(program_of("f16 tn 65 65 33 symmetric=yes batch=4 batch-inner=2 outer-stride-a=100"));
}

TEST_CASE("the dump of wgmma_warp_specialized with its main is a program that nvcc builds without a warning") {
    if (!has_nvcc()) SKIP_TEST("no nvcc: dumps with their main are not compiled");
    for (const std::string parameters :
         {"block=128x64x64,warpgroup=64x64,cluster=2x2,stages=4",
          "block=128x72x64,warpgroup=128x72,schedule=pingpong,stages=4,stream_k=12,cluster=1x2",
          "block=128x72x64,warpgroup=128x72,schedule=overlapped,stages=4,stream_k=7,swap_ab=1",
          "block=128x72x64,warpgroup=64x72,stages=4,a_source=rmem",
          "block=128x72x64,warpgroup=64x72,stages=4,persistent=0,warp_specialized=0"}) {
        INFO(parameters);
        const GemmSpec spec = resolved(spec_of(GemmLayout::nt, 304, 200, 520));
        const KernelConfig config = with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(parameters));
        const KernelSource source = generate(problem_of(spec), config, find_arch("sm_90a"));
        compile_without_warning(dump(source, problem_of(spec)) + host_main(source, problem_of(spec)));
    }
}

TEST_CASE("the dump of a product of 8-bit floats with its main is a program that nvcc builds without a warning") {
    if (!has_nvcc()) SKIP_TEST("no nvcc: dumps with their main are not compiled");
    using enum DataType;
    for (const auto& [b, d] : {std::pair{e4m3, bf16}, std::pair{e5m2, e4m3}, std::pair{e5m2, e5m2}}) {
        GemmSpec spec = spec_of(GemmLayout::tn, 304, 208, 528);
        spec.a = e4m3;
        spec.b = b;
        spec.d = d;
        const KernelConfig config = with_parameters(
            {WgmmaWarpSpecializedConfig{}}, parse_parameters("block=128x64x128,warpgroup=64x64,stages=4,promote=128"));
        const KernelSource source = generate(problem_of(spec), config, find_arch("sm_90a"));
        compile_without_warning(dump(source, problem_of(spec)) + host_main(source, problem_of(spec)));
    }
}

TEST_CASE("the dump of a product of 8-bit integers with its main is a program that nvcc builds without a warning") {
    if (!has_nvcc()) SKIP_TEST("no nvcc: dumps with their main are not compiled");
    using enum DataType;
    for (const DataType d : {s32, s8, bf16, f32}) {
        GemmSpec spec = spec_of(GemmLayout::tn, 304, 208, 528);
        spec.a = spec.b = s8;
        spec.accumulator = s32;
        spec.d = d;
        const KernelConfig config = with_parameters({WgmmaWarpSpecializedConfig{}},
                                                    parse_parameters("block=128x64x128,warpgroup=64x64,stages=4"));
        const KernelSource source = generate(problem_of(spec), config, find_arch("sm_90a"));
        compile_without_warning(dump(source, problem_of(spec)) + host_main(source, problem_of(spec)));
    }
}

TEST_CASE("template and dump assemble to the same .text") {
    if (!has_nvcc()) SKIP_TEST("no nvcc: the equivalence of templates and dumps is not tested");
    const std::vector<Case> all = cases();
    for (const std::size_t i : {std::size_t{0}, std::size_t{7}}) {
        INFO(all[i].name);
        const KernelConfig config = all[i].config();
        const auto [of_dump, of_template] = compile_both(all[i].spec, config, "-cubin");
        const auto sections = text_sections(of_dump);
        REQUIRE(sections.count(".text.gemm") == 1);
        CHECK(sections == text_sections(of_template));
    }
}
