#include "dist/core/call_site.h"

#include <charconv>
#include <mutex>
#include <set>

#include <fmt/format.h>

namespace dist {

std::string CallSite::str() const {
  const std::string_view path = file;
  return fmt::format("{}:{}", path.substr(path.rfind('/') + 1), line);
}

CallSite CallSite::parse(std::string_view text) {
  const auto colon = text.rfind(':');
  CallSite site;
  if (colon == text.npos) return site;
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), site.line);
  static std::mutex mutex;
  static auto& files = *new std::set<std::string, std::less<>>;  // outlives all threads
  const std::lock_guard lock(mutex);
  site.file = files.emplace(text.substr(0, colon)).first->c_str();
  return site;
}

}  // namespace dist
