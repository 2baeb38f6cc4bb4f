#pragma once

#include "runtime/cuda/cuda_context.hpp"
#include "runtime/device/device.hpp"

#include <memory>
#include <string_view>

namespace jitgemm {

/// A CUmodule; unloaded with the object.
class CudaModule final : public Module {
public:
    /// The context must be current. Throws CudaError, with the likely cause when the driver does not take the binary.
    CudaModule(std::shared_ptr<const CudaContext> context, std::string_view binary);
    CudaModule(const CudaModule&) = delete;
    CudaModule& operator=(const CudaModule&) = delete;
    ~CudaModule() override;

    /// The entry's function, ready for its first launch: shared memory granted, code loaded, argument struct compared.
    /// `binary` is what the module was loaded from.
    [[nodiscard]] CUfunction prepare(std::string_view binary, const KernelEntry& entry) const;

private:
    std::shared_ptr<const CudaContext> context_;
    CUmodule module_ = nullptr;
};

}  // namespace jitgemm
