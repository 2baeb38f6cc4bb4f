#include "runtime/cli/bench/page.hpp"

#include "runtime/cli/report.hpp"
#include "runtime/cli/row_writer.hpp"
#include "tests/catch.hpp"
#include "tests/support/markup_check.hpp"

#include <nlohmann/json.hpp>

#include <string>

using namespace jitgemm;
using namespace jitgemm::cli;
using Catch::Matchers::ContainsSubstring;
using namespace jitgemm::testing;

namespace {

Json measured(const char* shape, double us, double peer_us, const char* peer = "cublaslt") {
    Json row = report_row(resolved(parse_shape_line(shape)), RowStatus::ok, "");
    row["kernel"] = std::string("kernel_of_") + shape;
    row["microseconds"] = us;
    row["tflops"] = 1.5;
    row["peer"] = peer;
    row["peer_microseconds"] = row["peer_first_microseconds"] = peer_us;
    row["speedup"] = peer_us / us;
    return row;
}

Json document(const std::vector<Json>& rows, bool interrupted = false) {
    Output output(true);
    RowWriter writer(output, "", "A <GPU>", "steady");
    for (const Json& row : rows) writer.write(row);
    return writer.document(interrupted);
}

}  // namespace

TEST_CASE("the page of a bench has a bar per problem and peer, the slowest first, and all rows") {
    const std::string page = bench_page(
        document({measured("bf16 tn 64 128 256", 10, 20), measured("bf16 tn 512 512 512", 10, 9),
                  measured("bf16 tn 512 512 512", 10, 12, "lib:a&b.so"),
                  report_row(resolved(parse_shape_line("e4m3 tn 64 32 16")), RowStatus::unsupported, "a < b")}));
    CHECK(markup_fault(page, true).empty());
    CHECK_FALSE(loads_something(page));
    CHECK_THAT(page, ContainsSubstring("<dt>problems</dt><dd>2</dd>"));
    CHECK_THAT(page, ContainsSubstring("<dt>geometric mean</dt><dd>1.342×</dd>"));  // sqrt(2 · 0.9)
    CHECK_THAT(page, ContainsSubstring("<dt>slower</dt><dd>1</dd>"));
    CHECK_THAT(page, ContainsSubstring("<dt>lowest</dt><dd>0.90×, bf16 tn 512 512 512</dd>"));
    CHECK_THAT(page, ContainsSubstring("<dt>highest</dt><dd>2.00×, bf16 tn 64 128 256</dd>"));
    CHECK_THAT(page, ContainsSubstring("Against lib:a&amp;b.so"));
    CHECK_THAT(page, ContainsSubstring("A &lt;GPU&gt;"));
    CHECK_THAT(page, ContainsSubstring("a &lt; b"));  // why it has no figure
    CHECK(page.find(">0.90</text>") < page.find(">2.00</text>"));
    CHECK_THAT(page, !ContainsSubstring("Interrupted"));
}

TEST_CASE("the page of a bench without peers, or without any row, is a page") {
    const std::string empty = bench_page(document({}, true));
    CHECK(markup_fault(empty, true).empty());
    CHECK_THAT(empty, ContainsSubstring("Interrupted"));
    Json alone = measured("bf16 tn 64 128 256", 10, 20);
    for (const char* field : {"peer", "peer_microseconds", "peer_first_microseconds", "speedup"})
        alone[field] = nullptr;
    const std::string page = bench_page(document({alone}));
    CHECK(markup_fault(page, true).empty());
    CHECK_FALSE(loads_something(page));
    CHECK_THAT(page, !ContainsSubstring("Against"));
    CHECK_THAT(page, ContainsSubstring("kernel_of_bf16 tn 64 128 256"));
}
