#pragma once

#include "generator/heuristics.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "jitgemm/options.hpp"
#include "runtime/cli/row_range.hpp"

#include <CLI/CLI.hpp>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm::cli {

/// What is asked and what it is launched with.
struct ProblemRequest {
    GemmSpec spec;  ///< as asked, unresolved
    float alpha = 1.0F;
    float beta = 0.0F;  ///< 1 by default where C is named, else 0
};

/// The options that name a problem and a kernel for it, shared by the verbs. Values are kept as typed and read all at
/// once, so that one message names everything wrong with them.
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

    /// Makes the problem a cube of that extent where --kernel names a kernel and nothing names a size; true if it did.
    bool set_default_size(std::int64_t extent);

    /// Gives the option that value where neither it nor a shape line says it; true if it did.
    bool set_default(std::string_view option, std::string value);

    /// The problem the options name. What --kernel fixes and no option says (types, layout, alignment) is taken from
    /// the kernel. Throws UsageError, SpecError or ConfigError with all that is wrong.
    [[nodiscard]] ProblemRequest problem() const;
    /// The same on top of a problem that came from elsewhere: a line of a shape file, the headers of array files.
    /// `with_c`: C is there whatever the options say, so that it is read unless --beta is 0.
    [[nodiscard]] ProblemRequest problem_over(const GemmSpec& base, bool with_c = false) const;

    /// The same of the text of a spec. Throws UsageError for an option that says what the text says.
    [[nodiscard]] ProblemRequest problem_of_text(std::string_view text) const;

    /// Throws UsageError when an option was given that `source` (a banner, a file) answers already: all but those
    /// allowed.
    void allow_only(std::span<const std::string_view> allowed, std::string_view source) const;

    /// The settings of the environment with what these options say on top.
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
