#pragma once

#include "jitgemm/device_buffer.hpp"
#include "jitgemm/gemm_kernel.hpp"
#include "jitgemm/options.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace jitgemm {

struct ContextState;  // the library's own

/// Whether a request may measure.
enum class Tune : std::uint8_t {
    never,          ///< what is stored, else the heuristic
    now,            ///< a problem that was not tuned on this class of devices yet is tuned first: seconds to minutes
    in_background,  ///< the same, while the kernel that `never` gives serves; then it is replaced in all its handles
};

/// Told once that tuning in the background has ended, from another thread: the kernel's handle, and why there is no
/// better kernel, empty where it was tuned. Must not destroy the context.
using TunedCallback = std::function<void(const GemmKernel& kernel, const std::string& failure)>;

/// Kernels for one device. Thread-safe. The calling thread's current CUcontext is as it was after every call. A context
/// that was moved from can be assigned to and destroyed; anything else throws Error. So it is with the contexts and
/// kernels that a fork has of its parent. A fork waits up to 10 s for kernels that other threads are compiling; where
/// that is not enough, its child gets CompileError for whatever it makes.
class Context {
public:
    /// Throws CudaError saying what was looked for where when there is no driver or no such device, Error when there is no folder
    /// of templates of that name. NVRTC is looked for when something is to be compiled.
    explicit Context(const Options& options = Options::from_environment());
    ~Context();
    Context(Context&&) noexcept;
    Context& operator=(Context&&) noexcept;

    /// The kernel for a spec: from memory, else the disk cache, else compiled now. A repeated request is one hash lookup.
    /// Throws SpecError, ConfigError, CompileError (also when no NVRTC is found; the message says where was looked),
    /// RenderError (a template of Options::template_directory is at fault), CudaError.
    [[nodiscard]] GemmKernel kernel(const GemmSpec& spec);

    /// The same, tuned. Candidates are compiled and measured by processes of their own (Options::tool) on this context's
    /// device, which they share with whatever else runs there; results go into Options::tuning_directory. Where the
    /// options fix kernel, family or parameters, or this very problem was tuned before, nothing is measured and
    /// `on_tuned` is called at once. With
    /// Tune::now errors of tuning are thrown; in the background they are told to `on_tuned`, or else logged. A context
    /// that goes away ends its tuning.
    [[nodiscard]] GemmKernel kernel(const GemmSpec& spec, Tune tune, TunedCallback on_tuned = {});

    [[nodiscard]] DeviceBuffer allocate(std::size_t bytes);
    void synchronize(Stream stream = nullptr);

    [[nodiscard]] std::string device_name() const;
    [[nodiscard]] std::string arch() const;

private:
    friend struct ContextAccess;
    std::unique_ptr<ContextState> state_;
};

}  // namespace jitgemm
