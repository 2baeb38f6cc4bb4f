#pragma once

#include "generator/base/kernel_argument.hpp"
#include "generator/base/operand.hpp"
#include "generator/base/problem.hpp"
#include "jitgemm/gemm_arguments.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/given_operands.hpp"
#include "runtime/device/tensor_map_cache.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace jitgemm {

/// The argument struct of an entry (argument_layout), in the host's byte order.
struct PackedArguments {
    alignas(EncodedTensorMap) std::array<std::byte, kMaxArgumentBytes> bytes;  // NOLINT: what is used is written
    std::size_t size = 0;
    [[nodiscard]] std::span<const std::byte> span() const { return {bytes.data(), size}; }
};

/// The operands that a launch passes to the kernel, as the kernel sees them, and the address of its counters.
struct KernelOperands : GemmArguments {
    DevicePointer counters{};
    DevicePointer reduction_parts{};
    DevicePointer copy_a{};  ///< prepared by the caller
    DevicePointer copy_b{};
};

/// A problem whose arguments are packed.
struct PackedProblem {
    const Problem& problem;
    std::uint64_t id;  ///< of this problem alone, in this process: its tensor maps are kept by it
};
[[nodiscard]] std::uint64_t new_problem_id();

/// The elements of a line of a text's matrix: a size of the problem, or as many blocks as it has.
struct RunInText {
    OperandIndex index = OperandIndex::one;  ///< `one`: of no text
    int over = 1;
};

/// Fills the argument struct of an entry, for any problem that its kernel serves. It keeps tensor maps, and encodes one
/// if it has not seen the pointer lately. Many threads may use a plan at once. A launch takes no lock.
class ArgumentPlan {
public:
    /// `operands` are those of a problem that the kernel serves. Throws ConfigError for more than kMaxArgumentBytes.
    ArgumentPlan(std::span<const KernelArgument> arguments, const OperandList& operands);
    /// For one problem alone, with operands that a spec does not have.
    [[nodiscard]] static ArgumentPlan of_one_problem(std::span<const KernelArgument> arguments,
                                                     const OperandList& operands);

    /// alpha = 0 (or another scalar that guards the product) passes k = 0, so that the kernel reads neither A nor B, as
    /// BLAS demands. broadcast_c passes ldc = 0.
    /// Throws SpecError for a matrix that no tensor map can address. Errors of Device::encode_tensor_map pass through.
    void pack(const PackedProblem& problem, const KernelOperands& operands, Device& device,
              PackedArguments& packed) const;
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

private:
    /// The arguments of a launch, and what they give for a text.
    struct Launch {
        const KernelOperands& operands;
        const GivenOperands& given;
    };
    /// Where a launch has an address.
    struct Address {
        DevicePointer KernelOperands::*member = nullptr;  ///< null: among the text's operands
        std::size_t place = 0;
        [[nodiscard]] std::uint64_t in(const Launch& launch) const {
            return member != nullptr ? (launch.operands.*member).address : launch.given.address(place);
        }
    };
    struct PointerPatch {
        std::size_t offset;
        Address address;
    };
    struct ScalarPatch {
        std::size_t offset;
        float GemmArguments::*member;  ///< alpha or beta; null: among the text's operands
        std::size_t place;
    };
    struct ExtentPatch {
        std::size_t offset;
        std::size_t bytes;
        ArgumentRole role;
        std::int64_t GemmSpec::*field;  ///< null: by role
        RunInText run;
        bool is_k;    ///< 0 if the product is not read
        bool is_ldc;  ///< 0 if C is one row
    };
    struct MapPatch {
        std::size_t offset;
        Address address;
        GemmOperand operand;  ///< for its guards
        bool is_in_workspace;
        bool is_c;
        TensorMapArgument argument;
    };
    [[nodiscard]] std::optional<Address> address_of(const ArgumentRole& role, const OperandList& operands) const;
    [[nodiscard]] std::size_t place_of(std::string_view name) const;
    void add_scalar(std::string_view name, std::size_t offset);
    [[nodiscard]] bool reads(const GemmOperand& operand, bool has_k, const Launch& launch) const;
    void add(const KernelArgument& argument, const ArgumentField& field, const OperandList& operands);
    [[nodiscard]] OperandList operands_of(const Problem& problem) const;
    [[nodiscard]] std::int64_t value_of(const ExtentPatch& patch, const Problem& problem) const;
    void pack_map(std::size_t index, const PackedProblem& problem, const Launch& launch, Device& device,
                  std::byte* bytes) const;

    std::size_t bytes_ = 0;
    GemmOperand factor_;                   ///< A, for its guards
    const EpilogueParts* text_ = nullptr;  ///< of the epilogue that the kernel has as text
    std::vector<PointerPatch> pointers_;
    std::vector<ScalarPatch> scalars_;
    std::vector<ExtentPatch> extents_;
    std::vector<MapPatch> maps_;
    std::shared_ptr<const OperandList> only_operands_;  ///< of the one problem that it is for; else null
    std::unique_ptr<TensorMapCache> kept_;              ///< null where there is no map
};

}  // namespace jitgemm
