// The drawing of a step's memory: a bar for each part, fewer where there are too many.
#include "drawing/memory_bars.h"

#include <gtest/gtest.h>

namespace dist::drawing::test {
namespace {

constexpr double mib = 1 << 20;

std::vector<MemoryBar> small_step() {
  std::vector<MemoryBar> bars;
  add(bars, {Phase::forward, "h.0", 1 * mib});
  add(bars, {Phase::forward, "h.0", 2 * mib});
  add(bars, {Phase::forward, "h.1", 4 * mib});
  add(bars, {Phase::backward, "h.1", 3 * mib});
  add(bars, {Phase::update, "optimizer", 1 * mib});
  return bars;
}

TEST(MemoryBars, NeighboursOfOneUnitAreOneBar) {
  const auto bars = small_step();
  ASSERT_EQ(bars.size(), 4U);
  EXPECT_EQ(bars[0].bytes, 2 * mib);
}

TEST(MemoryBars, AreLinesOfText) {
  EXPECT_EQ(memory_text(small_step(), 41),
            "forward   h.0        ████         2.0 MiB\n"
            "          h.1        ████████     4.0 MiB\n"
            "backward  h.1        ██████       3.0 MiB\n"
            "update    optimizer  ██           1.0 MiB\n");
}

TEST(MemoryBars, TooManyBecomeFewerWithTheMostOfEach) {
  std::vector<MemoryBar> bars;
  for (int i = 0; i < 10; ++i) add(bars, {Phase::forward, "h." + std::to_string(i), (i + 1) * mib});
  add(bars, {Phase::backward, "h.9", 7 * mib});
  const std::string text = memory_text(bars, 60, 4);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5) << text;
  EXPECT_NE(text.find("h.0 .. h.2"), std::string::npos) << text;
  EXPECT_NE(text.find("3.0 MiB"), std::string::npos) << text;
  EXPECT_NE(text.find("backward"), std::string::npos) << text;
}

TEST(MemoryBars, AreAnSvg) {
  const std::string svg = memory_svg(small_step(), "Memory of a step");
  EXPECT_TRUE(svg.starts_with("<svg")) << svg;
  EXPECT_NE(svg.find("class=\"backward\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("4.0 MiB"), std::string::npos) << svg;
}

}  // namespace
}  // namespace dist::drawing::test
