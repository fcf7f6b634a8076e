// The still of a run. slides/player/test/lanes.test.ts holds still.svg to what the player draws of
// still.json, so both files change together: after a change on purpose, take what this test prints.
#include "drawing/svg.h"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "drawing/player_json.h"
#include "traces.h"

namespace dist::test {
namespace {

using trace::Kind;

std::string text_of(const std::string& file) {
  std::ifstream in(std::string(STILLS) + "/" + file);
  EXPECT_TRUE(in) << file;
  return {std::istreambuf_iterator<char>(in), {}};
}

// Everything that lanes show: calls, messages, additions, waits, a computation, and a message that no rank
// received.
trace::Trace everything() {
  trace::Trace trace = exchange();
  trace.title = "a < b & c";
  trace.ranks = 3;
  trace.events.push_back(event(Kind::compute, 2, 0, 2 * microsecond));
  trace.events.push_back(part(Kind::send, 2, 0, 9, 2 * microsecond, 3 * microsecond));
  trace.events.push_back(call(2, "send", 2 * microsecond, 4 * microsecond));
  return trace;
}

TEST(Svg, IsTheStillThatThePlayersLanesAreHeldTo) {
  EXPECT_EQ(trace::to_svg(everything()), text_of("still.svg"));
  EXPECT_EQ(trace::to_player_json(everything()), text_of("still.json"));
}

TEST(Svg, OfManyRanksHasOneColourAndFewNumbers) {
  trace::Trace trace = exchange();
  trace.ranks = 64;
  const std::string still = trace::to_svg(trace);
  EXPECT_NE(still.find("class=\"line thin\" d="), still.npos) << still;
  EXPECT_EQ(still.find(">1</text>"), still.npos) << "there is no room for each number";
  EXPECT_NE(still.find(">0</text>"), still.npos);
  EXPECT_EQ(still.find("class=\"wait\""), still.npos);
}

TEST(Svg, OfNothingIsAPicture) {
  const std::string still = trace::to_svg({});
  EXPECT_NE(still.find("</svg>"), still.npos);
  EXPECT_EQ(still.find("nan", still.find("</style>")), still.npos) << still;
}

}  // namespace
}  // namespace dist::test
