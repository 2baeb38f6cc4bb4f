// Real compile workers: the tool's, with NVRTC.

#include "generator/families/kernel_name.hpp"
#include "generator/generate.hpp"
#include "runtime/cache/kernel_cache.hpp"
#include "runtime/tuning/sweep/compile_pool.hpp"
#include "runtime/tuning/workers/compile_work.hpp"
#include "runtime/tuning/workers/worker_process.hpp"
#include "tests/catch.hpp"
#include "tests/support/fake_sweep.hpp"
#include "tests/support/tool_worker.hpp"

#include <csignal>
#include <filesystem>
#include <thread>

using namespace jitgemm;
using namespace jitgemm::testing;
using namespace jitgemm::tuning;
using namespace std::chrono_literals;

namespace {

CompileJob job_of(const std::string& kernel, const char* arch = "sm_90a") {
    return {small_spec(), kernel, arch, false};
}

/// Compiled in this process.
CompiledKernel compile_here(const CompileJob& job, KernelSource& source) {
    source = generate(problem_of(job.spec), parse_kernel_name(job.kernel).config, find_arch(job.arch));
    return make_nvrtc_compiler(Options::from_environment(), 0, "")
        ->compile(job.ptx ? ptx_request(source) : compile_request(source));
}

/// The tool with templates of its own: that of the kernel's family with one text in place of another, everywhere.
WorkerCommand with_edited_template(const TemporaryFolder& folder, const std::string& kernel, const std::string& from,
                                   const std::string& to) {
    std::filesystem::copy(std::string(JITGEMM_SOURCE_DIR) + "/templates", folder / "templates",
                          std::filesystem::copy_options::recursive);
    const std::string name(family_of(parse_kernel_name(kernel).config).template_file);
    std::string text = text_in(folder / ("templates/" + name));
    std::size_t found = text.find(from);
    REQUIRE(found != std::string::npos);
    for (; found != std::string::npos; found = text.find(from, found + to.size())) text.replace(found, from.size(), to);
    put_text(folder / ("templates/" + name), text);
    WorkerCommand command = tool_worker(folder / "cache");
    command.options.template_directory = folder / "templates";
    return command;
}

/// Edits a template, and returns a worker's answer to a job for a kernel of it.
CompileOutcome compile_edited(const std::string& from, const std::string& to) {
    const TemporaryFolder folder;
    const std::string kernel = some_kernels(1).front();
    CompilePool pool({with_edited_template(folder, kernel, from, to), 1, 60s});
    return pool.compile(job_of(kernel)).get();
}

}  // namespace

TEST_CASE("a compile worker makes what is made in this process") {
    const TemporaryFolder folder;
    const std::vector<std::string> kernels = some_kernels(2);
    CompilePool pool({tool_worker(folder / "cache"), 2, 60s});
    for (const bool ptx : {false, true}) {
        CompileJob job = job_of(kernels.front());
        job.ptx = ptx;
        const CompileOutcome outcome = pool.compile(job).get();
        INFO(outcome.message);
        REQUIRE(outcome.verdict == Verdict::fine);
        KernelSource source;
        const CompiledKernel here = compile_here(job, source);
        CHECK(outcome.text_hash == text_hash(source, here));
        CHECK(outcome.registers == here.report.registers);
        job.kernel = kernels.back();
        CHECK(pool.compile(job).get().text_hash != outcome.text_hash);
    }
}

TEST_CASE("what a worker compiled is a hit of the cache it was given") {
    const TemporaryFolder folder;
    const CompileJob job = job_of(some_kernels(1).front());
    {
        CompilePool pool({tool_worker(folder / "cache"), 1, 60s});
        REQUIRE(pool.compile(job).get().verdict == Verdict::fine);
    }
    const KernelSource source =
        generate(problem_of(job.spec), parse_kernel_name(job.kernel).config, find_arch(job.arch));
    KernelCache cache(folder / "cache", "");
    const auto compiler = make_nvrtc_compiler(Options::from_environment(), 0, folder / "cache");
    CHECK(cache.get_or_compile(compile_request(source), *compiler, "").source == CacheSource::disk);
}

TEST_CASE("spills are part of the outcome") {
    // Sixteen blocks per SM leave a thread a few registers only.
    const CompileOutcome outcome = compile_edited(
        "GEMM_KERNEL() {", R"(extern "C" __global__ void __launch_bounds__(kThreads, 16) gemm(GemmArgs args) {)");
    INFO(outcome.message);
    REQUIRE(outcome.verdict == Verdict::fine);
    CHECK(outcome.spill_bytes > 0);
}

TEST_CASE("a kernel that the compiler refuses is compile_failed with its log") {
    const CompileOutcome outcome = compile_edited("extern __shared__", "int planted = error;\n    extern __shared__");
    CHECK(outcome.verdict == Verdict::compile_failed);
    CHECK_THAT(outcome.message, Catch::Matchers::ContainsSubstring("identifier \"error\" is undefined"));
}

TEST_CASE("a kernel of another problem is compile_failed with the reason") {
    const TemporaryFolder folder;
    CompilePool pool({tool_worker(folder / "cache"), 1, 60s});
    CompileJob job = job_of(some_kernels(1).front());
    job.spec = resolved(parse_shape_line("f16 tn 256 256 256"));
    const CompileOutcome outcome = pool.compile(job).get();
    CHECK(outcome.verdict == Verdict::compile_failed);
    CHECK_THAT(outcome.message, Catch::Matchers::ContainsSubstring("does not compute"));
}

TEST_CASE("a real worker killed in the middle of a compile leaves a cache that works") {
    const TemporaryFolder folder;
    const CompileJob job = job_of(some_kernels(1).front());
    const WorkerCommand command = tool_worker(folder / "cache");
    {
        WorkerProcess worker(compile_worker_words(command));
        worker.send(job);
        std::this_thread::sleep_for(30ms);
        REQUIRE(::kill(worker.pid(), SIGKILL) == 0);
        const auto answer = worker.receive(WorkerProcess::Clock::now() + 10s);
        if (const auto* end = std::get_if<WorkerEnd>(&answer))
            CHECK_THAT(end->message, Catch::Matchers::ContainsSubstring("SIGKILL"));
    }
    CompilePool pool({command, 1, 60s});
    CHECK(pool.compile(job).get().verdict == Verdict::fine);
}

TEST_CASE("a worker ends when its parent closes it, also in the midst of a compile") {
    const TemporaryFolder folder;
    const auto begin = std::chrono::steady_clock::now();
    {
        WorkerProcess worker(compile_worker_words(tool_worker(folder / "cache")));
        worker.send(job_of(some_kernels(1).front()));
    }
    CHECK(std::chrono::steady_clock::now() - begin < 60s);
}

TEST_CASE("without NVRTC a pool says so before any job") {
    const TemporaryFolder folder;
    WorkerCommand command = tool_worker(folder / "cache");
    command.options.nvrtc_library = folder / "none.so";
    CHECK_THROWS_WITH(CompilePool({command, 1, 60s}), Catch::Matchers::ContainsSubstring("none.so"));
}
