#include "runtime/device/device_name.hpp"

#include "jitgemm/error.hpp"
#include "runtime/emulator_device/emulator_device.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"

#include <cmath>
#include <string>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("device names are read and written back") {
    for (const char* text : {"cuda", "cuda:0", "cuda:7", "emulator", "emulator:sm_80", "emulator:sm_90a"})
        CHECK(to_string(parse_device_name(text)) == text);
    CHECK(parse_device_name("cuda") == DeviceName{.kind = DeviceKind::cuda, .ordinal = {}, .arch = {}});
    CHECK(parse_device_name("cuda:3").ordinal == 3);
    CHECK(parse_device_name("emulator:sm_90").arch == "sm_90a");
}

TEST_CASE("a mistyped device names the nearest") {
    CHECK_THROWS_WITH(parse_device_name("emulater"), testing::Says("did you mean", "'emulator'"));
    CHECK_THROWS_WITH(parse_device_name("cda:0"), testing::Says("did you mean", "'cuda'"));
    CHECK_THROWS_WITH(parse_device_name("emulator:sm_81"), ContainsSubstring("sm_80"));
    for (const char* text : {"", "cuda:", "cuda:-1", "cuda:1x", "cuda:99999999999", "emulator:", "auto"})
        CHECK_THROWS_AS(parse_device_name(text), SpecError);
}

TEST_CASE("another library's word for a device leads to the kind that is meant") {
    CHECK_THROWS_WITH(parse_device_name("cpu"), ContainsSubstring("'emulator'"));
    CHECK_THROWS_WITH(parse_device_name("gpu:1"), ContainsSubstring("'cuda'"));
}

TEST_CASE("opening the emulator needs no GPU, and its size is a known GPU's") {
    Options options;
    options.device = "emulator:sm_90a";
    const auto device = open_device(options);
    CHECK(device->kind() == DeviceKind::emulator);
    CHECK(device->name() == "emulator (sm_90a)");
    CHECK(device->model().sm_count == typical_gpu(find_arch("sm_90a")).sm_count);
    options.device = "emulator";
    CHECK(open_device(options)->model().arch->name == "sm_80");
}

TEST_CASE("the emulator refuses what it cannot load") {
    EmulatorDevice device(find_arch("sm_80"), 20);
    const auto load = [&](const std::string& ptx, const char* function, int shared_bytes) {
        KernelEntry entry;
        entry.function = function;
        entry.threads = 32;
        entry.shared_bytes = shared_bytes;
        static_cast<void>(device.load(ptx, entry));
    };
    const auto module = [](const char* version, const char* target) {
        return std::string(".version ") + version + "\n.target " + target +
               "\n.address_size 64\n.visible .entry work()\n{\nret;\n}\n";
    };
    CHECK_NOTHROW(load(module("8.0", "sm_80"), "work", 0));
    CHECK_THROWS_WITH(load(module("42.0", "sm_80"), "work", 0), ContainsSubstring("42.0"));
    CHECK_THROWS_WITH(load(module("8.0", "sm_90a"), "work", 0), ContainsSubstring("sm_90"));
    CHECK_THROWS_WITH(load(module("8.0", "sm_80"), "other", 0),
                      ContainsSubstring("other") && ContainsSubstring("work"));
    CHECK_THROWS_WITH(load(module("8.0", "sm_80"), "work", 1 << 20), ContainsSubstring("1048576"));
    CHECK_THROWS_AS(load("\x7f"
                         "ELF",
                         "work", 0),
                    Error);
}

TEST_CASE("the emulator's memory ends where it says, and a free pointer is no pointer") {
    EmulatorDevice device(find_arch("sm_80"), 20);
    CHECK(device.total_memory() == kEmulatedMemory);
    CHECK_THROWS_AS(device.allocate(kEmulatedMemory + 1), Error);
    const DevicePointer buffer = device.allocate(64);
    CHECK(device.free_memory() == kEmulatedMemory - 64);
    device.fill_bytes(buffer, 0x5a, 64);
    std::uint8_t byte = 0;
    device.copy_to_host(&byte, DevicePointer{buffer.address + 63}, 1);
    CHECK(byte == 0x5a);
    CHECK_THROWS_AS(device.copy_to_host(&byte, DevicePointer{buffer.address + 64}, 1), Error);
    device.free(buffer);
    CHECK_THROWS_AS(device.copy_to_host(&byte, buffer, 1), Error);
}

TEST_CASE("a problem beyond the emulator's limit is refused with limit and estimate") {
    CHECK_NOTHROW(require_emulable(resolved(parse_shape_line("bf16 tn 1000 777 555")), 20));
    CHECK_NOTHROW(require_emulable(resolved(parse_shape_line("bf16 tn 8192 8192 8192")), 0));
    CHECK_THROWS_WITH(require_emulable(resolved(parse_shape_line("bf16 tn 8192 8192 8192")), 20),
                      ContainsSubstring("1100 GFLOP") && ContainsSubstring("20 GFLOP") && ContainsSubstring("minutes"));
}

TEST_CASE("the emulator's limit counts whole tiles") {
    const auto large = resolved(parse_shape_line("bf16 tn 1 1 10000000"));
    const KernelConfig config = with_parameters({MmaMultistageConfig{}}, parse_parameters("block=64x64x32,warp=32x32"));
    CHECK(padded_flops(problem_of(large), config) == 2.0 * 64 * 64 * 10'000'000);
    CHECK(padded_flops(problem_of(parse_shape_line("bf16 tn 65 64 33")), config) == 2.0 * 128 * 64 * 64);
    CHECK_NOTHROW(require_emulable(large, 20));
    CHECK_THROWS_WITH(require_emulable(problem_of(large), config, 20),
                      testing::Says("81.92 GFLOP", "whole tiles") && testing::Says("limit", "20"));
    CHECK_NOTHROW(require_emulable(problem_of(large), config, 0));
    GemmSpec turned = parse_shape_line("bf16 tn 100 1 10000000");
    turned.d_order = Order::column;
    CHECK_THROWS_WITH(require_emulable(problem_of(turned), config, 20),
                      ContainsSubstring("m=100 n=1 k=10000000 takes") && ContainsSubstring("--emulator-limit"));
}

TEST_CASE("an emulator with a limit below 0, or none at all, is refused") {
    const Arch& arch = find_arch("sm_80");
    CHECK_THROWS_WITH(EmulatorDevice(arch, -1), ContainsSubstring("emulator_gflop is -1"));
    CHECK_THROWS_AS(EmulatorDevice(arch, std::nan("")), ConfigError);
}

TEST_CASE("an entry that takes anything but the one struct of its arguments is refused when it is loaded") {
    EmulatorDevice device(find_arch("sm_80"), 20);
    const auto load = [&](const std::string& parameters) {
        const std::string ptx =
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry gemm(" + parameters + ")\n{\nret;\n}\n";
        const KernelArgument a = PointerArgument{ArgumentRole::a};
        const KernelArgument b = PointerArgument{ArgumentRole::b};
        return device.load(ptx,
                           {.function = "gemm", .threads = 32, .shared_bytes = 0, .grid = {}, .arguments = {a, b}});
    };
    CHECK_NOTHROW(load(".param .align 8 .b8 args[16]"));
    CHECK_THROWS_WITH(load(".param .align 8 .b8 args[24]"), testing::Says("1", "parameters", "24", "16"));
    CHECK_THROWS_WITH(load(".param .u64 a, .param .u64 b"), testing::Says("2", "parameters", "16"));
    CHECK_THROWS_WITH(load(".param .align 8 .b8 args[16], .param .u32 more"), ContainsSubstring("2 parameters"));
    CHECK_THROWS_WITH(load(""), ContainsSubstring("0 parameters"));
}
