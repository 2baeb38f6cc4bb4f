#include "runtime/cuda/cuda_gpu_model.hpp"

#include "runtime/tuning/store/device_facts.hpp"
#include "tests/catch.hpp"

#include <cstddef>
#include <string>
#include <utility>

using namespace jitgemm;

namespace {

/// As a driver tells it at once.
GpuModel gpu_called(const char* name, const GpuModel& like) {
    GpuModel found = like;
    found.name = name;
    found.clock_mhz = 0;
    found.dram_bytes_per_second = 0;
    return found;
}

/// With a driver that tells these rates; how often it is asked is counted.
struct Driver {
    DeviceRates rates;
    int asked = 0;

    GpuModel complete(const GpuModel& found) {
        return with_rates(found, [this] {
            ++asked;
            return rates;
        });
    }
};

}  // namespace

TEST_CASE("a driver is not asked for the clocks of a GPU that the table has") {
    Driver driver{.rates = {1980, 9e12}};
    for (const auto& [name, row] : {std::pair{"NVIDIA H200", "h200"},
                                    {"NVIDIA H100 80GB HBM3", "h100"},
                                    {"NVIDIA GeForce RTX 4090", "rtx4090"}}) {
        INFO(name);
        const GpuModel model = driver.complete(gpu_called(name, find_gpu(row)));
        CHECK(model.name == name);
        CHECK(model.clock_mhz == find_gpu(row).clock_mhz);
        CHECK(model.dram_bytes_per_second == find_gpu(row).dram_bytes_per_second);
    }
    CHECK(driver.asked == 0);
}

TEST_CASE("GPUs of one architecture and size are told apart by their names") {
    Driver driver;
    for (const char* const name :
         {"NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-80GB", "NVIDIA A100 80GB PCIe", "NVIDIA A100-PCIE-40GB",
          "NVIDIA H100 80GB HBM3", "NVIDIA H100 NVL", "NVIDIA H200", "NVIDIA GH200 480GB", "NVIDIA L40S",
          "NVIDIA RTX 6000 Ada Generation", "NVIDIA B200", "NVIDIA GeForce RTX 3080"}) {
        INFO(name);
        const GpuModel& row = find_gpu(name);
        const GpuModel model = driver.complete(gpu_called(name, row));
        CHECK(model.clock_mhz == row.clock_mhz);
        CHECK(model.dram_bytes_per_second == row.dram_bytes_per_second);
    }
    CHECK(driver.asked == 0);
    CHECK(driver.complete(gpu_called("NVIDIA H200 NVL", find_gpu("h200"))).dram_bytes_per_second ==
          find_gpu("h200").dram_bytes_per_second);
}

TEST_CASE("of a GPU that the table lacks, clocks are the driver's, and where it has none a typical GPU's") {
    GpuModel fewer_sms = gpu_called("NVIDIA H200", find_gpu("h200"));
    fewer_sms.sm_count = 60;  // a share of one is another GPU
    Driver driver{.rates = {1234, 5e11}};
    const GpuModel told = driver.complete(fewer_sms);
    CHECK(driver.asked == 1);
    CHECK(told.clock_mhz == 1234);
    CHECK(told.dram_bytes_per_second == 5e11);
    CHECK(told.sm_count == 60);

    Driver silent;
    const GpuModel typical = silent.complete(gpu_called("Some GPU", find_gpu("rtx4090")));
    CHECK(silent.asked == 1);
    CHECK(typical.clock_mhz == typical_gpu(*find_gpu("rtx4090").arch).clock_mhz);
    CHECK(typical.dram_bytes_per_second == typical_gpu(*find_gpu("rtx4090").arch).dram_bytes_per_second);
}

TEST_CASE("an H200's class is the one that comes with the library, whatever clocks its driver tells") {
    Driver driver{.rates = {1683, 4.6e12}};
    const GpuModel model = driver.complete(gpu_called("NVIDIA H200", find_gpu("h200")));
    tuning::DeviceFacts facts;
    facts.model = model;
    facts.memory_bytes = std::size_t{150'000'000'000};  // 139.7 GiB
    CHECK(tuning::device_class(facts) == "sm_90a-132sm-60MB-140GB-4800GBs-1750MHz");
}
