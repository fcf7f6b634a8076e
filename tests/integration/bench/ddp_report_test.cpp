// What follows from the times of bench ddp, and what users see of it.
#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "distlab/bench/ddp/report.h"

namespace {

using namespace distlab::bench;

DdpRun run_of(bool compared) {
  DdpRun run;
  run.cores = 2;
  if (compared) run.peer_title = "PyTorch 1.13.1";
  for (const int ranks : {1, 2, 4}) {
    run.rows.push_back({.ranks = ranks,
                        .steps = 8,
                        .step = 0.010 * ranks,
                        .exposed = 0.001,
                        .compute = 0.008,
                        .communication = 0.002,
                        .peer = compared ? 0.030 * ranks : 0});
  }
  return run;
}

TEST(DdpBenchFigures, FollowFromTheTimes) {
  const DdpRun run = run_of(true);
  const DdpRow& two = run.rows[1];
  EXPECT_DOUBLE_EQ(bound(two), 1.1 * 0.008 + 0.001);
  DdpRow slow_network = two;
  slow_network.communication = 0.020;
  EXPECT_DOUBLE_EQ(bound(slow_network), 1.1 * 0.020 + 0.001);
  EXPECT_DOUBLE_EQ(images_per_second(run, two, two.step), 2 * 64 / 0.020);
  EXPECT_DOUBLE_EQ(scaling(run, run.rows[0]), 1);
  EXPECT_DOUBLE_EQ(scaling(run, two), 0.5);
  EXPECT_DOUBLE_EQ(ratio(two), 3);
  EXPECT_DOUBLE_EQ(ratio(run_of(false).rows[1]), 0);
}

TEST(DdpBenchReport, HasColumnsOnOneScreen) {
  for (const bool compared : {false, true}) {
    const DdpRun run = run_of(compared);
    std::istringstream all(title(run) + line(run, run.rows[1]) + explanation(run));
    for (std::string text; std::getline(all, text);) EXPECT_LE(text.size(), 100U) << text;
    EXPECT_EQ(line(run, run.rows[1]).find("PyTorch"), std::string::npos);
    EXPECT_EQ(title(run).find("PyTorch ms") != std::string::npos, compared);
    EXPECT_NE(explanation(run).find("4 ranks share 2 cores, so their scaling is at most 50 %."),
              std::string::npos);
    EXPECT_EQ(as_plot(run).lines.size(), compared ? 3U : 2U);
  }
}

TEST(DdpBenchReport, OnGpusSaysWhatTheGraphsAloneTake) {
  DdpRun run = run_of(true);
  run.options.device = "cuda";
  for (DdpRow& row : run.rows) row.graphs = row.step / 1.25;
  EXPECT_DOUBLE_EQ(ratio_to_graphs(run.rows[1]), 1.25);
  EXPECT_DOUBLE_EQ(ratio_to_graphs(run_of(true).rows[1]), 0);
  std::istringstream all(title(run) + line(run, run.rows[1]) + explanation(run));
  for (std::string text; std::getline(all, text);) EXPECT_LE(text.size(), 120U) << text;
  EXPECT_NE(title(run).find("backend auto, on GPUs"), std::string::npos);
  EXPECT_NE(title(run).find("ratio graphs ms  ratio\n"), std::string::npos) << title(run);
  EXPECT_NE(line(run, run.rows[1]).find("   3.00     16.00   1.25\n"), std::string::npos)
      << line(run, run.rows[1]);
}

}  // namespace
