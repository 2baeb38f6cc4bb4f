// Reading PTX: what is refused, with its line, and what programs look like inside.

#include "runtime/emulator/control_flow.hpp"
#include "tests/catch.hpp"
#include "tests/support/ptx_run.hpp"

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;
using testing::PtxRun;
using testing::run_ptx;

namespace {

const std::string kHeader = ".version 8.0\n.target sm_80\n.address_size 64\n";

std::string refusal(const std::string& text) {
    try {
        static_cast<void>(emulator::load_program(text));
    } catch (const emulator::PtxError& error) {
        return error.what();
    }
    return "accepted";
}

std::string refusal_of_body(const std::string& body) { return refusal(ptx_text(PtxRun{.body = body})); }

}  // namespace

TEST_CASE("emulator PTX: other versions, address sizes and things that are no PTX are refused") {
    CHECK_THAT(refusal("int main() {}"), ContainsSubstring("not PTX"));
    CHECK_THAT(refusal(""), ContainsSubstring("not PTX"));
    CHECK_THAT(refusal(".version 12.0\n.target sm_80\n"), ContainsSubstring("PTX 12.0 is not supported"));
    CHECK_THAT(refusal(".version 8.0\n.target sm_80\n.address_size 32\n"), ContainsSubstring("PTX line 3"));
    CHECK_THAT(refusal(".version 8.0\n"), ContainsSubstring("names no .target"));
    CHECK_THAT(refusal(kHeader + ".entry k() { ret"), ContainsSubstring("PTX line 4"));
    CHECK_THAT(refusal(kHeader + ".global .texref t;"), ContainsSubstring(".texref"));
    CHECK_THAT(refusal(kHeader + ".entry k() { .reg .b128 %q; ret; }"), ContainsSubstring(".b128"));
    CHECK_THAT(refusal(kHeader + ".global .u64 p = kernel;"), ContainsSubstring("variable p starts with an address"));
    CHECK_THAT(refusal(kHeader + ".entry k() { ` }"), ContainsSubstring("unexpected character '`'"));
}

TEST_CASE("emulator PTX: unsupported instructions and modifiers stop with their text and line") {
    CHECK_THAT(refusal_of_body("tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1, %r2}];"),
               ContainsSubstring("not supported by the emulator: tex.2d"));
    CHECK_THAT(refusal_of_body("add.wat.s32 %r1, %r2, %r3;"), ContainsSubstring("add.wat.s32 %r1, %r2, %r3;"));
    CHECK_THAT(refusal_of_body("ld.global.banana.u32 %r1, [%in];"), ContainsSubstring("not supported"));
    CHECK_THAT(refusal_of_body("cvt.rn.f32.f16 %f1, %f2;"), ContainsSubstring("32 bits where 16 are needed"));
    CHECK_THAT(refusal_of_body("cvt.s32.f32 %r1, %f2;"), ContainsSubstring("needs .rni"));
    CHECK_THAT(refusal_of_body("add.s32 %r1, %rd2, %r3;"), ContainsSubstring("register %rd2 has 64 bits"));
    CHECK_THAT(refusal_of_body("mov.u32 %r1, %clock;"), ContainsSubstring("special register %clock"));
    CHECK_THAT(refusal_of_body("add.s32 %r1, %r2, %unknown;"), ContainsSubstring("%unknown"));
    CHECK_THAT(refusal_of_body("bra NOWHERE;"), ContainsSubstring("there is no label NOWHERE"));
    CHECK_THAT(refusal_of_body("mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16 {%r1, %r2}, {%r1, %r2, %r3, %r4}, "
                               "{%r1, %r2}, {%r1, %r2};"),
               ContainsSubstring("mma.sync"));
    CHECK_THAT(refusal_of_body("tcgen05.fence::before_thread_sync;"), ContainsSubstring("tcgen05"));
    CHECK_THAT(refusal_of_body("call.uni missing, ();"), ContainsSubstring("function missing has no body"));
    CHECK_THAT(refusal(kHeader + ".file 1 \"kernel.cu\"\n.entry k() {\n.loc 1 42 3\n  frob.b32 1;\n}"),
               ContainsSubstring("PTX line 7: not supported by the emulator: frob.b32 1;; source line 42"));
}

TEST_CASE("emulator PTX: scopes of inline assembly shadow names, labels included") {
    const auto result = run_ptx({.body = R"(
    mov.u32 %r1, 0;
    { .reg .pred skip; .reg .b32 t<3>; setp.lt.u32 skip, %thread, 4; mov.u32 t2, 5;
      @skip bra L; add.u32 %r1, %r1, t2; L: }
    { .reg .pred skip; setp.ge.u32 skip, %thread, 4; @skip bra L; add.u32 %r1, %r1, 100; L: }
    st.global.u32 [%own_out], %r1;)"});
    const auto sums = words(result);
    for (std::size_t thread = 0; thread < 32; ++thread) CHECK(sums[thread] == (thread < 4 ? 100U : 5U));
}

TEST_CASE("emulator PTX: .loc gives faults their source line") {
    const std::string text = kHeader + R"(.file 1 "kernel.cu"
.visible .entry k()
{
    .reg .b64 %rd<2>;
    .loc 1 17 9
    mov.u64 %rd1, 0;
    .loc 1 18 5, function_name $L__info_string0, inlined_at 1 30 2
    st.global.u64 [%rd1], %rd1;
    ret;
}
.section .debug_str { $L__info_string0: .b8 95, 90, 0 }
)";
    const auto program = emulator::load_program(text);
    emulator::GlobalMemory memory;
    CHECK_THROWS_WITH(emulator::launch(*program, {.entry = "k"}, memory, {}),
                      ContainsSubstring("at PTX line 11: st.global.u64 [%rd1], %rd1; (kernel.cu:18)"));
}

TEST_CASE("emulator: launches that do not fit the entry are refused") {
    const auto program = emulator::load_program(
        kHeader +
        ".visible .entry k(.param .u64 p, .param .align 4 .b8 q[8])\n.maxntid 64, 1, 1\n{ ret; }\n"
        ".visible .entry other() .reqntid 32 { ret; }");
    emulator::GlobalMemory memory;
    const std::array<std::byte, 16> parameters{};
    const auto refuse = [&](const emulator::LaunchConfig& config, std::size_t bytes = 16) {
        try {
            static_cast<void>(emulator::launch(*program, config, memory, std::span(parameters).first(bytes)));
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    CHECK(refuse({.entry = "k", .block = {64, 1, 1}}) == "accepted");
    CHECK_THAT(refuse({.entry = "gemm"}), ContainsSubstring("no entry gemm; it has k, other"));
    CHECK_THAT(refuse({.entry = "k", .block = {65, 1, 1}}), ContainsSubstring("more than the 64"));
    CHECK_THAT(refuse({.entry = "other", .block = {31, 1, 1}}, 0), ContainsSubstring("needs 32"));
    CHECK_THAT(refuse({.entry = "k", .grid = {0, 1, 1}}), ContainsSubstring("grid extent of 0"));
    CHECK_THAT(refuse({.entry = "k", .shared_bytes = -1}), ContainsSubstring("-1"));
    CHECK_THAT(refuse({.entry = "k"}, 8), ContainsSubstring("takes 16 bytes of parameters, not 8"));
    CHECK_THAT(refuse({.entry = "k", .cluster = {2, 1, 1}}), ContainsSubstring("cluster of 2x1x1 blocks on sm_80"));
}

TEST_CASE("emulator: post-dominators of a loop with a break and a diamond in it") {
    // 0 → 1; 1 → 2, 6 (loop head); 2 → 3, 4; 3 → 6 (break), 5; 4 → 5; 5 → 1; 6 → end
    std::vector<emulator::BasicBlock> blocks(7);
    blocks[0].successors = {1};
    blocks[1].successors = {2, 6};
    blocks[2].successors = {3, 4};
    blocks[3].successors = {6, 5};
    blocks[4].successors = {5};
    blocks[5].successors = {1};
    blocks[6].successors = {7};
    CHECK(emulator::immediate_post_dominators(blocks) == std::vector<std::size_t>{1, 6, 6, 6, 5, 1, 7});
}

TEST_CASE("emulated global memory keeps its books") {
    emulator::GlobalMemory memory(1000);
    const auto a = memory.allocate(100, "a");
    const auto b = memory.allocate(0, "b");
    CHECK(a % 256 == 0);
    CHECK(a != b);
    CHECK(memory.used() == 100);
    CHECK(memory.find(a + 99).name == "a");
    CHECK_THROWS_WITH(memory.find(a + 100), ContainsSubstring("not within one emulated buffer"));
    CHECK_THROWS_WITH(memory.allocate(901, "too much"), ContainsSubstring("too much of 901 bytes"));
    memory.fill(a, 7, 100);
    std::array<std::byte, 4> got{};
    memory.copy_out(got, a + 96);
    CHECK(got[3] == std::byte{7});
    CHECK_THROWS_AS(memory.copy_out(got, a + 97), Error);
    memory.free(a);
    CHECK_THROWS_AS(memory.free(a), Error);
    CHECK(memory.used() == 0);
}
