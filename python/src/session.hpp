#pragma once

#include "jitgemm/context.hpp"
#include "python/src/problem.hpp"

#include <memory>
#include <string>
#include <unordered_map>

namespace jitgemm::python {

/// matmul's plan for arrays like those of an earlier call.
struct Plan {
    GemmKernel kernel;  ///< empty where the result has no element, and where C is to be copied first
    std::vector<std::int64_t> shape;
    DataType type = DataType::bf16;
    std::optional<CopyOfC> copy_of_c{};
    EpilogueText epilogue{};
    std::vector<LaunchDimension> launches{};
};

/// The arguments of a context, beside the environment.
struct Selection {
    std::string device{};
    std::string kernel{}, family{}, parameters{};
    friend bool operator==(const Selection&, const Selection&) = default;
};

/// A context and the plans of its products. Found by the GIL's holder; kernels are made and launched without the GIL.
struct Session {
    Context context;
    bool emulated = false;
    int gpu = 0;
    std::unordered_map<ProblemKey, std::shared_ptr<const Plan>> plans{};
};

/// Of this process: one per device (empty: the current GPU) and selection, made when it is first asked for. What a
/// process had before it forked is out of reach of the child, which makes its own. Throws what Context does.
[[nodiscard]] std::shared_ptr<Session> session_of(const Selection& selection);
[[nodiscard]] std::shared_ptr<Session> session_of_gpu(int gpu);
/// The one that serves arrays: that of the GPU where they lie, or of `device`, or of
/// the default device where that is null or None. Throws OperandError for arrays of two places, or of none that the
/// device reaches.
[[nodiscard]] std::shared_ptr<Session> session_for(const Arrays& arrays, PyObject* device);

/// Kernels are chosen anew, after tuning.
void forget_sessions();
/// Contexts are asked for each kernel again; they still have it.
void forget_plans();

/// Once, before the first session.
void watch_forks();
/// How often this process is a fork of one that had used jitgemm.
[[nodiscard]] unsigned fork_generation();

}  // namespace jitgemm::python
