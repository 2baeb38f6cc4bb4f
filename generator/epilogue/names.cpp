#include "generator/epilogue/names.hpp"

#include "generator/epilogue/functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace jitgemm {
namespace {

constexpr std::size_t kLongestName = 64;
constexpr std::array<std::string_view, 9> kOwnNames{"acc", "alpha", "beta", "b", "m", "n", "h", "sum", "fast"};

/// Words of Python and of C++ that no name can be.
constexpr std::array<std::string_view, 121> kKeywords{
    "False",        "None",    "True",       "alignas",   "alignof",   "and",          "and_eq",
    "as",           "asm",     "assert",     "async",     "auto",      "await",        "bitand",
    "bitor",        "bool",    "break",      "case",      "catch",     "char",         "char16_t",
    "char32_t",     "char8_t", "class",      "co_await",  "co_return", "co_yield",     "compl",
    "concept",      "const",   "const_cast", "consteval", "constexpr", "constinit",    "continue",
    "decltype",     "def",     "default",    "del",       "delete",    "do",           "double",
    "dynamic_cast", "elif",    "else",       "enum",      "except",    "explicit",     "export",
    "extern",       "false",   "finally",    "float",     "for",       "friend",       "from",
    "global",       "goto",    "if",         "import",    "in",        "inline",       "int",
    "is",           "lambda",  "long",       "mutable",   "namespace", "new",          "noexcept",
    "nonlocal",     "not",     "not_eq",     "nullptr",   "operator",  "or",           "or_eq",
    "pass",         "private", "protected",  "public",    "raise",     "register",     "reinterpret_cast",
    "requires",     "return",  "short",      "signed",    "sizeof",    "static",       "static_assert",
    "static_cast",  "struct",  "switch",     "template",  "this",      "thread_local", "throw",
    "true",         "try",     "typedef",    "typeid",    "typename",  "union",        "unsigned",
    "using",        "virtual", "void",       "volatile",  "wchar_t",   "while",        "with",
    "xor",          "xor_eq",  "yield",      "NULL",      "final",     "override",     "printf"};

/// Names of a kernel's arguments and their types, and of functions that its epilogue calls. The pitches have names, too
/// (is_pitch_field).
constexpr std::array<std::string_view, 26> kKernelNames{
    "a",          "k",        "args",        "counters",  "workspace",  "reduction_parts", "stream",
    "finish",     "Results",  "Reduced",     "reduced",   "fmaf",       "fabsf",           "power",
    "Bits",       "ElementC", "ElementD",    "GemmArgs",  "TensorMap",  "batch",           "groups",
    "group_rows", "offsets",  "source_rows", "row_index", "batch_inner"};

template <typename List>
bool is_in(const List& list, std::string_view name) {
    return std::ranges::find(list, name) != std::ranges::end(list);
}

bool is_device_function(std::string_view name) {
    const auto row = [&](const EpilogueFunction& function) { return function.cuda_name == name; };
    const auto cast = [&](const EpilogueCast& one) { return one.cuda_name == name; };
    return std::ranges::any_of(epilogue_functions(), row) || std::ranges::any_of(epilogue_casts(), cast);
}

/// Whether a kernel may have this field for where an operand lies: "ldx" of x, "ld_up" or "batch_stride_up" of up.
bool is_pitch_field(std::string_view name) {
    return name.starts_with("ld_") || name.starts_with("batch_stride_") || name.starts_with("outer_stride_") ||
           (name.starts_with("ld") && name.size() == 3);
}

}  // namespace

bool is_launch_scalar(std::string_view name) { return name == "alpha" || name == "beta"; }

bool is_reduction_name(std::string_view name) { return name == "sum" || name == "max" || name == "min"; }

std::string hint_at_two_values(std::string_view reduction) {
    return find_epilogue_function(reduction) < 0 ? ""
                                                 : fmt::format(". Of two values it is a function: {}(x, 0)", reduction);
}

bool is_language_name(std::string_view name) {
    return is_in(kOwnNames, name) || find_epilogue_function(name) >= 0 || find_epilogue_cast(name) != nullptr;
}

std::string wrong_name(std::string_view name) {
    if (is_language_name(name)) return fmt::format("'{}' is a name of the language itself", name);
    if (is_in(kKeywords, name)) return fmt::format("'{}' is a word of Python or C++, and no name", name);
    if (is_in(kKernelNames, name) || is_device_function(name) || is_pitch_field(name) || name.starts_with("GEMM_") ||
        name.starts_with("map_") || name.ends_with("_rest"))
        return fmt::format("'{}' is a name that kernels use themselves: take another", name);
    if (name.front() == '_' || name.find("__") != name.npos)
        return fmt::format("'{}': a name begins with a letter, and has no two '_' side by side", name);
    if (name.size() > kLongestName)
        return fmt::format("'{}' has {} letters: a name has at most {}", name, name.size(), kLongestName);
    return {};
}

}  // namespace jitgemm
