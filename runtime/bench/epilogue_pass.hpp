#pragma once

#include "jitgemm/device_pointer.hpp"
#include "jitgemm/gemm_arguments.hpp"
#include "runtime/bench/epilogue_pass_text.hpp"
#include "runtime/context/context_state.hpp"

#include <memory>

namespace jitgemm {

/// A pass, compiled and loaded.
class EpiloguePass {
public:
    /// Throws Error with the reason if no pass computes it.
    EpiloguePass(ContextState& context, const PassProblem& problem);

    /// Enqueues the pass over the sums. `arguments` has D, the text's operands and its scalars.
    void launch(DevicePointer sums, const GemmArguments& arguments, Stream stream) const;

private:
    std::shared_ptr<Device> device_;
    std::vector<PassMember> members_;
    Function function_;
    LaunchShape shape_;
};

}  // namespace jitgemm
