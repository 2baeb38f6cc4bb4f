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

/// The kind of inputs. `integers`: small integers whose sums are exact in any order, checked bit for bit. `normal`:
/// standard normal values, checked within a bound that grows with K.
enum class InputKind : std::uint8_t { integers, normal };

/// Most multiply-adds of a problem that is checked on the CPU.
inline constexpr double kCpuReferenceLimit = 1 << 26;

/// The first wrong element, in the order of their numbers, and the place that computed it.
struct Mismatch {
    std::string output;        ///< "D", or another output of the epilogue
    std::int64_t problem = 0;  ///< of a batch
    std::int64_t row = 0;
    std::int64_t column = 0;
    double expected = 0;
    double got = 0;
    ElementOwner owner;
};

struct Verification {
    bool ok = false;
    std::int64_t wrong = 0;           ///< elements out of bound
    std::int64_t changed_inputs = 0;  ///< elements of inputs that no longer hold their fill
    std::int64_t guard_damage = 0;    ///< bytes changed in guard bands and between lines, of operands and workspace
    std::int64_t unwritten = 0;       ///< bytes of outputs that no kernel wrote, on a device that knows it
    double largest_error = 0;         ///< largest |got − expected| over its bound; 0 in exact mode if ok
    InputKind inputs = InputKind::integers;
    std::optional<Mismatch> first;
    std::string message;  ///< one or more lines for people
};

/// The begin of operands. `exact`: aligned to exactly the spec's alignment, so that a kernel that assumes more is
/// caught. `generous`: at 256 bytes if the spec's alignment is the one that a 256-byte base gives, as an allocator
/// returns it.
enum class Placement : std::uint8_t { exact, generous };

/// Device buffers of one problem with guard bands. Inputs are filled as requested and NaN outside the matrices. Outputs
/// and workspace are all NaN, with a byte pattern in the bands. Padding between rows (leading dimension beyond the row)
/// counts as band. Inputs that BLAS does not read (C if beta is 0, A and B if alpha is 0) are NaN throughout. If alpha
/// and beta are powers of two or 0, small integers are checked bit for bit. A device that sees every access (the
/// emulator) treats outputs and workspace as unwritten, and outputs as stored once. With GemmSpec::pointers, matrices
/// lie apart, in random order, and the arrays of their addresses are inputs like others.
class GuardedProblem {
public:
    GuardedProblem(ContextState& context, const GemmSpec& resolved_spec, InputKind inputs, std::uint64_t seed,
                   float alpha, float beta, Placement placement = Placement::exact);
    /// `operands` are the spec's and further ones. Further ones are made, filled and guarded, and D is judged without
    /// them.
    GuardedProblem(ContextState& context, const GemmSpec& resolved_spec, const OperandList& operands, InputKind inputs,
                   std::uint64_t seed, float alpha, float beta, Placement placement = Placement::exact);
    ~GuardedProblem();
    GuardedProblem(GuardedProblem&&) noexcept;
    GuardedProblem& operator=(GuardedProblem&&) noexcept;
    [[nodiscard]] GemmArguments arguments() const;  ///< with the workspace of the last run(), if there was one
    /// Sets the addresses of all operands.
    void point(GemmArguments& arguments) const;
    /// All operands, and the way in which they make D; with GemmSpec::pointers, those of the first problem.
    [[nodiscard]] Check request() const;
    /// Sets D and other outputs to NaN and their bands to the pattern.
    void poison_outputs();
    /// Launches a kernel once and waits for it. It finds NaN in all outputs, and in a workspace of exactly the size
    /// that it needs.
    void run(const GemmKernel& kernel);
    /// Compares the inputs with their fill, and restores them. Compares D with the reference on the device, and looks
    /// for damage around all of them and the workspace.
    [[nodiscard]] Verification check() const;
    /// Whether check() compares bit for bit.
    [[nodiscard]] bool is_exact() const;
    /// As check(), in m·n steps in place of m·n·k: outputs are compared with those of `right`, the same problem
    /// (is_exact()) whose outputs check() found right. If they differ, check() decides and describes.
    [[nodiscard]] Verification check_against(const GuardedProblem& right) const;
    /// The outputs alone, compared on the host for any device (HostReference). Throws Error above kCpuReferenceLimit
    /// multiply-adds.
    [[nodiscard]] Verification check_on_cpu() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace jitgemm
