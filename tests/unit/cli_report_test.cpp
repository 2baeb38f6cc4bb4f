#include "runtime/cli/report.hpp"

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
    "lda,ldb,ldc,ldd,arch,registers,spill_bytes,shared_bytes,sm_clock_mhz,power_watts,time_source,choice\n";

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
