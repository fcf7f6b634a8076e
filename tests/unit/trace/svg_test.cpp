// The still of a run. slides/player/test/lanes.test.ts holds still.svg to what the player draws of
// still.json, so both files change together: after an intended change, replace still.svg with what this test
// prints.
#include "drawing/svg.h"

#include <fstream>
#include <regex>
#include <string>
#include <vector>

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

// The numbers behind `attribute` of the elements of a class.
std::vector<double> places(const std::string& svg, const std::string& kind, const std::string& attribute) {
  std::vector<double> all;
  const std::regex element("<text class=\"" + kind + "\"[^>]* " + attribute + "=\"([0-9.]+)\"");
  for (std::sregex_iterator at(svg.begin(), svg.end(), element), end; at != end; ++at)
    all.push_back(std::stod((*at)[1]));
  return all;
}

TEST(Svg, OfSeveralRunsHasThemBelowEachOtherOnOneTimeScale) {
  trace::Trace slow = exchange(), fast = exchange();
  slow.events.push_back(event(Kind::compute, 0, 0, 400 * microsecond));
  slow.events.back().name = "F0";
  fast.events.push_back(event(Kind::compute, 1, 0, 100 * microsecond));
  fast.events.back().name = "F1";
  const std::string still = trace::runs_to_svg(std::vector{slow, fast}, {.width = 800, .row = 30});
  EXPECT_EQ(places(still, "name", "y"), (std::vector<double>{15, 45, 89, 119}));
  const auto labels = places(still, "in in0", "x");
  ASSERT_EQ(labels.size(), 2U) << still;
  EXPECT_NEAR(labels[1] - 34, (labels[0] - 34) / 4, 0.1);
  EXPECT_NE(still.find(">100 µs</text>"), still.npos) << "round times";
}

TEST(Svg, NumbersChunksAndColoursThem) {
  const auto numbered = trace::runs_to_svg(std::vector{exchange()}, {.row = 40, .chunks = 2});
  EXPECT_EQ(places(numbered, "in on", "x").size(), 2U) << numbered;
  const auto coloured =
      trace::runs_to_svg(std::vector{exchange()}, {.row = 40, .chunks = 2, .colours_by_chunk = true});
  EXPECT_TRUE(places(coloured, "in on", "x").empty()) << coloured;
}

TEST(Svg, OfADeadlockEndsSoonAndShowsTheWaits) {
  trace::Trace trace = exchange();
  for (const int rank : {0, 1})
    trace.events.push_back(event(Kind::wait, rank, 5 * microsecond, 30'000'000 * microsecond));
  trace.findings.push_back({"D1", "deadlock", "", "", {{0, "send", {}, {1}}, {1, "send", {}, {0}}}});
  const auto still = trace::runs_to_svg(std::vector{trace});
  EXPECT_NE(still.find("class=\"waits\""), still.npos) << still;
  EXPECT_EQ(still.find(" s</text>"), still.npos) << "30 s of waiting are not drawn: " << still;
  EXPECT_EQ(trace::to_svg(trace).find(" s</text>"), still.npos);
}

}  // namespace
}  // namespace dist::test
