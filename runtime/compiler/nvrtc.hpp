#pragma once

#include "jitgemm/options.hpp"

#include <memory>
#include <string>
#include <vector>

namespace jitgemm {

/// The output of NVRTC for one source.
struct NvrtcOutput {
    bool ok = false;
    std::string code;  ///< cubin for sm_*, PTX for compute_*; if ptxas refused: the PTX that it refused
    std::string log;
    double milliseconds = 0;
};

/// libnvrtc through dlopen. Loaded on first use, never unloaded.
class Nvrtc {
public:
    /// Takes the first library of nvrtc_search_list that loads and fits. `newest_major` is the largest CUDA major whose
    /// cubins the driver takes; 0: any. Throws CompileError (empty log) with the names and places that were tried, and
    /// with a PyPI wheel that would fit.
    static std::shared_ptr<Nvrtc> load(const Options& options, int newest_major = 0);

    virtual ~Nvrtc() = default;
    [[nodiscard]] virtual int version() const = 0;              ///< 10 · major + minor, 130 = 13.0
    [[nodiscard]] virtual const std::string& path() const = 0;  ///< of the loaded library
    [[nodiscard]] virtual std::vector<int> supported_archs() const = 0;
    /// Options are passed unchanged, one string per option. Thread-safe.
    [[nodiscard]] virtual NvrtcOutput compile(const std::string& source, const std::string& file_name,
                                              const std::vector<std::string>& options) = 0;
};

/// Oldest NVRTC that compiles the generated kernels: 10 · major + minor.
inline constexpr int kOldestNvrtc = 124;

/// "13.0" of 130.
[[nodiscard]] std::string nvrtc_version_text(int version);

/// The PyPI wheel with an NVRTC for a driver that takes cubins up to this CUDA major (0: any).
[[nodiscard]] std::string nvrtc_wheel(int newest_major);

/// Candidate library paths in search order, for load() and for doctor. If options.nvrtc_library is set, it is the only
/// one. Else they are options.cuda_path, the system's, /usr/local/cuda* and options.wheel_directory, with newer majors
/// first in each place.
[[nodiscard]] std::vector<std::string> nvrtc_search_list(const Options& options, int newest_major);

}  // namespace jitgemm
