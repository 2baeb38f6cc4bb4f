#include "generator/text/parse_number.hpp"
#include "runtime/emulator/ptx.hpp"
#include "runtime/emulator/ptx_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace jitgemm::emulator::ptx {
namespace {

// The parser knows these versions of PTX. Later versions may mean something else by the same words.
constexpr int kFirstVersion = 60;
constexpr int kLastVersion = 99;
constexpr std::int64_t kLargestExtent = 1 << 20;  // of a block or a cluster; three of them multiply without overflow

/// 10 · major + minor of "8.6"; nothing for what is not some digits on either side of a dot.
std::optional<int> version_number(std::string_view text) {
    constexpr std::size_t kMostDigits = 3;
    const std::size_t dot = std::min(text.find('.'), text.size());
    int number = 0;
    for (const std::string_view part : {text.substr(0, dot), text.substr(std::min(dot + 1, text.size()))}) {
        const std::optional<int> value = parse_number<int>(part);
        if (!value || part.size() > kMostDigits) return std::nullopt;
        number = 10 * number + *value;
    }
    return number;
}

class ModuleParser {
public:
    explicit ModuleParser(std::string_view text) : lexer_(text), reader_(lexer_) {}

    Module parse() {
        parse_version();
        while (reader_.peek().kind != TokenKind::end) parse_directive();
        if (module_.target.empty()) throw PtxError(1, "the module names no .target");
        return std::move(module_);
    }

private:
    void parse_version() {
        if (!reader_.accept_dotted("version")) reader_.fail("not PTX: it does not begin with .version");
        const Token token = reader_.take();
        const std::string_view text = token.text;
        const std::optional<int> number = token.kind == TokenKind::real64 ? version_number(text) : std::nullopt;
        if (!number) reader_.fail("a malformed .version");
        module_.version = *number;
        if (module_.version < kFirstVersion || module_.version > kLastVersion) {
            reader_.fail(fmt::format("PTX {} is not supported: the emulator reads versions {}.{} to {}.{}", text,
                                     kFirstVersion / 10, kFirstVersion % 10, kLastVersion / 10, kLastVersion % 10));
        }
    }

    void parse_directive() {
        if (reader_.accept(';')) return;
        const Token& next = reader_.peek();
        if (next.kind != TokenKind::dotted)
            reader_.fail(fmt::format("unexpected \"{}\" outside a function", next.text));
        if (next.text == "visible" || next.text == "weak" || next.text == "extern" || next.text == "common") {
            external_ = reader_.take().text == "extern";
            return;
        }
        if (is_variable_space(next)) {
            module_.variables.push_back(parse_variable(reader_, external_));
            reader_.expect(';');
        } else if (next.text == "entry" || next.text == "func") {
            parse_function();
        } else {
            parse_remark();
        }
        external_ = false;
    }

    void parse_remark() {
        const std::string word(reader_.take().text);
        if (word == "target") {
            parse_target();
        } else if (word == "address_size") {
            if (reader_.expect_integer() != 64) reader_.fail("only 64-bit PTX (.address_size 64) is supported");
        } else if (word == "file") {
            parse_file();
        } else if (word == "section") {
            reader_.take();
            reader_.skip_braces();
        } else if (word == "pragma") {
            reader_.skip_statement();
        } else {
            reader_.fail(fmt::format(".{} is not supported", word));
        }
    }

    void parse_target() {
        module_.target = reader_.expect_identifier();
        while (reader_.accept(',')) reader_.take();
    }

    void parse_file() {
        SourceFile file;
        file.number = static_cast<int>(reader_.expect_integer());
        file.path = reader_.take().text;
        while (reader_.accept(',')) static_cast<void>(reader_.expect_integer());
        module_.files.push_back(file);
    }

    void parse_function() {
        Function function;
        function.line = reader_.peek().line;
        function.entry = reader_.take().text == "entry";
        std::vector<Variable> results = parse_parameters();
        function.name = reader_.expect_identifier();
        function.parameters = parse_parameters();
        function.result_count = results.size();
        function.parameters.insert(function.parameters.end(), results.begin(), results.end());
        parse_function_directives(function);
        if (!reader_.accept(';')) parse_body(reader_, function);
        keep(std::move(function));
    }

    /// A definition takes the place of a declaration.
    void keep(Function function) {
        const auto [place, is_new] = places_.try_emplace(function.name, module_.functions.size());
        if (is_new) {
            module_.functions.push_back(std::move(function));
            return;
        }
        Function& known = module_.functions[place->second];
        if (known.defined && function.defined) reader_.fail(fmt::format("{} is defined twice", function.name));
        if (function.defined) known = std::move(function);
    }

    std::vector<Variable> parse_parameters() {
        std::vector<Variable> parameters;
        if (!reader_.accept('(') || reader_.accept(')')) return parameters;
        do {
            if (!reader_.peek().is_dotted("param")) reader_.fail("only .param parameters are supported");
            parameters.push_back(parse_variable(reader_, false));
        } while (reader_.accept(','));
        reader_.expect(')');
        return parameters;
    }

    void parse_function_directives(Function& function) {
        while (reader_.peek().kind == TokenKind::dotted) {
            const std::string word(reader_.take().text);
            if (word == "pragma") {
                reader_.skip_statement();
            } else if (word == "maxntid" || word == "reqntid") {
                function.max_threads = parse_product();
                if (word == "reqntid") function.required_threads = function.max_threads;
            } else if (word == "reqnctapercluster") {
                function.required_cluster = parse_extents();
            } else if (word == "maxclusterrank") {
                function.max_cluster = reader_.expect_integer();
            } else if (word == "explicitcluster") {
                function.explicit_cluster = true;
            } else if (word == "minnctapersm" || word == "maxnctapersm" || word == "maxnreg" || word == "noreturn") {
                reader_.skip_integers();
            } else {
                reader_.fail(fmt::format("functions with .{} are not supported", word));
            }
        }
    }

    /// One to three integers; what is not said is 1.
    std::array<std::int64_t, 3> parse_extents() {
        std::array<std::int64_t, 3> extents{1, 1, 1};
        std::size_t axis = 0;
        do {
            if (axis == extents.size()) reader_.fail("more than three extents");
            const std::int64_t extent = reader_.expect_integer();
            if (extent < 0 || extent > kLargestExtent) reader_.fail(fmt::format("an extent of {}", extent));
            extents.at(axis++) = extent;
        } while (reader_.accept(','));
        return extents;
    }

    std::int64_t parse_product() {
        const std::array<std::int64_t, 3> extents = parse_extents();
        return extents[0] * extents[1] * extents[2];
    }

    Lexer lexer_;
    TokenReader reader_;
    Module module_;
    std::unordered_map<std::string, std::size_t> places_;  ///< of functions by name
    bool external_ = false;
};

}  // namespace

Module parse(std::string_view text) { return ModuleParser(text).parse(); }

}  // namespace jitgemm::emulator::ptx
