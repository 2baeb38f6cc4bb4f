#include "runtime/compiler/cubin_text.hpp"

#include "jitgemm/error.hpp"
#include "runtime/support/elf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace jitgemm {
namespace {

bool is_code(std::string_view section) { return section.starts_with(".text"); }

bool is_literals(std::string_view section) {
    return section.starts_with(".nv.constant2") || section.starts_with(".nv.constant3");
}

void append_counted(std::string& text, std::string_view bytes) {
    text += fmt::format("{}:", bytes.size());
    text += bytes;
}

// ---- PTX ------------------------------------------------------------------------------------------------------------

bool is_space(char letter) { return std::isspace(static_cast<unsigned char>(letter)) != 0; }

std::string without_comments(std::string_view text) {
    std::string kept;
    while (!text.empty()) {
        const bool to_line_end = text.starts_with("//");
        if (to_line_end || text.starts_with("/*")) {
            const std::size_t end = text.find(to_line_end ? "\n" : "*/");
            text.remove_prefix(end == std::string_view::npos ? text.size() : end + (to_line_end ? 0 : 2));
            continue;
        }
        kept += text.front();
        text.remove_prefix(1);
    }
    return kept;
}

/// Runs of white space as one blank, none at either end.
std::string squeezed(std::string_view line) {
    std::string kept;
    for (const char letter : line) {
        if (!is_space(letter))
            kept += letter;
        else if (!kept.empty() && kept.back() != ' ')
            kept += ' ';
    }
    if (kept.ends_with(' ')) kept.pop_back();
    return kept;
}

/// Without `.loc` and `.file`, which say where in the source a line comes from.
std::string instructions(std::string_view text) {
    std::string kept;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string line = squeezed(text.substr(0, end));
        if (!line.empty() && !line.starts_with(".loc ") && !line.starts_with(".file ")) kept += line + '\n';
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return kept;
}

/// `heading` is the text between two blocks. Blocks that are no functions are debug sections and initialisers.
bool is_function(std::string_view heading) {
    const std::size_t statement = heading.rfind(';') == std::string_view::npos ? 0 : heading.rfind(';') + 1;
    const std::string_view last = heading.substr(statement);
    return last.find(".entry") != std::string_view::npos || last.find(".func") != std::string_view::npos;
}

/// The end of the block that opens at `begin`.
std::size_t block_end(std::string_view text, std::size_t begin) {
    int depth = 0;
    for (std::size_t i = begin; i < text.size(); ++i) {
        if (text[i] == '{') ++depth;
        if (text[i] == '}' && --depth == 0) return i + 1;
    }
    throw Error("malformed PTX: a function that does not end");
}

}  // namespace

std::string cubin_text(std::string_view cubin) {
    std::string text;
    bool has_code = false;
    for (const ElfSection& section : elf_sections(cubin)) {
        if (!is_code(section.name) && !is_literals(section.name)) continue;
        has_code = has_code || (is_code(section.name) && !section.bytes.empty());
        append_counted(text, section.bytes);
    }
    if (!has_code) throw Error("a cubin without code");
    return text;
}

std::string ptx_text(std::string_view ptx) {
    const std::string bare = without_comments(ptx);
    std::string_view rest = bare;
    std::string text;
    for (std::size_t begin = rest.find('{'); begin != std::string_view::npos; begin = rest.find('{')) {
        const std::size_t end = block_end(rest, begin);
        if (is_function(rest.substr(0, begin))) append_counted(text, instructions(rest.substr(begin, end - begin)));
        rest.remove_prefix(end);
    }
    if (text.empty()) throw Error("PTX without a function");
    return text;
}

}  // namespace jitgemm
