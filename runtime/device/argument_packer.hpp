#pragma once

#include "generator/base/kernel_entry.hpp"
#include "generator/base/operand.hpp"
#include "jitgemm/gemm_arguments.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/tensor_map_cache.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace jitgemm {

/// The argument struct of an entry as the kernel sees it (argument_layout), in host byte order.
struct PackedArguments {
    alignas(EncodedTensorMap) std::array<std::byte, kMaxArgumentBytes> bytes;  // NOLINT: what is used is written
    std::size_t size = 0;
    [[nodiscard]] std::span<const std::byte> span() const { return {bytes.data(), size}; }
};

/// What a launch passes on to the kernel: the caller's operands as the kernel sees them, and zeroed memory.
struct KernelOperands : GemmArguments {
    DevicePointer counters{};
};

/// Fills the argument struct of an entry for one problem: what the problem decides once, what a launch brings each
/// time. Tensor maps are encoded when a pointer is one that was not seen lately. May be used from many threads at once,
/// and takes no lock.
class ArgumentPacker {
public:
    /// `row_major` is resolved and row-major in D. Throws ConfigError for more than kMaxArgumentBytes.
    ArgumentPacker(std::span<const KernelArgument> arguments, const GemmSpec& row_major);
    /// `operands`: the spec's, and any further ones.
    ArgumentPacker(std::span<const KernelArgument> arguments, const GemmSpec& row_major, const OperandList& operands);

    /// alpha = 0 passes k = 0, so that neither A nor B is read (BLAS), broadcast_c an ldc of 0. Throws SpecError for a
    /// matrix that no tensor map can address, and what Device::encode_tensor_map throws.
    void pack(const KernelOperands& operands, Device& device, PackedArguments& packed) const;
    [[nodiscard]] std::size_t bytes() const { return constants_.size(); }

private:
    struct PointerPatch {
        std::size_t offset;
        DevicePointer KernelOperands::*pointer;
    };
    struct ScalarPatch {
        std::size_t offset;
        float GemmArguments::*scalar;
    };
    struct MapPatch {
        std::size_t offset;
        ArgumentRole role;
        OperandGuard guard;
        DevicePointer KernelOperands::*pointer;
        bool is_c;
        bool of_one_row;             ///< of a C that is added to every row of D
        std::uint64_t in_workspace;  ///< bytes, of a packed operand
        TiledTensorMap map;          ///< but for the address
        std::unique_ptr<TensorMapCache> cache;
    };
    void add(const TensorMapArgument& argument, std::size_t offset, const GemmSpec& row_major,
             const OperandList& operands);
    void pack_map(const MapPatch& patch, const KernelOperands& operands, Device& device, std::byte* bytes) const;

    std::vector<std::byte> constants_;  ///< the struct with extents in it, and zeros elsewhere
    std::vector<PointerPatch> pointers_;
    std::vector<ScalarPatch> scalars_;
    std::vector<ArgumentField> k_;    ///< 0 when alpha is
    std::vector<ArgumentField> ldc_;  ///< 0 when C is one row
    std::vector<MapPatch> maps_;
    bool has_k_ = true;
    bool broadcasts_c_ = false;  ///< the spec says so, and its ldc is 0
};

/// The same at once, for who launches once.
[[nodiscard]] PackedArguments pack_arguments(std::span<const KernelArgument> arguments, const GemmSpec& row_major,
                                             const KernelOperands& operands, Device& device);

}  // namespace jitgemm
