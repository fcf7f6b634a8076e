#include "dist/core/json.h"

#include <gtest/gtest.h>

#include "dist/core/json_error.h"
#include "dist/core/json_quoted.h"

namespace dist {
namespace {

TEST(Json, KeepsTheOrderOfKeysOnlyWhereItIsAskedTo) {
  const std::string text = R"({"b":1,"a":[true,null,2.5]})";
  EXPECT_EQ(json_text(parse_json(text)), R"({"a":[true,null,2.5],"b":1})");
  EXPECT_EQ(json_text(parse_ordered_json(text)), text);
  EXPECT_EQ(json_text(parse_ordered_json(R"({"b":1})"), 2), "{\n  \"b\": 1\n}");
}

TEST(Json, WhatIsNotJsonThrowsOrIsDiscarded) {
  for (const std::string text : {"", "{", "[1,]", "{} {}", "\"\xff\""}) {
    EXPECT_THROW(parse_json(text), Json::parse_error) << text;
    EXPECT_THROW(parse_ordered_json(text), OrderedJson::parse_error) << text;
    EXPECT_TRUE(try_parse_json(text).is_discarded()) << text;
    EXPECT_TRUE(try_parse_ordered_json(text).is_discarded()) << text;
  }
  EXPECT_THROW(parse_json("1e400"), Json::out_of_range);
  EXPECT_TRUE(try_parse_json("1e400").is_discarded());
}

std::string what_is_said_of(const std::string& text) {
  try {
    return "read: " + json_text(parse_json(text).at("rank"));
  } catch (const Json::exception& error) {
    return json_error(error.what());
  }
}

TEST(Json, ErrorsAreInWordsForAReader) {
  EXPECT_EQ(what_is_said_of(""), "the text is empty");
  EXPECT_EQ(what_is_said_of("{\n\"rank\": no}"),
            "at line 2, column 10: invalid literal; last read: '\"rank\": no'");
  EXPECT_EQ(what_is_said_of("{\"rank\": 1"), "at line 1, column 11: unexpected end of input; expected '}'");
  EXPECT_EQ(what_is_said_of("{\"rank\": 1e400}"), "number overflow parsing '1e400'");
  EXPECT_EQ(what_is_said_of("{}"), "key 'rank' not found");
  EXPECT_EQ(json_error("of another kind"), "of another kind");
}

TEST(Json, BytesThatAreNotUtf8ThrowOrAreReplaced) {
  EXPECT_THROW(json_text(Json("a\xff")), Json::type_error);
  EXPECT_EQ(json_text(OrderedJson("a\xff"), -1, BadBytes::replace), "\"a\uFFFD\"");
  EXPECT_EQ(json_quoted("a\xff\n\""), "\"a\uFFFD\\n\\\"\"");
}

}  // namespace
}  // namespace dist
