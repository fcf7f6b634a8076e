#include "dist/core/json.h"

#include <algorithm>

#include "dist/core/json_error.h"
#include "dist/core/json_quoted.h"

namespace dist {

Json parse_json(std::string_view text) { return Json::parse(text); }
OrderedJson parse_ordered_json(std::string_view text) { return OrderedJson::parse(text); }

Json try_parse_json(std::string_view text) { return Json::parse(text, nullptr, false); }
OrderedJson try_parse_ordered_json(std::string_view text) { return OrderedJson::parse(text, nullptr, false); }

std::string json_text(const Json& json, int indent, BadBytes bad) {
  return json.dump(indent, ' ', false, bad);
}
std::string json_text(const OrderedJson& json, int indent, BadBytes bad) {
  return json.dump(indent, ' ', false, bad);
}

std::string json_error(std::string_view what) {
  constexpr std::string_view number = "[json.exception.", before_place = "parse error ";
  constexpr std::string_view empty = "at line 1, column 1: unexpected end of input",
                             detour = "syntax error while parsing";
  if (what.starts_with(number)) what.remove_prefix(std::min(what.find("] ") + 2, what.size()));
  if (what.starts_with(before_place)) what.remove_prefix(before_place.size());
  std::string text(what);
  const auto begin = text.find(detour), end = text.find(" - ", begin);
  if (begin != text.npos && end != text.npos) text.erase(begin, end + 3 - begin);
  return text.starts_with(empty) ? "the text is empty" : text;
}

std::string json_quoted(std::string_view text) { return json_text(Json(text), -1, BadBytes::replace); }

}  // namespace dist
