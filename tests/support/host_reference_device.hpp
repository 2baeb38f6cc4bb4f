#pragma once

#include "runtime/context/context_state.hpp"
#include "tests/support/fake_compiler.hpp"
#include "tests/support/fake_device.hpp"

#include <memory>

namespace jitgemm::testing {

/// A device with the host's memory that really runs the reference kernels: their text, compiled by the host's compiler,
/// a thread of the host for each of a block that synchronizes. Slow, so for small problems.
class HostReferenceDevice final : public FakeDevice {
public:
    void launch(const Function& function, const LaunchShape& shape, std::span<const std::byte> arguments,
                Stream stream) override;
};

/// A context on that device, without CUDA and without a cache.
struct HostReferenceContext {
    HostReferenceContext()
        : impl(Options{}, std::make_shared<HostReferenceDevice>(), std::make_shared<FakeCompiler>()) {}
    ContextState impl;
};

}  // namespace jitgemm::testing
