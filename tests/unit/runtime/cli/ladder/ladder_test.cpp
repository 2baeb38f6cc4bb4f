#include "runtime/cli/ladder/rungs.hpp"

#include "generator/families/family.hpp"
#include "generator/generate.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <set>
#include <string>

using namespace jitgemm;

namespace {

GemmSpec cube(DataType type, std::int64_t extent, DataType accumulator = DataType::f32) {
    GemmSpec spec = gemm_spec_of_type(type);
    spec.m = spec.n = spec.k = extent;
    spec.layout = GemmLayout::tt;
    spec.accumulator = accumulator;
    return resolved(spec);
}

std::vector<std::string_view> names_of(DataType type) {
    std::vector<std::string_view> names;
    for (const Rung& rung : ladder_rungs(type)) names.push_back(rung.name);
    return names;
}

/// Whether the architecture has what the rung's family needs.
bool has_hardware(const Rung& rung, const GemmSpec& spec, const Arch& arch) {
    return rung.kind != RungKind::family || find_family(rung.family).unsupported(problem_of(spec), arch).empty();
}

bool is(const Rung& rung, std::string_view family) { return rung.family == family; }

}  // namespace

TEST_CASE("ladder: every rung is a kernel on sm_80 and sm_90a") {
    for (const std::string gpu_name : {"a100", "h200"}) {
        const GpuModel& gpu = find_gpu(gpu_name);
        for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
            const GemmSpec spec = cube(type, 256);
            for (const Rung& rung : ladder_rungs(type)) {
                INFO(gpu_name << " " << to_string(type) << " " << rung.name);
                if (rung.kind == RungKind::cpu || !has_hardware(rung, spec, *gpu.arch)) continue;
                const KernelConfig config = choose_config(problem_of(spec), gpu, selection_of(rung));
                const Family& family = family_of(config);
                REQUIRE(family.violations(problem_of(spec), config, *gpu.arch).empty());
                if (rung.kind == RungKind::family) REQUIRE(family.name == rung.family);
                REQUIRE(!generate(problem_of(spec), config, *gpu.arch).body.empty());
            }
        }
    }
}

TEST_CASE("ladder: what a rung fixes is what its kernel has") {
    const GemmSpec spec = cube(DataType::f16, 256);
    for (const Rung& rung : ladder_rungs(DataType::f16)) {
        if (rung.kind != RungKind::family) continue;
        INFO(rung.name);
        const KernelConfig config = choose_config(problem_of(spec), find_gpu("h200"), selection_of(rung));
        REQUIRE(with_parameters(config, selection_of(rung).parameters) == config);
    }
}

TEST_CASE("ladder: a rung of wmma_multistage differs from the one before in what its name says, nothing else") {
    const GemmSpec spec = cube(DataType::f16, 4096);
    const std::vector<std::set<std::string>> expected{
        {"padding"}, {"async"}, {"stages"}, {"double_buffer"}, {"group", "rasterization"}, {"stages"}};
    std::vector<std::set<std::string>> differences;
    ParameterMap before;
    for (const Rung& rung : ladder_rungs(DataType::f16)) {
        if (!is(rung, "wmma_multistage")) continue;
        const ParameterMap now = parameters_of(choose_config(problem_of(spec), find_gpu("h200"), selection_of(rung)));
        if (!before.empty()) {
            differences.emplace_back();
            for (const auto& [name, value] : now)
                if (before.at(name) != value) differences.back().insert(name);
        }
        before = now;
    }
    REQUIRE(differences == expected);
    // The last one is the family's default, but for the way through L1 that all of them take.
    ParameterMap usual = parameters_of({WmmaMultistageConfig{}});
    usual["cache"] = "ca";
    REQUIRE(before == usual);
}

TEST_CASE("ladder: the naive twins differ in coalescing alone") {
    const GemmSpec spec = cube(DataType::f32, 4096);
    std::vector<SimtNaiveConfig> twins;
    for (const Rung& rung : ladder_rungs(DataType::f32))
        if (is(rung, "simt_naive"))
            twins.push_back(std::get<SimtNaiveConfig>(
                choose_config(problem_of(spec), find_gpu("h200"), selection_of(rung)).family));
    REQUIRE(twins.size() == 2);
    REQUIRE_FALSE(twins[0].coalesced);
    twins[0].coalesced = true;
    REQUIRE(twins[0] == twins[1]);
}

TEST_CASE("ladder: the rungs of wgmma_warp_specialized differ in the producer alone, then in persistence") {
    for (const std::int64_t size : {256, 2048, 4096, 8192}) {
        std::vector<WgmmaWarpSpecializedConfig> siblings;
        for (const Rung& rung : ladder_rungs(DataType::f16))
            if (is(rung, "wgmma_warp_specialized"))
                siblings.push_back(
                    choose_config(problem_of(cube(DataType::f16, size)), find_gpu("h200"), selection_of(rung))
                        .as<WgmmaWarpSpecializedConfig>());
        REQUIRE(siblings.size() == 3);
        REQUIRE_FALSE(siblings[0].warp_specialized);
        siblings[0].warp_specialized = true;
        REQUIRE(siblings[0] == siblings[1]);
        REQUIRE_FALSE(siblings[1].persistent);
        siblings[1].persistent = true;
        REQUIRE(siblings[1] == siblings[2]);
    }
}

TEST_CASE("ladder: begins on the CPU, ends with the fastest, and has tensor cores for halves alone") {
    for (const DataType type : {DataType::f32, DataType::f16, DataType::bf16}) {
        const std::vector<std::string_view> names = names_of(type);
        REQUIRE(names.front() == "cpu loop");
        REQUIRE(names.back() == "fastest");
        REQUIRE(std::set(names.begin(), names.end()).size() == names.size());
    }
    REQUIRE(names_of(DataType::f32).size() == 9);
    REQUIRE(names_of(DataType::f16).size() == 20);
    const std::vector<std::string_view> halves = names_of(DataType::f16);
    for (const std::string_view name : names_of(DataType::f32))
        REQUIRE(std::ranges::find(halves, name) != halves.end());
    REQUIRE_THROWS_AS(ladder_rungs(DataType::e4m3), SpecError);
    REQUIRE_THROWS_WITH(ladder_rungs(DataType::e4m3), Catch::Matchers::ContainsSubstring("not e4m3"));
}

TEST_CASE("ladder: every family that multiplies such matrices has a rung") {
    std::set<std::string_view> families;
    for (const Rung& rung : ladder_rungs(DataType::f16)) families.insert(rung.family);
    for (const Family& family : family_table()) {
        INFO(family.name);
        if (!family.unsupported(problem_of(cube(DataType::f16, 4096)), find_arch("sm_90a")).empty()) continue;
        REQUIRE(families.contains(family.name));
    }
}

TEST_CASE("ladder: K that does not fit into shared memory is refused with the bytes") {
    const GemmSpec spec = cube(DataType::f32, 4096);
    for (const Rung& rung : ladder_rungs(DataType::f32)) {
        if (!is(rung, "simt_tile2d_shared")) continue;
        REQUIRE_THROWS_WITH(choose_config(problem_of(spec), find_gpu("h200"), selection_of(rung)),
                            Catch::Matchers::ContainsSubstring("655360 bytes of shared memory"));
    }
}

TEST_CASE("ladder: f16 sums are the tensor cores' alone, and the SIMT rungs say so") {
    const GemmSpec spec = cube(DataType::f16, 256, DataType::f16);
    for (const Rung& rung : ladder_rungs(DataType::f16)) {
        INFO(rung.name);
        if (is(rung, "wmma_multistage"))
            REQUIRE_NOTHROW(choose_config(problem_of(spec), find_gpu("h200"), selection_of(rung)));
        if (rung.family.starts_with("simt_"))
            REQUIRE_THROWS_WITH(choose_config(problem_of(spec), find_gpu("h200"), selection_of(rung)),
                                Catch::Matchers::ContainsSubstring("adds up in f32, not f16"));
    }
}

TEST_CASE("ladder: the command of a rung names its family and what it fixes") {
    const GemmSpec spec = cube(DataType::f32, 512);
    const std::vector<Rung> rungs = ladder_rungs(DataType::f32);
    REQUIRE(dump_command(rungs[0], problem_of(spec), find_arch("sm_90a")).empty());
    REQUIRE(dump_command(rungs[1], problem_of(spec), find_arch("sm_90a")) ==
            "jitgemm dump --m 512 --n 512 --k 512 --type f32 --layout tt --arch sm_90a --family "
            "simt_naive --param block=32x32,coalesced=false");
}
