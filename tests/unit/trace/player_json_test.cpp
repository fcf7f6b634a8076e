// What the animation is given.
#include "drawing/player_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "traces.h"

namespace dist::test {
namespace {

using trace::Kind;
using trace::to_player_json;
using Json = nlohmann::json;

TEST(PlayerJson, OfAnExchangeIsThis) {
  trace::Trace trace = exchange();
  trace.events.resize(5);  // of rank 0: the message from rank 1 was never sent, that to rank 1 not received
  EXPECT_EQ(
      to_player_json(trace),
      R"({"format":"distlab player 2","title":"exchange, 2 ranks","ranks":2,"ranks_per_node":0,"virtual_time":true,)"
      R"("unit":"ps","duration":3000000,)"
      R"(
"calls":[
{"rank":0,"begin":0,"end":3000000,"name":"all_reduce","algorithm":"ring","where":"train.cpp:41","bytes":8192,"in_shared_memory":false,"group":0,"sequence":0,"ending":"done"}],
"messages":[
{"id":1,"src":0,"dst":1,"begin":0,"arrive":null,"bytes":4096,"contributors":"0","offset":0,"name":"","group":0,"sequence":0}],
"reductions":[
{"rank":0,"at":3000000,"bytes":4096,"contributors":"0,1","offset":-1}],
"waits":[
{"rank":0,"begin":0,"end":2500000}],
"computes":[],
"findings":[]}
)");
}

TEST(PlayerJson, AMessageNamesTheCallItBelongsTo) {
  trace::Trace trace = exchange();
  for (trace::Event& event : trace.events) {
    event.name = "all_reduce";
    event.group = 2;
    event.sequence = 7;
  }
  const Json json = Json::parse(to_player_json(trace));
  for (const char* list : {"calls", "messages"}) {
    EXPECT_EQ(json[list][1]["name"], "all_reduce");
    EXPECT_EQ(json[list][1]["group"], 2);
    EXPECT_EQ(json[list][1]["sequence"], 7);
  }
}

TEST(PlayerJson, ACallInSharedMemoryIsMarked) {
  const Json json = Json::parse(to_player_json(shared_sum()));
  ASSERT_EQ(json["calls"].size(), 2u);
  EXPECT_EQ(json["calls"][0]["in_shared_memory"], true);
}

TEST(PlayerJson, ACallThatWasCutOffSaysSo) {
  trace::Trace trace = shared_sum();
  trace.events.front().ending = trace::Ending::cut_off;
  EXPECT_EQ(Json::parse(to_player_json(trace))["calls"][0]["ending"], "cut off");
}

TEST(PlayerJson, AMessageArrivesWhenItsReceiveEnds) {
  const Json json = Json::parse(to_player_json(exchange()));
  ASSERT_EQ(json["messages"].size(), 2u);
  EXPECT_EQ(json["messages"][1]["src"], 1);
  EXPECT_EQ(json["messages"][1]["arrive"], 2'500'000);
  EXPECT_EQ(json["messages"][1]["contributors"], "1");
  EXPECT_EQ(json["messages"][1]["offset"], 4096);
}

TEST(PlayerJson, KnowsComputationsByNameAndNoUnknownCallSite) {
  trace::Trace trace{"", 1, false, {event(Kind::compute, 0, 1, 2), event(Kind::call, 0, 2, 3)}};
  trace.events[0].name = "forward \"1\"";
  const Json json = Json::parse(to_player_json(trace));
  EXPECT_EQ(json["computes"][0], Json({{"rank", 0}, {"begin", 1}, {"end", 2}, {"name", "forward \"1\""}}));
  EXPECT_EQ(json["calls"][0]["where"], "");
}

TEST(PlayerJson, TellsWhoWaitsForWhom) {
  const Json json = Json::parse(to_player_json(swap_that_deadlocks()));
  EXPECT_EQ(json["ranks_per_node"], 8);
  const Json& finding = json["findings"].at(0);
  EXPECT_EQ(finding["code"], "D1");
  EXPECT_EQ(finding["what"], "ranks 0 and 1 wait for each other");
  EXPECT_EQ(finding["parties"][1],
            Json({{"rank", 1}, {"doing", "send to \"0\""}, {"where", "train.cpp:41"}, {"waits_for", {0}}}));
}

TEST(PlayerJson, OfNothingIsEmpty) {
  const Json json = Json::parse(to_player_json({}));
  EXPECT_EQ(json["duration"], 0);
  EXPECT_TRUE(json["messages"].empty());
}

}  // namespace
}  // namespace dist::test
