#include "runtime/compiler/nvrtc.hpp"

#include "jitgemm/error.hpp"
#include "runtime/compiler/nvrtc_search.hpp"
#include "runtime/compiler/nvrtc_signals.hpp"
#include "runtime/support/dynamic_library.hpp"
#include "runtime/support/fork.hpp"
#include "runtime/support/log.hpp"
#include "runtime/support/thread_state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nvrtc.h>

#include <algorithm>
#include <chrono>

namespace jitgemm {
namespace {

/// The functions used of the library.
struct NvrtcApi {
    decltype(&nvrtcVersion) version = nullptr;
    decltype(&nvrtcGetErrorString) error_string = nullptr;
    decltype(&nvrtcGetNumSupportedArchs) arch_count = nullptr;
    decltype(&nvrtcGetSupportedArchs) archs = nullptr;
    decltype(&nvrtcCreateProgram) create_program = nullptr;
    decltype(&nvrtcDestroyProgram) destroy_program = nullptr;
    decltype(&nvrtcCompileProgram) compile_program = nullptr;
    decltype(&nvrtcGetProgramLogSize) log_size = nullptr;
    decltype(&nvrtcGetProgramLog) log = nullptr;
    decltype(&nvrtcGetCUBINSize) cubin_size = nullptr;
    decltype(&nvrtcGetCUBIN) cubin = nullptr;
    decltype(&nvrtcGetPTXSize) ptx_size = nullptr;
    decltype(&nvrtcGetPTX) ptx = nullptr;
};

/// The name of the first function the library lacks, or null.
const char* fill(NvrtcApi& api, const DynamicLibrary& library) {
    const char* missing = nullptr;
    const auto find = [&](auto& function, const char* name) {
        if (!library.find(name, function) && missing == nullptr) missing = name;
    };
    find(api.version, "nvrtcVersion");
    find(api.error_string, "nvrtcGetErrorString");
    find(api.arch_count, "nvrtcGetNumSupportedArchs");
    find(api.archs, "nvrtcGetSupportedArchs");
    find(api.create_program, "nvrtcCreateProgram");
    find(api.destroy_program, "nvrtcDestroyProgram");
    find(api.compile_program, "nvrtcCompileProgram");
    find(api.log_size, "nvrtcGetProgramLogSize");
    find(api.log, "nvrtcGetProgramLog");
    find(api.cubin_size, "nvrtcGetCUBINSize");
    find(api.cubin, "nvrtcGetCUBIN");
    find(api.ptx_size, "nvrtcGetPTXSize");
    find(api.ptx, "nvrtcGetPTX");
    return missing;
}

/// An nvrtcProgram, destroyed with the object.
class Program {
public:
    Program(const NvrtcApi& api, const std::string& source, const std::string& file_name) : api_(api) {
        const nvrtcResult result =
            api_.create_program(&program_, source.c_str(), file_name.c_str(), 0, nullptr, nullptr);
        if (result == NVRTC_SUCCESS) return;
        throw CompileError(fmt::format("nvrtcCreateProgram: {}", api_.error_string(result)), {});
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    ~Program() { api_.destroy_program(&program_); }

    [[nodiscard]] nvrtcResult compile(const std::vector<std::string>& options) const {
        std::vector<const char*> pointers;
        for (const std::string& option : options) pointers.push_back(option.c_str());
        return api_.compile_program(program_, static_cast<int>(pointers.size()), pointers.data());
    }
    [[nodiscard]] std::string log() const { return without_nul(fetch(api_.log_size, api_.log)); }
    [[nodiscard]] std::string cubin() const { return fetch(api_.cubin_size, api_.cubin); }
    [[nodiscard]] std::string ptx() const { return without_nul(fetch(api_.ptx_size, api_.ptx)); }

private:
    /// NVRTC's pairs of "how long" and "copy it"; empty when it has none.
    template <typename Size, typename Copy>
    std::string fetch(Size size, Copy copy) const {
        std::size_t bytes = 0;
        if (size(program_, &bytes) != NVRTC_SUCCESS || bytes == 0) return {};
        std::string text(bytes, '\0');
        return copy(program_, text.data()) == NVRTC_SUCCESS ? text : std::string{};
    }
    static std::string without_nul(std::string text) {
        while (!text.empty() && text.back() == '\0') text.pop_back();
        return text;
    }

    const NvrtcApi& api_;
    nvrtcProgram program_ = nullptr;
};

class LoadedNvrtc final : public Nvrtc {
public:
    LoadedNvrtc(DynamicLibrary library, const NvrtcApi& api, int version)
        : library_(std::move(library)), api_(api), version_(version) {}

    [[nodiscard]] int version() const override { return version_; }
    [[nodiscard]] const std::string& path() const override { return library_.path(); }

    [[nodiscard]] std::vector<int> supported_archs() const override {
        int count = 0;
        if (api_.arch_count(&count) != NVRTC_SUCCESS) return {};
        std::vector<int> archs(static_cast<std::size_t>(count));
        return api_.archs(archs.data()) == NVRTC_SUCCESS ? archs : std::vector<int>{};
    }

    [[nodiscard]] NvrtcOutput compile(const std::string& source, const std::string& file_name,
                                      const std::vector<std::string>& options) override {
        const ForkGuard guard;
        const UsualThreadState kept;  // NVRTC before 12.6.2 leaves the thread in the locale "C"
        const auto start = std::chrono::steady_clock::now();
        const Program program(api_, source, file_name);
        const nvrtcResult result = program.compile(options);
        NvrtcOutput output{.ok = result == NVRTC_SUCCESS, .code = program.cubin(), .log = program.log()};
        if (output.code.empty()) output.code = program.ptx();  // asked for compute_*, or ptxas refused it
        if (!output.ok && output.log.empty()) output.log = api_.error_string(result);
        output.milliseconds =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
        return output;
    }

private:
    DynamicLibrary library_;
    NvrtcApi api_;
    int version_;
};

/// Why a library that loads will not do; empty when it will.
std::string unfit(int version, int newest_major) {
    if (version < kOldestNvrtc) {
        return fmt::format("is NVRTC {}, too old: {} or newer is needed", nvrtc_version_text(version),
                           nvrtc_version_text(kOldestNvrtc));
    }
    if (newest_major == 0 || version / 10 <= newest_major) return {};
    return fmt::format("is NVRTC {}, too new: the driver loads binaries of CUDA {} at most",
                       nvrtc_version_text(version), newest_major);
}

/// Several names may lead to one library: it is told once.
void note(std::vector<std::string>& tried, const std::string& line) {
    if (std::find(tried.begin(), tried.end(), line) == tried.end()) tried.push_back(line);
}

/// The library as an Nvrtc, or nothing and a line in `tried`.
std::shared_ptr<Nvrtc> accept(DynamicLibrary library, int newest_major, std::vector<std::string>& tried) {
    library.keep_loaded();
    NvrtcApi api;
    if (const char* missing = fill(api, library)) {
        note(tried, fmt::format("{}: has no function {}", library.path(), missing));
        return nullptr;
    }
    int major = 0;
    int minor = 0;
    api.version(&major, &minor);
    const int version = 10 * major + minor;
    if (const std::string reason = unfit(version, newest_major); !reason.empty()) {
        note(tried, library.path() + ": " + reason);
        return nullptr;
    }
    if (!keep_signal_handlers(reinterpret_cast<const void*>(api.compile_program)))
        log().debug("{} does not import signal(): its signal handlers are left alone", library.path());
    return std::make_shared<LoadedNvrtc>(std::move(library), api, version);
}

[[noreturn]] void throw_missing(const std::vector<std::string>& tried, int newest_major) {
    const std::string wheel = nvrtc_wheel(newest_major);
    const std::string pin = newest_major > 12 ? fmt::format("'{}=={}.*'", wheel, newest_major) : wheel;
    const std::string limit =
        newest_major == 0 ? "" : fmt::format(" that this driver can take (CUDA {} at most)", newest_major);
    throw CompileError(
        fmt::format("found no NVRTC{}; looked for:\n  {}\n"
                    "The PyPI wheel {} would do: pip install --target DIR {}, then set JITGEMM_WHEELS=DIR",
                    limit, fmt::join(tried, "\n  "), wheel, pin),
        {});
}

}  // namespace

std::shared_ptr<Nvrtc> load_nvrtc(const std::vector<std::string>& candidates, int newest_major) {
    std::vector<std::string> tried;
    for (const std::string& candidate : candidates) {
        DynamicLibrary library = DynamicLibrary::open_first({candidate}, tried);
        if (!library) continue;
        if (std::shared_ptr<Nvrtc> nvrtc = accept(std::move(library), newest_major, tried)) {
            log().debug("NVRTC {} from {}", nvrtc_version_text(nvrtc->version()), nvrtc->path());
            return nvrtc;
        }
    }
    throw_missing(tried, newest_major);
}

std::shared_ptr<Nvrtc> Nvrtc::load(const Options& options, int newest_major) {
    const ForkGuard guard;
    const UsualThreadState kept;
    const std::vector<std::string> candidates = nvrtc_search_list(options, newest_major);
    try {
        return load_nvrtc(candidates, newest_major);
    } catch (const CompileError&) {
        if (newest_major == 0) throw;
    }
    // Nothing fits. Look again without the limit, so that the message names what is there but too new.
    std::vector<std::string> all = nvrtc_search_list(options, 0);
    for (const std::string& candidate : candidates) {
        if (std::find(all.begin(), all.end(), candidate) == all.end()) all.push_back(candidate);
    }
    return load_nvrtc(all, newest_major);
}

}  // namespace jitgemm
