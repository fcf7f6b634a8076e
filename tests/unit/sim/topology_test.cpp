// Topologies from files: those that come with distlab, and the errors of bad ones.
#include <cstdio>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "dist/sim/topology_file.h"

#include "support/expect_error.h"

namespace dist::test {
namespace {

using sim::Topology;

TEST(Topologies, ThatComeWithTheLibraryAreWhole) {
  ASSERT_GE(sim::builtin_topologies().size(), 5u);
  for (const auto& builtin : sim::builtin_topologies()) {
    const Topology topology = sim::load_topology(std::string(builtin.name));
    EXPECT_EQ(topology.name, builtin.name);
    EXPECT_FALSE(topology.about.empty()) << builtin.name;
    EXPECT_GT(topology.intra.bandwidth, 0) << builtin.name;
    EXPECT_NE(builtin.text.find("\"sources\""), std::string_view::npos) << builtin.name;
  }
}

TEST(Topologies, SummitHasSixGpusOnTwoRails) {
  const Topology summit = sim::load_topology("summit");
  EXPECT_EQ(summit.max_ranks, 27'648);
  EXPECT_EQ(summit.node_of(5), 0);
  EXPECT_EQ(summit.node_of(6), 1);
  EXPECT_EQ(summit.nic_of(2), 0);
  EXPECT_EQ(summit.nic_of(3), 1);
  EXPECT_EQ(summit.nic_of(6), 2);
  EXPECT_DOUBLE_EQ(summit.cost_inside().ps_per_byte, 1e12 / 50e9);
  EXPECT_DOUBLE_EQ(summit.cost_between().ps_per_byte, 1e12 / 12.5e9);
  EXPECT_EQ(summit.cost_between().latency, 2'700'000);  // ps
  EXPECT_EQ(summit.cost_between().overhead, 500'000);
}

TEST(Topologies, UnknownNamesAreAnsweredWithThoseThereAre) {
  expect_error(Errc::invalid_argument,
               {"'sumit'", "10gbe", "dgx-a100-hdr", "dgx-h100-ndr", "laptop", "summit"},
               [] { sim::load_topology("sumit"); });
  expect_error(Errc::invalid_argument, {"/no/such.json", "cannot be read"},
               [] { sim::load_topology("/no/such.json"); });
}

TEST(Topologies, TheTextItself) {
  const Topology mine = sim::load_topology(R"({"intra": {"latency_us": 2, "bandwidth_gb_s": 5}})");
  EXPECT_EQ(mine.name, "of its own");
  EXPECT_EQ(mine.cost_inside().latency, 2'000'000);  // ps
  expect_error(Errc::invalid_argument, {"the topology's text:2:", "intra must be"},
               [] { sim::load_topology("{\n\"intra\": 3}"); });
}

TEST(Topologies, AFileOfOnesOwn) {
  const std::string path = testing::TempDir() + "distlab-mine-" + std::to_string(getpid()) + ".json";
  std::ofstream(path) << R"({"intra": {"latency_us": 1, "bandwidth_gb_s": 2}})";
  const Topology mine = sim::load_topology(path);
  std::remove(path.c_str());
  EXPECT_EQ(mine.name, "distlab-mine-" + std::to_string(getpid()));
  EXPECT_EQ(mine.cost_inside().latency, 1'000'000);
  EXPECT_DOUBLE_EQ(mine.cost_inside().ps_per_byte, 500);
  EXPECT_EQ(mine.node_of(1000), 0);
}

TEST(Topologies, NumbersBeyondAnyAreRefused) {
  expect_error(Errc::invalid_argument, {"mine.json", "1e400"},
               [] { sim::parse_topology(R"({"overhead_us": 1e400})", "mine.json", "mine"); });
  const auto cards =
      R"({"gpus_per_node": 2, "nics_per_node": 3, "intra": {"latency_us": 1, "bandwidth_gb_s": 1},
                         "inter": {"latency_us": 1, "bandwidth_gb_s": 1}})";
  expect_error(Errc::invalid_argument, {"mine.json:1: nics_per_node is 3"},
               [&] { sim::parse_topology(cards, "mine.json", "mine"); });
}

struct Bad {
  std::string text;
  std::vector<std::string> words;
};

class BadTopology : public testing::TestWithParam<Bad> {};

TEST_P(BadTopology, IsNamedByFileLineAndKey) {
  const Bad& bad = GetParam();
  expect_error(Errc::invalid_argument, bad.words,
               [&] { sim::parse_topology(bad.text, "mine.json", "mine"); });
}

INSTANTIATE_TEST_SUITE_P(
    All, BadTopology,
    testing::Values(Bad{"{\n  \"intra\": {\n", {"mine.json:3:", "not JSON"}},
                    Bad{"[1]", {"mine.json:1:", "object"}}, Bad{"{}", {"mine.json:1:", "intra is missing"}},
                    Bad{"{\n\"intra\": 3}", {"mine.json:2:", "intra must be"}},
                    Bad{"{\n\n\"intra\": {\"latency_us\": 1}}",
                        {"mine.json:3:", "intra.bandwidth_gb_s is missing"}},
                    Bad{"{\"intra\": {\n\"latency_us\": -1, \"bandwidth_gb_s\": 1}}",
                        {"mine.json:2:", "intra.latency_us is -1", "from 0"}},
                    Bad{"{\"intra\": {\"latency_us\": 1,\n \"bandwidth_gb_s\": 0}}",
                        {"mine.json:2:", "intra.bandwidth_gb_s is 0"}},
                    Bad{"{\"intra\": {\"latency_us\": \"1 us\", \"bandwidth_gb_s\": 1}}",
                        {"intra.latency_us must be a number", "1 us"}},
                    Bad{"{\"intra\": {\"latency_us\": 1, \"bandwidth_gb_s\": 1},\n\"gpus\": 8}",
                        {"mine.json:2:", "gpus is not a key", "gpus_per_node"}},
                    Bad{"{\"intra\": {\"latency_us\": 1, \"bandwidth_gb_s\": 1},\n\"gpus_per_node\": 8}",
                        {"inter is missing"}},
                    Bad{"{\"intra\": {\"latency_us\": 1, \"bandwidth_gb_s\": 1},\n\"gpus_per_node\": 2.5}",
                        {"mine.json:2:", "gpus_per_node is 2.5", "whole"}},
                    Bad{"{\"intra\": {\"latency_us\": 1, \"bandwidth_gb_s\": 1},\n\"switch_radix\": 8}",
                        {"mine.json:2:", "switch_radix has no effect without gpus_per_node"}},
                    Bad{"{\"intra\": {\"latency_us\": 1, \"bandwidth_gb_s\": 1},\n\"switch_radix\": 1}",
                        {"mine.json:2:", "switch_radix is 1"}}));

}  // namespace
}  // namespace dist::test
