// Text as HTML.
#pragma once

#include <string>
#include <string_view>

namespace distlab {

// Any bytes, as text within an element or an attribute's quotes: nothing of it is markup, line ends are kept.
std::string html_text(std::string_view bytes);

// A whole page that fetches nothing and runs nothing: `body` with a style for screens, light and dark, and
// for paper. The title is text.
std::string html_page(std::string_view title, std::string_view body);

}  // namespace distlab
