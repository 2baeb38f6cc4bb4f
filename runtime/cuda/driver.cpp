#include "runtime/cuda/driver.hpp"

#include "jitgemm/error.hpp"
#include "runtime/support/dynamic_library.hpp"
#include "runtime/support/visible_gpus.hpp"

#include <fmt/format.h>

#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

namespace jitgemm {
namespace {

constexpr const char* kInstallHint =
    "install the NVIDIA driver (550 or newer, CUDA 12.4; Debian: nvidia-driver, Ubuntu: nvidia-driver-580), or start "
    "the "
    "container with its GPUs (docker run --gpus all)";

// A newer symbol and the older one of the same signature that a driver without it offers.
struct SymbolFallback {
    std::string_view symbol;
    const char* older;
};
constexpr SymbolFallback kSymbolFallbacks[] = {{"cuEventElapsedTime_v2", "cuEventElapsedTime"}};

template <typename Function>
void resolve(const DynamicLibrary& library, const char* name, Function*& function, std::string* missing) {
    if (library.find(name, function)) return;
    for (const SymbolFallback& fallback : kSymbolFallbacks)
        if (fallback.symbol == name && library.find(fallback.older, function)) return;
    if (missing != nullptr) *missing += (missing->empty() ? "" : ", ") + std::string(name);
}

// The extra step expands cuda.h's version macros before the name becomes text.
#define JITGEMM_TEXT(name) #name
#define JITGEMM_RESOLVE(name) resolve(*api.libcuda, JITGEMM_TEXT(name), api.name, &missing);
#define JITGEMM_RESOLVE_OPTIONAL(name) resolve(*api.libcuda, JITGEMM_TEXT(name), api.name, nullptr);

// Returns the names of required symbols the library lacks, joined by commas.
std::string resolve_all(DriverApi& api) {
    std::string missing;
    JITGEMM_DRIVER_FUNCTIONS(JITGEMM_RESOLVE)
    JITGEMM_DRIVER_OPTIONAL_FUNCTIONS(JITGEMM_RESOLVE_OPTIONAL)
    return missing;
}

std::string name_of_result(const DriverApi& api, CUresult result) {
    const char* name = nullptr;
    if (api.cuGetErrorName != nullptr && api.cuGetErrorName(result, &name) == CUDA_SUCCESS && name != nullptr)
        return name;
    return fmt::format("CUresult {}", static_cast<int>(result));
}

std::string result_text(const DriverApi& api, CUresult result) {
    const char* text = nullptr;
    if (api.cuGetErrorString != nullptr && api.cuGetErrorString(result, &text) == CUDA_SUCCESS && text != nullptr)
        return text;
    return "the driver does not describe this error";
}

// The most frequent cause of cuInit's answer.
std::string init_hint(CUresult result) {
    switch (result) {
        case CUDA_ERROR_NO_DEVICE: return no_gpu_reason();
        case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
            return "libcuda and the kernel module are of different versions: reboot after a driver update";
        case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
            return "a forward-compatibility libcuda shadows the installed one, and this GPU does not support it";
        case CUDA_ERROR_UNKNOWN: return "the kernel module is not loaded or /dev/nvidia* is not accessible";
        default: return "";
    }
}

// A driver is there, and cuInit fails.
class InitError : public CudaError {
public:
    InitError(DriverApi api, CUresult result, const std::string& message)
        : CudaError(message, name_of_result(api, result), "cuInit"), api_(std::move(api)), result_(result) {}
    [[nodiscard]] const DriverApi& api() const { return api_; }
    [[nodiscard]] CUresult result() const { return result_; }

private:
    DriverApi api_;
    CUresult result_;
};

[[noreturn]] void throw_init_error(const DriverApi& api, CUresult result) {
    const std::string hint = init_hint(result);
    throw InitError(api, result,
                    fmt::format("cuInit: {} ({}), {}{}{}", name_of_result(api, result), result_text(api, result),
                                api.path, hint.empty() ? "" : "\n  ", hint));
}

[[noreturn]] void throw_no_driver(const std::vector<std::string>& tried, bool stub_seen) {
    std::string message = "no CUDA driver (libcuda.so.1) found; looked for";
    for (const std::string& line : tried) message += "\n  " + line;
    throw CudaError(message + "\n" + kInstallHint, stub_seen ? "CUDA_ERROR_STUB_LIBRARY" : "",
                    stub_seen ? "cuInit" : "dlopen");
}

// cuInit of a library that may be any file of that name; nothing when it is not the driver, with the reason in `tried`.
std::optional<CUresult> initialise(DriverApi& api, std::vector<std::string>& tried) {
    const std::string missing = resolve_all(api);
    if (api.cuInit == nullptr) {
        tried.push_back(api.path + ": not a CUDA driver, it has no cuInit");
        return std::nullopt;
    }
    const CUresult result = api.cuInit(0);
    if (result == CUDA_ERROR_STUB_LIBRARY) {
        tried.push_back(api.path + ": the toolkit's stub to link against (CUDA_ERROR_STUB_LIBRARY), not a driver");
        return std::nullopt;
    }
    if (!missing.empty()) {
        tried.push_back(fmt::format("{}: too old, it has no {}", api.path, missing));
        return std::nullopt;
    }
    return result;
}

// Needs no cuInit.
CUresult read_version(DriverApi& api) {
    int version = 0;  // 1000 · major + 10 · minor
    const CUresult result = api.cuDriverGetVersion(&version);
    api.version = version / 1000 * 10 + version % 1000 / 10;
    return result;
}

// The outcome of the process's one attempt: the api, or the error to throw again.
struct DriverOutcome {
    std::optional<DriverApi> api;
    std::optional<CudaError> error;
    std::optional<DriverApi> without_gpus;  // cuInit's error says that there is no GPU
};

DriverOutcome load_outcome() {
    try {
        return {load_driver(driver_search_list()), std::nullopt, std::nullopt};
    } catch (const InitError& error) {
        const bool only_gpus_missing = error.result() == CUDA_ERROR_NO_DEVICE;
        return {std::nullopt, error, only_gpus_missing ? std::optional(error.api()) : std::nullopt};
    } catch (const CudaError& error) {
        return {std::nullopt, error, std::nullopt};
    }
}

const DriverOutcome& process_driver() {
    // Never destroyed: objects with static storage free device memory after main.
    static const auto* const outcome = new DriverOutcome(load_outcome());
    return *outcome;
}

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// "api_.cuMemAlloc(&pointer, bytes)" → "cuMemAlloc": the first name that starts as the driver's functions do.
std::string called_function(std::string_view expression) {
    for (std::size_t at = expression.find("cu"); at != std::string_view::npos; at = expression.find("cu", at + 1)) {
        const bool starts_name = at == 0 || !is_name_character(expression[at - 1]);
        if (!starts_name || at + 2 >= expression.size() ||
            std::isupper(static_cast<unsigned char>(expression[at + 2])) == 0)
            continue;
        std::size_t end = at;
        while (end < expression.size() && is_name_character(expression[end])) ++end;
        return std::string(expression.substr(at, end - at));
    }
    return std::string(expression);
}

}  // namespace

std::vector<std::string> driver_search_list() {
    return {"libcuda.so.1",
            "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
            "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
            "/usr/lib64/libcuda.so.1",
            "/usr/lib/libcuda.so.1",
            "/usr/local/nvidia/lib64/libcuda.so.1",  // GPU operators of container platforms
            "/usr/lib/wsl/lib/libcuda.so.1",
            "/run/opengl-driver/lib/libcuda.so.1"};  // NixOS
}

DriverApi load_driver(const std::vector<std::string>& candidates) {
    std::vector<std::string> tried;
    bool stub_seen = false;
    for (const std::string& candidate : candidates) {
        DynamicLibrary library = DynamicLibrary::open_first({candidate}, tried);
        if (!library) continue;
        DriverApi api;
        api.path = library.path();
        api.libcuda = std::make_shared<const DynamicLibrary>(std::move(library));
        const std::optional<CUresult> result = initialise(api, tried);
        stub_seen = stub_seen || (!result && tried.back().find("CUDA_ERROR_STUB_LIBRARY") != std::string::npos);
        if (!result) continue;
        const CUresult version_result = read_version(api);
        for (const CUresult one : {*result, version_result})
            if (one != CUDA_SUCCESS) throw_init_error(api, one);
        return api;
    }
    throw_no_driver(tried, stub_seen);
}

const DriverApi& driver() {
    const DriverOutcome& outcome = process_driver();
    if (!outcome.api) throw CudaError(*outcome.error);
    return *outcome.api;
}

const DriverApi* try_driver(std::string& reason) {
    const DriverOutcome& outcome = process_driver();
    if (outcome.api) return &*outcome.api;
    reason = outcome.error->what();
    return nullptr;
}

int driver_version() {
    std::string reason;
    const DriverApi* const api = try_driver(reason);
    return api == nullptr ? 0 : api->version;
}

const DriverApi* driver_without_gpus() {
    const DriverOutcome& outcome = process_driver();
    return outcome.without_gpus ? &*outcome.without_gpus : nullptr;
}

std::string no_gpu_reason() {
    if (const std::optional<std::string> visible = visible_gpus_from_environment())
        return fmt::format(
            "the driver sees no GPU: CUDA_VISIBLE_DEVICES is '{}', which hides every GPU that it does "
            "not name",
            *visible);
    return "the driver sees no GPU: there is none, or the container has no access to it";
}

int gpu_count(std::string& reason) {
    const DriverApi* const api = try_driver(reason);
    int count = 0;
    if (api != nullptr && api->cuDeviceGetCount(&count) != CUDA_SUCCESS) count = 0;
    if (count == 0 && (api != nullptr || driver_without_gpus() != nullptr)) reason = no_gpu_reason();
    return count;
}

void throw_cuda_error(CUresult result, const char* call, const std::string& detail) {
    const DriverApi& api = driver();
    const std::string function = called_function(call);
    const std::string name = name_of_result(api, result);
    throw CudaError(
        fmt::format("{}: {} ({}){}{}", function, name, result_text(api, result), detail.empty() ? "" : "; ", detail),
        name, function);
}

void check(CUresult result, const char* call) {
    if (result != CUDA_SUCCESS) [[unlikely]]
        throw_cuda_error(result, call, "");
}

}  // namespace jitgemm
