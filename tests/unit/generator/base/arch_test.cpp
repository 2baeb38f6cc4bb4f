#include "generator/base/arch.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"

#include <set>
#include <string>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("the architecture table holds the ten targets, rising") {
    const std::vector<std::string> expected{"sm_80",  "sm_86",  "sm_87",  "sm_89",  "sm_90a",
                                            "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"};
    REQUIRE(arch_table().size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const Arch& arch = arch_table()[i];
        CHECK(arch.name == expected[i]);
        CHECK(std::stoi(std::string(arch.name.substr(3))) == arch.compute_capability);
        if (i > 0) CHECK(arch_table()[i - 1].compute_capability < arch.compute_capability);
    }
}

TEST_CASE("a block's shared memory and the driver's share fill the SM's") {
    for (const Arch& arch : arch_table()) {
        INFO(arch.name);
        CHECK(arch.shared_bytes_per_block + arch.shared_reserved_per_block == arch.shared_bytes_per_sm);
        CHECK(arch.registers_per_sm == 65536);
        CHECK(arch.max_registers_per_thread == 255);
        CHECK(arch.max_threads_per_sm % 32 == 0);
        CHECK(arch.max_threads_per_sm >= 1024);
        CHECK(mma_flops_per_clock(arch) >= 512);
    }
}

TEST_CASE("published limits of well-known architectures") {
    CHECK(find_arch("sm_80").shared_bytes_per_block == 166912);
    CHECK(find_arch("sm_86").shared_bytes_per_block == 101376);
    CHECK(find_arch("sm_89").shared_bytes_per_block == 101376);
    CHECK(find_arch("sm_90a").shared_bytes_per_block == 232448);
    CHECK(find_arch("sm_80").max_blocks_per_sm == 32);
    CHECK(find_arch("sm_86").max_blocks_per_sm == 16);
    CHECK(find_arch("sm_89").max_blocks_per_sm == 24);
    CHECK(find_arch("sm_120").max_blocks_per_sm == 24);
}

TEST_CASE("instructions by architecture") {
    for (const Arch& arch : arch_table()) {
        INFO(arch.name);
        CHECK(arch.has_wgmma == (arch.name == "sm_90a"));
        CHECK(arch.has_tma == (arch.compute_capability >= 90));
        CHECK(arch.has_dependent_launch == (arch.compute_capability >= 90));
    }
}

TEST_CASE("find_arch takes sm_90 for sm_90a and names what it knows otherwise") {
    CHECK(find_arch("sm_90").name == "sm_90a");
    for (const Arch& arch : arch_table()) CHECK(&find_arch(arch.name) == &arch);
    CHECK_THROWS_AS(find_arch("sm_70"), SpecError);
    CHECK_THROWS_WITH(find_arch("sm_9O"),
                      ContainsSubstring("unknown architecture 'sm_9O'") && ContainsSubstring("sm_121"));
    CHECK_THROWS_WITH(find_arch("sm90a"), ContainsSubstring("did you mean 'sm_90a'?"));
    CHECK_THROWS_AS(find_arch(""), SpecError);
}

TEST_CASE("a device is served by the closest row of its major below it") {
    for (const Arch& arch : arch_table()) CHECK(&arch_for_compute_capability(arch.compute_capability) == &arch);
    CHECK(arch_for_compute_capability(88).name == "sm_87");
    CHECK(arch_for_compute_capability(101).name == "sm_100");
    CHECK(arch_for_compute_capability(122).name == "sm_121");
    CHECK_THROWS_WITH(arch_for_compute_capability(75), ContainsSubstring("7.5") && ContainsSubstring("sm_80"));
    CHECK_THROWS_AS(arch_for_compute_capability(91), SpecError);  // sm_90a's code runs on 9.0 alone
    CHECK_THROWS_AS(arch_for_compute_capability(130), SpecError);
}

TEST_CASE("the GPU table is sound and every architecture has its typical GPU") {
    std::set<std::string> names;
    for (const GpuModel& gpu : gpu_table()) {
        INFO(gpu.name);
        CHECK(names.insert(gpu.name).second);
        CHECK(&find_gpu(gpu.name) == &gpu);
        CHECK(&find_arch(gpu.arch->name) == gpu.arch);
        CHECK((gpu.sm_count >= 8 && gpu.sm_count <= 200));
        CHECK((gpu.l2_bytes >= 1 << 20 && gpu.l2_bytes <= 256LL << 20));
        CHECK((gpu.clock_mhz >= 1000 && gpu.clock_mhz <= 3000));
        CHECK((gpu.dram_bytes_per_second >= 1e11 && gpu.dram_bytes_per_second <= 1e13));
    }
    for (const Arch& arch : arch_table()) CHECK(typical_gpu(arch).arch == &arch);
    CHECK(typical_gpu(find_arch("sm_90a")).name == "h200");
}

TEST_CASE("datasheet figures of a few GPUs") {
    CHECK(find_gpu("h200").sm_count == 132);
    CHECK(find_gpu("h200").dram_bytes_per_second == 4.8e12);
    CHECK(find_gpu("a100").sm_count == 108);
    CHECK(find_gpu("a100").l2_bytes == 40LL << 20);
    CHECK(find_gpu("rtx4090").sm_count == 128);
    CHECK(find_gpu("rtx4090").arch->name == "sm_89");
}

TEST_CASE("a GPU is known by the name that the driver prints, and by what people make of it") {
    struct Called {
        const char* name;
        const char* row;
    };
    // From cuDeviceGetName, as users posted it.
    for (const auto& [name, row] : {Called{"NVIDIA A100-SXM4-40GB", "a100"},
                                    Called{"NVIDIA A100-SXM4-80GB", "a100-80gb"},
                                    Called{"NVIDIA A100 80GB PCIe", "a100-pcie"},
                                    Called{"NVIDIA A100-PCIE-80GB", "a100-pcie"},
                                    Called{"NVIDIA A100-PCIE-40GB", "a100-pcie-40gb"},
                                    Called{"NVIDIA A30", "a30"},
                                    Called{"NVIDIA GeForce RTX 3090", "rtx3090"},
                                    Called{"NVIDIA GeForce RTX 3080", "rtx3080"},
                                    Called{"NVIDIA RTX A6000", "a6000"},
                                    Called{"NVIDIA A40", "a40"},
                                    Called{"NVIDIA A10", "a10"},
                                    Called{"Orin", "orin"},
                                    Called{"NVIDIA GeForce RTX 4090", "rtx4090"},
                                    Called{"NVIDIA GeForce RTX 4080", "rtx4080"},
                                    Called{"NVIDIA RTX 6000 Ada Generation", "rtx6000ada"},
                                    Called{"NVIDIA L40S", "l40s"},
                                    Called{"NVIDIA L4", "l4"},
                                    Called{"NVIDIA H200", "h200"},
                                    Called{"NVIDIA H100 80GB HBM3", "h100"},
                                    Called{"NVIDIA H100 PCIe", "h100-pcie"},
                                    Called{"NVIDIA H100 NVL", "h100-nvl"},
                                    Called{"NVIDIA GH200 480GB", "gh200"},
                                    Called{"NVIDIA GH200 144G HBM3e", "gh200"},
                                    Called{"NVIDIA B200", "b200"},
                                    Called{"NVIDIA B300 SXM6 AC", "b300"},
                                    Called{"NVIDIA Thor", "thor"},
                                    Called{"NVIDIA GeForce RTX 5090", "rtx5090"},
                                    Called{"NVIDIA GeForce RTX 5080", "rtx5080"},
                                    Called{"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtxpro6000"},
                                    Called{"NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtxpro6000"},
                                    Called{"NVIDIA GB10", "gb10"},
                                    Called{"A100-SXM4-80GB", "a100-80gb"},
                                    Called{"h100-sxm", "h100"},
                                    Called{"H100 SXM5", "h100"},
                                    Called{"RTX 4090", "rtx4090"},
                                    Called{"geforce_rtx_4090", "rtx4090"},
                                    Called{"a100 80gb", "a100-80gb"},
                                    Called{"H100PCIE", "h100-pcie"},
                                    Called{"NVIDIA Jetson AGX Orin", "orin"}}) {
        INFO(name);
        CHECK(find_gpu(name).name == row);
    }
}

TEST_CASE("find_gpu offers the nearest name") {
    CHECK_THROWS_AS(find_gpu("tpu"), SpecError);
    CHECK_THROWS_WITH(find_gpu("h20"), ContainsSubstring("did you mean 'h200'?"));
    CHECK_THROWS_WITH(find_gpu("rtx4099"), ContainsSubstring("did you mean 'rtx4090'?") && ContainsSubstring("a100"));
    // Another GPU under a name that begins alike.
    CHECK_THROWS_WITH(find_gpu("NVIDIA GeForce RTX 4090 Laptop GPU"), ContainsSubstring("did you mean 'rtx4090'?"));
    CHECK_THROWS_WITH(find_gpu("NVIDIA GeForce RTX 4080 SUPER"), ContainsSubstring("did you mean 'rtx4080'?"));
    CHECK_THROWS_WITH(find_gpu("NVIDIA GeForce RTX 3080 Ti"), ContainsSubstring("did you mean 'rtx3080'?"));
    CHECK_THROWS_AS(find_gpu("NVIDIA"), SpecError);
    CHECK_THROWS_AS(find_gpu(""), SpecError);
}
