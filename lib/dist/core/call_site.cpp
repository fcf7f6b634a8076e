#include "dist/core/call_site.h"

#include <charconv>
#include <mutex>
#include <set>

#include <fmt/format.h>

namespace dist {

namespace {

const char* kept(std::string_view name) {
  static std::mutex mutex;
  static auto& names = *new std::set<std::string, std::less<>>;  // outlives all threads
  const std::lock_guard lock(mutex);
  return names.emplace(name).first->c_str();
}

}  // namespace

CallSite CallSite::in(std::string_view of_part) const { return {file, line, kept(of_part)}; }

std::string CallSite::str() const {
  const std::string_view path = file;
  return fmt::format("{}:{}", path.substr(path.rfind('/') + 1), line);
}

CallSite CallSite::parse(std::string_view text) {
  const auto colon = text.rfind(':');
  CallSite site;
  if (colon == text.npos) return site;
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), site.line);
  site.file = kept(text.substr(0, colon));
  return site;
}

}  // namespace dist
