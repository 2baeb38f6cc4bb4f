// Which bytes of global memory were written: reads of others are faults, a second store of something else is where one
// store is all there may be.

#include "runtime/emulator/fault.hpp"
#include "runtime/emulator/global_memory.hpp"
#include "runtime/emulator/program.hpp"
#include "tests/catch.hpp"
#include "tests/support/ptx_run.hpp"
#include "tests/support/random_bits.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;
using emulator::DeviceAddress;
using emulator::FaultKind;
using emulator::WrittenBytes;
using testing::PtxRun;

namespace {

constexpr std::size_t kBytes = 1024;

/// Two buffers, which nobody has written yet.
struct Memory {
    emulator::GlobalMemory memory;
    DeviceAddress in = memory.allocate(kBytes, "in");
    DeviceAddress out = memory.allocate(kBytes, "out");

    void write(DeviceAddress address, std::size_t bytes) {
        const std::vector<std::byte> values(bytes, std::byte{7});
        memory.copy_in(address, values);
    }

    bool programmatic = false;  ///< of launches

    void launch(const PtxRun& run) {
        const auto program = emulator::load_program(ptx_text(run));
        const std::array<DeviceAddress, 2> parameters{in, out};
        const emulator::LaunchConfig config{.entry = "kernel",
                                            .block = {run.threads, 1, 1},
                                            .programmatic = programmatic,
                                            .async_mode = run.async_mode,
                                            .checks = run.checks};
        static_cast<void>(emulator::launch(*program, config, memory, std::as_bytes(std::span(parameters)), {}));
    }

    /// The text of a launch's fault, or "no fault".
    std::string fault(const PtxRun& run, FaultKind kind) {
        try {
            launch(run);
            return "no fault";
        } catch (const emulator::EmulatorFault& fault) {
            INFO(fault.what());
            CHECK(to_string(fault.kind()) == to_string(kind));
            return fault.what();
        }
    }
};

}  // namespace

TEST_CASE("written bytes: marks, questions and counts agree with a list of bytes", "[threads]") {
    constexpr std::size_t kCount = 300;
    WrittenBytes written(kCount);
    std::vector<bool> expected(kCount, false);
    testing::RandomBits random(3);
    for (int i = 0; i < 2000; ++i) {
        const std::size_t first = random.below(kCount);
        const std::size_t bytes = random.below(static_cast<std::uint32_t>(i % 2 == 0 ? kCount - first : 17) + 1);
        if (first + bytes > kCount) continue;
        const bool mark = random.below(3) != 0;
        mark ? written.mark(first, bytes) : written.forget(first, bytes);
        for (std::size_t at = first; at < first + bytes; ++at) expected[at] = mark;
        const std::size_t begin = random.below(kCount);
        std::size_t missing = 0;
        for (std::size_t at = begin; at < kCount; ++at) missing += expected[at] ? 0 : 1;
        REQUIRE(written.missing(begin, kCount - begin) == missing);
        REQUIRE(written.all(begin, kCount - begin) == (missing == 0));
        REQUIRE(written.all(begin, 1) == expected[begin]);
    }
}

TEST_CASE("emulator global memory: a read of what nobody has written is a fault that says which bytes") {
    Memory memory;
    const PtxRun load{.body = "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%own_in];", .threads = 1};
    CHECK_THAT(
        memory.fault(load, FaultKind::never_written_global),
        ContainsSubstring("reads 16 bytes of global memory: 16 of them were never written, the first at offset 0 of "
                          "in (1024 bytes)") &&
            ContainsSubstring("thread (0,0,0) of block (0,0,0)") && ContainsSubstring("ld.global.v4.u32"));
    memory.write(memory.in, 8);
    CHECK_THAT(memory.fault(load, FaultKind::never_written_global),
               ContainsSubstring("8 of them were never written, the first at offset 8 of in"));
    memory.write(memory.in + 8, 8);
    CHECK(memory.fault(load, FaultKind::never_written_global) == "no fault");
    CHECK_THAT(memory.fault({.body = load.body, .threads = 2}, FaultKind::never_written_global),
               ContainsSubstring("thread (1,0,0)") && ContainsSubstring("offset 32 of in"));
    memory.write(memory.in, kBytes);
    CHECK(memory.fault({.body = load.body, .threads = 32}, FaultKind::never_written_global) == "no fault");
}

TEST_CASE("emulator global memory: copies and atomics read as loads do, and the check can be turned off") {
    const PtxRun atomic{.body = "atom.global.add.u32 %r1, [%own_in], 1;", .threads = 1};
    const PtxRun reduction{.body = "red.global.add.u32 [%own_in], 1;", .threads = 1};
    const PtxRun copy{.body =
                          "mov.u64 %rd1, tile;\ncvt.u32.u64 %r1, %rd1;\n"
                          "cp.async.ca.shared.global [%r1], [%own_in], 16, 12;\ncp.async.wait_all;",
                      .threads = 1};
    for (PtxRun run : {atomic, reduction, copy}) {
        INFO(run.body);
        Memory memory;
        CHECK(memory.fault(run, FaultKind::never_written_global) != "no fault");
        run.checks.global_written = false;
        CHECK(memory.fault(run, FaultKind::never_written_global) == "no fault");
    }
    Memory memory;
    memory.write(memory.in, 12);  // the last four bytes of the vector are not read
    CHECK(memory.fault(copy, FaultKind::never_written_global) == "no fault");
}

TEST_CASE("emulator global memory: what a kernel stores it may read, until the contents are undefined again") {
    Memory memory;
    const PtxRun store{.body = "st.global.v2.u32 [%own_out], {%thread, %thread};", .threads = 32};
    const PtxRun load{.body = "ld.global.v2.u32 {%r1, %r2}, [%own_out];", .threads = 32};
    CHECK(memory.fault({.body = store.body + load.body, .threads = 32}, FaultKind::trap) == "no fault");
    CHECK(memory.fault(load, FaultKind::trap) == "no fault");
    CHECK(memory.memory.unwritten(memory.out, kBytes) == kBytes - 32 * 8);
    CHECK(memory.memory.unwritten(memory.out + 32, 8) == 0);
    memory.memory.undefine(memory.out + 64, 4);
    CHECK_THAT(memory.fault(load, FaultKind::never_written_global), ContainsSubstring("thread (2,0,0)"));
    memory.memory.fill(memory.out, 1, kBytes);
    CHECK(memory.memory.unwritten(memory.out, kBytes) == 0);
    memory.memory.undefine(memory.out, kBytes);
    CHECK(memory.memory.unwritten(memory.out, kBytes) == kBytes);
}

TEST_CASE("emulator global memory: variables of a module are written, also where nothing is said of their values") {
    Memory memory;
    CHECK(memory.fault({.body = "mov.u64 %rd1, zeros;\nld.global.u32 %r1, [%rd1+4];",
                        .threads = 1,
                        .functions = ".global .align 4 .b8 zeros[8];\n"},
                       FaultKind::trap) == "no fault");
}

TEST_CASE("emulator global memory: where a byte is to be stored once, a second store must bring the same") {
    const std::string first = "mov.u32 %r1, 0x01020304;\nst.global.u32 [%own_out], %r1;\n";
    const std::string same = "mov.u32 %r2, 0x0304;\nst.global.u16 [%own_out], %r2;\n";
    const std::string other = "mov.u32 %r3, 0x0305;\nst.global.u16 [%own_out], %r3;\n";
    const std::string wider = "mov.u64 %rd1, 0x9999999901020304;\nst.global.u64 [%own_out], %rd1;\n";
    const std::string wrong = "mov.u64 %rd2, 0x9999999911020304;\nst.global.u64 [%own_out], %rd2;\n";
    const auto run = [](const std::string& body) {
        Memory memory;
        memory.memory.fill(memory.out, 0x5a, kBytes);
        memory.memory.undefine(memory.out, kBytes, true);
        return memory.fault({.body = body, .threads = 2}, FaultKind::second_store);
    };
    CHECK(run(first) == "no fault");
    CHECK(run(first + same) == "no fault");
    CHECK(run(first + wider) == "no fault");
    CHECK_THAT(run(first + other),
               ContainsSubstring("stores 2 bytes of global memory a second time, with another value, at offset 0 of "
                                 "out") &&
                   ContainsSubstring("thread (0,0,0)"));
    CHECK_THAT(run(first + wrong), ContainsSubstring("offset 3 of out"));
    CHECK_THAT(run("st.global.u32 [%out], %thread;"), ContainsSubstring("thread (1,0,0)"));  // two lanes at once

    Memory any;
    CHECK(any.fault({.body = first + other, .threads = 1}, FaultKind::second_store) == "no fault");
}

TEST_CASE("emulator global memory: a launch that may begin early touches only constants before it waits") {
    const std::string load = "ld.global.u32 %r1, [%own_in];";
    const std::string copy =
        "mov.u64 %rd1, tile;\ncvt.u32.u64 %r1, %rd1;\ncp.async.ca.shared.global [%r1], [%own_in], 16;\n"
        "cp.async.wait_all;";
    const std::string store = "st.global.u32 [%own_out], %thread;";
    const std::string wait = "griddepcontrol.launch_dependents;\ngriddepcontrol.wait;";
    Memory memory;
    memory.write(memory.in, kBytes);
    memory.programmatic = true;
    const auto fault = [&](const std::string& body) {
        return memory.fault({.body = body, .threads = 1}, FaultKind::before_wait);
    };
    CHECK_THAT(fault("griddepcontrol.launch_dependents;\n" + load),
               ContainsSubstring("reads 4 bytes before griddepcontrol.wait, which the previous kernel may still write, "
                                 "offset 0 of in (1024 bytes)"));
    CHECK_THAT(fault(copy), ContainsSubstring("reads 16 bytes before griddepcontrol.wait"));
    CHECK_THAT(fault(store + wait), ContainsSubstring("writes 4 bytes before griddepcontrol.wait, which the previous "
                                                      "kernel may still read, offset 0 of out"));
    for (const std::string& body : {load, copy, store}) CHECK(fault(wait + body) == "no fault");
    // One warp's wait does not cover another warp's accesses.
    const std::string first_warp = "setp.lt.u32 %p1, %thread, 32;\n@%p1 griddepcontrol.wait;\n";
    CHECK_THAT(memory.fault({.body = first_warp + "ld.global.u32 %r1, [%in];", .threads = 64}, FaultKind::before_wait),
               ContainsSubstring("thread (32,0,0)"));
    memory.memory.mark_constant(memory.in + 4);
    for (const std::string& body : {load + wait + store, copy + wait + store}) CHECK(fault(body) == "no fault");
    CHECK(fault(load + store) != "no fault");
    memory.memory.mark_constant(memory.in - 1);  // of no buffer: nothing happens
    PtxRun unchecked{.body = store, .threads = 1};
    unchecked.checks.grid_dependency = false;
    CHECK(memory.fault(unchecked, FaultKind::before_wait) == "no fault");
    memory.programmatic = false;
    CHECK(fault(store) == "no fault");
}
