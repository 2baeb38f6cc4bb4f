#include "runtime/support/request_record.hpp"

#include "generator/base/spec_text.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/child.hpp"
#include "tests/support/temporary_folder.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <sstream>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <sys/stat.h>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Ends with the test, whatever becomes of that.
struct Recording {
    explicit Recording(const std::string& file) { record_requests(file); }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
    ~Recording() { record_requests({}); }
};

GemmSpec spec_of(std::int64_t m) { return parse_shape_line("bf16 tn " + std::to_string(m) + " 64 32"); }

/// Resolved, as the file's lines say them.
std::vector<GemmSpec> recorded(const std::string& file) {
    std::vector<GemmSpec> specs;
    std::istringstream lines(text_in(file));
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with("#")) specs.push_back(resolved(parse_spec_text(line)));
    return specs;
}

std::vector<GemmSpec> resolved_specs(std::int64_t first, std::int64_t last) {
    std::vector<GemmSpec> specs;
    for (std::int64_t m = first; m <= last; ++m) specs.push_back(resolved(spec_of(m)));
    return specs;
}

}  // namespace

TEST_CASE("a record is a shape file with each problem once, in whatever words it was asked for") {
    const TemporaryFolder folder;
    const std::string file = folder / "record.txt";
    std::vector<GemmSpec> asked{spec_of(3), spec_of(4), spec_of(3), resolved(spec_of(4))};
    GemmSpec all_fields = parse_shape_line("f16 nt 40 24 16");
    all_fields.c = DataType::f16;
    all_fields.broadcast_c = true;
    all_fields.constant_b = true;
    all_fields.deterministic = Determinism::batch_invariant;
    all_fields.align_a = 2;
    asked.push_back(all_fields);
    GemmSpec wrong = spec_of(5);
    wrong.m = -1;
    asked.push_back(wrong);
    const Recording recording(file);
    for (const GemmSpec& spec : asked) note_request(spec);
    CHECK(recorded(file) == std::vector{resolved(asked[0]), resolved(asked[1]), resolved(all_fields)});
}

TEST_CASE("a record goes on where an earlier one ended, and another file takes its place") {
    const TemporaryFolder folder;
    const std::string file = folder / "record.txt";
    put_text(file, "# a comment\nbf16 tn 1 64 32");  // the last line has no end
    CHECK(record_requests(file).empty());
    note_request(spec_of(2));
    CHECK(record_requests(folder / "other.txt") == file);
    note_request(spec_of(2));
    note_request(spec_of(5));
    CHECK(record_requests(file) == folder / "other.txt");
    note_request(spec_of(2));
    note_request(spec_of(3));
    record_requests({});
    CHECK_FALSE(requests_are_recorded);
    note_request(spec_of(9));
    CHECK(recorded(file) == resolved_specs(1, 3));
    CHECK(recorded(folder / "other.txt") == std::vector{resolved(spec_of(2)), resolved(spec_of(5))});
}

// Not tagged [threads]: the thread sanitizer refuses threads in the fork of a process that has some.
TEST_CASE("processes and threads that record into one file write each problem once") {
    const TemporaryFolder folder;
    const std::string file = folder / "record.txt";
    constexpr int kProblems = 150;
    const auto record_by_two_threads = [&] {
        record_requests(file);
        std::vector<std::thread> threads;
        for (int t = 0; t < 2; ++t)
            threads.emplace_back([] {
                for (int m = 1; m <= kProblems; ++m) note_request(spec_of(m));
            });
        for (std::thread& thread : threads) thread.join();
        return 0;
    };
    const std::array children{start_child(record_by_two_threads), start_child(record_by_two_threads)};
    for (const pid_t child : children) CHECK(result_of(child) == 0);
    std::vector<GemmSpec> found = recorded(file);
    std::ranges::sort(found, {}, &GemmSpec::m);
    CHECK(found == resolved_specs(1, kProblems));
}

TEST_CASE("what is no file to append to is refused with its name, and the record before goes on") {
    const TemporaryFolder folder;
    const Recording recording(folder / "record.txt");
    const std::string pipe = folder / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    for (const std::string& wrong : {pipe, folder.path(), folder / "none/record.txt", std::string("/dev/full")})
        CHECK_THROWS_WITH(record_requests(wrong), ContainsSubstring(wrong));
    note_request(spec_of(1));
    CHECK(recorded(folder / "record.txt").size() == 1);
}

TEST_CASE("a full disk ends a record with a warning, and leaves whole lines") {
    const TemporaryFolder folder;
    const std::string file = folder / "record.txt";
    const int status = in_child([&] {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{700, 700};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        CapturedLog log;
        record_requests(file);
        for (int m = 1; m <= 50; ++m) note_request(spec_of(m));
        return log.lines_with(file) == 1 && !requests_are_recorded ? 0 : 1;
    });
    CHECK(status == 0);
    const std::vector<GemmSpec> found = recorded(file);
    CHECK(found.size() > 1);
    CHECK(found == resolved_specs(1, static_cast<std::int64_t>(found.size())));
}

TEST_CASE("a record has a kernel set as one line with its range, once, and nothing that is no range") {
    const TemporaryFolder folder;
    const std::string file = folder / "record.txt";
    const Recording recording(file);
    GemmSpec columns = spec_of(7);
    columns.d_order = Order::column;
    note_request(spec_of(7), 1, 8192);
    note_request(spec_of(9), 1, 8192);  // the m of the spec does not count
    note_request(spec_of(7), 5, 5);
    note_request(columns, 1, kLargestExtent);
    note_request(spec_of(7), 0, 5);
    note_request(spec_of(7), 6, 5);
    note_request(spec_of(7), 1, kLargestExtent + 1);
    const std::string text = text_in(file);
    CHECK(std::ranges::count(text, '\n') == 3);
    CHECK_THAT(text, ContainsSubstring("gemm-v1 m=1:8192 n=64 k=32 "));
    CHECK_THAT(text, ContainsSubstring("gemm-v1 m=5:5 n=64 k=32 "));
    CHECK_THAT(text, ContainsSubstring("m=1:" + std::to_string(kLargestExtent) + " "));
}
