// Words and cells of the diagram.
#include <gtest/gtest.h>

#include "dist/trace/readable.h"

#include "drawing/text_line.h"

namespace dist::test {
namespace {

TEST(Readable, TimesHaveTheirOwnUnit) {
  EXPECT_EQ(trace::readable_time(0), "0 ps");
  EXPECT_EQ(trace::readable_time(999), "999 ps");
  EXPECT_EQ(trace::readable_time(2500), "2.5 ns");
  EXPECT_EQ(trace::readable_time(15'390'000), "15.39 us");
  EXPECT_EQ(trace::readable_time(1'000'000'000), "1 ms");
  EXPECT_EQ(trace::readable_time(90'000'000'000'000), "90 s");
}

TEST(Readable, SizesAreBinary) {
  EXPECT_EQ(trace::readable_bytes(0), "0 B");
  EXPECT_EQ(trace::readable_bytes(1023), "1023 B");
  EXPECT_EQ(trace::readable_bytes(1536), "1.5 KiB");
  EXPECT_EQ(trace::readable_bytes(64 << 20), "64 MiB");
}

TEST(Readable, RanksInARowAreARange) {
  EXPECT_EQ(trace::readable_ranks(0), "{}");
  EXPECT_EQ(trace::readable_ranks(0b11), "{0,1}");
  EXPECT_EQ(trace::readable_ranks(0b1001111), "{0-3,6}");
  EXPECT_EQ(trace::readable_ranks(~std::uint64_t{0}), "{0-63}");
}

TEST(TextLine, CountsColumnsNotBytes) {
  EXPECT_EQ(trace::columns_of("früh"), 4);
  EXPECT_EQ(trace::columns_of("通信"), 4);
  EXPECT_EQ(trace::shortened("all_reduce", 5, "…"), "all_…");
  EXPECT_EQ(trace::shortened("通信通信", 6, "…"), "通信…");
  EXPECT_EQ(trace::shortened("same", 4, "…"), "same");
}

TEST(TextLine, ShowsWhatATerminalCan) {
  EXPECT_EQ(trace::displayable("a\x1b[2J\n\xff ü", true), "a?[2J?? ü");
  EXPECT_EQ(trace::displayable("ü→", false), "??");
}

TEST(TextLine, PutsOverWhatIsThereAndCutsOff) {
  trace::TextLine line(6);
  line.put(0, "│││");
  line.put(1, "x");
  line.put(4, "yyy");
  EXPECT_EQ(line.str(), "│x│ yy");
  line.put(4, "通");
  EXPECT_EQ(line.str(), "│x│ 通");
}

}  // namespace
}  // namespace dist::test
