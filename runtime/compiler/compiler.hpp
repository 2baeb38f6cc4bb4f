#pragma once

#include "generator/base/kernel_entry.hpp"
#include "jitgemm/options.hpp"
#include "runtime/compiler/nvrtc.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// The report of ptxas -v. For a module with several functions it holds the largest registers, stack and shared memory,
/// and the sum of the spills.
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

/// The input of a compile: everything that decides the binary, and nothing else. Its fields are the cache key.
struct CompileRequest {
    std::string name;  ///< kernel name: part of the cache entry's name, but not of its key
    std::string body;
    std::string arch;                  ///< "sm_90a" for a cubin, "compute_80" for PTX
    std::vector<std::string> options;  ///< all except the arch option
};
[[nodiscard]] CompileRequest compile_request(const KernelText& source);
/// The same request up to PTX, with the lines of its source. The emulator runs the result.
[[nodiscard]] CompileRequest ptx_request(const KernelText& source);
/// "compute_90a" for "sm_90a". With it NVRTC stops at PTX.
[[nodiscard]] std::string virtual_arch(std::string_view arch);

/// A compiled kernel as the cache keeps it.
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
    /// The NVRTC version that this compiler will use, 10 · major + minor; 0 if there is none. It loads NVRTC only if
    /// there is no other way to know.
    [[nodiscard]] virtual int nvrtc_version() = 0;
    /// Hexadecimal digits that differ between builds of one version, such as patch levels. They are known if the
    /// version is.
    [[nodiscard]] virtual std::string nvrtc_build() = 0;
    /// Largest CUDA major whose binaries the device takes; 0: any. A cached binary of a newer one is not used.
    [[nodiscard]] virtual int newest_major() const { return 0; }
    /// Throws CompileError with the log (source lines quoted), the options and the kernel's name. Its log() is empty if
    /// there was no compile (no NVRTC, unknown arch, an option newer than NVRTC).
    [[nodiscard]] virtual CompiledKernel compile(const CompileRequest& request) = 0;
};

/// The compiler that uses NVRTC, which is loaded on first use. The version record (its key is the library's path, size
/// and time) lies in `record_directory`, so that nvrtc_version() need not load the library. An empty name means no
/// record.
[[nodiscard]] std::shared_ptr<Compiler> make_nvrtc_compiler(const Options& options, int newest_major,
                                                            const std::string& record_directory);

}  // namespace jitgemm
