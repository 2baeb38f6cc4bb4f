#pragma once

#include "generator/base/kernel_entry.hpp"
#include "jitgemm/options.hpp"
#include "runtime/compiler/nvrtc.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// What ptxas reported with -v. Of a module with several functions: the largest registers, stack and shared memory, the
/// summed spills.
struct PtxasReport {
    int registers = 0;
    int spill_store_bytes = 0;
    int spill_load_bytes = 0;
    int stack_bytes = 0;
    int static_shared_bytes = 0;
    std::vector<std::string> warnings;  ///< every warning line and every (C75xx) line
    [[nodiscard]] int spill_bytes() const { return spill_store_bytes + spill_load_bytes; }
    friend bool operator==(const PtxasReport&, const PtxasReport&) = default;
};
[[nodiscard]] PtxasReport parse_ptxas_log(const std::string& log);

/// What is compiled: everything that decides the binary, and nothing else. Its fields are the cache key.
struct CompileRequest {
    std::string name;  ///< kernel name: names the cache entry, not part of the key's identity
    std::string body;
    std::string arch;                  ///< "sm_90a" for a cubin, "compute_80" for PTX
    std::vector<std::string> options;  ///< all but the arch option
};
[[nodiscard]] CompileRequest compile_request(const KernelText& source);
/// The same as far as PTX, with the lines of the source it comes from: what the emulator runs.
[[nodiscard]] CompileRequest ptx_request(const KernelText& source);
/// "compute_90a" of "sm_90a": asked for it, NVRTC stops at PTX.
[[nodiscard]] std::string virtual_arch(std::string_view arch);

/// A compiled kernel as it lies in the cache.
struct CompiledKernel {
    std::string name;
    std::string arch;
    std::string binary;  ///< cubin or PTX
    std::string log;
    PtxasReport report;
    double compile_ms = 0;
    int nvrtc_version = 0;    ///< 10 · major + minor
    std::string nvrtc_build;  ///< Compiler::nvrtc_build
};

/// Turns requests into binaries. One virtual function, so that tests can fake it.
class Compiler {
public:
    virtual ~Compiler() = default;
    /// NVRTC version this compiler will use, 10 · major + minor, without loading NVRTC if it can be known otherwise; 0
    /// when there is none.
    [[nodiscard]] virtual int nvrtc_version() = 0;
    /// Hexadecimal digits that tell builds of one version apart, such as patch levels; known and not known as the
    /// version is.
    [[nodiscard]] virtual std::string nvrtc_build() = 0;
    /// Largest CUDA major whose binaries the device takes; 0: any. A cached binary of a newer one is not used.
    [[nodiscard]] virtual int newest_major() const { return 0; }
    /// Throws CompileError with log (source lines quoted), options and the kernel's name; its log() is empty when no
    /// compile took place (no NVRTC, unknown arch, an option newer than NVRTC).
    [[nodiscard]] virtual CompiledKernel compile(const CompileRequest& request) = 0;
};

/// The compiler on NVRTC, loaded on first use. The version record (keyed by library path, size and time) lies in
/// `record_directory` when that is not empty, so that nvrtc_version() need not load the library.
[[nodiscard]] std::shared_ptr<Compiler> make_nvrtc_compiler(const Options& options, int newest_major,
                                                            const std::string& record_directory);

}  // namespace jitgemm
