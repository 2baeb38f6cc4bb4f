// Single instructions against a table made with Python and numpy (tests/data/emulator_instructions.py).

#include "tests/catch.hpp"
#include "tests/support/ptx_run.hpp"

#include <array>
#include <fstream>
#include <sstream>

using namespace jitgemm;
using testing::PtxRun;

namespace {

struct Row {
    std::array<std::uint64_t, 3> operands{};
    std::uint64_t result = 0;
    std::string text;
};

std::vector<Row> table() {
    std::ifstream file(JITGEMM_SOURCE_DIR "/tests/data/emulator_instructions.txt");
    std::vector<Row> rows;
    for (std::string line; std::getline(file, line);) {
        Row row;
        std::istringstream words(line);
        words >> std::hex >> row.operands[0] >> row.operands[1] >> row.operands[2] >> row.result >> std::ws;
        std::getline(words, row.text);
        rows.push_back(row);
    }
    return rows;
}

/// Loads a, b and c into registers of every width.
constexpr const char* kLoad = R"(
    ld.global.v2.u64 {%rd1, %rd2}, [%own_in];
    ld.global.u64 %rd3, [%own_in+16];
    ld.global.u32 %r1, [%own_in];
    ld.global.u32 %r2, [%own_in+8];
    ld.global.u32 %r3, [%own_in+16];
    mov.b32 %f1, %r1;
    mov.b32 %f2, %r2;
    mov.b32 %f3, %r3;
    ld.global.u16 %rs1, [%own_in];
    ld.global.u16 %rs2, [%own_in+8];
    ld.global.u16 %rs3, [%own_in+16];
    and.b32 %r0, %r1, 1;
    setp.ne.u32 %p1, %r0, 0;
)";

/// Stores the result register as 64 bits.
std::string store_of(const std::string& text) {
    if (text.find("%rd4") != std::string::npos) return "st.global.u64 [%own_out], %rd4;";
    if (text.find("%rs4") != std::string::npos) return "cvt.u64.u16 %rd5, %rs4; st.global.u64 [%own_out], %rd5;";
    if (text.find("%f4") != std::string::npos)
        return "mov.b32 %r4, %f4; cvt.u64.u32 %rd5, %r4; st.global.u64 [%own_out], %rd5;";
    if (text.find("%p4") != std::string::npos) return "selp.u64 %rd5, 1, 0, %p4; st.global.u64 [%own_out], %rd5;";
    return "cvt.u64.u32 %rd5, %r4; st.global.u64 [%own_out], %rd5;";
}

/// Runs of rows with one text share a program: one thread per row.
std::vector<std::uint64_t> evaluate(const std::vector<Row>& rows, std::size_t first, std::size_t end) {
    PtxRun run;
    run.body = kLoad + rows[first].text + ";\n" + store_of(rows[first].text);
    for (std::size_t i = first; i < end; ++i) {
        for (const std::uint64_t operand : rows[i].operands) {
            run.input.push_back(static_cast<std::uint32_t>(operand));
            run.input.push_back(static_cast<std::uint32_t>(operand >> 32U));
        }
        run.input.insert(run.input.end(), 2, 0);
    }
    const testing::PtxResult result = run_ptx(run);
    std::vector<std::uint64_t> values;
    for (std::size_t i = 0; i < end - first; ++i) {
        values.push_back(std::uint64_t{result.output[8 * i + 1]} << 32U | result.output[8 * i]);
    }
    return values;
}

}  // namespace

TEST_CASE("emulator: single instructions give what Python and numpy say") {
    const std::vector<Row> rows = table();
    REQUIRE(rows.size() > 1400);
    for (std::size_t first = 0; first < rows.size();) {
        std::size_t end = first;
        while (end < rows.size() && end < first + 32 && rows[end].text == rows[first].text) ++end;
        std::vector<std::uint64_t> values;
        INFO(rows[first].text);
        REQUIRE_NOTHROW(values = evaluate(rows, first, end));
        for (std::size_t i = first; i < end; ++i) {
            INFO(std::hex << rows[i].operands[0] << " " << rows[i].operands[1] << " " << rows[i].operands[2]);
            CHECK(values[i - first] == rows[i].result);
        }
        first = end;
    }
}
