// The pass behind a library's plain product, on the emulator: each element of D against the text's interval.

#include "runtime/bench/epilogue_pass.hpp"
#include "runtime/bench/peer_epilogue.hpp"

#include "generator/epilogue/epilogue_text.hpp"
#include "runtime/support/element_codec.hpp"
#include "runtime/verify/epilogue_value.hpp"
#include "runtime/verify/guarded_matrix.hpp"
#include "runtime/verify/guarded_problem.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;

namespace {

/// Elements of device memory, and what they hold.
struct Elements {
    DeviceMemory memory;
    DataType type = DataType::f32;
    std::vector<std::byte> host;

    [[nodiscard]] double operator[](std::int64_t place) const { return element_value(host.data(), type, place); }
    void fetch(Device& device) { device.copy_to_host(host.data(), memory.data(), host.size()); }
};

/// One pass with random operands.
class PassRun {
public:
    PassRun(ContextState& context, const PassProblem& problem) : problem_(problem), device_(context.device) {
        const EpilogueParts& parts = problem.epilogue.parts();
        const bool by_row = problem.order == Order::row;
        const auto extent = [&](std::int64_t pitch, std::int64_t columns) {
            return pitch * (by_row ? problem.m : columns);
        };
        const PassMatrix& d = problem.matrices.at("d");
        add("acc", problem.d, extent(problem.sums.pitch, problem.n));
        if (problem.has_pairs()) add("d", problem.d, extent(d.pitch, problem.columns()));
        for (const EpilogueOperand& operand : parts.operands) {
            if (operand.is_scalar)
                scalars_[operand.name] = 0.75F;
            else if (operand.index.is_matrix())
                add(operand.name, operand.type, extent(problem.matrices.at(operand.name).pitch, problem.n));
            else
                add(operand.name, operand.type, std::max(problem.m, problem.n));
        }
        run(context);
    }

    void check() const {
        const Elements& d = elements_.at(problem_.has_pairs() ? "d" : "acc");
        std::int64_t wrong = 0;
        for (std::int64_t row = 0; row < problem_.m; ++row) {
            for (std::int64_t column = 0; column < problem_.columns(); ++column) {
                const double got = d[place(problem_.matrices.at("d").pitch, row, column)];
                if (!rounded_to(expected(row, column), problem_.d).contains(got)) ++wrong;
            }
        }
        CHECK(wrong == 0);
        CHECK_FALSE(before_.host == d.host);
    }

private:
    void add(const std::string& name, DataType type, std::int64_t count) {
        Elements elements{DeviceMemory(device_, count * bytes(type)), type, {}};
        elements.host.resize(static_cast<std::size_t>(count * bytes(type)));
        std::normal_distribution<double> normal;
        for (std::int64_t i = 0; i < count; ++i) {
            const std::uint32_t bits = element_bits(normal(random_), type);
            std::memcpy(elements.host.data() + i * bytes(type), &bits, static_cast<std::size_t>(bytes(type)));
        }
        device_->copy_to_device(elements.memory.data(), elements.host.data(), elements.host.size());
        elements_[name] = std::move(elements);
    }
    void run(ContextState& context) {
        GemmArguments arguments;
        for (const auto& [name, elements] : elements_) arguments.operands.set({name, elements.memory.data()});
        for (const auto& [name, value] : scalars_) arguments.operands.set({name, value});
        const std::string d = problem_.has_pairs() ? "d" : "acc";
        arguments.d = elements_.at(d).memory.data();
        sums_.type = problem_.d;
        sums_.host = elements_.at("acc").host;
        before_.host = elements_.at(d).host;
        EpiloguePass(context, problem_).launch(elements_.at("acc").memory.data(), arguments, nullptr);
        device_->synchronize(nullptr);
        elements_.at(d).fetch(*device_);
    }

    [[nodiscard]] std::int64_t place(std::int64_t pitch, std::int64_t row, std::int64_t column) const {
        return problem_.order == Order::row ? row * pitch + column : column * pitch + row;
    }
    /// The product's column that a half of a pair has.
    [[nodiscard]] std::int64_t paired(std::int64_t column, int half) const {
        if (problem_.epilogue.parts().pairs == EpiloguePairs::neighbours) return 2 * column + half;
        return column + (half == 1 ? problem_.n / 2 : 0);
    }
    [[nodiscard]] Interval expected(std::int64_t row, std::int64_t column) const {
        const EpilogueParts& parts = problem_.epilogue.parts();
        EpilogueElement element;
        for (const int half : {0, 1}) {
            const std::int64_t of = problem_.has_pairs() ? paired(column, half) : column;
            element.acc[static_cast<std::size_t>(half)] = exactly(sums_[place(problem_.sums.pitch, row, of)]);
        }
        for (const EpilogueOperand& operand : parts.operands) {
            auto& values = element.operands.emplace_back();
            for (const int half : {0, 1}) {
                const std::int64_t of = differs_in_pair(parts, operand) ? paired(column, half) : column;
                values[static_cast<std::size_t>(half)] = exactly(value(operand, row, of));
            }
        }
        return epilogue_values(problem_.epilogue, element)[0];
    }
    [[nodiscard]] double value(const EpilogueOperand& operand, std::int64_t row, std::int64_t column) const {
        if (operand.is_scalar) return static_cast<double>(scalars_.at(operand.name));
        const Elements& elements = elements_.at(operand.name);
        if (operand.index.is_matrix()) return elements[place(problem_.matrices.at(operand.name).pitch, row, column)];
        return elements[operand.index.row ? row : operand.index.column ? column : 0];
    }

    PassProblem problem_;
    std::shared_ptr<Device> device_;
    std::mt19937_64 random_{7};
    std::map<std::string, Elements> elements_;
    std::map<std::string, float> scalars_;
    Elements sums_, before_;
};

void check_pass(const GemmSpec& asked) {
    INFO(asked.epilogue.text() << ", D " << to_string(asked.d) << ", order " << to_string(asked.d_order));
    PassRun(state_of(on_hopper()), pass_problem(resolved(asked))).check();
}

PassProblem pairs(std::string_view text, Order order, std::int64_t n) {
    const std::int64_t m = 24, ld = order == Order::row ? n / 2 : m;
    PassProblem problem{.epilogue = read_epilogue(text, {.d = DataType::bf16}), .order = order, .m = m, .n = n};
    problem.sums.pitch = order == Order::row ? n : m;
    problem.matrices["d"].pitch = problem.matrices["pre"].pitch = problem.matrices["gate"].pitch = ld;
    return problem;
}

}  // namespace

TEST_CASE("a pass computes each form of operand in each order of D") {
    constexpr const char* kText =
        "s: f32[0]; limit: f32; d = clamp(silu(acc + bias[n]) * up[m,n] * row[m] + s[0], -limit, limit)";
    for (const Order order : {Order::row, Order::column})
        for (const DataType d : {DataType::bf16, DataType::f32})
            check_pass({.m = 24, .n = 40, .k = 8, .d = d, .d_order = order, .epilogue = kText});
    check_pass(
        {.m = 24, .n = 40, .k = 8, .a = DataType::f16, .b = DataType::f16, .d = DataType::f16, .epilogue = kText});
}

TEST_CASE("a pass computes lines that 16 bytes don't divide, pitches, and operands of other types and alignments") {
    check_pass({.m = 5, .n = 7, .k = 8, .epilogue = "d = gelu(acc + bias[n])"});
    check_pass({.m = 5, .n = 36, .k = 8, .ldd = 40, .epilogue = "d = acc + x[m,n]"});
    check_pass({.m = 6, .n = 32, .k = 8, .epilogue = "x: f32[m,n]; d = acc + x[m,n]"});
    check_pass({.m = 6, .n = 32, .k = 8, .epilogue = EpilogueText("d = acc + x[m,n]").with("x", {.ld = 35})});
}

TEST_CASE("a pass reads the two columns of a pair: halves and neighbours, in each order of D") {
    for (const Order order : {Order::row, Order::column}) {
        for (const char* text : {"d[m,h] = silu(left(acc)) * right(acc)", "d[m,h] = silu(even(acc)) * odd(acc)",
                                 "d[m,h] = silu(left(acc) + left(bias[n])) * (right(acc) + right(bias[n])) + gate[m,h]",
                                 "d[m,h] = silu(even(acc + bias[n])) * odd(acc + bias[n])"}) {
            INFO(text << ", order " << to_string(order));
            PassRun(state_of(on_hopper()), pairs(text, order, 48)).check();
        }
    }
}

namespace {

/// The verdict on a plain product, and a pass that makes D of its sums, by a text.
Verification verdict_of_pass(const GemmSpec& spec, const Epilogue& judged_by, InputKind inputs) {
    ContextState& context = state_of(on_hopper());
    GemmSpec judged = spec;
    judged.epilogue = text_of(judged_by, spec.epilogue);
    GuardedProblem problem(context, judged, inputs, 1, 1.0F, 0.0F, Placement::generous);
    const GemmArguments arguments = problem.arguments();
    const PassProblem pass = pass_problem(spec);
    GemmSpec plain = spec;
    plain.epilogue = {};
    plain.d = pass.sums_type;
    plain.ldd = plain.align_d = 0;
    plain = resolved(plain);
    // The emulator lets D be stored once, so the sums lie elsewhere.
    const DeviceMemory sums(context.device, form_of(plain, "d", true).extent_bytes());
    on_hopper().kernel(plain).launch({.a = arguments.a, .b = arguments.b, .d = sums.data()});
    context.device->synchronize(nullptr);
    EpiloguePass(context, pass).launch(sums.data(), arguments, nullptr);
    context.device->synchronize(nullptr);
    return problem.check();
}

}  // namespace

TEST_CASE("a product with a pass behind it is right by the text of rounded sums, and wrong by the text itself") {
    for (const char* text : {"d = silu(acc + bias[n]) * up[m,n]", "w: f32[m]; d = alpha * acc * w[m] + x[m,n]"}) {
        const GemmSpec spec = resolved({.m = 40, .n = 48, .k = 72, .epilogue = text});
        const Epilogue meaning = pass_problem(spec).epilogue;
        for (const InputKind inputs : {InputKind::integers, InputKind::normal}) {
            const Verification verdict = verdict_of_pass(spec, with_rounded_sums(meaning, spec.d), inputs);
            INFO(text << ": " << verdict.message);
            CHECK(verdict.ok);
        }
        CHECK_FALSE(verdict_of_pass(spec, meaning, InputKind::normal).ok);
    }
}

TEST_CASE("a pass over the s32 sums of 8-bit integers is right by the text itself") {
    constexpr const char* kText = "scale_a: f32[m]; scale_b: f32[n]; d = acc * scale_a[m] * scale_b[n]";
    for (const Order order : {Order::row, Order::column}) {
        for (const DataType d : {DataType::bf16, DataType::f32}) {
            for (const std::int64_t n : {48, 52}) {
                GemmSpec spec{.m = 40, .n = n, .k = 96, .a = DataType::s8, .b = DataType::s8, .d = d};
                spec.accumulator = DataType::s32;
                spec.d_order = order;
                spec.epilogue = kText;
                spec = resolved(spec);
                for (const InputKind inputs : {InputKind::integers, InputKind::normal}) {
                    const Verification verdict = verdict_of_pass(spec, pass_problem(spec).epilogue, inputs);
                    INFO(to_string(spec) << ": " << verdict.message);
                    CHECK(verdict.ok);
                }
            }
        }
    }
}

TEST_CASE("a pass is refused for what it does not store or read") {
    const auto refusal = [](std::string_view text, DataType d = DataType::bf16) {
        PassProblem problem{.epilogue = read_epilogue(text, {.d = d}), .d = d, .m = 64, .n = 64};
        return unserved_pass(problem);
    };
    CHECK_FALSE(refusal("d = acc; r[n] = sum(acc)").empty());
    CHECK_FALSE(refusal("pre: bf16[m,n]; t = acc; pre[m,n] = t; d = relu(t)").empty());
    CHECK_FALSE(refusal("d = acc", DataType::e4m3).empty());
    CHECK_FALSE(refusal("d = acc * q[m,n/128]").empty());
    CHECK(refusal("d = acc * q[m]").empty());
}
