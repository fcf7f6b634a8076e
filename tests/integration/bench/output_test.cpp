// What users and programs see of measured rows.
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "distlab/bench/results.h"
#include "distlab/bench/table.h"

namespace {

using namespace distlab::bench;

Run run_of(const std::string& what, const std::string& peer) {
  Run run;
  run.options.what = what;
  run.options.ranks = 3;
  run.plan = make_plan(run.options);
  run.backend = "host";
  run.peer = peer;
  if (!peer.empty()) run.peer_title = "Open MPI 4.1.4";
  run.bandwidth = 12e9;
  return run;
}

Row row_of(const Run& run, Form form, std::int64_t bytes, double seconds) {
  Row row;
  row.form = form;
  row.algorithm = "recursive_doubling";
  row.bytes = bytes;
  row.count = bytes / 4;
  row.ours = {seconds, seconds / 2, seconds * 2};
  if (!run.peer.empty()) row.peer = Times{3 * seconds, seconds, 9 * seconds};
  row.limit_s = limit_seconds(run, form, bytes);
  return row;
}

std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) most = std::max(most, line.size());
  return most;
}

}  // namespace

TEST(BenchTable, IsNoWiderThanAHundredColumns) {
  for (const char* what : {"all_reduce", "all_gather", "scatter", "barrier", "send_recv"}) {
    for (const char* peer : {"", "mpi"}) {
      const auto run = run_of(what, peer);
      std::vector<Row> rows;
      for (const Form form : forms(run.plan.collective))
        rows.push_back(row_of(run, form, (64 << 20) - 4, 0.0876));
      EXPECT_LE(widest(title(run) + line(run, rows) + explanation(run, rows)), 100U)
          << title(run) << line(run, rows) << explanation(run, rows);
    }
  }
}

TEST(BenchTable, NamesTheSmallestRatio) {
  const auto run = run_of("all_reduce", "mpi");
  std::vector<Row> rows{row_of(run, Form::in_place, 4, 1e-6), row_of(run, Form::in_place, 4096, 1e-5)};
  rows[1].peer->median = 0.75e-5;
  const std::string text = explanation(run, rows);
  EXPECT_NE(text.find("geometric mean 1.50, least 0.75 (4 KiB)"), std::string::npos) << text;
  EXPECT_NE(line(run, {rows[1]}).find(" 4 KiB "), std::string::npos);
  EXPECT_EQ(explanation(run_of("all_reduce", ""), rows).find("ratio"), std::string::npos);
}

TEST(BenchTable, SaysWhenABuildIsNotForMeasuring) {
  const std::string text = title(run_of("all_reduce", ""));
  EXPECT_NE(text.find("build "), std::string::npos) << text;
  EXPECT_EQ(text.find("build Release") == std::string::npos, text.find("mislead") != std::string::npos);
}

TEST(BenchJson, HasAllFieldsOfARow) {
  const auto run = run_of("all_gather", "mpi");
  const auto rows = nlohmann::json::parse(as_json(run, {row_of(run, Form::in_place, 12'000'000, 1e-2)}));
  ASSERT_EQ(rows.size(), 1U);
  const auto& row = rows[0];
  EXPECT_EQ(row.at("collective"), "all_gather");
  EXPECT_EQ(row.at("backend"), "host");
  EXPECT_EQ(row.at("algorithm"), "recursive_doubling");
  EXPECT_EQ(row.at("ranks"), 3);
  EXPECT_EQ(row.at("bytes"), 12'000'000);
  EXPECT_DOUBLE_EQ(row.at("time_us"), 1e4);
  EXPECT_DOUBLE_EQ(row.at("algbw_gbs"), 1.2);
  EXPECT_DOUBLE_EQ(row.at("busbw_gbs"), 0.8);
  EXPECT_EQ(row.at("peer"), "mpi");
  EXPECT_DOUBLE_EQ(row.at("peer_time_us"), 3e4);
  EXPECT_DOUBLE_EQ(row.at("ratio"), 3);
  EXPECT_DOUBLE_EQ(row.at("percent_of_limit"), 30) << "3 S bytes at 12 GB/s are 3 ms";
  EXPECT_EQ(row.at("form"), "in_place");
  EXPECT_EQ(row.at("wrong"), 0);
}

TEST(BenchJson, WhatThereIsNotIsNull) {
  const auto run = run_of("barrier", "");
  const auto row = nlohmann::json::parse(as_json(run, {row_of(run, Form::out_of_place, 0, 1e-6)}))[0];
  for (const char* field : {"peer", "peer_time_us", "ratio", "percent_of_limit", "dtype", "op", "root"})
    EXPECT_TRUE(row.at(field).is_null()) << field;
}

TEST(BenchPlot, HasALineForEachAlgorithmAndOneForThePeerAndTheLimit) {
  auto run = run_of("all_reduce", "mpi");
  run.plan.algorithms = {"ring", "tree"};
  std::vector<Row> rows;
  for (const std::int64_t bytes : {1024, 4096}) {
    for (const char* algorithm : {"ring", "tree"}) {
      rows.push_back(row_of(run, Form::in_place, bytes, 1e-5));
      rows.back().algorithm = algorithm;
    }
  }
  const auto plot = as_plot(run, rows);
  ASSERT_EQ(plot.lines.size(), 4U);
  for (const auto& line : plot.lines) EXPECT_EQ(line.points.size(), 2U) << line.family;
  EXPECT_EQ(plot.lines[1].family, "Open MPI 4.1.4");
  EXPECT_EQ(plot.lines[2].family, "limit");
  run.plan.algorithms = {""};
  EXPECT_EQ(as_plot(run, rows).lines.front().family, "distlab") << "whatever it chose for each size";
}
