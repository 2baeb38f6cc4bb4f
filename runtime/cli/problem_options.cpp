#include "runtime/cli/problem_options.hpp"

#include "generator/base/gemm_spec_fields.hpp"
#include "generator/base/operand.hpp"
#include "generator/base/spec_text.hpp"
#include "generator/families/kernel_name.hpp"
#include "jitgemm/error.hpp"
#include "runtime/cli/cli_context.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/support/default_math.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace jitgemm::cli {
namespace {

using Reasons = std::vector<std::string>;

/// An option of the command line beside the fields of a spec.
struct OptionRow {
    std::string_view name;
    std::string_view description;
};
constexpr std::array kOtherOptions{
    OptionRow{"type", "Type of A and B; D and the accumulator follow from it (default: bf16)"},
    OptionRow{"alpha", "Factor alpha in D = alpha A B + beta C (default: 1)"},
    OptionRow{"beta", "Factor beta (default: 1 if C is named, else 0)"},
};

/// The text of a problem has these already.
constexpr std::array<std::string_view, 5> kShapeOptions{"m", "n", "k", "type", "layout"};

constexpr std::string_view kGroupSizesKey = "group-sizes=";

struct TextAndDraw {
    std::string text;
    std::optional<GroupDraw> draw;
};

/// The text of a spec without the word that says how groups are timed, which is no part of the problem.
TextAndDraw without_group_sizes(std::string_view text) {
    TextAndDraw result{std::string(text), {}};
    if (text.find(kGroupSizesKey) == std::string_view::npos) return result;
    std::vector<std::string_view> words = split_spec_words(spec_words(text));
    const auto is_key = [](std::string_view word) { return word.starts_with(kGroupSizesKey); };
    const auto found = std::ranges::find_if(words, is_key);
    if (found == words.end()) return result;
    result.draw = parse_group_draw("group-sizes", found->substr(kGroupSizesKey.size()));
    words.erase(found);
    if (std::ranges::any_of(words, is_key)) throw UsageError("group-sizes stands twice: leave one out");
    result.text = fmt::format("{}", fmt::join(words, " "));
    return result;
}

/// Whether the text of a problem says what an option would.
bool says(std::span<const SaidField> fields, std::string_view option) {
    if (std::ranges::find(kShapeOptions, option) != kShapeOptions.end()) return true;
    const auto row = std::ranges::find(gemm_spec_fields(), option, &GemmSpecField::option);
    return row != gemm_spec_fields().end() && std::ranges::find(fields, row->key, &SaidField::key) != fields.end();
}

void read_scalar(std::string_view option, const std::string& text, float& value, Reasons& reasons) {
    char* stop = nullptr;
    value = std::strtof(text.c_str(), &stop);
    const bool whole = !text.empty() && stop == text.c_str() + text.size();
    if (!whole || !std::isfinite(value))
        reasons.push_back(fmt::format("--{} is '{}': expected a finite number", option, text));
}

/// Reads the options that were given into their fields and collects what is wrong with them.
class SpecReader {
public:
    explicit SpecReader(const ProblemOptions& options) : options_(options) {}

    void fields(GemmSpec& spec) {
        GemmSpec of_type;  // --type was read into the base already
        for (const GemmSpecField& row : gemm_spec_fields()) {
            field(row.option, row, spec);
            if (row.key == "a") field("type", row, of_type);
        }
    }

    void scalar(std::string_view option, float& value) {
        if (const auto text = options_.text(option)) read_scalar(option, *text, value, reasons_);
    }

    /// A C that is said not to be there, and is named or read all the same.
    void refuse_contradicted_none(bool with_c, float beta) {
        if (!says_no_c_) return;
        if (with_c)
            reasons_.emplace_back("--c-type is none, but --c names a C: leave one out");
        else if (beta != 0.0F)
            reasons_.push_back(fmt::format("--c-type is none, but --beta is {}, which reads C: leave one out", beta));
    }

    void refuse_without_c() {
        for (const GemmSpecField& row : gemm_spec_fields()) {
            if (!row.is_of_c || row.key == "c" || !options_.given(row.option)) continue;
            reasons_.push_back(
                fmt::format("--{} says how C lies, and no C is read: name its type with --c-type, or a "
                            "--beta that is not 0",
                            row.option));
        }
    }

    /// A text uses the scalars that it names.
    void refuse_unnamed_scalars(const ProblemRequest& request) {
        if (const EpilogueParts* const parts = parts_of(request.spec)) {
            refuse_unnamed(*parts, "alpha", request.alpha, 1.0F);
            refuse_unnamed(*parts, "beta", request.beta, 0.0F);
        }
    }

    [[nodiscard]] const Reasons& reasons() const { return reasons_; }

private:
    void refuse_unnamed(const EpilogueParts& parts, std::string_view name, float value, float usual) {
        if (value != usual && std::ranges::find(parts.operands, name, &EpilogueOperand::name) == parts.operands.end())
            reasons_.push_back(
                fmt::format("--{0} is {1}, but the epilogue has no {0}: name it in the text", name, value));
    }
    void field(std::string_view option, const GemmSpecField& row, GemmSpec& spec) {
        const auto text = options_.text(option);
        if (!text) return;
        try {
            read_field(spec, row, fmt::format("--{}", option), *text);
            says_no_c_ |= row.key == "c" && !spec.c;
        } catch (const WordError& error) {
            reasons_.emplace_back(error.what());
        }
    }

    const ProblemOptions& options_;
    Reasons reasons_;
    bool says_no_c_ = false;
};

/// C is read when it is named or when beta asks for it; its type is D's unless said otherwise.
void read_c(SpecReader& reader, bool with_c, ProblemRequest& request) {
    const bool named = with_c || request.spec.c;
    request.beta = named ? 1.0F : 0.0F;
    reader.scalar("alpha", request.alpha);
    reader.scalar("beta", request.beta);
    reader.refuse_contradicted_none(with_c, request.beta);
    if (!request.spec.epilogue.empty()) {  // a text reads what it names
        reader.refuse_unnamed_scalars(request);
        return reader.refuse_without_c();
    }
    if (!named && request.beta == 0.0F) return reader.refuse_without_c();
    if (!request.spec.c) request.spec.c = request.spec.d;
}

/// The part of a problem that its kernel tells. Alignments that a problem has by itself are not raised.
GemmSpec spec_of_kernel(const GemmSignature& kernel) {
    GemmSpec spec;
    spec.layout = kernel.layout;
    spec.a = kernel.a;
    spec.b = kernel.b;
    spec.c = kernel.c;
    spec.d = kernel.d;
    spec.accumulator = kernel.accumulator;
    spec.symmetric = kernel.symmetric;
    return spec;
}

/// A kernel made for less alignment than the problem has serves it when the problem promises no more than that.
/// (Of a D in columns, or of one, kernels compute the transpose: their A is the problem's B.)
void lower_alignments(GemmSpec& spec, const GemmSignature& kernel) {
    const Problem problem = problem_of(spec);
    const GemmSpec& full = problem.asked;
    const int of_a = problem.transposed ? kernel.align_b : kernel.align_a;
    const int of_b = problem.transposed ? kernel.align_a : kernel.align_b;
    if (spec.align_a == 0 && of_a < full.align_a) spec.align_a = of_a;
    if (spec.align_b == 0 && of_b < full.align_b) spec.align_b = of_b;
    if (spec.align_d == 0 && kernel.align_d < full.align_d) spec.align_d = kernel.align_d;
}

void refuse(const Reasons& reasons) {
    if (!reasons.empty()) throw SpecError("invalid problem", reasons);
}

}  // namespace

void ProblemOptions::declare(CLI::App& app, const char* group, std::string_view name, std::string_view description) {
    const auto keep = [this, key = std::string(name)](const std::string& value) { given_[key] = value; };
    app.add_option_function<std::string>(fmt::format("--{}", name), keep, std::string(description))
        ->group(group)
        ->type_name("");
}

void ProblemOptions::declare_problem(CLI::App& app) {
    app.add_option(
           "shape", shape_line_,
           "The problem as text, instead of the options: TYPE LAYOUT M N K [KEY=VALUE ...], or gemm-v1 KEY=VALUE ...")
        ->expected(-1)
        ->type_name("");
    for (const GemmSpecField& field : gemm_spec_fields()) declare(app, "Problem", field.option, field.help);
    for (const OptionRow& row : kOtherOptions) declare(app, "Problem", row.name, row.description);
}

void ProblemOptions::declare_selection(CLI::App& app) {
    declare(app, "Kernel", "kernel", "Use exactly the kernel with this name");
    declare(app, "Kernel", "family", "Choose within this kernel family");
    declare(app, "Kernel", "param", "Fix parameters of the kernel: name=value[,name=value...]; may be repeated");
    app.get_option("--param")->join(',');
    declare(app, "Kernel", "templates", "Read the kernel templates from this folder instead of the built-in ones");
}

void ProblemOptions::declare_for_target(CLI::App& app) {
    declare_problem(app);
    declare_selection(app);
    declare(app, "Target", "arch", "Architecture to generate for: sm_80, sm_90a ... (default: this machine's GPU)");
    declare(app, "Target", "gpu", "GPU to generate for, by name: h200, a100, rtx4090 ...");
}

void ProblemOptions::declare_device(CLI::App& app) {
    declare(app, "Target", "device", "cuda or cuda:N (default: JITGEMM_DEVICE, else cuda)");
}

void ProblemOptions::declare_any_device(CLI::App& app, std::string_view fallback) {
    declare(app, "Target", "device",
            fmt::format(
                "cuda, cuda:N, emulator, emulator:ARCH, or auto: a GPU if there is one, else the emulator (default: "
                "JITGEMM_DEVICE, else {})",
                fallback));
    declare(app, "Target", "arch", "Architecture of the emulator: sm_80, sm_90a ... (default: sm_80)");
    declare(app, "Target", "emulator-limit", "Largest emulated launch in GFLOP, 0 for no limit (default: 20)");
}

std::optional<std::string> ProblemOptions::text(std::string_view option) const {
    const auto found = given_.find(option);
    return found == given_.end() ? std::nullopt : std::optional(found->second);
}

std::string ProblemOptions::text_or_empty(std::string_view option) const {
    return text(option).value_or(std::string());
}

RowRange ProblemOptions::take_row_range() {
    if (has_shape_line()) {
        RangedProblem ranged = take_rows(fmt::format("{}", fmt::join(shape_line_, " ")));
        shape_line_ = {std::move(ranged.text)};
        return ranged.rows;
    }
    const auto m = given_.find("m");
    if (m == given_.end()) return {};  // problem() says that it is missing
    const RowRange rows = parse_rows(m->second);
    m->second = std::to_string(rows.first);
    return rows;
}

bool ProblemOptions::set_default_size(std::int64_t extent) {
    if (!given("kernel") || has_shape_line() || given("m") || given("n") || given("k")) return false;
    for (const char* option : {"m", "n", "k"}) given_[option] = std::to_string(extent);
    return true;
}

bool ProblemOptions::set_default(std::string_view option, std::string value) {
    const bool in_shape_line = has_shape_line() && std::ranges::find(kShapeOptions, option) != kShapeOptions.end();
    if (in_shape_line || given(option)) return false;
    given_.emplace(option, std::move(value));
    return true;
}

GemmSpec ProblemOptions::base_of_type() const {
    Reasons missing;
    for (const std::string_view option : {"m", "n", "k"}) {
        if (!given(option)) missing.push_back(fmt::format("--{} is missing", option));
    }
    if (!missing.empty()) {
        throw UsageError("no problem named; try a shape line 'bf16 tn 4096 4096 4096', or --m --n --k", missing);
    }
    if (given("type") || given("a-type")) {
        // A word that is no type is complained about together with the rest.
        const std::optional<DataType> type = data_type_of_word(text_or_empty(given("type") ? "type" : "a-type"));
        return type ? gemm_spec_of_type(*type) : GemmSpec();
    }
    return given("kernel") ? spec_of_kernel(parse_kernel_name(text_or_empty("kernel")).signature) : GemmSpec();
}

ProblemRequest ProblemOptions::problem() const {
    ProblemRequest request = has_shape_line() ? problem_of_text(fmt::format("{}", fmt::join(shape_line_, " ")))
                                              : problem_over(base_of_type());
    if (given("kernel")) lower_alignments(request.spec, parse_kernel_name(text_or_empty("kernel")).signature);
    return request;
}

ProblemRequest ProblemOptions::problem_over(const GemmSpec& base, bool with_c) const {
    ProblemRequest request;
    request.spec = base;
    SpecReader reader(*this);
    reader.fields(request.spec);
    read_c(reader, with_c, request);
    refuse(reader.reasons());
    refuse(problems(request.spec));
    request.spec = with_default_math(request.spec, options());
    return request;
}

ProblemRequest ProblemOptions::problem_of_text(std::string_view given) const {
    const auto [text, draw] = without_group_sizes(given);
    const GemmSpec base = parse_spec_text(text);
    const std::vector<SaidField> said = said_fields(spec_words(text));
    for (const auto& [option, value] : given_) {
        if (!says(said, option)) continue;
        throw UsageError(fmt::format("the {} and --{} say the same thing: leave one out",
                                     names_format(text) ? "spec" : "shape line", option));
    }
    ProblemRequest request = problem_over(base);
    request.group_draw = draw;
    if (draw && !has_groups(request.spec))
        refuse({fmt::format("group-sizes is {}, but the problem has no groups", to_string(draw->sizes))});
    if (request.beta != 0 && !base.c && says(said, "c-type"))
        refuse({fmt::format("beta is {} but the spec has no C", request.beta)});
    return request;
}

void ProblemOptions::allow_only(std::span<const std::string_view> allowed, std::string_view source) const {
    Reasons reasons;
    if (has_shape_line())
        reasons.push_back(fmt::format("the shape line is given, but the problem comes from {}: leave it out", source));
    for (const auto& [option, value] : given_) {
        if (std::ranges::find(allowed, option) != allowed.end()) continue;
        reasons.push_back(fmt::format("--{} is given, but this comes from {}: leave it out", option, source));
    }
    if (!reasons.empty()) throw UsageError("wrong usage", reasons);
}

Options ProblemOptions::options() const {
    Options options = tool_options();
    if (const auto device = text("device")) options.device = *device;
    if (const auto folder = text("templates")) options.template_directory = *folder;
    options.kernel = text_or_empty("kernel");
    options.family = text_or_empty("family");
    options.parameters = text_or_empty("param");
    if (given("math")) options.math = Math::ieee;  // the problem has its own
    return options;
}

Selection ProblemOptions::selection() const {
    Selection selection;
    selection.kernel = text("kernel");
    selection.family = text("family");
    if (const auto parameters = text("param")) selection.parameters = parse_parameters(*parameters);
    return selection;
}

}  // namespace jitgemm::cli
