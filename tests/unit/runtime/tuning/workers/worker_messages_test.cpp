#include "runtime/tuning/workers/worker_messages.hpp"

#include "jitgemm/error.hpp"
#include "runtime/tuning/workers/worker_command.hpp"
#include "tests/catch.hpp"

using namespace jitgemm;
using namespace jitgemm::tuning;
using Catch::Matchers::ContainsSubstring;

namespace {

GemmSpec some_spec() { return resolved({.m = 100, .n = 64, .k = 8, .c = DataType::f32, .d_order = Order::column}); }

}  // namespace

TEST_CASE("requests are read back from their lines") {
    const CompileJob compile{some_spec(), "kernel \"quoted\"", "sm_90a", true};
    const auto compiled = std::get<CompileJob>(parse_request(to_line(compile)));
    CHECK(compiled.spec == compile.spec);
    CHECK(compiled.kernel == compile.kernel);
    CHECK(compiled.arch == "sm_90a");
    CHECK(compiled.ptx);

    const auto verified = std::get<VerifyJob>(parse_request(to_line(VerifyJob{some_spec(), "k", 2.0F, 0.1F})));
    CHECK(verified.alpha == 2.0F);
    CHECK(verified.beta == 0.1F);

    TimeJob job{some_spec(), {"a", "b"},        {0, 3}, 7, Protocol::cold, true, true, 0xffffffffffffffffULL, 0.5F,
                1.0F,        GroupSizes::skewed};
    const auto timed = std::get<TimeJob>(parse_request(to_line(job)));
    CHECK(timed.kernels == job.kernels);
    CHECK(timed.first_rounds == job.first_rounds);
    CHECK(timed.rounds == 7);
    CHECK(timed.protocol == Protocol::cold);
    CHECK(timed.sustained);
    CHECK(timed.hot);
    CHECK(timed.seed == job.seed);
    CHECK(timed.group_sizes == GroupSizes::skewed);

    CHECK(to_line(StopTiming{}) == R"({"stop":"timing"})");
    CHECK(std::holds_alternative<StopTiming>(parse_request(to_line(StopTiming{}))));
}

TEST_CASE("replies are read back from their lines, each on one line") {
    const DeviceFacts facts{find_gpu("h200"), 3, 1ULL << 37U, false, {"0.1.0", "t", 130, 130}};
    const std::string hello = to_line(WorkerHello{kWorkerProtocol, facts});
    CHECK(std::get<WorkerHello>(parse_reply(hello)).facts->ordinal == 3);
    CHECK_FALSE(std::get<WorkerHello>(parse_reply(to_line(WorkerHello{}))).facts.has_value());

    const std::string refusal = to_line(WorkerRefusal{"two\nlines \xff"});
    CHECK(refusal.find('\n') == std::string::npos);
    CHECK_THAT(std::get<WorkerRefusal>(parse_reply(refusal)).message, ContainsSubstring("two\nlines"));
    CHECK_FALSE(std::get<WorkerRefusal>(parse_reply(refusal)).cuda.has_value());
    const auto of_cuda = std::get<WorkerRefusal>(parse_reply(to_line(WorkerRefusal{"no", CudaFailure{"r", "c"}})));
    CHECK((of_cuda.cuda->result == "r" && of_cuda.cuda->call == "c"));

    const TimedSample sample{2, {5, 12.25, {1980, 3201, 690.5, 61, 4}, {}, 12.5, 13.5, 13.75}};
    const auto back = std::get<TimedSample>(parse_reply(to_line(sample)));
    CHECK(back.kernel == 2);
    CHECK(back.sample.us == 12.25);
    CHECK(back.sample.before.throttle == 4);
    CHECK(back.sample.reference_us == 12.5);
    CHECK(back.sample.sustained_us == 13.5);
    CHECK(back.sample.reference_sustained_us == 13.75);

    const RoundEnd end{{1980, 3201, 690.5, 61, 64}, false};
    CHECK(std::get<RoundEnd>(parse_reply(to_line(end))).after.throttle == 64);
    CHECK_FALSE(std::get<RoundEnd>(parse_reply(to_line(end))).counts);

    const TimeOutcome outcome{Verdict::hung, 1, "m", 2};
    CHECK(std::get<TimeOutcome>(parse_reply(to_line(outcome))).verdict == Verdict::hung);
    CHECK(std::get<WorkerTurn>(parse_reply(to_line(WorkerTurn{9}))).kernel == 9);
}

TEST_CASE("what is no message is refused with its beginning") {
    CHECK_THROWS_AS(parse_reply("Segmentation fault"), Error);
    CHECK_THROWS_WITH(parse_reply(R"({"greeting": {}})"), ContainsSubstring("greeting"));
    CHECK_THROWS_WITH(parse_reply(R"({"turn": {}})"), ContainsSubstring("turn.kernel is missing"));
    CHECK_THROWS_WITH(parse_request(R"({"stop": "world"})"), ContainsSubstring("'world' cannot be stopped"));
    CHECK_THROWS_AS(parse_request("[]"), Error);
    CHECK_THROWS_AS(parse_request(""), Error);
}

TEST_CASE("a worker's settings are read back from its command line") {
    WorkerCommand command;
    command.program = {"/usr/bin/jitgemm"};
    command.options.device = "cuda:3";
    command.options.cache_directory = "/tmp/a = b";
    command.options.emulator_gflop = 0.5;
    command.newest_cuda_major = 12;
    const std::vector<std::string> words = measure_worker_words(command);
    REQUIRE(words.at(1) == "worker");
    REQUIRE(words.at(2) == "measure");
    WorkerCommand read;
    for (std::size_t i = 4; i < words.size(); i += 2) {
        CHECK(words[i - 1] == "--setting");
        apply_setting(words[i], read);
    }
    CHECK(read.options.device == "cuda:3");
    CHECK(read.options.cache_directory == "/tmp/a = b");
    CHECK(read.options.emulator_gflop == 0.5);
    CHECK(read.newest_cuda_major == 12);
    CHECK_THROWS_WITH(apply_setting("cahce=x", read), ContainsSubstring("cahce"));
    CHECK_THROWS_WITH(apply_setting("cache", read), ContainsSubstring("name=value"));
    CHECK_THROWS_WITH(apply_setting("newest-cuda-major=x", read), ContainsSubstring("expected a number"));
}
