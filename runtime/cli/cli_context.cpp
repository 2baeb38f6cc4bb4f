#include "runtime/cli/cli_context.hpp"

#include "runtime/cuda/driver.hpp"
#include "runtime/support/log.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace jitgemm::cli {
namespace {

class AnnouncedCompiler final : public Compiler {
public:
    AnnouncedCompiler(std::shared_ptr<Compiler> compiler, Output& output)
        : compiler_(std::move(compiler)), output_(output) {}

    [[nodiscard]] int nvrtc_version() override { return compiler_->nvrtc_version(); }
    [[nodiscard]] std::string nvrtc_build() override { return compiler_->nvrtc_build(); }
    [[nodiscard]] int newest_major() const override { return compiler_->newest_major(); }
    [[nodiscard]] CompiledKernel compile(const CompileRequest& request) override {
        output_.progress(fmt::format("compiling with NVRTC: {}", request.name));
        CompiledKernel compiled = compiler_->compile(request);
        output_.progress("");
        return compiled;
    }

private:
    std::shared_ptr<Compiler> compiler_;
    Output& output_;
};

}  // namespace

Options tool_options() {
    Options options = Options::from_environment();
    set_log_level(options.log_level);
    return options;
}

std::shared_ptr<Compiler> compiler_of(const Options& options, int newest_major) {
    return make_nvrtc_compiler(options, newest_major, options.cache_directory);
}

std::shared_ptr<Compiler> announced(std::shared_ptr<Compiler> compiler, Output& output) {
    return std::make_shared<AnnouncedCompiler>(std::move(compiler), output);
}

KernelCache cache_of(const Options& options) { return {options.cache_directory, options.readonly_cache_directory}; }

int newest_major_of_machine() { return driver_version() / 10; }

}  // namespace jitgemm::cli
