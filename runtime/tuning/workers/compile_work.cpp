#include "runtime/tuning/workers/compile_work.hpp"

#include "generator/families/kernel_name.hpp"
#include "generator/generate.hpp"
#include "jitgemm/error.hpp"
#include "runtime/cache/kernel_cache.hpp"
#include "runtime/compiler/cubin_text.hpp"
#include "runtime/device/entry_json.hpp"
#include "runtime/support/hash.hpp"

#include <nlohmann/json.hpp>

#include <new>

namespace jitgemm::tuning {
namespace {

bool is_ptx(const CompiledKernel& compiled) { return compiled.arch.starts_with("compute_"); }

/// The part of an entry's launch that its code does not show. Two kernels of one code may differ in dynamic shared
/// memory and in the number of blocks.
std::string launch_text(const KernelEntry& entry) { return to_json(entry).dump() + '\n'; }

CompileOutcome outcome_of(const KernelSource& source, const CompiledKernel& compiled) {
    const PtxasReport& report = compiled.report;
    return {.verdict = Verdict::fine,
            .compile_ms = compiled.compile_ms,
            .registers = report.registers,
            .spill_bytes = report.spill_bytes(),
            .warnings = report.warnings,
            .text_hash = text_hash(source, compiled)};
}

CompileOutcome failure(const std::string& message) {
    CompileOutcome outcome;
    const bool wants_memory = message.find("NVRTC_ERROR_OUT_OF_MEMORY") != std::string::npos;
    outcome.verdict = wants_memory ? Verdict::no_memory : Verdict::compile_failed;
    outcome.message = message;
    return outcome;
}

class NvrtcWork final : public CompileWork {
public:
    NvrtcWork(const Options& options, std::shared_ptr<Compiler> compiler)
        : compiler_(std::move(compiler)),
          cache_(options.cache_directory, options.readonly_cache_directory, Durability::scratch),
          templates_(TemplateSet::from_directory(options.template_directory)) {}

    [[nodiscard]] CompileOutcome compile(const CompileJob& job) override {
        try {
            const Problem problem = problem_of(job.spec);
            const KernelConfig config = config_of_kernel(problem, job.kernel);
            const KernelSource source = generate(problem, config, find_arch(job.arch), templates_);
            const CompileRequest request = job.ptx ? ptx_request(source) : compile_request(source);
            const KernelCache::Result result = cache_.get_or_compile(request, *compiler_, dump(source, problem));
            return outcome_of(source, result.kernel);
        } catch (const CompileError& error) {
            // The compiler's own words where it spoke; without a log nothing was compiled at all.
            return failure(error.log().empty() ? error.what() : error.log());
        } catch (const Error& error) {
            return failure(error.what());
        } catch (const std::bad_alloc& error) {
            CompileOutcome outcome;
            outcome.verdict = Verdict::no_memory;
            outcome.message = error.what();
            return outcome;
        }
    }

private:
    std::shared_ptr<Compiler> compiler_;
    KernelCache cache_;
    TemplateSet templates_;
};

}  // namespace

std::unique_ptr<CompileWork> make_compile_work(const WorkerCommand& command) {
    const Options& options = command.options;
    std::shared_ptr<Compiler> compiler =
        make_nvrtc_compiler(options, command.newest_cuda_major, options.cache_directory);
    static_cast<void>(Nvrtc::load(options, command.newest_cuda_major));  // says what is missing before any job does
    return make_compile_work(options, std::move(compiler));
}

std::unique_ptr<CompileWork> make_compile_work(const Options& options, std::shared_ptr<Compiler> compiler) {
    return std::make_unique<NvrtcWork>(options, std::move(compiler));
}

std::string text_hash(const KernelText& kernel, const CompiledKernel& compiled) {
    std::string text = is_ptx(compiled) ? ptx_text(compiled.binary) : cubin_text(compiled.binary);
    for (const KernelEntry& entry : kernel.entries) text += launch_text(entry);
    return hash_hex(text);
}

}  // namespace jitgemm::tuning
