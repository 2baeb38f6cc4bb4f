#include "runtime/cli/report.hpp"

#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/row_writer.hpp"
#include "tests/catch.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

using namespace jitgemm;
using namespace jitgemm::cli;

namespace {

const std::string kDocumented =
    "kernel,type,layout,m,n,k,microseconds,tflops,verified,cache,compile_ms,peer,peer_first_microseconds,peer_"
    "microseconds,"
    "speedup,status,reason,peer_algorithm,peer_reason,low_microseconds,high_microseconds,c_type,d_type,acc_type,d_"
    "layout,"
    "lda,ldb,ldc,ldd,arch,registers,spill_bytes,shared_bytes,sm_clock_mhz,power_watts,time_source,choice,epilogue,peer_"
    "way,peer_pass_microseconds,group_sizes\n";

}  // namespace

TEST_CASE("a report row has the documented fields in their order") { CHECK(csv_header() == kDocumented); }

TEST_CASE("a row without figures keeps its problem and its reason, quoted as RFC 4180 says") {
    const Json row =
        report_row(resolved(parse_shape_line("e4m3 tn 64 32 16")), RowStatus::unsupported, "no \"e4m3\", sorry");
    CHECK(row.at("microseconds").is_null());
    CHECK(row.at("verified") == false);
    const std::string line = csv_line(row);
    CHECK(line.starts_with(",e4m3,tn,64,32,16,,,false,,,,,,,unsupported,\"no \"\"e4m3\"\", sorry\",,"));
    const auto commas = [](const std::string& text) { return std::count(text.begin(), text.end(), ','); };
    CHECK(commas(line) == commas(kDocumented) + 1);
}

TEST_CASE("a row says its epilogue, and the way of the peer that was fastest") {
    GemmSpec spec = parse_shape_line("bf16 tn 64 32 16 epilogue='d = relu(acc)'");
    Json row = report_row(resolved(spec), RowStatus::unsupported, "why");
    CHECK_THAT(row_text(row, "epilogue"), Catch::Matchers::ContainsSubstring("relu(acc)"));
    row["peer"] = "cublaslt";
    CHECK(peer_title(row) == "cublaslt");
    row["peer_way"] = "pass";
    CHECK(peer_title(row) == "cublaslt + pass");
    row["peer_way"] = "epilogue relu";
    CHECK(peer_title(row) == "cublaslt epilogue relu");
}

TEST_CASE("rows that no kernel serves are bad usage where there are no others") {
    Output output(true);
    RowWriter writer(output, "", "a device", "steady");
    CHECK(writer.exit_code() == kExitFine);
    const GemmSpec spec = resolved(parse_shape_line("e4m3 tn 64 32 16"));
    writer.write(report_row(spec, RowStatus::unsupported, "why"));
    CHECK(writer.exit_code() == kExitUsage);
    writer.write(report_row(spec, RowStatus::ok, ""));
    CHECK(writer.exit_code() == kExitFine);
    writer.write(report_row(spec, RowStatus::wrong, "why"));
    CHECK(writer.exit_code() == kExitFailed);
}
