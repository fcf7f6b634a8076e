// The diagram, compared whole where it is small.
#include "drawing/ascii.h"

#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "drawing/text_line.h"
#include "traces.h"

namespace dist::test {
namespace {

using trace::AsciiOptions;
using trace::Kind;
using trace::to_ascii;
using trace::Trace;

void expect_lines_within(const std::string& picture, int width) {
  std::istringstream lines(picture);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(trace::columns_of(line), width) << line;
}

TEST(Ascii, OfAnExchangeIsThis) {
  EXPECT_EQ(to_ascii(exchange(), {.width = 48}), R"(exchange, 2 ranks

            rank 0            rank 1
    0.0 us  ┏ all_reduce ring ┏ all_reduce ring
            ○ to 1            ○ to 0
            ┊ waits 2.5 us    ┊ waits 2.5 us
    2.5 us  ┠── {0} 4 KiB ───▶┃
            ┃◀── {1} 4 KiB ───┨
            ┃                 ┃
    3.0 us  ⊕ {0,1} 4 KiB     ⊕ {0,1} 4 KiB
            ┗ done            ┗ done

total 3 us of virtual time
┃ in a call   ○ a message leaves   ─▶ it arrives
⊕ a part is added   {0,1} whose parts are in it
┊ waits
)");
}

TEST(Ascii, WithoutUnicodeItIsThis) {
  EXPECT_EQ(to_ascii(exchange(), {.width = 48, .unicode = false}), R"(exchange, 2 ranks

            rank 0            rank 1
    0.0 us  # all_reduce ring # all_reduce ring
            o to 1            o to 0
            : waits 2.5 us    : waits 2.5 us
    2.5 us  *-- {0} 4 KiB --->#
            #<-- {1} 4 KiB ---*
            #                 #
    3.0 us  + {0,1} 4 KiB     + {0,1} 4 KiB
            # done            # done

total 3 us of virtual time
# in a call   o a message leaves   -> it arrives
+ a part is added   {0,1} whose parts are in it
: waits
)");
}

TEST(Ascii, ACallThatFailedOrWasCutOffIsNotDone) {
  Trace trace = shared_sum();
  trace.events[0].ending = trace::Ending::cut_off;
  trace.events[1].ending = trace::Ending::failed;
  EXPECT_NE(to_ascii(trace, {.width = 60}).find("      3 us  ┗ cut off               ┗ failed\n"),
            std::string::npos);
}

TEST(Ascii, ACallInSharedMemorySaysThatNothingIsSent) {
  EXPECT_EQ(to_ascii(shared_sum(), {.width = 60}), R"(shared sum, 2 ranks

            rank 0                  rank 1
      0 us  ┏ all_reduce two_shot   ┏ all_reduce two_shot
            ≡ shared memory         ≡ shared memory
            ┃                       ┃
      3 us  ┗ done                  ┗ done

total 3 us of real time
┃ in a call   ≡ works in shared memory: nothing is sent
)");
  EXPECT_NE(to_ascii(shared_sum(), {.unicode = false}).find("= works in shared memory: nothing is sent"),
            std::string::npos);
}

// Ranks pass a message on: 0 to 1 to ...
Trace relay(int ranks) {
  Trace trace{"relay", ranks, true, {}};
  for (int rank = 0; rank + 1 < ranks; ++rank) {
    const auto message = static_cast<std::uint64_t>(rank + 1);
    trace.events.push_back(part(Kind::send, rank, rank + 1, message, rank * 10, rank * 10 + 5));
    trace.events.push_back(part(Kind::receive, rank + 1, rank, message, 0, rank * 10 + 10));
  }
  return trace;
}

TEST(Ascii, FourRanksFitInEightyColumnsAndSixteenDoNot) {
  EXPECT_EQ(to_ascii(relay(4)).find("left out"), std::string::npos);
  const std::string picture = to_ascii(relay(16));
  EXPECT_NE(picture.find("8 of 16 ranks; the terminal is too narrow for the other 8"), std::string::npos)
      << picture;
  EXPECT_NE(picture.find("○ to 8"), std::string::npos) << picture;
  EXPECT_EQ(picture.find("rank 8"), std::string::npos) << picture;
  expect_lines_within(picture, 80);
  EXPECT_EQ(to_ascii(relay(16), {.width = 140}).find("left out"), std::string::npos);
  const std::string narrow = to_ascii(relay(16), {.width = 20});
  EXPECT_NE(narrow.find("3 of 16 ranks; the terminal is too\nnarrow for the other 13\n"), std::string::npos)
      << narrow;
}

TEST(Ascii, MomentsBeyondTheRowsAreTakenTogetherAndThatIsSaid) {
  Trace trace{"", 2, true, {}};
  for (int i = 0; i < 100; ++i) {
    const auto message = static_cast<std::uint64_t>(i + 1);
    trace.events.push_back(part(Kind::send, 0, 1, message, i * 10, i * 10 + 1));
    trace.events.push_back(part(Kind::receive, 1, 0, message, 0, i * 10 + 5));
  }
  const std::string picture = to_ascii(trace, {.width = 60, .max_rows = 5});
  EXPECT_NE(picture.find("200 moments in 5 rows"), std::string::npos) << picture;
  EXPECT_NE(picture.find("20 x, 80 KiB"), std::string::npos) << picture;
  EXPECT_LE(std::ranges::count(picture, '\n'), 30) << picture;
}

TEST(Ascii, AMessageThatNobodyReceivedIsMarked) {
  const Trace trace{"", 2, true, {part(Kind::send, 0, 1, 1, 0, 5), event(Kind::wait, 1, 0, 9)}};
  const std::string picture = to_ascii(trace);
  EXPECT_NE(picture.find("✗ to 1"), std::string::npos) << picture;
  EXPECT_NE(picture.find("never received"), std::string::npos) << picture;
}

TEST(Ascii, OfNothingSaysSo) {
  EXPECT_EQ(to_ascii({"quiet", 4, false, {}}), "quiet\nthis trace of 4 ranks has no events\n");
  EXPECT_EQ(to_ascii({}), "this trace of 0 ranks has no events\n");
}

TEST(Ascii, OddInputIsDrawnNonetheless) {
  Trace trace{"tabs\tand\nlines 集合通信", 2, false, {}};
  trace.events = {call(0, "集合通信集合通信集合通信", 0, 0), call(0, "\x1b[2Jé\xff", 0, 7),
                  part(Kind::send, 0, 9, 3, 0, 1),           part(Kind::receive, 1, -5, 4, 0, 2),
                  part(Kind::send, 1, 1, 5, 0, 1),           part(Kind::receive, 1, 1, 5, 0, 2),
                  event(Kind::compute, 1, 3, 1 << 30),       call(17, "of no rank", 0, 1)};
  for (const bool unicode : {true, false}) {
    for (int width : {-1, 40, 41, 79, 200}) {
      const std::string picture = to_ascii(trace, {.width = width, .max_rows = 0, .unicode = unicode});
      expect_lines_within(picture, std::max(width, 40));
      EXPECT_EQ(picture.find('\x1b'), std::string::npos);
      EXPECT_TRUE(unicode || std::ranges::all_of(picture, [](char c) { return c > 0; })) << picture;
    }
  }
}

}  // namespace
}  // namespace dist::test
