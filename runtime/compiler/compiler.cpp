#include "runtime/compiler/compiler.hpp"

#include "generator/base/arch.hpp"
#include "jitgemm/error.hpp"
#include "runtime/compiler/compile_message.hpp"
#include "runtime/compiler/nvrtc.hpp"
#include "runtime/compiler/nvrtc_build.hpp"
#include "runtime/compiler/nvrtc_options.hpp"
#include "runtime/compiler/nvrtc_record.hpp"
#include "runtime/support/fork.hpp"
#include "runtime/support/log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <mutex>

namespace jitgemm {
namespace {

constexpr const char* kSourceName = "kernel.cu";

/// 90 of "sm_90a" and "compute_90".
int compute_capability_of(const std::string& arch) {
    int number = 0;
    for (const char letter : arch) {
        if (std::isdigit(static_cast<unsigned char>(letter)) != 0) number = 10 * number + (letter - '0');
    }
    return number;
}

int first_nvrtc_of_arch(int compute_capability) {
    for (const Arch& arch : arch_table()) {
        if (arch.compute_capability == compute_capability) return arch.first_nvrtc;
    }
    return 0;
}

void require_arch(const Nvrtc& nvrtc, const std::string& arch) {
    const std::vector<int> supported = nvrtc.supported_archs();
    const int wanted = compute_capability_of(arch);
    if (supported.empty() || std::find(supported.begin(), supported.end(), wanted) != supported.end()) return;
    const int first = first_nvrtc_of_arch(wanted);
    const std::string cure = first > nvrtc.version()
                                 ? fmt::format("; it needs NVRTC {} or newer, as in the PyPI wheel {}",
                                               nvrtc_version_text(first), nvrtc_wheel(first / 10))
                                 : std::string{};
    throw CompileError(
        fmt::format("NVRTC {} ({}) does not know {}: its architectures are {}{}", nvrtc_version_text(nvrtc.version()),
                    nvrtc.path(), arch, fmt::join(supported, " "), cure),
        {});
}

/// NVRTC writes the current folder into line information; PTX is to be the same wherever it is made.
std::string without_folder(std::string ptx) {
    const std::string end = std::string("/") + kSourceName + "\"";
    const std::size_t found = ptx.find(end);
    if (found == std::string::npos) return ptx;
    const std::size_t quote = ptx.rfind('"', found);
    return quote == std::string::npos ? ptx : ptx.erase(quote + 1, found - quote);
}

class NvrtcCompiler final : public Compiler {
public:
    NvrtcCompiler(Options options, int newest_major, std::string record_directory)
        : options_(std::move(options)), newest_major_(newest_major), record_directory_(std::move(record_directory)) {}

    [[nodiscard]] int nvrtc_version() override {
        const std::unique_lock lock = turn();
        return known().version;
    }

    [[nodiscard]] std::string nvrtc_build() override {
        const std::unique_lock lock = turn();
        return known().build;
    }

    [[nodiscard]] int newest_major() const override { return newest_major_; }

    [[nodiscard]] CompiledKernel compile(const CompileRequest& request) override {
        const auto [nvrtc, build] = loaded();
        require_arch(*nvrtc, request.arch);
        const std::vector<std::string> options = nvrtc_options(request, nvrtc->version());
        NvrtcOutput output = nvrtc->compile(request.body, kSourceName, options);
        if (!output.ok) {
            throw CompileError(compile_message(request, options, output.log, output.code, nvrtc->version()),
                               output.log);
        }
        const bool is_ptx = request.arch.starts_with("compute_");
        log().debug("compiled {} in {:.0f} ms", request.name, output.milliseconds);
        return {.name = request.name,
                .arch = request.arch,
                .binary = is_ptx ? without_folder(std::move(output.code)) : std::move(output.code),
                .log = output.log,
                .report = parse_ptxas_log(output.log),
                .compile_ms = output.milliseconds,
                .nvrtc_version = nvrtc->version(),
                .nvrtc_build = build};
    }

private:
    struct Loaded {
        std::shared_ptr<Nvrtc> nvrtc;
        std::string build;
    };

    /// A thread holds no guard while it waits for the mutex. The mutex's owner may wait for a fork, and the fork would
    /// wait for guards.
    [[nodiscard]] std::unique_lock<std::mutex> turn() {
        const ForkPause pause;
        return std::unique_lock(mutex_);
    }

    /// The mutex must be held.
    const NvrtcIdentity& known() {
        if (identity_.version == 0 && missing_.empty()) identity_ = record().read();
        if (identity_.version == 0 && missing_.empty()) try_load();
        return identity_;
    }

    [[nodiscard]] NvrtcRecord record() const {
        return {record_directory_, nvrtc_search_list(options_, newest_major_), newest_major_};
    }

    [[nodiscard]] Loaded loaded() {
        const std::unique_lock lock = turn();
        if (nvrtc_ == nullptr && missing_.empty()) try_load();
        if (nvrtc_ == nullptr) throw CompileError(missing_, {});
        return {nvrtc_, identity_.build};
    }

    /// A failed search is remembered: it is not repeated for each kernel of a sweep.
    void try_load() {
        try {
            nvrtc_ = Nvrtc::load(options_, newest_major_);
            identity_ = {nvrtc_->version(), build_of_library(nvrtc_->path())};
            record().write(identity_, nvrtc_->path());
        } catch (const CompileError& error) {
            missing_ = error.what();
            identity_ = {};
        }
    }

    Options options_;
    int newest_major_;
    std::string record_directory_;
    std::mutex mutex_;
    std::shared_ptr<Nvrtc> nvrtc_;
    std::string missing_;
    NvrtcIdentity identity_;
};

}  // namespace

CompileRequest compile_request(const KernelText& source) {
    // --minimal leaves out textures, surfaces and runtime functions: the same code for our kernels, some ms sooner.
    return {.name = source.name,
            .body = source.body,
            .arch = std::string(source.arch->name),
            .options = {"--std=c++17", "--minimal", "--ptxas-options=-v"}};
}

CompileRequest ptx_request(const KernelText& source) {
    return {.name = source.name,
            .body = source.body,
            .arch = virtual_arch(source.arch->name),
            .options = {"--std=c++17", "--minimal", "-lineinfo"}};
}

std::string virtual_arch(std::string_view arch) { return fmt::format("compute_{}", arch.substr(arch.find('_') + 1)); }

std::shared_ptr<Compiler> make_nvrtc_compiler(const Options& options, int newest_major,
                                              const std::string& record_directory) {
    return std::make_shared<NvrtcCompiler>(options, newest_major, record_directory);
}

}  // namespace jitgemm
