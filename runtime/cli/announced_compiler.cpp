#include "runtime/cli/announced_compiler.hpp"

#include <fmt/format.h>

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

std::shared_ptr<Compiler> announced(std::shared_ptr<Compiler> compiler, Output& output) {
    return std::make_shared<AnnouncedCompiler>(std::move(compiler), output);
}

}  // namespace jitgemm::cli
