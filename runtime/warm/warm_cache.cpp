#include "runtime/warm/warm_cache.hpp"

#include "generator/families/preparation.hpp"
#include "generator/generate.hpp"
#include "jitgemm/error.hpp"
#include "runtime/cache/kernel_cache.hpp"
#include "runtime/compiler/compiler.hpp"
#include "runtime/support/file_system.hpp"
#include "runtime/support/temporary_directory.hpp"
#include "runtime/tuning/sweep/compile_pool.hpp"
#include "runtime/warm/on_threads.hpp"

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

namespace jitgemm::warm {
namespace {

using tuning::CompileJob;
using tuning::CompileOutcome;
using tuning::CompilePool;
using tuning::Verdict;

/// Why a folder takes no file of these bytes, found out by trying.
std::string hindrance(const std::string& root, const std::string& bytes) {
    const std::string file = fmt::format("{}/tmp/{}", root, unique_suffix());
    try {
        make_private_directories(root + "/tmp");
        write_new_file(file, bytes);
    } catch (const std::exception& error) {
        std::error_code ignored;  // it may not be there
        std::filesystem::remove(file, ignored);
        return error.what();
    }
    std::filesystem::remove(file);
    return "the log says why";
}

/// A compiler that has been asked all there is to ask: only its versions.
class VersionsAlone : public Compiler {
public:
    explicit VersionsAlone(Compiler& compiler) : compiler_(compiler) {}
    [[nodiscard]] int nvrtc_version() override { return compiler_.nvrtc_version(); }
    [[nodiscard]] std::string nvrtc_build() override { return compiler_.nvrtc_build(); }
    [[nodiscard]] int newest_major() const override { return compiler_.newest_major(); }
    [[nodiscard]] CompiledKernel compile(const CompileRequest& request) override {
        throw CompileError(fmt::format("no binary of {} came from the process that compiled it", request.name), {});
    }

private:
    Compiler& compiler_;
};

/// Processes that compile, and the folder through which they pass binaries. They start when first asked.
class Compiling {
public:
    explicit Compiling(const WarmOptions& options)
        : options_(options),
          versions_(make_nvrtc_compiler(options.options, options.newest_cuda_major, options.options.cache_directory)) {}

    [[nodiscard]] Compiler& versions() { return *versions_; }

    /// Throws CompileError with the compiler's words, Error where there is nobody to compile.
    [[nodiscard]] CompiledKernel compile(const CompileJob& job, const CompileRequest& request) {
        const CompileOutcome outcome = pool().compile(job).get();
        if (outcome.verdict != Verdict::fine) throw CompileError(outcome.message, outcome.message);
        VersionsAlone versions(*versions_);
        return passed_->get_or_compile(request, versions, {}).kernel;
    }

private:
    [[nodiscard]] CompilePool& pool() {
        const std::lock_guard lock(mutex_);
        if (pool_ != nullptr) return *pool_;
        scratch_ = std::make_unique<TemporaryDirectory>("jitgemm-warm");
        passed_ = std::make_unique<KernelCache>(scratch_->path(), "", Durability::scratch);
        tuning::CompilePoolOptions pool;
        pool.workers = options_.jobs;
        pool.timeout = options_.timeout;
        pool.command.program = options_.program;
        pool.command.options = options_.options;
        pool.command.options.cache_directory = scratch_->path();
        pool.command.options.readonly_cache_directory.clear();
        pool.command.newest_cuda_major = options_.newest_cuda_major;
        pool_ = std::make_unique<CompilePool>(pool);
        return *pool_;
    }

    const WarmOptions& options_;
    std::shared_ptr<Compiler> versions_;
    std::mutex mutex_;  // guards the making of what follows
    std::unique_ptr<TemporaryDirectory> scratch_;
    std::unique_ptr<KernelCache> passed_;
    std::unique_ptr<CompilePool> pool_;  // last: it ends before its folder goes
};

/// Compiles one kernel, elsewhere.
class KernelCompiler final : public VersionsAlone {
public:
    KernelCompiler(Compiling& compiling, CompileJob job)
        : VersionsAlone(compiling.versions()), compiling_(compiling), job_(std::move(job)) {}
    [[nodiscard]] CompiledKernel compile(const CompileRequest& request) override {
        return compiling_.compile(job_, request);
    }

private:
    Compiling& compiling_;
    CompileJob job_;
};

class Warming {
public:
    Warming(const WarmOptions& options, int kernels, const std::function<void(const WarmProgress&)>& on_progress)
        : arch_(*options.arch),
          templates_(TemplateSet::from_directory(options.options.template_directory)),
          cache_(options.options.cache_directory, options.options.readonly_cache_directory),
          compiling_(options),
          on_progress_(on_progress) {
        progress_.kernels = kernels;
    }

    void keep(const WarmKernel& kernel) {
        try {
            const CacheSource source = fetch(kernel);
            tell([&](WarmProgress& now) { ++(source == CacheSource::compiled ? now.compiled : now.from_cache); });
        } catch (const CompileError& error) {
            if (error.log().empty()) throw;  // no kernel's fault
            tell([&](WarmProgress& now) { now.failed.push_back({kernel.name, error.what()}); });
        }
    }

    [[nodiscard]] WarmProgress result() && { return std::move(progress_); }

private:
    [[nodiscard]] CacheSource fetch(const WarmKernel& kernel) {
        const KernelSource source = generate(kernel.problem, kernel.config, arch_, templates_);
        KernelCompiler compiler(compiling_, {kernel.problem.row_major(), kernel.name, std::string(arch_.name), false});
        const KernelCache::Result result =
            cache_.get_or_compile(compile_request(source), compiler, dump(source, kernel.problem));
        if (result.directory.empty())
            throw Error(fmt::format("the cache {} keeps no kernels: {}", cache_.root(),
                                    hindrance(cache_.root(), result.kernel.binary)));
        fetch_preparations(kernel.problem);
        return result.source;
    }

    /// They are short, so that no other process need compile them.
    void fetch_preparations(const Problem& problem) {
        for (const Prepared operand : {Prepared::a, Prepared::b}) {
            if (!is_prepared(operand, problem.requested()) || !preparation_of(operand, problem, arch_).copies) continue;
            const KernelText text = preparing_text(preparing_problem(operand, problem), arch_, templates_);
            static_cast<void>(cache_.get_or_compile(compile_request(text), compiling_.versions(), text.body));
        }
    }

    template <typename Change>
    void tell(Change change) {
        const std::lock_guard lock(mutex_);
        change(progress_);
        on_progress_(progress_);
    }

    const Arch& arch_;
    TemplateSet templates_;
    KernelCache cache_;
    Compiling compiling_;
    const std::function<void(const WarmProgress&)>& on_progress_;
    std::mutex mutex_;  // guards progress_
    WarmProgress progress_;
};

}  // namespace

WarmProgress warm_cache(const std::vector<WarmKernel>& kernels, const WarmOptions& options,
                        const std::function<void(const WarmProgress&)>& on_progress,
                        const std::function<bool()>& stopped) {
    Warming warming(options, static_cast<int>(kernels.size()), on_progress);
    const int threads = options.jobs > 0 ? options.jobs : tuning::usable_cores();
    on_threads(threads, kernels.size(), stopped, [&](std::size_t i) { warming.keep(kernels[i]); });
    return std::move(warming).result();
}

}  // namespace jitgemm::warm
