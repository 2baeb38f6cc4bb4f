#pragma once

#include "generator/heuristics.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "jitgemm/options.hpp"
#include "runtime/cli/group_draw.hpp"
#include "runtime/cli/row_range.hpp"

#include <CLI/CLI.hpp>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm::cli {

/// A problem, and the scalars of its launches.
struct ProblemRequest {
    GemmSpec spec;  ///< as asked, unresolved
    float alpha = 1.0F;
    float beta = 0.0F;                                   ///< by default 1 if C is named, else 0
    std::optional<GroupDraw> group_draw = std::nullopt;  ///< the text's own: "group-sizes=random"
};

/// The options that name a problem and a kernel for it. The verbs share them. Values are kept as typed and read
/// together, so that one message names all errors.
class ProblemOptions {
public:
    /// --m … --align-d, --alpha, --beta, and the positional text of a spec, `bf16 tn 4096 4096 4096`.
    void declare_problem(CLI::App& app);
    /// --kernel, --family, --param, --templates.
    void declare_selection(CLI::App& app);
    /// Both, and --arch and --gpu: for verbs that need no device.
    void declare_for_target(CLI::App& app);
    /// --device, for verbs that need a GPU.
    void declare_device(CLI::App& app);
    /// --device, --arch and --emulator-limit, for verbs that the emulator serves too.
    void declare_any_device(CLI::App& app, std::string_view fallback);

    [[nodiscard]] bool given(std::string_view option) const { return given_.contains(option); }
    [[nodiscard]] bool has_shape_line() const { return !shape_line_.empty(); }

    /// The range of m that the shape line or --m names, "1:8192". From then on the problem is that of its first m.
    [[nodiscard]] RowRange take_row_range();

    /// Makes the problem a cube of this extent if --kernel names a kernel and nothing names a size. True if it did.
    bool set_default_size(std::int64_t extent);

    /// Sets the option to this value if neither the option nor a shape line sets it. True if it did.
    bool set_default(std::string_view option, std::string value);

    /// The problem that the options name. Types, layout and alignment that no option sets come from --kernel. Throws
    /// UsageError, SpecError or ConfigError with all errors.
    [[nodiscard]] ProblemRequest problem() const;
    /// The same on top of a problem from elsewhere: a line of a shape file, or the headers of array files. `with_c`:
    /// there is a C whatever the options say, and it is read unless --beta is 0.
    [[nodiscard]] ProblemRequest problem_over(const GemmSpec& base, bool with_c = false) const;

    /// The same for the text of a spec, which may have "group-sizes=" besides. Throws UsageError for an option that
    /// repeats a part of the text.
    [[nodiscard]] ProblemRequest problem_of_text(std::string_view text) const;

    /// Throws UsageError for an option whose value follows from `source` (a banner, a file). All options do, except
    /// those allowed.
    void allow_only(std::span<const std::string_view> allowed, std::string_view source) const;

    /// The settings of the environment, overridden by these options.
    [[nodiscard]] Options options() const;
    [[nodiscard]] Selection selection() const;
    [[nodiscard]] std::optional<std::string> text(std::string_view option) const;

private:
    void declare(CLI::App& app, const char* group, std::string_view name, std::string_view description);
    [[nodiscard]] std::string text_or_empty(std::string_view option) const;
    [[nodiscard]] GemmSpec base_of_type() const;

    std::vector<std::string> shape_line_;
    std::map<std::string, std::string, std::less<>> given_;  // option without its dashes → value
};

}  // namespace jitgemm::cli
