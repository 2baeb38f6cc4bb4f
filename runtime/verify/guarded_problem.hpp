#pragma once

#include "generator/base/operand.hpp"
#include "jitgemm/gemm_arguments.hpp"
#include "jitgemm/gemm_kernel.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/verify/reference.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace jitgemm {

/// How inputs are made. `integers`: small integers whose sums are exact in any order, checked bit for bit.
/// `normal`: standard normal values, checked within a bound that grows with K.
enum class InputKind : std::uint8_t { integers, normal };

/// Most multiply-adds of a problem that is checked on the CPU.
inline constexpr double kCpuReferenceLimit = 1 << 26;

/// The first wrong element, in the order of their numbers, and who computed it.
struct Mismatch {
    std::int64_t row = 0;
    std::int64_t column = 0;
    double expected = 0;
    double got = 0;
    ElementOwner owner;
};

struct Verification {
    bool ok = false;
    std::int64_t wrong = 0;           ///< elements out of bound
    std::int64_t changed_inputs = 0;  ///< elements of operands that are not what they were filled with
    std::int64_t guard_damage = 0;    ///< bytes changed in guard bands and between lines, of operands and workspace
    std::int64_t unwritten = 0;       ///< bytes of D that no kernel wrote, on a device that knows
    double largest_error = 0;         ///< |got − expected| over its bound, largest; 0 in exact mode when ok
    InputKind inputs = InputKind::integers;
    std::optional<Mismatch> first;
    std::string message;  ///< one or more lines for people
};

/// Where operands begin. `exact`: aligned to just what the spec says and not a byte more, so that a kernel which
/// assumes more is caught. `generous`: at 256 bytes wherever the spec's alignment is what a 256-byte base gives (what
/// an allocator returns).
enum class Placement : std::uint8_t { exact, generous };

/// Device buffers of one problem with guard bands: inputs filled as asked and NaN outside the matrices, D and workspace
/// all NaN with a byte pattern in the bands. Padding between rows (leading dimension beyond the row) counts as band.
/// What BLAS says is not read (C when beta is 0, A and B when alpha is 0) is NaN throughout. With alpha and beta that
/// are powers of two or 0, small integers are checked bit for bit. A device that sees every access (the emulator) takes
/// D and workspace for unwritten, and D for stored once.
class GuardedProblem {
public:
    GuardedProblem(ContextState& context, const GemmSpec& resolved_spec, InputKind inputs, std::uint64_t seed,
                   float alpha, float beta, Placement placement = Placement::exact);
    /// `operands`: the spec's, and further ones. Further ones are made, filled and guarded, and D is judged without
    /// them.
    GuardedProblem(ContextState& context, const GemmSpec& resolved_spec, const OperandList& operands, InputKind inputs,
                   std::uint64_t seed, float alpha, float beta, Placement placement = Placement::exact);
    ~GuardedProblem();
    GuardedProblem(GuardedProblem&&) noexcept;
    GuardedProblem& operator=(GuardedProblem&&) noexcept;
    [[nodiscard]] GemmArguments arguments() const;  ///< with the workspace of the last run(), if there was one
    /// The addresses of all operands.
    void point(GemmArguments& arguments) const;
    /// All operands, and how D is made of them.
    [[nodiscard]] Check request() const;
    /// D to NaN, its bands to the pattern.
    void poison_d();
    /// One launch, waited for, of a kernel that finds NaN in D and in a workspace of just the size it asks for.
    void run(const GemmKernel& kernel);
    /// Compares the inputs with their fill, which they hold again afterwards, and D with the reference on the device,
    /// and looks for damage around all of them and the workspace.
    [[nodiscard]] Verification check() const;
    /// Whether check() compares bit for bit.
    [[nodiscard]] bool is_exact() const;
    /// As check(), in m·n steps in place of m·n·k: D is compared with that of `right`, the same problem (is_exact())
    /// whose D check() found right. Where they differ check() itself decides and describes.
    [[nodiscard]] Verification check_against(const GuardedProblem& right) const;
    /// D alone, compared on the host whatever the device (HostReference). Throws Error above kCpuReferenceLimit
    /// multiply-adds.
    [[nodiscard]] Verification check_on_cpu() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace jitgemm
