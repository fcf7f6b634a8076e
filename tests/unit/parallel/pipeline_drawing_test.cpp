// A schedule in a terminal and as SVG.
#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "dist/parallel/pipeline/costs.h"

#include "drawing/pipeline_svg.h"
#include "drawing/pipeline_text.h"

namespace dist::pipeline::test {
namespace {

std::string drawn(Kind kind, const Shape& shape, const TextOptions& options = {},
                  const StageTimes& times = {}) {
  return timeline_text(run(make_schedule(kind, shape), {.stages = {times}}), shape, options);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(PipelineText, HasARowPerRankAndDotsForWaiting) {
  EXPECT_EQ(drawn(Kind::one_f_one_b, {2, 3}, {.width = 44}),
            "        0              5              10\n"
            "rank 0  F0 F1 ......B0    F2 B1    ...B2\n"
            "rank 1  ...F0 B0    F1 B1    F2 B2    ......\n"
            "\n"
            "F: forward, B: backward; dots: the rank waits\n");
}

TEST(PipelineText, NamesChunksByLetters) {
  EXPECT_EQ(lines_of(drawn(Kind::interleaved, {1, 1, 2}))[1], "rank 0  F0a   F0b   B0b         B0a");
}

TEST(PipelineText, IsWrappedWhereItIsTooWide) {
  const auto lines = lines_of(drawn(Kind::zb_h1, {4, 12}, {.width = 60}));
  ASSERT_EQ(lines.size(), 3 * 6 + 1U);  // three parts of an axis, four ranks and an empty line; the legend
  EXPECT_EQ(lines.back(),
            "F: forward, B: backward for input gradients, W: for weight gradients; dots: the rank waits");
  EXPECT_EQ(lines[1].substr(0, 20), "rank 0  F0 F1 F2 F3 ");
  EXPECT_EQ(lines[5], "");
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) EXPECT_LE(lines[i].size(), 60U) << lines[i];
}

TEST(PipelineText, NarrowCellsHaveDigitsModuloTen) {
  const auto lines = lines_of(drawn(Kind::gpipe, {2, 60}, {.width = 60}));
  ASSERT_GT(lines.size(), 2U);
  EXPECT_EQ(lines[1].substr(0, 32), "rank 0  F0F1F2F3F4F5F6F7F8F9F0F1");
  EXPECT_EQ(lines.back(), "numbers of micro-batches: the last digit");
}

TEST(PipelineText, FitsWhateverTheScheduleIs) {
  for (const auto& [kind, name] : kind_names)
    for (const int ranks : {1, 2, 7, 64})
      for (const int micro_batches : {1, 3, 16, 100})
        for (const StageTimes& times :
             {StageTimes{1, 1, 1}, StageTimes{1e-6, 3e-3, 0}, StageTimes{700, 1300.5, 200}}) {
          const Shape shape{ranks, micro_batches, kind == Kind::interleaved ? 3 : 1};
          const auto lines = lines_of(drawn(kind, shape, {.width = 80}, times));
          ASSERT_GT(lines.size(), static_cast<std::size_t>(ranks));
          for (const auto& line : lines) ASSERT_LE(line.size(), 90U) << line;
        }
}

TEST(PipelineText, ColoursComputationsOnly) {
  const auto in_brackets = [](ActionKind kind, std::string_view cell) {
    return (kind == ActionKind::forward ? "<" : "{") + std::string(cell) +
           (kind == ActionKind::forward ? ">" : "}");
  };
  EXPECT_EQ(lines_of(drawn(Kind::gpipe, {2, 1}, {100, in_brackets}, {1, 1, 0}))[2],
            "rank 1  ......<F0    >{B0    }......");
}

TEST(PipelineText, ListsMessagesInBrackets) {
  EXPECT_EQ(actions_text(make_schedule(Kind::one_f_one_b, {2, 2})),
            "rank 0  F0 [F0>] F1 [F1> >B0] B0 [>B1] B1\n"
            "rank 1  [>F0] F0 B0 [B0> >F1] F1 B1 [B1>]\n");
  for (const auto& line : lines_of(actions_text(make_schedule(Kind::interleaved, {3, 20, 4}), 60)))
    EXPECT_LE(line.size(), 60U) << line;
}

TEST(PipelineSvg, HasABoxPerComputation) {
  const Shape shape{3, 4};
  const std::string svg =
      timeline_svg(run(make_schedule(Kind::zb_h1, shape), {.stages = {{}}}), shape, "zb-h1: 3 ranks");
  const auto count = [&](const std::string& part) {
    int found = 0;
    for (auto at = svg.find(part); at != std::string::npos; at = svg.find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_TRUE(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
  EXPECT_EQ(count("class=\"box "), 3 * 4 * 3);
  EXPECT_EQ(count("class=\"box w\""), 3 * 4);
  EXPECT_EQ(count("prefers-color-scheme:dark"), 1);
  EXPECT_EQ(count(">zb-h1: 3 ranks<"), 2);
  EXPECT_EQ(count("<text"), count("</text>"));
}

}  // namespace
}  // namespace dist::pipeline::test
