#pragma once

#include "jitgemm/options.hpp"
#include "runtime/bench/cublaslt_abi.hpp"
#include "runtime/support/dynamic_library.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace jitgemm {

/// The places where libcublasLt is looked for, in order. `newest_major` is as in Nvrtc::load.
[[nodiscard]] std::vector<std::string> cublaslt_search_list(const Options& options, int newest_major);

/// libcublasLt through dlopen, and a handle for the CUDA context that is current when it is opened.
class CublasLt {
public:
    /// Throws Error with the names and places that were tried, or with the answer of cublasLtCreate. `in_context` runs
    /// a function with the handle's context current, in any thread. The handle is destroyed in it.
    using InContext = std::function<void(const std::function<void()>&)>;
    [[nodiscard]] static std::shared_ptr<const CublasLt> open(const std::vector<std::string>& candidates,
                                                              InContext in_context);
    CublasLt(const CublasLt&) = delete;
    CublasLt& operator=(const CublasLt&) = delete;
    ~CublasLt();

    /// Throws Error with call and answer unless `status` is success.
    void check(cublaslt::Status status, const char* call) const;
    [[nodiscard]] std::string describe(cublaslt::Status status) const;

    cublaslt::Handle handle = nullptr;
    cublaslt::Create create = nullptr;
    cublaslt::Destroy destroy = nullptr;
    cublaslt::GetVersion get_version = nullptr;
    cublaslt::MatmulDescCreate matmul_desc_create = nullptr;
    cublaslt::MatmulDescDestroy matmul_desc_destroy = nullptr;
    cublaslt::MatmulDescSetAttribute matmul_desc_set_attribute = nullptr;
    cublaslt::MatrixLayoutCreate matrix_layout_create = nullptr;
    cublaslt::MatrixLayoutDestroy matrix_layout_destroy = nullptr;
    cublaslt::MatrixLayoutSetAttribute matrix_layout_set_attribute = nullptr;
    cublaslt::MatmulPreferenceCreate preference_create = nullptr;
    cublaslt::MatmulPreferenceDestroy preference_destroy = nullptr;
    cublaslt::MatmulPreferenceSetAttribute preference_set_attribute = nullptr;
    cublaslt::MatmulAlgoGetHeuristic get_heuristic = nullptr;
    cublaslt::Matmul matmul = nullptr;

private:
    explicit CublasLt(InContext in_context) : in_context_(std::move(in_context)) {}
    void find_functions();

    InContext in_context_;
    DynamicLibrary library_;
    cublaslt::GetStatusString status_string_ = nullptr;  // absent in old versions
};

}  // namespace jitgemm
