// Texts for JSON that is written by hand, one event per line, so that files can be read and compared by
// eye. json.h takes long to compile; this does not.
#pragma once

#include <string>
#include <string_view>

namespace dist {

// The text with quotes, escaped. Bytes that are not UTF-8 become U+FFFD, since JSON cannot hold them.
std::string json_quoted(std::string_view text);

}  // namespace dist
