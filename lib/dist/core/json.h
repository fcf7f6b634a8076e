// JSON, parsed and written in one place. The parser and the writer of nlohmann-json are templates that every
// file which calls them compiles anew; behind these functions, json.cpp alone does.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace dist {

using Json = nlohmann::json;                 // keys in the order of the alphabet
using OrderedJson = nlohmann::ordered_json;  // keys as they were added

// Throw Json::parse_error if the text is not JSON, and Json::out_of_range for a number such as 1e400.
Json parse_json(std::string_view text);
OrderedJson parse_ordered_json(std::string_view text);

// The same, but what would throw gives a value that is_discarded().
Json try_parse_json(std::string_view text);
OrderedJson try_parse_ordered_json(std::string_view text);

// Returns the value on one line (indent -1), or with each level `indent` spaces further right. Bytes that are
// not UTF-8, which JSON cannot hold, throw Json::type_error, or become U+FFFD with `replace`.
using BadBytes = Json::error_handler_t;
std::string json_text(const Json& json, int indent = -1, BadBytes bad = BadBytes::strict);
std::string json_text(const OrderedJson& json, int indent = -1, BadBytes bad = BadBytes::strict);

}  // namespace dist
