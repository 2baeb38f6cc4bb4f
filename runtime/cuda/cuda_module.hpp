#pragma once

#include "runtime/cuda/cuda_context.hpp"
#include "runtime/device/device.hpp"

#include <memory>
#include <string_view>

namespace jitgemm {

/// A CUmodule; unloaded with the object.
class CudaModule final : public Module {
public:
    /// The context must be current. Throws CudaError, with the likely cause if the driver does not take the binary.
    CudaModule(std::shared_ptr<const CudaContext> context, std::string_view binary);
    CudaModule(const CudaModule&) = delete;
    CudaModule& operator=(const CudaModule&) = delete;
    ~CudaModule() override;

    /// The entry's function, ready for its first launch: shared memory is granted, code is loaded, and the argument
    /// struct is compared. `binary` is the module's.
    [[nodiscard]] CUfunction prepare(std::string_view binary, const KernelEntry& entry, const Arch& arch) const;

private:
    std::shared_ptr<const CudaContext> context_;
    CUmodule module_ = nullptr;
};

}  // namespace jitgemm
