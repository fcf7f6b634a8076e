#include "dist/core/json.h"

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

std::string json_quoted(std::string_view text) { return json_text(Json(text), -1, BadBytes::replace); }

}  // namespace dist
