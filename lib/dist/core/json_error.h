// Words for errors of nlohmann-json, which users read.
#pragma once

#include <string>
#include <string_view>

namespace dist {

// Returns what an exception of Json says, without its number and without the parser's own view:
// "at line 2, column 5: unexpected end of input" for "[json.exception.parse_error.101] parse error at line 2,
// column 5: syntax error while parsing object key - unexpected end of input".
std::string json_error(std::string_view what);

}  // namespace dist
