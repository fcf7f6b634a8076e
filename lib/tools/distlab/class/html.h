// Turns text into HTML.
#pragma once

#include <string>
#include <string_view>

namespace distlab {

// Returns any bytes as text for an element or for an attribute in quotes: all markup is escaped, line ends
// stay.
std::string html_text(std::string_view bytes);

// Returns a whole page that loads nothing and runs nothing: `body` with a style for light and dark screens
// and for paper. The title is plain text.
std::string html_page(std::string_view title, std::string_view body);

}  // namespace distlab
