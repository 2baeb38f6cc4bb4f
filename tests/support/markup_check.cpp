#include "tests/support/markup_check.hpp"

#include <fmt/format.h>

#include <cctype>
#include <regex>
#include <set>
#include <vector>

namespace jitgemm::testing {
namespace {

/// Reads a document from left to right; the first fault ends it.
class Reader {
public:
    Reader(std::string_view document, bool html) : rest_(document), size_(document.size()), html_(html) {}

    std::string fault() {
        if (html_) skip("<!DOCTYPE html>\n");
        skip("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        while (!rest_.empty() && fault_.empty()) read_piece();
        if (fault_.empty() && !open_.empty()) fail("<" + open_.back() + "> is not closed");
        if (fault_.empty() && roots_ != 1) fail(fmt::format("{} root elements", roots_));
        return fault_;
    }

private:
    void fail(const std::string& what) {
        if (fault_.empty()) fault_ = fmt::format("at byte {}: {}", size_ - rest_.size(), what);
    }

    void skip(std::string_view prefix) {
        if (rest_.starts_with(prefix)) rest_.remove_prefix(prefix.size());
    }

    std::string_view take_until(char end) {
        const std::string_view taken = rest_.substr(0, rest_.find(end));
        rest_.remove_prefix(taken.size());
        return taken;
    }

    void read_piece() {
        if (rest_.starts_with("</")) return read_closing_tag();
        if (rest_.front() == '<') return read_tag();
        read_text(take_until('<'));
    }

    void read_text(std::string_view text) {
        const bool blank = text.find_first_not_of(" \n\t") == std::string_view::npos;
        if (open_.empty() && !blank) fail("text outside the root element");
        check_entities(text);
    }

    void check_entities(std::string_view text) {
        static const std::regex kKnown("^&(amp|lt|gt|quot|#39);");
        for (std::size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', at + 1)) {
            if (!std::regex_search(std::string(text.substr(at, 8)), kKnown)) fail("an ampersand that begins no entity");
        }
        for (const char byte : text) {
            if (static_cast<unsigned char>(byte) < 0x20U && byte != '\n' && byte != '\t') fail("a control character");
        }
    }

    void read_closing_tag() {
        rest_.remove_prefix(2);
        const std::string name(take_until('>'));
        if (open_.empty() || open_.back() != name) return fail("</" + name + "> closes nothing");
        open_.pop_back();
        rest_.remove_prefix(1);
    }

    std::string take_name() {
        std::string name;
        while (!rest_.empty() && (std::isalnum(static_cast<unsigned char>(rest_.front())) != 0 ||
                                  rest_.front() == '-' || rest_.front() == ':')) {
            name += rest_.front();
            rest_.remove_prefix(1);
        }
        return name;
    }

    void read_attribute(std::set<std::string>& seen) {
        rest_.remove_prefix(1);
        const std::string name = take_name();
        if (name.empty() || !rest_.starts_with("=\"")) return fail("an attribute without a quoted value");
        if (!seen.insert(name).second) return fail("the attribute " + name + " stands twice");
        rest_.remove_prefix(2);
        const std::string_view value = take_until('"');
        if (value.find('<') != std::string_view::npos) return fail("< inside an attribute");
        check_entities(value);
        if (rest_.empty()) return fail("an attribute without end");
        rest_.remove_prefix(1);
    }

    void read_tag() {
        rest_.remove_prefix(1);
        const std::string name = take_name();
        if (name.empty()) return fail("< that begins no tag");
        std::set<std::string> seen;
        while (rest_.starts_with(" ") && fault_.empty()) read_attribute(seen);
        if (open_.empty()) ++roots_;
        if (rest_.starts_with("/>")) return rest_.remove_prefix(2);
        if (!rest_.starts_with(">")) return fail("a tag without end");
        rest_.remove_prefix(1);
        open_.push_back(name);
        if (html_ && (name == "script" || name == "style")) rest_.remove_prefix(rest_.find("</" + name + ">"));
    }

    std::string_view rest_;
    std::size_t size_;
    bool html_;
    int roots_ = 0;
    std::vector<std::string> open_;
    std::string fault_;
};

}  // namespace

std::string markup_fault(std::string_view document, bool html) { return Reader(document, html).fault(); }

int count_of(std::string_view text, std::string_view phrase) {
    int count = 0;
    for (std::size_t at = text.find(phrase); at != std::string_view::npos; at = text.find(phrase, at + phrase.size()))
        ++count;
    return count;
}

bool loads_something(const std::string& document) {
    static const std::regex kNamespace(R"re( xmlns="http://www\.w3\.org/2000/svg")re");
    static const std::regex kLoading(
        R"re(https?:|src\s*=|href\s*=|url\(|@import|<link|<iframe|<img|fetch\(|XMLHttp)re");
    return std::regex_search(std::regex_replace(document, kNamespace, ""), kLoading);
}

}  // namespace jitgemm::testing
