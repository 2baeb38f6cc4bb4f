#include "runtime/emulator_device/shared_access_check.hpp"

#include "tests/catch.hpp"

#include <string>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;
using emulator::Counters;
using emulator::InstructionKind;

namespace {

SharedAccess access(const std::string& what, const std::string& instruction, int worst) {
    SharedAccess made;
    made.what = what;
    made.instruction = instruction;
    made.instructions = 1;
    made.worst = {worst, worst};
    made.wavefronts = made.ideal = worst;
    return made;
}

const std::vector<SharedAccess> kExpected{
    access("cp.async A", "cp.async of 16 bytes", 4), access("st.shared B", "st.shared of 16 bytes", 4),
    access("ldmatrix A", "ldmatrix.x4", 4), access("ldmatrix B", "ldmatrix.x2.trans", 2),
    access("epilogue load", "ld.shared of 8 bytes", 3)};

Counters counted(InstructionKind kind, const std::string& text, std::uint64_t wavefronts, std::uint64_t ideal) {
    Counters counters;
    emulator::LineTally line;
    line.kind = kind;
    line.text = text;
    line.source_line = 7;
    line.tally.warps = 10;
    line.tally.wavefronts = wavefronts;
    line.tally.ideal_wavefronts = ideal;
    counters.lines.push_back(line);
    return counters;
}

}  // namespace

TEST_CASE("wavefronts up to what the layouts give pass, one more is told with line and access") {
    struct Row {
        InstructionKind kind;
        const char* text;
        std::uint64_t most;  // of ten executions
        const char* what;
    };
    const std::vector<Row> rows{
        {InstructionKind::matrix_load, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];", 40,
         "ldmatrix A"},
        {InstructionKind::matrix_load, "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r1, %r2}, [%r5];", 20,
         "ldmatrix B"},
        {InstructionKind::async_copy, "@!%p1 cp.async.cg.shared.global.L2::128B [%r1], [%rd4], 16, %p2;", 40,
         "cp.async A"},
        {InstructionKind::shared_store, "st.shared.v4.b32 [%r1], {%r2, %r3, %r4, %r5};", 40, "st.shared B"},
        {InstructionKind::shared_load, "ld.shared.v2.f32 {%f1, %f2}, [%r1+16];", 30, "epilogue load"},
        {InstructionKind::shared_load, "@%p4 ld.shared.u64 %rd1, [%r1];", 30, "epilogue load"}};
    for (const Row& row : rows) {
        CAPTURE(row.text);
        CHECK(excess_wavefronts(counted(row.kind, row.text, row.most, row.most), kExpected).empty());
        const auto excess = excess_wavefronts(counted(row.kind, row.text, row.most + 1, row.most), kExpected);
        REQUIRE(excess.size() == 1);
        CHECK_THAT(excess.front(), ContainsSubstring(row.what) && ContainsSubstring("line 7"));
    }
}

TEST_CASE("an access that no layout names may cost what it costs") {
    const char* const scalar = "ld.shared.u16 %rs1, [%r5];";  // a vector of D that is cut, element by element
    CHECK(excess_wavefronts(counted(InstructionKind::shared_load, scalar, 80, 10), kExpected).empty());
    CHECK(excess_wavefronts(counted(InstructionKind::integer, "add.s32 %r1, %r2, %r3;", 41, 40), kExpected).empty());
}

TEST_CASE("named accesses that the compiler merged may take as many wavefronts as those they stand for") {
    const char* const two = "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r5];";  // of 8 bytes each
    CHECK(excess_wavefronts(counted(InstructionKind::shared_load, two, 60, 40), kExpected).empty());
    CHECK(excess_wavefronts(counted(InstructionKind::shared_load, two, 61, 40), kExpected).size() == 1);
    std::vector<SharedAccess> with_wide = kExpected;
    with_wide.push_back(access("A", "ld.shared of 16 bytes", 4));
    CHECK(excess_wavefronts(counted(InstructionKind::shared_load, two, 60, 40), with_wide).empty());
    CHECK(excess_wavefronts(counted(InstructionKind::shared_load, two, 61, 40), with_wide).size() == 1);
}

TEST_CASE("an access that names a type says nothing of other loads that are as wide") {
    std::vector<SharedAccess> accesses = kExpected;
    accesses.push_back(access("ld.shared A", "ld.shared.b32 of 4 bytes", 1));
    const auto excess = [&](const std::string& text, std::uint64_t wavefronts) {
        return excess_wavefronts(counted(InstructionKind::shared_load, text, wavefronts, 10), accesses);
    };
    CHECK(excess("ld.shared.b32 %r1, [%r2];", 10).empty());
    REQUIRE(excess("ld.shared.b32 %r1, [%r2];", 11).size() == 1);
    CHECK_THAT(excess("ld.shared.b32 %r1, [%r2];", 11).front(), ContainsSubstring("ld.shared A"));
    CHECK(excess("ld.shared.f32 %f1, [%rd2];", 20).empty());  // a vector of D that is cut
}
