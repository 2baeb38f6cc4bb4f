#pragma once

#include "jitgemm/device_buffer.hpp"
#include "jitgemm/gemm_kernel.hpp"
#include "jitgemm/gemm_kernel_set.hpp"
#include "jitgemm/options.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace jitgemm {

struct ContextState;  // the library's own

/// Whether a request may tune its problem.
enum class Tune : std::uint8_t {
    never,          ///< use stored results, else the heuristic's choice
    now,            ///< tune first, if the problem was not tuned on this class of devices: seconds to minutes
    in_background,  ///< serve the kernel of `never` at once, tune meanwhile, then replace the kernel in all its handles
};

/// Called once when tuning in the background has ended, from another thread. `failure` says why there is no better
/// kernel; it is empty after success. The callback must not destroy the context.
using TunedCallback = std::function<void(const GemmKernel& kernel, const std::string& failure)>;

/// Says how a request may get its kernel.
struct KernelRequest {
    std::optional<OnMiss> on_miss = std::nullopt;  ///< unset: Options::on_miss
    Tune tune = Tune::never;
    TunedCallback on_tuned = {};
};

/// Kernels for one device. Thread-safe. No call changes the calling thread's current CUcontext.
///
/// A moved-from context can be assigned to and destroyed; every other call throws Error. The same holds in a forked
/// child for the contexts and kernels of its parent. fork() waits up to 10 s for kernels that other threads are
/// compiling. If that is too short, the child gets a CompileError for every kernel that it requests.
class Context {
public:
    /// Throws CudaError if there is no driver or no such device (the message lists the places that were searched),
    /// Error if Options::template_directory does not exist. NVRTC is searched at the first compile.
    explicit Context(const Options& options = Options::from_environment());
    ~Context();
    Context(Context&&) noexcept;
    Context& operator=(Context&&) noexcept;

    /// The kernel for a spec. It comes from memory, else from the disk cache, else it is compiled, unless
    /// Options::on_miss says otherwise. A repeated request is one hash lookup. Throws SpecError, ConfigError,
    /// CompileError (also if no NVRTC is found; the message lists the places that were searched), RenderError (for a
    /// wrong template in Options::template_directory), CudaError.
    [[nodiscard]] GemmKernel kernel(const GemmSpec& spec);

    /// The tuned kernel for a spec. Separate processes (Options::tool) compile and measure candidates on this context's
    /// device, which they share with other work. Results are stored in Options::tuning_directory. Nothing is measured,
    /// and `on_tuned` is called at once, if the options fix the kernel, the family or parameters, or if this problem
    /// was tuned before. With Tune::now errors of tuning are thrown; in the background they are passed to `on_tuned`,
    /// or logged without it. Destroying the context ends its tuning.
    [[nodiscard]] GemmKernel kernel(const GemmSpec& spec, Tune tune, TunedCallback on_tuned = {});

    /// As request.tune says, and on a miss as request.on_miss says. With OnMiss::fail, throws KernelNotReady unless the
    /// chosen kernel is loaded; a first request in a context also reads the tuned results. A compile that fails in the
    /// background is logged as a warning, and the stand-in stays. Destroying the context drops the compiles that have
    /// not begun and waits for those that have; so does the end of the process.
    [[nodiscard]] GemmKernel kernel(const GemmSpec& spec, const KernelRequest& request);

    /// A few kernels that serve the spec for each m from `first_m` to `last_m`; its own m does not count. They are
    /// compiled on several threads, or come from the cache. Afterwards no m waits for a compiler. Tuning changes no
    /// kernel of a set. Throws as kernel(spec) does, and SpecError for a wrong range.
    [[nodiscard]] GemmKernelSet kernels(const GemmSpec& spec, std::int64_t first_m, std::int64_t last_m);

    [[nodiscard]] DeviceBuffer allocate(std::size_t bytes);
    void synchronize(Stream stream = nullptr);

    [[nodiscard]] std::string device_name() const;
    [[nodiscard]] std::string arch() const;

private:
    friend struct ContextAccess;
    std::unique_ptr<ContextState> state_;
};

}  // namespace jitgemm
