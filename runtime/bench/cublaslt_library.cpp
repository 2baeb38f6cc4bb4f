#include "runtime/bench/cublaslt_library.hpp"

#include "jitgemm/error.hpp"
#include "runtime/support/log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

namespace jitgemm {
namespace {

constexpr int kNewestMajor = 13;
constexpr int kOldestMajor = 12;

template <typename Function>
void require(const DynamicLibrary& library, const char* name, Function*& function) {
    if (!library.find(name, function))
        throw Error(fmt::format("{} has no {}: is it cuBLASLt 12 or newer?", library.path(), name));
}

std::vector<std::string> library_names(int newest_major) {
    std::vector<std::string> names;
    for (int major = newest_major == 0 ? kNewestMajor : std::min(newest_major, kNewestMajor); major >= kOldestMajor;
         --major)
        names.push_back(fmt::format("libcublasLt.so.{}", major));
    names.emplace_back("libcublasLt.so");
    return names;
}

void add_folder(std::vector<std::string>& list, const std::string& folder, const std::vector<std::string>& names) {
    for (const std::string& name : names) list.push_back(folder + "/" + name);
}

void add_toolkit(std::vector<std::string>& list, const std::string& toolkit, const std::vector<std::string>& names) {
    add_folder(list, toolkit + "/lib64", names);
    add_folder(list, toolkit + "/lib", names);
}

}  // namespace

std::vector<std::string> cublaslt_search_list(const Options& options, int newest_major) {
    const std::vector<std::string> names = library_names(newest_major);
    std::vector<std::string> list;
    if (!options.cuda_path.empty()) add_toolkit(list, options.cuda_path, names);
    list.insert(list.end(), names.begin(), names.end());
    add_toolkit(list, "/usr/local/cuda", names);
    if (!options.wheel_directory.empty()) {
        add_folder(list, options.wheel_directory + "/nvidia/cu13/lib", names);    // wheel nvidia-cublas
        add_folder(list, options.wheel_directory + "/nvidia/cublas/lib", names);  // wheel nvidia-cublas-cu12
    }
    return list;
}

std::shared_ptr<const CublasLt> CublasLt::open(const std::vector<std::string>& candidates, InContext in_context) {
    const std::shared_ptr<CublasLt> opened(new CublasLt(std::move(in_context)));
    std::vector<std::string> tried;
    opened->library_ = DynamicLibrary::open_first(candidates, tried);
    if (!opened->library_) {
        throw Error(
            fmt::format("libcublasLt was not found (a CUDA toolkit, or one of the PyPI wheels nvidia-cublas and "
                        "nvidia-cublas-cu12, "
                        "provides it). Looked for:\n  {}",
                        fmt::join(tried, "\n  ")));
    }
    // It keeps threads and per-process state of its own; unloading it would pull code from under them.
    opened->library_.keep_loaded();
    opened->find_functions();
    opened->in_context_([&] { opened->check(opened->create(&opened->handle), "cublasLtCreate"); });
    return opened;
}

CublasLt::~CublasLt() {
    if (handle == nullptr) return;
    try {
        in_context_([this] { destroy(handle); });
    } catch (const std::exception& error) {
        log().debug("cuBLASLt handle not destroyed: {}", error.what());  // its context is gone, and the handle with it
    }
}

void CublasLt::find_functions() {
    require(library_, "cublasLtCreate", create);
    require(library_, "cublasLtDestroy", destroy);
    require(library_, "cublasLtGetVersion", get_version);
    require(library_, "cublasLtMatmulDescCreate", matmul_desc_create);
    require(library_, "cublasLtMatmulDescDestroy", matmul_desc_destroy);
    require(library_, "cublasLtMatmulDescSetAttribute", matmul_desc_set_attribute);
    require(library_, "cublasLtMatrixLayoutCreate", matrix_layout_create);
    require(library_, "cublasLtMatrixLayoutSetAttribute", matrix_layout_set_attribute);
    require(library_, "cublasLtMatrixLayoutDestroy", matrix_layout_destroy);
    require(library_, "cublasLtMatmulPreferenceCreate", preference_create);
    require(library_, "cublasLtMatmulPreferenceDestroy", preference_destroy);
    require(library_, "cublasLtMatmulPreferenceSetAttribute", preference_set_attribute);
    require(library_, "cublasLtMatmulAlgoGetHeuristic", get_heuristic);
    require(library_, "cublasLtMatmul", matmul);
    library_.find("cublasLtGetStatusString", status_string_);
}

std::string CublasLt::describe(cublaslt::Status status) const {
    return status_string_ == nullptr ? fmt::format("status {}", status)
                                     : fmt::format("{} ({})", status_string_(status), status);
}

void CublasLt::check(cublaslt::Status status, const char* call) const {
    if (status != cublaslt::kSuccess) throw Error(fmt::format("{}: {}", call, describe(status)));
}

}  // namespace jitgemm
