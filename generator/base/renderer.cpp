#include "generator/base/renderer.hpp"

#include "generator/base/condition.hpp"
#include "generator/base/embedded_templates.hpp"
#include "generator/base/trim.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

namespace jitgemm {
namespace {

constexpr std::string_view kRulerStart = "// ---- ";
constexpr std::string_view kDefaultMacros = "defaults/params.cuh";
constexpr std::size_t kLineWidth = 120;

/// "// ---- name -----...": as wide as a line may be.
std::string ruler(std::string_view name) {
    const std::string start = fmt::format("{}{} ", kRulerStart, name);
    return start + std::string(kLineWidth - std::min(kLineWidth, start.size()), '-');
}

/// The name in a ruler that a template wrote itself, of whatever length: "// ---- name".
std::string ruler_name(std::string_view line) {
    if (!line.starts_with(kRulerStart)) return {};
    line.remove_prefix(kRulerStart.size());
    return std::string(line.substr(0, line.find_last_not_of("- \t\r") + 1));
}

/// A file that continues the one that includes it, so that no ruler stands between them.
bool is_inline(std::string_view name) { return name.ends_with(".inl"); }

/// Switches of clang-format belong to the template, so the renderer leaves them out of the kernel.
bool is_format_switch(std::string_view line) {
    line = trim(line);
    return line == "// clang-format off" || line == "// clang-format on";
}

/// "    GEMM_STORE_SUMS();" is "GEMM_STORE_SUMS": a place for a statement that the rendering writes. In a comment,
/// "// GEMM_LOOP_NEST();", it is a place for more lines of the comment. "GEMM_KERNEL() {" is one for the head of a
/// function, up to its first statements.
std::string_view statement_name(std::string_view line) {
    constexpr std::string_view kCall = "();", kHead = "() {";
    line = trim(line);
    if (line.starts_with("// ")) line.remove_prefix(3);
    if (!line.starts_with("GEMM_") || !(line.ends_with(kCall) || line.ends_with(kHead))) return {};
    line.remove_suffix(line.ends_with(kCall) ? kCall.size() : kHead.size());
    const bool is_name = line.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == std::string_view::npos;
    return is_name ? line : std::string_view();
}

std::size_t indentation(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

/// Lines moved to the left or right, so that the first one begins at `column`. A preprocessor line begins at 0.
std::string moved_to(std::size_t column, std::string_view lines) {
    const std::size_t first = indentation(lines);
    std::string result;
    while (!lines.empty()) {
        const std::size_t end = std::min(lines.find('\n'), lines.size());
        const std::string_view line = lines.substr(0, end);
        const std::size_t own = indentation(line);
        const std::size_t target = line.starts_with('#') ? 0 : column + own - std::min(first, own);
        if (own < line.size()) result += std::string(target, ' ').append(line.substr(own));
        result += '\n';
        lines.remove_prefix(std::min(end + 1, lines.size()));
    }
    return result;
}

/// A preprocessor line taken apart: "#  if X  // why" is {"if", "X"}. Keyword empty: no directive.
struct Directive {
    std::string_view keyword;
    std::string argument;
};

std::string without_comments(std::string_view text) {
    std::string result(text.substr(0, text.find("//")));
    for (std::size_t begin = 0; (begin = result.find("/*", begin)) != std::string::npos;) {
        const std::size_t end = result.find("*/", begin + 2);
        result.replace(begin, end == std::string::npos ? end : end + 2 - begin, " ");
    }
    return std::string(trim(result));
}

Directive parse_directive(std::string_view line) {
    line = trim(line);
    if (!line.starts_with('#')) return {};
    line = trim(line.substr(1));
    const std::size_t length = std::min(line.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), line.size());
    return {line.substr(0, length), without_comments(line.substr(length))};
}

/// One #if that is open.
struct Conditional {
    int line;         ///< of the #if
    bool outer_live;  ///< the lines around it are kept
    bool resolved;    ///< its condition names GEMM_ macros: its directives vanish; otherwise all of it passes through
    bool live;        ///< the branch being read is kept
    bool taken;       ///< one of its branches was kept
    bool has_else = false;
};

/// A template being read, and how far.
struct File {
    std::string name;
    std::string section = {};  ///< the ruler its lines stand under; empty: none
    int line = 0;
    std::vector<Conditional> conditionals = {};

    [[nodiscard]] bool live() const { return conditionals.empty() || conditionals.back().live; }

    [[noreturn]] void fail(std::string_view what) const { fail_at(line, what); }
    [[noreturn]] void fail_at(int where, std::string_view what) const {
        throw RenderError(fmt::format("{}:{}: {}", name, where, what));
    }

    [[nodiscard]] std::int64_t evaluate(std::string_view condition, const MacroValues& macros) const {
        try {
            return evaluate_condition(condition, macros);
        } catch (const Error& error) {
            fail(error.what());
        }
    }

    /// The #if that an #elif, #else or #endif belongs to.
    [[nodiscard]] Conditional& innermost(std::string_view keyword) {
        if (conditionals.empty()) fail(fmt::format("#{} without #if", keyword));
        return conditionals.back();
    }
};

/// "#define GEMM_X 1" is {"GEMM_X", "1"}.
std::pair<std::string_view, std::string_view> definition(std::string_view argument) {
    const std::size_t end = std::min(argument.find(' '), argument.size());
    return {argument.substr(0, end), trim(argument.substr(end))};
}

/// Given values, and the defaults of all others; a default may name what stands above it.
MacroValues with_defaults(MacroValues values, const TemplateSet& templates) {
    const std::string* text = templates.find(kDefaultMacros);
    std::string_view rest = text == nullptr ? std::string_view() : *text;
    for (File file{.name = std::string(kDefaultMacros)}; !rest.empty();) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const Directive directive = parse_directive(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        ++file.line;
        if (directive.keyword != "define") continue;
        const auto [name, value] = definition(directive.argument);
        if (!values.contains(name)) values.emplace(name, static_cast<int>(file.evaluate(value, values)));
    }
    return values;
}

class Renderer {
public:
    Renderer(const TemplateSet& templates, const RenderInput& input)
        : templates_(templates), input_(input), macros_(with_defaults(input.macros, templates)) {}

    std::string render(std::string_view asked) {
        const std::string root = name_of(std::string(asked));
        const std::string* text = templates_.find(root);
        if (text == nullptr) throw RenderError(fmt::format("{}:1: there is no such template", root));
        append_file({.name = root}, *text);
        while (output_.ends_with("\n\n")) output_.pop_back();
        return std::move(output_);
    }

private:
    void append_file(File file, std::string_view text) {
        included_.insert(file.name);
        open_files_.push_back(file.name);
        while (!text.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size());
            ++file.line;
            append_line(file, text.substr(0, end));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        if (!file.conditionals.empty()) file.fail_at(file.conditionals.back().line, "this #if has no #endif");
        open_files_.pop_back();
    }

    void append_line(File& file, std::string_view line) {
        const Directive directive = parse_directive(line);
        const std::string_view keyword = directive.keyword;
        if (keyword == "if" || keyword == "ifdef" || keyword == "ifndef")
            return open_conditional(file, directive, line);
        if (keyword == "elif") return next_branch(file, directive, line);
        if (keyword == "else") return last_branch(file, line);
        if (keyword == "endif") return close_conditional(file, line);
        if (!file.live()) return;
        if (keyword == "pragma" && directive.argument == "once") return;
        if (keyword == "include" && directive.argument.starts_with('"')) return include(file, directive.argument);
        const std::string_view statement = statement_name(line);
        if (!statement.empty()) return append_statement(file, statement, indentation(line));
        write(file, line);
    }

    void append_statement(const File& file, std::string_view name, std::size_t column) {
        const auto generated = input_.generated.find(name);
        if (generated == input_.generated.end()) file.fail(fmt::format("there is no statement for {}()", name));
        append_file({.name = std::string(name), .section = file.section}, moved_to(column, generated->second));
    }

    void open_conditional(File& file, const Directive& directive, std::string_view line) {
        if (!file.live()) {
            file.conditionals.push_back(
                {.line = file.line, .outer_live = false, .resolved = true, .live = false, .taken = true});
            return;
        }
        const std::string condition = condition_of(directive);
        const bool resolved = names_gemm_macro(condition);
        const bool live = !resolved || file.evaluate(condition, macros_) != 0;
        if (!resolved) write(file, line);
        file.conditionals.push_back(
            {.line = file.line, .outer_live = true, .resolved = resolved, .live = live, .taken = live});
    }

    static std::string condition_of(const Directive& directive) {
        if (directive.keyword == "ifdef") return fmt::format("defined({})", directive.argument);
        if (directive.keyword == "ifndef") return fmt::format("!defined({})", directive.argument);
        return directive.argument;
    }

    void next_branch(File& file, const Directive& directive, std::string_view line) {
        Conditional& conditional = file.innermost("elif");
        if (conditional.has_else) file.fail("#elif after #else");
        if (!conditional.outer_live) return;
        if (!conditional.resolved) return write(file, line);
        const bool holds = file.evaluate(directive.argument, macros_) != 0;
        conditional.live = holds && !conditional.taken;
        conditional.taken = conditional.taken || holds;
    }

    void last_branch(File& file, std::string_view line) {
        Conditional& conditional = file.innermost("else");
        if (conditional.has_else) file.fail("a second #else");
        conditional.has_else = true;
        if (!conditional.outer_live) return;
        if (!conditional.resolved) return write(file, line);
        conditional.live = !conditional.taken;
    }

    void close_conditional(File& file, std::string_view line) {
        const Conditional conditional = file.innermost("endif");
        file.conditionals.pop_back();
        if (conditional.outer_live && !conditional.resolved) write(file, line);
    }

    void include(const File& file, std::string_view quoted) {
        const std::string asked(quoted.substr(1, quoted.find('"', 1) - 1));
        const std::string& name = name_of(asked);
        if (name.empty()) return;
        if (std::find(open_files_.begin(), open_files_.end(), name) != open_files_.end()) {
            file.fail(fmt::format("\"{}\" includes itself: {} -> {}", name, fmt::join(open_files_, " -> "), name));
        }
        if (included_.contains(name) && !is_inline(name)) return;
        for (const Conditional& conditional : file.conditionals) {
            if (!conditional.resolved)
                file.fail(fmt::format("\"{}\" is included inside an #if that the renderer does not resolve", name));
        }
        append_file({.name = name, .section = is_inline(name) ? file.section : section_of(name)}, text_of(file, name));
    }

    /// The template that a name stands for in this rendering.
    [[nodiscard]] const std::string& name_of(const std::string& asked) const {
        const auto piece = input_.pieces.find(asked);
        return piece == input_.pieces.end() ? asked : piece->second;
    }

    /// Generated text comes before a template of that name.
    [[nodiscard]] const std::string& text_of(const File& file, const std::string& name) const {
        const auto generated = input_.generated.find(name);
        if (generated != input_.generated.end()) return generated->second;
        const std::string* text = templates_.find(name);
        if (text == nullptr) file.fail(fmt::format("there is no template \"{}\"", name));
        return *text;
    }

    void write(File& file, std::string_view line) {
        if (names_gemm_macro(line)) file.fail(fmt::format("'{}' would be left in the output: {}", "GEMM_", trim(line)));
        if (is_format_switch(line)) return;
        if (trim(line).empty()) return write_blank_line();
        const std::string own_ruler = ruler_name(line);
        if (!own_ruler.empty()) file.section = own_ruler;
        if (!own_ruler.empty() && own_ruler == section_) write_blank_line();  // a new part of the same section
        if (file.section != section_) write_ruler(file.section);
        if (own_ruler.empty()) output_.append(line).push_back('\n');
    }

    /// None, of empty name, at the top of the root.
    void write_ruler(const std::string& name) {
        section_ = name;
        if (name.empty()) return;
        write_blank_line();
        output_ += ruler(name) + '\n';
    }

    /// At most one in a row, and none at the top.
    void write_blank_line() {
        if (!output_.empty() && !output_.ends_with("\n\n")) output_.push_back('\n');
    }

    /// The folder of a template. Generated text has none: its name serves, or a ruler of its own.
    static std::string section_of(const std::string& name) {
        const std::filesystem::path path(name);
        return path.has_parent_path() ? path.parent_path().string() : path.stem().string();
    }

    const TemplateSet& templates_;
    const RenderInput& input_;
    const MacroValues macros_;
    std::string output_;
    std::string section_;  ///< the ruler written last
    std::set<std::string, std::less<>> included_;
    std::vector<std::string> open_files_;  ///< from the root to the file being read
};

bool is_template(const std::filesystem::path& path) {
    return path.extension() == ".cu" || path.extension() == ".cuh" || path.extension() == ".inl";
}

std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (!file) throw RenderError(fmt::format("{}:1: cannot be read", path.string()));
    return text;
}

}  // namespace

const std::string* TemplateSet::find(std::string_view name) const {
    const auto found = files().find(name);
    return found == files().end() ? nullptr : &found->second;
}

const TemplateSet& TemplateSet::embedded() {
    static const TemplateSet templates(embedded_templates());
    return templates;
}

TemplateSet TemplateSet::from_directory(const std::string& directory) {
    if (directory.empty()) return embedded();
    namespace fs = std::filesystem;
    Files files;
    try {
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory)) {
            if (!entry.is_regular_file() || !is_template(entry.path())) continue;
            files.emplace(entry.path().lexically_relative(directory).generic_string(), read_file(entry.path()));
        }
    } catch (const fs::filesystem_error& error) {
        throw RenderError(fmt::format("template folder '{}' cannot be read: {}", directory, error.code().message()));
    }
    if (files.empty()) throw RenderError(fmt::format("template folder '{}' holds no .cu or .cuh file", directory));
    return TemplateSet(std::move(files));
}

std::string render(const TemplateSet& templates, std::string_view root, const RenderInput& input) {
    return Renderer(templates, input).render(root);
}

}  // namespace jitgemm
