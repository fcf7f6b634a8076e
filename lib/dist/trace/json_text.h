// JSON is written by hand, an event a line, so that a file can be read and compared by eye; only texts need a
// library. Hidden from users of the layer's other headers.
#pragma once

#include <string>
#include <string_view>

namespace dist::trace {

// With its quotes, escaped. Bytes that are no UTF-8 become U+FFFD, since JSON cannot hold them.
std::string json_quoted(std::string_view text);

}  // namespace dist::trace
