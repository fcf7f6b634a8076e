#include "distlab/results/text.h"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "samples.h"

namespace {

using distlab::clean;
using namespace results_test;

constexpr auto unknown = "\xEF\xBF\xBD";  // U+FFFD

TEST(Clean, LeavesTextsAsTheyAre) {
  for (const std::string text :
       {"", "plain", "two\nlines\tand a tab", "中文", "\xf0\x9f\x8e\x93", "\xed\x9f\xbf"})
    EXPECT_EQ(clean(text), text);
}

TEST(Clean, MakesEverythingValid) {
  for (const auto& text : nasty_texts()) EXPECT_TRUE(is_clean(clean(text))) << clean(text);
  std::string bytes;
  for (int high = 0; high < 256; ++high)
    for (int low = 0; low < 256; ++low) bytes += {static_cast<char>(high), static_cast<char>(low)};
  EXPECT_TRUE(is_clean(clean(bytes)));
}

TEST(Clean, ShowsControlCharacters) {
  EXPECT_EQ(clean(std::string("a\0b\x1b[0m\x7f", 8)), "a\\x00b\\x1b[0m\\x7f");
  EXPECT_EQ(clean("a\r\nb\rc"), "a\nb\\x0dc");
  EXPECT_EQ(clean("\xc2\x9b[2J, 20 \xc2\xb5s"), "\\x9b[2J, 20 \xc2\xb5s") << "C1, which terminals obey, too";
}

// The bytes of a character, by the rules of UTF-8.
std::string utf8(char32_t code) {
  const auto byte = [](char32_t bits) { return static_cast<char>(bits); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xC0 | code >> 6), byte(0x80 | (code & 0x3F))};
  if (code < 0x10000)
    return {byte(0xE0 | code >> 12), byte(0x80 | (code >> 6 & 0x3F)), byte(0x80 | (code & 0x3F))};
  return {byte(0xF0 | code >> 18), byte(0x80 | (code >> 12 & 0x3F)), byte(0x80 | (code >> 6 & 0x3F)),
          byte(0x80 | (code & 0x3F))};
}

TEST(Clean, ShowsWhatReordersTextOrLooksLikeNothing) {
  EXPECT_EQ(clean("100 \xe2\x80\xae"
                  "fo 0\xef\xbb\xbf"),
            "100 \\u202efo 0\\ufeff");
  EXPECT_EQ(clean("\xf3\xa0\x81\x81"), "\\U000e0041") << "a tag";
  constexpr std::pair<char32_t, char32_t> ranges[] = {{0x80, 0x9F},     {0x200B, 0x200F}, {0x2028, 0x202E},
                                                      {0x2066, 0x2069}, {0xFEFF, 0xFEFF}, {0xE0001, 0xE007F}};
  for (const auto& [first, last] : ranges) {
    for (char32_t code = first; code <= last; ++code) {
      const auto shown = clean("a" + utf8(code) + "z");
      EXPECT_TRUE(shown.starts_with("a\\") && shown.ends_with("z")) << shown;
      EXPECT_TRUE(std::ranges::all_of(shown, [](unsigned char c) { return c < 0x80; })) << shown;
      EXPECT_EQ(clean(shown), shown) << "once is enough";
    }
  }
  constexpr char32_t seen[] = {0x200A, 0x2010, 0x2027, 0x202F, 0x2070, 0xFE0F, 0xFEFE, 0xFFFD, 0x1F600};
  for (const char32_t code : seen) EXPECT_EQ(clean(utf8(code)), utf8(code)) << static_cast<unsigned>(code);
}

TEST(Clean, ReplacesWhatIsNoUtf8ByteByByte) {
  const std::string u = unknown;
  EXPECT_EQ(clean("\xff"), u);
  EXPECT_EQ(clean("a\xe2\x82z"), "a" + u + u + "z") << "a character cut short";
  EXPECT_EQ(clean("\xc0\xaf"), u + u) << "overlong";
  EXPECT_EQ(clean("\xed\xa0\x80"), u + u + u) << "half of a surrogate pair";
  EXPECT_EQ(clean("\xf4\x90\x80\x80"), u + u + u + u) << "beyond U+10FFFF";
  EXPECT_EQ(clean("\xef\xbf\xbf"), u + u + u) << "U+FFFF, which XML does not allow";
}

TEST(Explanation, SaysWhatManyRanksSayOnce) {
  auto test = failed_test("rank 1 is wrong");
  test.messages = {"same", "same", "other", "same"};
  test.explanation = "an idea.";
  EXPECT_EQ(distlab::explanation_of(test), "same\nother\nPerhaps: an idea.");
}

TEST(Summary, TellsGradedFromUngradedAndUnfinished) {
  auto record = usual();
  EXPECT_EQ(distlab::status(record), "graded");
  EXPECT_EQ(distlab::summary(record), "7 of 100 points");
  record.is_finished = false;
  EXPECT_EQ(distlab::status(record), "unfinished");
  EXPECT_EQ(distlab::summary(record), "grading has not finished: 7 points in 3 tests so far");
  EXPECT_EQ(distlab::status(ungraded("no memory")), "ungraded");
}

}  // namespace
