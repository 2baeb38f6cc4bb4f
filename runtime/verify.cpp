#include "runtime/verify.hpp"

#include "generator/families/family.hpp"
#include "runtime/cpu_reference.hpp"
#include "runtime/emulator_device.hpp"
#include "runtime/emulator_verify.hpp"
#include "runtime/guarded_matrix.hpp"
#include "runtime/half.hpp"
#include "runtime/reference.hpp"
#include "runtime/verification_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace jitgemm {
namespace {

constexpr std::uint8_t kNanByte = 0xff;  // a NaN in every floating-point type
constexpr std::uint8_t kGuardByte = 0x5a;
constexpr std::uint32_t kNanBits = 0xffffffff;
constexpr std::uint32_t kUnwritten = 0x8badf00d;  // D of integers has no NaN

std::string_view inputs_name(InputKind inputs) { return inputs == InputKind::integers ? "integer" : "normal"; }

Fill normal_fill(std::uint64_t seed) { return {.kind = FillKind::normal, .seed = seed}; }

Fill integer_fill(std::uint64_t seed, int range) { return {.kind = FillKind::integers, .seed = seed, .range = range}; }

Fill sparse_fill(std::uint64_t seed, std::int64_t group) {
    return {.kind = FillKind::sparse, .seed = seed, .group = group};
}

std::string element_text(double value) { return std::isnan(value) ? "nan" : fmt::format("{}", value); }

std::string owner_text(const ElementOwner& owner) {
    std::string text =
        fmt::format("computed by block {} (tile {}, {}), warp {}", owner.block, owner.tile_m, owner.tile_n, owner.warp);
    if (owner.lane != ElementOwner::kUnknown) text += fmt::format(", lane {}", owner.lane);
    if (owner.accumulator_register != ElementOwner::kUnknown)
        text += fmt::format(", accumulator register {}", owner.accumulator_register);
    return text;
}

std::string success_text(const Verification& verdict, const GemmSpec& spec, bool exact) {
    const std::string what =
        fmt::format("all {}x{} elements are right for {} inputs", spec.m, spec.n, inputs_name(verdict.inputs));
    return exact ? what + ", bit for bit"
                 : what + fmt::format(", the largest error is {:.3f} of its bound", verdict.largest_error);
}

std::string wrong_elements_text(const Verification& verdict, const GemmSpec& spec, bool exact) {
    std::string text = fmt::format("{} of {}x{} elements are wrong for {} inputs", verdict.wrong, spec.m, spec.n,
                                   inputs_name(verdict.inputs));
    if (!exact && std::isfinite(verdict.largest_error))
        text += fmt::format(", by up to {:.3g} times the bound", verdict.largest_error);
    if (verdict.first) {
        text += fmt::format("; first D[{}, {}]: expected {}, got {}", verdict.first->row, verdict.first->column,
                            element_text(verdict.first->expected), element_text(verdict.first->got));
    }
    return text;
}

void describe(Verification& verdict, const GemmSpec& spec, bool exact) {
    if (verdict.ok) {
        verdict.message = success_text(verdict, spec, exact);
        return;
    }
    if (verdict.wrong != 0) verdict.message = wrong_elements_text(verdict, spec, exact);
    if (verdict.guard_damage != 0) {
        if (!verdict.message.empty()) verdict.message += '\n';
        verdict.message += fmt::format("{} bytes outside D were overwritten", verdict.guard_damage);
    }
}

}  // namespace

// ---- problem --------------------------------------------------------------------------------------------------------

struct Problem::Impl {
    Impl(Context::Impl& context, const GemmSpec& asked, InputKind kind, std::uint64_t seed, float alpha_value,
         float beta_value, Placement placement);

    [[nodiscard]] bool reads_ab() const { return alpha != 0.0F && spec.k != 0; }
    [[nodiscard]] bool reads_c() const { return spec.c.has_value() && beta != 0.0F; }
    [[nodiscard]] Check check_request() const;
    [[nodiscard]] bool has_d_of(const Impl& right) const;
    void fill_operand(const GuardedMatrix& operand, bool is_read, const Fill& fill) const;
    void fill_operands(std::uint64_t seed) const;
    void add_first(Verification& verdict, std::int64_t row, std::int64_t column, double expected, double got) const;

    std::shared_ptr<Device> device;
    std::unique_ptr<Reference> reference;
    GemmSpec spec;
    InputKind inputs;
    float alpha;
    float beta;
    IntegerInputs integers;
    bool exact;
    GuardedMatrix a, b, c, d;
};

Problem::Impl::Impl(Context::Impl& context, const GemmSpec& asked, InputKind kind, std::uint64_t seed,
                    float alpha_value, float beta_value, Placement placement)
    : device(context.device),
      reference(make_reference(context)),
      spec(asked),
      inputs(kind),
      alpha(alpha_value),
      beta(beta_value),
      integers(integer_inputs(asked, alpha_value, beta_value)),
      exact(kind == InputKind::integers && integers.exact) {
    const ProblemForms forms = problem_forms(spec, placement == Placement::generous);
    a = GuardedMatrix(device, forms.a, "A");
    b = GuardedMatrix(device, forms.b, "B");
    if (spec.c) c = GuardedMatrix(device, forms.c, "C");
    d = GuardedMatrix(device, forms.d, "D");
    fill_operands(seed);
}

// NaN everywhere, then the matrix itself; what must not be read stays NaN.
void Problem::Impl::fill_operand(const GuardedMatrix& operand, bool is_read, const Fill& fill) const {
    device->fill_bytes(operand.memory().data(), kNanByte, static_cast<std::size_t>(operand.memory().size_bytes()));
    if (is_read) reference->fill(operand.matrix(), operand.form().rows, operand.form().columns, fill);
}

void Problem::Impl::fill_operands(std::uint64_t seed) const {
    const std::uint64_t seed_a = 3 * seed, seed_b = 3 * seed + 1, seed_c = 3 * seed + 2;
    if (inputs == InputKind::normal) {
        fill_operand(a, reads_ab(), normal_fill(seed_a));
        fill_operand(b, reads_ab(), normal_fill(seed_b));
        if (spec.c) fill_operand(c, reads_c(), normal_fill(seed_c));
        return;
    }
    fill_operand(a, reads_ab(),
                 integers.group > 1 ? sparse_fill(seed_a, integers.group) : integer_fill(seed_a, integers.range));
    fill_operand(b, reads_ab(), integer_fill(seed_b, integers.range));
    if (spec.c) fill_operand(c, reads_c(), integer_fill(seed_c, integers.range_c));
}

Check Problem::Impl::check_request() const {
    const ErrorBound bound = error_bound(spec);
    return {.a = a.matrix(),
            .b = b.matrix(),
            .c = reads_c() ? c.matrix() : DeviceMatrix{},
            .d = d.matrix(),
            .m = spec.m,
            .n = spec.n,
            .k = reads_ab() ? spec.k : 0,
            .alpha = static_cast<double>(alpha),
            .beta = static_cast<double>(beta),
            .sum_unit = bound.sum_unit,
            .output_unit = bound.output_unit,
            .output_floor = bound.output_floor,
            .exact = exact};
}

/// Each element against 1 · the other's: the sum has no terms, the other D stands in for C.
bool Problem::Impl::has_d_of(const Impl& right) const {
    Check request = check_request();
    request.c = right.d.matrix();
    request.k = 0;
    request.alpha = 0;
    request.beta = 1;
    return reference->check(request).wrong == 0;
}

void Problem::Impl::add_first(Verification& verdict, std::int64_t row, std::int64_t column, double expected,
                              double got) const {
    verdict.first = Mismatch{.row = row, .column = column, .expected = expected, .got = got, .owner = {}};
}

Problem::Problem(Context::Impl& context, const GemmSpec& resolved_spec, InputKind inputs, std::uint64_t seed,
                 float alpha, float beta, Placement placement)
    : impl_(std::make_unique<Impl>(context, resolved_spec, inputs, seed, alpha, beta, placement)) {
    poison_d();
}

Problem::~Problem() = default;
Problem::Problem(Problem&&) noexcept = default;
Problem& Problem::operator=(Problem&&) noexcept = default;

GemmArguments Problem::arguments() const {
    GemmArguments arguments;
    arguments.a = impl_->a.matrix().data;
    arguments.b = impl_->b.matrix().data;
    if (impl_->spec.c) arguments.c = impl_->c.matrix().data;
    arguments.d = impl_->d.matrix().data;
    arguments.alpha = impl_->alpha;
    arguments.beta = impl_->beta;
    return arguments;
}

void Problem::poison_d() {
    const GuardedMatrix& d = impl_->d;
    impl_->device->fill_bytes(d.memory().data(), kGuardByte, static_cast<std::size_t>(d.memory().size_bytes()));
    const bool has_nan = fraction_bits(impl_->spec.d) >= 0;
    impl_->reference->fill(d.matrix(), d.form().rows, d.form().columns,
                           {.kind = FillKind::constant, .constant = has_nan ? kNanBits : kUnwritten});
    impl_->device->synchronize(nullptr);  // whatever stream the kernel runs on
}

Verification Problem::check() const {
    const Check request = impl_->check_request();
    const CheckResult found = impl_->reference->check(request);
    Verification verdict;
    verdict.inputs = impl_->inputs;
    verdict.wrong = static_cast<std::int64_t>(found.wrong);
    verdict.largest_error = found.largest_error;
    verdict.guard_damage = impl_->reference->guard_damage(impl_->d.guarded_lines(), kGuardByte);
    verdict.ok = verdict.wrong == 0 && verdict.guard_damage == 0;
    if (verdict.wrong != 0) {
        const auto row = static_cast<std::int64_t>(found.first / static_cast<std::uint64_t>(request.n));
        const auto column = static_cast<std::int64_t>(found.first % static_cast<std::uint64_t>(request.n));
        const CheckResult element = impl_->reference->element(request, row, column);
        impl_->add_first(verdict, row, column, element.expected, element.got);
    }
    describe(verdict, impl_->spec, impl_->exact);
    return verdict;
}

bool Problem::is_exact() const { return impl_->exact; }

Verification Problem::check_against(const Problem& right) const {
    if (!is_exact() || !impl_->has_d_of(*right.impl_)) return check();
    Verification verdict;
    verdict.inputs = impl_->inputs;
    verdict.guard_damage = impl_->reference->guard_damage(impl_->d.guarded_lines(), kGuardByte);
    verdict.ok = verdict.guard_damage == 0;
    describe(verdict, impl_->spec, impl_->exact);
    return verdict;
}

Verification Problem::check_on_cpu() const {
    const GemmSpec& spec = impl_->spec;
    const double work = static_cast<double>(spec.m) * static_cast<double>(spec.n) * static_cast<double>(spec.k);
    if (work > kCpuReferenceLimit) {
        throw Error(fmt::format(
            "the CPU reference is for small problems: {}x{}x{} takes {:.3g} multiply-adds, the limit is {:.3g}", spec.m,
            spec.n, spec.k, work, kCpuReferenceLimit));
    }
    const std::vector<std::byte> a = impl_->a.to_host(*impl_->device);
    const std::vector<std::byte> b = impl_->b.to_host(*impl_->device);
    const std::vector<std::byte> c = impl_->reads_c() ? impl_->c.to_host(*impl_->device) : std::vector<std::byte>{};
    const std::vector<std::byte> d = impl_->d.to_host(*impl_->device);
    const std::vector<ReferenceElement> expected =
        cpu_reference(spec, {.a = a.data(), .b = b.data(), .c = c.data()}, impl_->alpha, impl_->beta);

    Verification verdict;
    verdict.inputs = impl_->inputs;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const auto row = static_cast<std::int64_t>(i) / spec.n;
        const auto column = static_cast<std::int64_t>(i) % spec.n;
        const double got = element_value(d.data(), spec.d, element_index(spec.d_order, spec.ldd, row, column));
        const double error = relative_error(spec, expected[i], got, impl_->exact);
        verdict.largest_error = std::max(verdict.largest_error, error);
        if (error <= 1) continue;
        if (verdict.wrong++ == 0) impl_->add_first(verdict, row, column, expected[i].value, got);
    }
    verdict.ok = verdict.wrong == 0;
    describe(verdict, spec, impl_->exact);
    if (!verdict.ok) verdict.message = "CPU reference: " + verdict.message;
    return verdict;
}

// ---- kernels --------------------------------------------------------------------------------------------------------

namespace {

Verification verify_inputs(Context::Impl& context, const GemmKernel& kernel, InputKind inputs,
                           const VerifyOptions& options) {
    Problem problem(context, kernel.spec(), inputs, options.seed, options.alpha, options.beta);
    kernel.launch(problem.arguments());
    context.device->synchronize(nullptr);
    Verification verdict = problem.check();
    if (verdict.ok && options.use_cpu) verdict = problem.check_on_cpu();
    add_owner(verdict, kernel);
    return verdict;
}

}  // namespace

// The owner is asked for in row-major-D form, where a column-major D's rows are columns.
void add_owner(Verification& verdict, const GemmKernel& kernel) {
    if (!verdict.first) return;
    const GemmKernel::State& state = kernel.state();
    Mismatch& first = *verdict.first;
    const std::int64_t row = state.operands_traded ? first.column : first.row;
    const std::int64_t column = state.operands_traded ? first.row : first.column;
    first.owner = family_of(state.id.config).owner(state.row_major, state.id.config, row, column);
    verdict.message.insert(std::min(verdict.message.find('\n'), verdict.message.size()),
                           ", " + owner_text(first.owner));
}

Verification verify(Context::Impl& context, const GemmKernel& kernel, const VerifyOptions& options) {
    if (as_emulator(*context.device) != nullptr) return verify_emulated(context, kernel, options).verification;
    Verification verdict = verify_inputs(context, kernel, InputKind::integers, options);
    if (!verdict.ok) return verdict;
    return verify_inputs(context, kernel, InputKind::normal, options);
}

}  // namespace jitgemm
