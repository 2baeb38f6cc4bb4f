#pragma once

#if __cplusplus < 202002L
#error "jitgemm needs C++20: compile with -std=c++20, or link to the target jitgemm::jitgemm, which asks for it"
#else  // to the end of the file: one message in place of a hundred

/// \file The public interface of jitgemm. Includes no CUDA header; links neither libcuda nor libnvrtc.
///
///     jitgemm::Context context;                                  // current device, default cache
///     jitgemm::GemmSpec spec{.m = 8192, .n = 8192, .k = 4096};   // bf16, tn, f32 accumulator
///     jitgemm::GemmKernel kernel = context.kernel(spec);
///     kernel.launch({.a = a, .b = b, .d = d}, stream);           // device pointers, CUstream or cudaStream_t

#include "generator/error.hpp"
#include "generator/gemm_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

inline constexpr const char* kVersion = "0.1.0";

/// A device address; converts from any pointer and from CUdeviceptr.
struct DevicePointer {
    std::uint64_t address = 0;
    constexpr DevicePointer() = default;
    constexpr DevicePointer(std::nullptr_t) {}
    constexpr DevicePointer(std::uint64_t value) : address(value) {}
    DevicePointer(const void* pointer) : address(reinterpret_cast<std::uintptr_t>(pointer)) {}
    constexpr explicit operator bool() const { return address != 0; }
    friend constexpr bool operator==(DevicePointer, DevicePointer) = default;
};

/// CUstream or cudaStream_t; null is the legacy default stream.
using Stream = void*;

/// Settings, filled once from the environment by `from_environment()` and passed down; nothing else reads the environment.
struct Options {
    /// "cuda": the current context's device, else device 0; "cuda:N"; "emulator" (an sm_80) or "emulator:sm_90a": the
    /// kernel's PTX is run on the CPU, checked, some million times slower. Never chosen unasked.
    std::string device = "cuda";
    /// JITGEMM_CACHE_DIR, else $XDG_CACHE_HOME/jitgemm, else ~/.cache/jitgemm; empty: no cache
    std::string cache_directory;
    std::string readonly_cache_directory;  ///< JITGEMM_CACHE_READONLY: a second layer that is only read
    std::string nvrtc_library;             ///< JITGEMM_NVRTC: path of the libnvrtc to use, and no other
    std::string cuda_path;                 ///< CUDA_PATH, else CUDA_HOME
    std::string wheel_directory;           ///< JITGEMM_WHEELS: folder with unpacked nvidia-cuda-nvrtc wheels
    std::string template_directory;  ///< JITGEMM_TEMPLATES: read templates from disk in place of the embedded ones
    /// JITGEMM_LOG: trace, debug, info, warning, error, off. The log is the process's, and so is its level, "warning" at
    /// first: a context made with a level here sets it for all; empty leaves it.
    std::string log_level;
    /// JITGEMM_TUNING_DIR, else tuning/ in JITGEMM_CACHE_DIR if that is set, else $XDG_DATA_HOME/jitgemm, else
    /// ~/.local/share/jitgemm: what `jitgemm tune` found serves requests. Only read; empty: not looked at
    std::string tuning_directory;
    std::string tool;            ///< JITGEMM_TOOL: the program `jitgemm`, whose processes tune; empty: found in PATH
    double tuning_seconds = 60;  ///< most that tuning one problem on request takes; 0: as long as it takes
    std::string wisdom;          ///< JITGEMM_WISDOM: a file of `jitgemm wisdom export`, which serves requests as well
    std::string kernel;          ///< canonical kernel name to force; empty: tuned results, else the heuristic, choose
    std::string family;          ///< stay within this family; empty: any
    std::string parameters;      ///< "name=value,..." to fix; empty: none
    double emulator_gflop = 20;  ///< most work of one emulated launch, in GFLOP (2·m·n·k of whole tiles); 0: any

    [[nodiscard]] static Options from_environment();
};

/// Operands of one launch. Pointers are device addresses; `c` is read only when the spec has C and beta is not 0.
struct GemmArguments {
    DevicePointer a{};
    DevicePointer b{};
    DevicePointer c{};
    DevicePointer d{};
    float alpha = 1.0F;
    float beta = 0.0F;
    DevicePointer workspace{};  ///< optional; else the context's own for that stream
    std::size_t workspace_bytes = 0;
};

/// Where a kernel's binary came from.
enum class CacheSource : std::uint8_t { memory, disk, compiled };
[[nodiscard]] std::string_view to_string(CacheSource source);

/// Why a kernel was taken for its problem.
enum class ChoiceSource : std::uint8_t {
    exact,      ///< it won when this very problem was tuned on this class of devices
    nearest,    ///< it won on a near problem of the same types, layout and alignment
    heuristic,  ///< the cost model's choice, unmeasured
    forced,     ///< the caller named it
    hint,       ///< faster than the heuristic's choice in a search that was cut short, narrowed or of other versions
};
[[nodiscard]] std::string_view to_string(ChoiceSource source);

/// What is known of a compiled kernel.
struct KernelInfo {
    std::string name;  ///< canonical kernel name
    std::string arch;
    int registers = 0;    ///< per thread
    int spill_bytes = 0;  ///< stores plus loads
    int stack_bytes = 0;
    int threads = 0;
    int shared_bytes = 0;
    std::int64_t blocks = 0;
    double compile_ms = 0;  ///< of the compile that made the binary, whenever that was
    CacheSource cache = CacheSource::compiled;
    ChoiceSource choice = ChoiceSource::forced;
    std::string choice_reason;  ///< a sentence for people
    std::vector<std::string> warnings;
};

/// A kernel ready to launch for one spec. A small handle: copy freely, launch from many threads at once. All copies of
/// one handle change together when tuning in the background finds a better kernel: a launch that has begun is not
/// affected, the next one takes the better one (where the caller brings a workspace that is too small for it, the first
/// one still). Whatever a handle refers to stays loaded as long as a copy of it lives. A handle that was made without a
/// kernel or moved from is empty: all it can do is be asked, assigned to and destroyed; anything else throws Error.
class GemmKernel {
public:
    GemmKernel() = default;
    [[nodiscard]] explicit operator bool() const { return slot_ != nullptr; }

    /// Enqueues D = alpha·A·B + beta·C. M or N of zero enqueues nothing. Throws SpecError before anything is enqueued when a
    /// pointer is null or less aligned than the spec says, when beta ≠ 0 without C, when D overlaps an input (D may be exactly
    /// C), CudaError when the driver refuses. Safe while `stream` is being captured into a graph,
    /// which then needs a copy of this handle alive for as long as it is launched: the handle keeps the code loaded.
    void launch(const GemmArguments& arguments, Stream stream = nullptr) const;

    [[nodiscard]] const GemmSpec& spec() const;  ///< resolved
    [[nodiscard]] std::string source() const;    ///< exactly what was compiled, with its banner
    [[nodiscard]] const KernelInfo& info() const;
    [[nodiscard]] std::size_t workspace_bytes() const;

    struct State;  // private: loaded functions and all a launch needs
    [[nodiscard]] std::shared_ptr<const State> shared_state() const;  // for the context, as what follows
    struct Slot;                                                      // private: the state in use, and those before it
    explicit GemmKernel(std::shared_ptr<const State> state);
    [[nodiscard]] const State& state() const;                // for the command-line tool and tests
    void replace(std::shared_ptr<const State> state) const;  // for the context: in all copies of this handle

private:
    [[nodiscard]] const State& state_for(const GemmArguments& arguments) const;
    [[nodiscard]] Slot& slot() const;
    std::shared_ptr<Slot> slot_;
};

/// Whether a request may measure.
enum class Tune : std::uint8_t {
    never,          ///< what is stored, else the heuristic
    now,            ///< a problem that was not tuned on this class of devices yet is tuned first: seconds to minutes
    in_background,  ///< the same, while the kernel that `never` gives serves; then it is replaced in all its handles
};

/// Told once that tuning in the background has ended, from another thread: the kernel's handle, and why there is no
/// better kernel, empty where it was tuned. Must not destroy the context.
using TunedCallback = std::function<void(const GemmKernel& kernel, const std::string& failure)>;

/// Device memory owned by a context's device; freed with the object.
class DeviceBuffer {
public:
    DeviceBuffer() = default;
    DeviceBuffer(DeviceBuffer&&) noexcept;
    DeviceBuffer& operator=(DeviceBuffer&&) noexcept;
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;
    ~DeviceBuffer();

    [[nodiscard]] DevicePointer data() const { return data_; }
    [[nodiscard]] std::size_t size_bytes() const { return bytes_; }
    void copy_from_host(const void* source, std::size_t bytes, std::size_t offset = 0);
    void copy_to_host(void* destination, std::size_t bytes, std::size_t offset = 0) const;

private:
    friend class Context;
    struct Owner;
    DeviceBuffer(std::shared_ptr<Owner> owner, DevicePointer data, std::size_t bytes);
    std::shared_ptr<Owner> owner_;
    DevicePointer data_;
    std::size_t bytes_ = 0;
};

/// Kernels for one device. Thread-safe. The calling thread's current CUcontext is as it was after every call. A context
/// that was moved from can be assigned to and destroyed; anything else throws Error.
class Context {
public:
    /// Throws CudaError or Error saying what was looked for where when there is no driver, no device or no folder of
    /// templates of that name. NVRTC is looked for when something is to be compiled.
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

    struct Impl;
    [[nodiscard]] Impl& impl() const;  // for the command-line tool and tests

private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace jitgemm

#endif  // C++20
