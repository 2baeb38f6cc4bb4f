#include "runtime/support/json_limits.hpp"

#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <vector>

namespace jitgemm {
namespace {

/// The index of the quote that ends the string beginning at `begin`, or the text's size.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
    std::size_t at = begin + 1;
    while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
    return at;
}

/// The objects and arrays that are open, with the colons each has had so far: those are an object's members.
class OpenValues {
public:
    void open() {
        if (members_.size() == kDeepestJson)
            throw Error(fmt::format("its JSON nests deeper than {} levels", kDeepestJson));
        members_.push_back(0);
    }
    void close() {
        if (!members_.empty()) members_.pop_back();
    }
    void count_member() {
        if (!members_.empty() && ++members_.back() > kMostJsonMembers)
            throw Error(fmt::format("its JSON has an object of more than {} members", kMostJsonMembers));
    }

private:
    std::vector<std::size_t> members_;
};

}  // namespace

void check_json_limits(std::string_view text) {
    OpenValues values;
    for (std::size_t at = 0; at < text.size(); ++at) {
        switch (text[at]) {
            case '"': at = end_of_string(text, at); break;
            case '{':
            case '[': values.open(); break;
            case '}':
            case ']': values.close(); break;
            case ':': values.count_member(); break;
            default: break;
        }
    }
}

}  // namespace jitgemm
