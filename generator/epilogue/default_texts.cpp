#include "generator/epilogue/default_texts.hpp"

#include "generator/epilogue/expression_text.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <cctype>

namespace jitgemm {
namespace {

/// {0} is an operand's name, {1} its title, {2} its factor.
constexpr std::string_view kFactorText =
    "// The factor of {1}. Where it is 0, {1} is not read, whatever it holds.\n"
    "__device__ __forceinline__ float {0}_factor(const GemmArgs& args) {{ return {2}; }}\n"
    "\n";

/// {0} is the unit's type, {1} that type as a parameter, {2} the value.
constexpr std::string_view kPlainFinish =
    "// D from sums of products.\n"
    "__device__ __forceinline__ {0} finish(const GemmArgs& args, {1} sum) {{ return {2}; }}\n";

/// {0} is the operand's name, {1} its title, {2} the value without it, {3} all of it.
constexpr std::string_view kReadingFinish =
    "// An element of D from its sum of products; `{0}` reads the element of {1}.\n"
    "template <typename Read{1}>\n"
    "__device__ __forceinline__ float finish(const GemmArgs& args, float sum, const Read{1}& {0}) {{\n"
    "    float d = {2};\n"
    "    if ({0}_factor(args) != 0.0f) d = {3};\n"
    "    return d;\n"
    "}}\n";

/// The same, then {4} is the unit's type and {5} that type as a parameter. It returns early: with the form above, ptxas
/// takes other registers for an operand in the ring.
constexpr std::string_view kReadingFinishOfSeveral =
    "// Elements of D from their sums of products; `{0}` reads those of {1}.\n"
    "template <typename Read{1}>\n"
    "__device__ __forceinline__ {4} finish(const GemmArgs& args, {5} sum, const Read{1}& {0}) {{\n"
    "    const {4} d = {2};\n"
    "    if ({0}_factor(args) == 0.0f) return d;\n"
    "    return {3};\n"
    "}}\n";

constexpr std::string_view kFinishOfRead =
    "// An element of D from its sum of products; {0} is 0 where {1} is not read.\n"
    "__device__ __forceinline__ float finish(const GemmArgs& args, float sum, float {0}) {{\n"
    "    return {2};\n"
    "}}\n";

constexpr std::string_view kPairProduct =
    "__device__ __forceinline__ float2 operator*(float factor, float2 pair) {\n"
    "    return make_float2(factor * pair.x, factor * pair.y);\n"
    "}\n";

constexpr std::string_view kAtomProduct =
    "__device__ __forceinline__ Atom operator*(float factor, Atom atom) {\n"
    "    return {factor * atom.pair[0], factor * atom.pair[1]};\n"
    "}\n";

constexpr std::string_view kPairFma =
    "__device__ __forceinline__ float2 fmaf(float factor, float2 pair, float2 sum) {\n"
    "    return make_float2(fmaf(factor, pair.x, sum.x), fmaf(factor, pair.y, sum.y));\n"
    "}\n";

constexpr std::string_view kAtomFma =
    "__device__ __forceinline__ Atom fmaf(float factor, const Atom& atom, Atom sum) {\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < 2; ++i) {\n"
    "        sum.pair[i].x = fmaf(factor, atom.pair[i].x, sum.pair[i].x);\n"
    "        sum.pair[i].y = fmaf(factor, atom.pair[i].y, sum.pair[i].y);\n"
    "    }\n"
    "    return sum;\n"
    "}\n";

/// "scalar * acc", or that "+ scalar * operand" with the scalar as the operand's guard.
struct ScaledSum {
    std::int32_t whole = -1;
    std::int32_t sum = -1;                     ///< the part without the operand
    const EpilogueOperand* operand = nullptr;  ///< null: there is none
    std::int32_t factor = -1;                  ///< of the operand
};

class ScaledSumFinder {
public:
    explicit ScaledSumFinder(const EpilogueParts& parts) : parts_(parts) {}

    [[nodiscard]] std::optional<ScaledSum> find() const {
        if (parts_.outputs.size() != 1 || parts_.outputs[0].name != "d" || parts_.pairs != EpiloguePairs::none)
            return std::nullopt;
        const std::int32_t root = parts_.outputs[0].value;
        if (scales_acc(root)) return ScaledSum{.whole = root, .sum = root};
        if (node(root).operation != EpilogueOperation::add) return std::nullopt;
        const std::int32_t left = node(root).arguments[0], right = node(root).arguments[1];
        const EpilogueOperand* const operand = guarded(right);
        if (operand == nullptr || !scales_acc(left)) return std::nullopt;
        return ScaledSum{.whole = root, .sum = left, .operand = operand, .factor = node(right).arguments[0]};
    }

private:
    [[nodiscard]] const EpilogueNode& node(std::int32_t place) const {
        return parts_.nodes[static_cast<std::size_t>(place)];
    }
    [[nodiscard]] const EpilogueOperand* operand(std::int32_t place) const {
        const EpilogueNode& one = node(place);
        return one.operation == EpilogueOperation::operand ? &parts_.operands[static_cast<std::size_t>(one.which)]
                                                           : nullptr;
    }
    [[nodiscard]] bool is_scalar(std::int32_t place) const {
        return operand(place) != nullptr && operand(place)->is_scalar;
    }
    [[nodiscard]] bool scales_acc(std::int32_t place) const {
        const EpilogueNode& product = node(place);
        return product.operation == EpilogueOperation::multiply && is_scalar(product.arguments[0]) &&
               node(product.arguments[1]).operation == EpilogueOperation::acc;
    }
    /// Null where the product is not of a scalar and an operand that it guards.
    [[nodiscard]] const EpilogueOperand* guarded(std::int32_t place) const {
        const EpilogueNode& product = node(place);
        if (product.operation != EpilogueOperation::multiply || !is_scalar(product.arguments[0])) return nullptr;
        const EpilogueOperand* const factor = operand(product.arguments[1]);
        return factor == nullptr || factor->guards.empty() ? nullptr : factor;
    }

    const EpilogueParts& parts_;
};

class UnitWriter {
public:
    UnitWriter(const EpilogueParts& parts, const ScaledSum& found, FinishUnit unit)
        : parts_(parts), found_(found), unit_(unit) {}

    [[nodiscard]] std::string write() const {
        if (found_.operand == nullptr) return operators() + filled(kPlainFinish, type(), parameter(), sum());
        const std::string& name = found_.operand->name;
        return operators() + filled(kFactorText, name, title(), text("").of(found_.factor)) + with_operand(name);
    }

private:
    template <typename... Values>
    static std::string filled(std::string_view text, const Values&... values) {
        return fmt::format(fmt::runtime(text), values...);
    }
    [[nodiscard]] std::string_view type() const {
        return unit_ == FinishUnit::atom ? "Atom" : unit_ == FinishUnit::pair ? "float2" : "float";
    }
    [[nodiscard]] std::string_view parameter() const { return unit_ == FinishUnit::atom ? "const Atom&" : type(); }
    /// "C" of c.
    [[nodiscard]] std::string title() const {
        std::string name = found_.operand->name;
        name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
        return name;
    }

    /// Defines the operators that a float has, but a struct of floats lacks.
    [[nodiscard]] std::string operators() const {
        if (unit_ == FinishUnit::element || unit_ == FinishUnit::with_operand) return {};
        const bool is_atom = unit_ == FinishUnit::atom;
        std::string all(kPairProduct);
        if (is_atom) all += kAtomProduct;
        if (found_.operand != nullptr) all += is_atom ? kAtomFma : kPairFma;
        return all + '\n';
    }

    /// Expressions in which an operand is called by its name and these signs: "c()".
    [[nodiscard]] ExpressionText text(std::string_view call) const {
        return {parts_, ExpressionText::Language::cuda, [this, call](const EpilogueNode& node) {
                    if (node.operation == EpilogueOperation::acc) return std::string("sum");
                    const EpilogueOperand& operand = parts_.operands[static_cast<std::size_t>(node.which)];
                    return operand.is_scalar ? "args." + operand.name : operand.name + std::string(call);
                }};
    }
    [[nodiscard]] std::string sum() const { return text("").of(found_.sum); }
    [[nodiscard]] std::string with_operand(const std::string& name) const {
        if (unit_ == FinishUnit::with_operand) return filled(kFinishOfRead, name, title(), text("").of(found_.whole));
        ExpressionText reading = text("()");
        reading.name(found_.sum, "d");
        const std::string whole = reading.of(found_.whole);
        if (unit_ == FinishUnit::element) return filled(kReadingFinish, name, title(), sum(), whole);
        return filled(kReadingFinishOfSeveral, name, title(), sum(), whole, type(), parameter());
    }

    const EpilogueParts& parts_;
    const ScaledSum& found_;
    FinishUnit unit_;
};

}  // namespace

Epilogue default_epilogue(DataType d, std::optional<DataType> c, bool broadcasts_c) {
    EpilogueTypes types{.d = d};
    if (c) types.given["c"] = *c;
    return read_epilogue(!c ? kPlainText : broadcasts_c ? kTextWithBroadcastC : kTextWithC, types);
}

bool has_unit_text(const Epilogue& epilogue) { return ScaledSumFinder(epilogue.parts()).find().has_value(); }

std::string render_by_unit(const Epilogue& epilogue, FinishUnit unit) {
    const std::optional<ScaledSum> found = ScaledSumFinder(epilogue.parts()).find();
    if (!found) throw Error(fmt::format("an epilogue '{}' has no text by units", epilogue.text()));
    return UnitWriter(epilogue.parts(), *found, unit).write();
}

}  // namespace jitgemm
