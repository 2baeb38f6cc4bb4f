#pragma once

#include <string>
#include <string_view>

namespace jitgemm::testing {

/// The first fault of a document as XML, or "" if it is well-formed: tags nest and close, attributes are quoted and
/// differ, entities are known, nothing stands outside the root element. With `html`, <script> and <style> hold raw
/// text, and a doctype may come first.
[[nodiscard]] std::string markup_fault(std::string_view document, bool html = false);

/// How often a phrase occurs.
[[nodiscard]] int count_of(std::string_view text, std::string_view phrase);

/// Whether a page or picture names anything to be loaded from elsewhere: an address, src, href, url() or @import.
[[nodiscard]] bool loads_something(const std::string& document);

}  // namespace jitgemm::testing
