#ifdef JITGEMM_FAKE_WORKER

#include "runtime/tuning/sweep/context_tuner.hpp"

#include "runtime/context/context_state.hpp"
#include "runtime/tuning/store/store.hpp"
#include "tests/catch.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/child.hpp"
#include "tests/support/fake_compiler.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/search_path.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thread_limit.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <future>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

const GemmSpec kSpec{.m = 512, .n = 512, .k = 512};

/// A context without CUDA whose tuning runs in processes with a scripted device.
struct Bench {
    explicit Bench(const std::string& script = "{}") {
        put_text(folder / "script.json", script);
        const std::string tool = folder / "tool";
        put_text(tool, fmt::format("#!/bin/sh\nexec '{}' --script '{}' \"$@\"\n", JITGEMM_FAKE_WORKER,
                                   folder / "script.json"));
        std::filesystem::permissions(tool, std::filesystem::perms::owner_all);
        options.tool = tool;
        options.tuning_directory = folder / "tuning";
    }

    TemporaryFolder folder;
    Options options;
    std::shared_ptr<FakeDevice> device = std::make_shared<FakeDevice>();
    std::shared_ptr<FakeCompiler> compiler = std::make_shared<FakeCompiler>();
};

}  // namespace

TEST_CASE("a kernel can be tuned when it is asked for") {
    const Bench bench;
    ContextState context(bench.options, bench.device, bench.compiler);
    const GemmKernel untuned = context.kernel(kSpec);
    CHECK(untuned.info().choice == ChoiceSource::heuristic);
    const GemmKernel tuned = context.kernel(kSpec, {.tune = Tune::now});
    CHECK(tuned.info().choice == ChoiceSource::exact);
    CHECK(untuned.info().name == tuned.info().name);  // one kernel in all its handles
    const auto winners = tuning::TuningStore(bench.options.tuning_directory).winners();
    REQUIRE(winners.size() == 1);
    CHECK(winners[0].kernel == tuned.info().name);

    std::filesystem::remove(bench.options.tool);  // what was tuned is not tuned again
    CHECK(context.kernel(kSpec, {.tune = Tune::now}).info().choice == ChoiceSource::exact);
}

TEST_CASE("tuning in the background lets the heuristic's kernel serve until it is done", "[threads]") {
    const Bench bench(R"({"turn_ms": 1})");
    ContextState context(bench.options, bench.device, bench.compiler);
    std::promise<std::pair<std::string, std::string>> told;
    const GemmKernel kernel = context.kernel(
        kSpec, {.tune = Tune::in_background, .on_tuned = [&](const GemmKernel& tuned, const std::string& failure) {
                    told.set_value({tuned.info().name, failure});
                }});
    CHECK(kernel.info().choice == ChoiceSource::heuristic);
    const auto [name, failure] = told.get_future().get();
    CHECK(failure.empty());
    CHECK(kernel.info().name == name);
    CHECK(kernel.info().choice == ChoiceSource::exact);
    CHECK(context.kernel(kSpec).info().name == name);
}

TEST_CASE("a context that names no tool finds it in PATH, and runs none of the current folder") {
    Bench bench;
    const TemporaryFolder here;
    put_program(here / "jitgemm", fmt::format("touch '{}'\n", here / "started"));
    std::filesystem::create_directory(bench.folder / "bin");
    std::filesystem::copy(bench.options.tool, bench.folder / "bin/jitgemm");
    bench.options.tool.clear();
    const InFolder inside(here.path());
    {
        const SearchPath path(":.:" + (bench.folder / "bin"));
        ContextState context(bench.options, bench.device, bench.compiler);
        CHECK(context.kernel(kSpec, {.tune = Tune::now}).info().choice == ChoiceSource::exact);
    }
    const SearchPath path(":.:/nonexistent");
    ContextState context(bench.options, bench.device, bench.compiler);
    CHECK_THROWS_WITH(context.kernel({.m = 512, .n = 512, .k = 576}, {.tune = Tune::now}),
                      ContainsSubstring("JITGEMM_TOOL") && ContainsSubstring("/nonexistent"));
    CHECK_FALSE(std::filesystem::exists(here / "started"));
}

TEST_CASE("who asks for a problem while it is being tuned gets that search's winner", "[threads]") {
    const Bench bench(R"({"turn_ms": 1})");
    std::promise<std::string> told;
    ContextState context(bench.options, bench.device, bench.compiler);
    static_cast<void>(context.kernel(
        kSpec, {.tune = Tune::in_background,
                .on_tuned = [&](const GemmKernel&, const std::string& failure) { told.set_value(failure); }}));
    CHECK(context.kernel(kSpec, {.tune = Tune::now}).info().choice == ChoiceSource::exact);
    CHECK(told.get_future().get().empty());

    const tuning::TuningStore store(bench.options.tuning_directory);
    REQUIRE(store.winners().size() == 1);
    CHECK(store.read_class(store.winners()[0].device_class).size() == 1);  // a record for each search
}

TEST_CASE("tuning that cannot be done says why") {
    Bench bench;
    bench.options.tool = "/nonexistent/jitgemm";
    ContextState context(bench.options, bench.device, bench.compiler);
    CHECK_THROWS_WITH(context.kernel(kSpec, {.tune = Tune::now}), ContainsSubstring("/nonexistent/jitgemm"));
    std::promise<std::string> told;
    const GemmKernel kernel = context.kernel(
        kSpec, {.tune = Tune::in_background,
                .on_tuned = [&](const GemmKernel&, const std::string& failure) { told.set_value(failure); }});
    CHECK_THAT(told.get_future().get(), ContainsSubstring("/nonexistent/jitgemm"));
    CHECK(kernel.info().choice == ChoiceSource::heuristic);  // and still serves

    bench.options.tuning_directory.clear();
    ContextState nowhere(bench.options, bench.device, bench.compiler);
    CHECK_THROWS_WITH(nowhere.kernel(kSpec, {.tune = Tune::now}), ContainsSubstring("tuning_directory"));
}

TEST_CASE("whatever a listener throws, the next one is told", "[threads]") {
    const Bench bench(R"({"turn_ms": 1})");
    jitgemm::testing::CapturedLog log;
    std::promise<std::string> told;
    {
        ContextState context(bench.options, bench.device, bench.compiler);
        static_cast<void>(context.kernel(
            kSpec, {.tune = Tune::in_background, .on_tuned = [](const GemmKernel&, const std::string&) { throw 7; }}));
        static_cast<void>(context.kernel(
            kSpec, {.tune = Tune::in_background,
                    .on_tuned = [&](const GemmKernel&, const std::string& failure) { told.set_value(failure); }}));
        CHECK(told.get_future().get().empty());
    }
    CHECK_THAT(log.text(), ContainsSubstring("after tuning"));
}

TEST_CASE("where there is no thread to tune in, each request in the background is told so", "[heavy]") {
    const Bench bench;
    const int status = in_child([&] {
        ContextState context(bench.options, bench.device, bench.compiler);
        allow_threads(0);
        int told = 0;
        for (int request = 0; request < 2; ++request)
            static_cast<void>(context.kernel(
                kSpec,
                {.tune = Tune::in_background, .on_tuned = [&](const GemmKernel& kernel, const std::string& failure) {
                     if (failure.find("thread") != std::string::npos && kernel) ++told;
                 }}));
        return told;
    });
    CHECK(status == 2);
}

TEST_CASE("a context that goes away ends its tuning, and says so", "[threads]") {
    const Bench bench(R"({"turn_ms": 50})");
    std::promise<std::string> told;
    {
        ContextState context(bench.options, bench.device, bench.compiler);
        static_cast<void>(context.kernel(
            kSpec, {.tune = Tune::in_background,
                    .on_tuned = [&](const GemmKernel&, const std::string& failure) { told.set_value(failure); }}));
    }
    CHECK_THAT(told.get_future().get(), ContainsSubstring("went away"));
}

TEST_CASE("a context whose options fix parameters is not tuned") {
    Bench bench;
    bench.options.parameters = "stages=3";
    bench.options.tool = "/nonexistent/jitgemm";
    ContextState context(bench.options, bench.device, bench.compiler);
    int told = 0;
    const auto count = [&](const GemmKernel&, const std::string& failure) { told += failure.empty() ? 1 : 100; };
    CHECK(context.kernel(kSpec, {.tune = Tune::now, .on_tuned = count}).info().choice == ChoiceSource::heuristic);
    CHECK(told == 1);
}

#endif
