#include "dist/core/call_site.h"

#include <string_view>

#include <fmt/format.h>

namespace dist {

std::string CallSite::str() const {
  const std::string_view path = file;
  return fmt::format("{}:{}", path.substr(path.rfind('/') + 1), line);
}

}  // namespace dist
