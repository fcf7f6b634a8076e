// What is concluded from the snapshots of all ranks, and what is not.
#include <gtest/gtest.h>

#include "dist/core/op_kind.h"
#include "dist/group/diagnosis/hang_report.h"

namespace dist {
namespace {

using namespace std::chrono_literals;
using check::Code;

// Ranks in the default group of a job; each has been in its current operation for a second.
struct Stage {
  explicit Stage(int ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      everybody.push_back(rank);
      Snapshot snapshot;
      snapshot.rank = rank;
      snapshot.state = Snapshot::State::present;
      snapshot.is_complete = true;
      snapshots.push_back(snapshot);
    }
  }

  SnapshotCall& call(int rank, CallFamily family, const std::string& name, std::uint64_t sequence) {
    Snapshot& snapshot = of(rank);
    SnapshotCall call;
    call.record = snapshot.calls.size() + 1;
    call.name = name;
    call.doing = describe_call(name, sequence, "4 f32");
    call.where = {"train.cpp", 10 + rank};
    call.family = family;
    call.blocks = true;
    call.age = 1s;
    call.members = everybody;
    call.sequence = sequence;
    call.bytes = 16;
    snapshot.begun.push_back({call.group, family, sequence + 1});
    snapshot.calls.push_back(call);
    return snapshot.calls.back();
  }
  SnapshotCall& message(int rank, const std::string& name, int peer) {
    SnapshotCall& made = call(rank, CallFamily::message, name, 0);
    made.peer = peer;
    return made;
  }
  SnapshotCall& collective(int rank, const std::string& name, std::uint64_t sequence) {
    return call(rank, CallFamily::collective, name, sequence);
  }
  Snapshot& of(int rank) { return snapshots[static_cast<std::size_t>(rank)]; }
  JobSnapshot job() const { return {snapshots, 0, 1, 100ms}; }

  // The finding of rank 0's first call, "" when there is none.
  std::string told() const {
    const auto finding = explain_stall(job());
    return finding ? finding->line() : "";
  }

  std::vector<int> everybody;
  std::vector<Snapshot> snapshots;
};

TEST(Stall, MessagesThatATagOrAGroupKeepsApart) {
  Stage tags(2);
  tags.message(0, "send", 1).tag = 1;
  tags.message(1, "recv", 0).tag = 2;
  for (const char* part : {"send #0 (4 f32, tag 1) at", "recv #0 (4 f32, tag 2) at", "the same .tag"})
    EXPECT_NE(tags.told().find(part), std::string::npos) << tags.told();
  Stage groups(2);
  SnapshotCall& in_group = groups.message(0, "send", 1);
  in_group.group.context = 1;
  in_group.group_name = "group 1";
  groups.message(1, "recv", 0);
  for (const char* part :
       {"send #0 (4 f32) in group 1 at", "recv #0 (4 f32) in the default group at", "the same .group"})
    EXPECT_NE(groups.told().find(part), std::string::npos) << groups.told();
}

TEST(Stall, ACycleIsDrawn) {
  Stage stage(3);
  stage.message(0, "recv", 1), stage.message(1, "recv", 0);
  EXPECT_EQ(
      stage.told(),
      "D1 deadlock: 2 ranks wait for each other in a cycle and none can go on; rank 0: recv #0 (4 f32) at "
      "train.cpp:10, waits for rank 1; rank 1: recv #0 (4 f32) at train.cpp:11, waits for rank 0; cycle: "
      "rank 0 -> rank 1 -> rank 0; fix: let one rank send before it receives: each of these ranks is in a "
      "receive");
}

TEST(Stall, ARankThatWaitsForItselfIsACycleOfOne) {
  Stage stage(1);
  stage.message(0, "recv", 0);
  EXPECT_EQ(stage.told().find("D1 deadlock: rank 0 waits for itself and can never go on; rank 0: recv #0"),
            0u)
      << stage.told();
  EXPECT_NE(stage.told().find("let a rank copy what it would send to itself"), std::string::npos)
      << stage.told();
}

TEST(Stall, ARankThatMayStillComeIsWaitedFor) {
  Stage stage(2);
  stage.message(0, "recv", 1);
  EXPECT_EQ(stage.told(), "") << "rank 1 is in no operation";
  stage.message(1, "recv", 0).blocks = false;
  EXPECT_EQ(stage.told(), "") << "rank 1 does something else meanwhile";
  stage.of(1).calls[0].blocks = true;
  EXPECT_NE(stage.told(), "");
  stage.of(1).calls[0].age = 50ms;
  EXPECT_EQ(stage.told(), "") << "too young: the snapshots may be of different moments";
  stage.of(1).calls[0].age = 1s;
  stage.of(1).is_complete = false;
  EXPECT_EQ(stage.told(), "") << "not everything is known about rank 1";
  stage.of(1) = {};
  stage.of(1).rank = 1;
  EXPECT_EQ(stage.told(), "") << "rank 1 is silent";
  stage.of(1).state = Snapshot::State::failed;
  EXPECT_EQ(stage.told(), "") << "its failure has an error of its own";
  stage.of(1).state = Snapshot::State::left;
  EXPECT_NE(stage.told().find("the awaited call can never come: rank 1 ended already"), std::string::npos);
}

TEST(Stall, AMessageThatIsUnderWay) {
  Stage stage(2);
  stage.message(0, "recv", 1), stage.message(1, "send", 0);
  EXPECT_EQ(stage.told(), "") << "slow, no deadlock";
  stage.of(1).calls[0].tag = 7;
  EXPECT_NE(stage.told(), "") << "it has another tag";
  stage.of(1).calls[0].tag = 0;
  stage.of(1).calls[0].group.context = 3;
  EXPECT_NE(stage.told(), "") << "it is in another group";
}

TEST(Stall, MessagesMeetInTheirOrder) {
  Stage stage(2);
  stage.message(0, "recv", 1).blocks = false;
  stage.message(0, "recv", 1);
  stage.message(1, "send", 0).blocks = false;
  stage.message(1, "recv", 0);
  EXPECT_NE(stage.told(), "") << "the one message is for the first receive";
  stage.message(1, "send", 0).blocks = false;
  EXPECT_EQ(stage.told(), "");
}

TEST(Stall, AReceiveFromAnyRankNeedsAllToStandStill) {
  Stage stage(3);
  stage.message(0, "recv", -1), stage.message(1, "recv", 0);
  EXPECT_EQ(stage.told(), "") << "rank 2 may send";
  stage.message(2, "recv", 1);
  EXPECT_NE(stage.told().find("rank 0: recv #0 (4 f32) at train.cpp:10, waits for ranks 1, 2"),
            std::string::npos);
}

TEST(Stall, ACollectiveWaitsForThoseThatHaveNotBegunIt) {
  Stage stage(3);
  stage.collective(0, "all_reduce", 4), stage.collective(1, "all_reduce", 4), stage.message(2, "recv", 0);
  const std::string text = stage.told();
  EXPECT_NE(text.find("rank 0: all_reduce #4 (4 f32) at train.cpp:10, waits for rank 2"), std::string::npos);
  EXPECT_EQ(text.find("rank 1:"), std::string::npos) << "it has no part in it: " << text;
  stage.of(2).begun.push_back({{}, CallFamily::collective, 5});
  EXPECT_EQ(stage.told(), "") << "rank 2 has begun it, or is beyond it";
}

TEST(Stall, CollectivesOfTwoGroupsInOppositeOrders) {
  Stage stage(3);
  const auto of_two = [&](int rank) {
    SnapshotCall& call = stage.collective(rank, "all_reduce", 0);
    call.group.context = 1;
    call.members = {0, 1};
    stage.of(rank).begun.back().group = call.group;
  };
  stage.collective(0, "all_reduce", 0), of_two(1), stage.collective(2, "all_reduce", 0);
  const std::string text = stage.told();
  EXPECT_NE(text.find("rank 0: all_reduce #0 (4 f32) among ranks 0, 1, 2 at train.cpp:10, waits for rank 1"),
            text.npos)
      << text;
  EXPECT_NE(text.find("rank 1: all_reduce #0 (4 f32) among ranks 0, 1 at train.cpp:11, waits for rank 0"),
            text.npos)
      << text;
  EXPECT_NE(text.find("in the same order, across groups as well"), text.npos) << text;
}

TEST(Stall, TwoBlockedThreadsOfOneRank) {
  Stage stage(2);
  stage.message(0, "recv", 1), stage.message(1, "recv", 0);
  SnapshotCall& other = stage.message(1, "send", 0);
  other.tag = 5;
  EXPECT_NE(stage.told(), "");
  SnapshotCall& met = stage.message(0, "recv", 1);
  met.tag = 5;
  EXPECT_EQ(stage.told(), "") << "one thread of each goes on";
}

TEST(Stall, DifferentCollectivesOfOneNumber) {
  Stage stage(4);
  for (const int rank : {0, 2, 3}) stage.collective(rank, "all_reduce", 7);
  stage.collective(1, "broadcast", 7).failed = true;
  const auto finding = explain_stall(stage.job());
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->code, Code::mismatched_collective);
  EXPECT_EQ(finding->what, "rank 1 calls broadcast #7 (4 f32) where rank 0 calls all_reduce #7 (4 f32)");
  stage.of(1).calls[0].group.context = 2;
  EXPECT_EQ(stage.told(), "") << "of another group";
}

TEST(Misfit, BothSidesAreNamed) {
  Stage stage(2);
  stage.message(0, "recv", 1).bytes = 20;
  stage.message(1, "send", 0).failed = true;
  const auto finding = find_misfit(stage.job());
  ASSERT_TRUE(finding);
  EXPECT_EQ(
      finding->line(),
      "D3 message that does not fit: 16 bytes are sent and 20 expected; rank 1: send (16 bytes to rank 0) at "
      "train.cpp:11; rank 0: recv (20 bytes from rank 1) at train.cpp:10; fix: give send and receive "
      "the same number of elements and the same dtype");
}

TEST(Snapshot, TravelsAsText) {
  FlightLog log(2, 4, 8, "");
  log.recorder.name_group(3, "group 1", Members{2, 0});
  FlightRecord record;
  record.operation = "send";
  record.family = CallFamily::message;
  record.blocks = true;
  record.group = 3;
  record.sequence = 5;
  record.count = 4;
  record.dtype = DType::f32;
  record.peer = 0;
  record.tag = 9;
  record.where = {"src/train.cpp", 41};
  log.recorder.issued(record);
  record.operation = "all_reduce";
  record.family = CallFamily::collective;
  log.recorder.completed(log.recorder.issued(record));
  const Snapshot snapshot = decode_snapshot(encode(take_snapshot(log)));
  EXPECT_EQ(snapshot.rank, 2);
  EXPECT_EQ(snapshot.activity, "in send #5 (4 f32) at train.cpp:41");
  EXPECT_TRUE(snapshot.is_complete);
  ASSERT_EQ(snapshot.calls.size(), 1u) << "the other one is over";
  const SnapshotCall& call = snapshot.calls[0];
  EXPECT_EQ(call.doing, "send #5 (4 f32)");
  EXPECT_EQ(call.where.str(), "train.cpp:41");
  EXPECT_EQ(call.members, (std::vector<int>{2, 0}));
  EXPECT_TRUE(call.blocks && call.is_open() && call.is_send());
  EXPECT_EQ(call.group, (GroupKey{3, 2}));
  EXPECT_EQ(std::tuple(call.peer, call.tag, call.bytes, call.sequence), std::tuple(0, 9u, 16u, 5u));
  for (const Begun& begun : snapshot.begun) {
    EXPECT_EQ(begun.group, (GroupKey{3, 2}));
    EXPECT_EQ(begun.calls, begun.family == CallFamily::control ? 0u : 6u);
  }
  EXPECT_THROW(decode_snapshot("[1, 2"), Error);
  EXPECT_THROW(decode_snapshot("[1, 2]"), Error);
}

TEST(Snapshot, HasWhatIsUnderWayHoweverLongAgoItBegan) {
  FlightLog log(0, 2, 4, "");
  FlightRecord record;
  record.operation = "all_reduce";
  for (record.sequence = 0; record.sequence < 10; ++record.sequence)
    log.recorder.completed(log.recorder.issued(record));
  Snapshot snapshot = take_snapshot(log);
  EXPECT_TRUE(snapshot.is_complete);
  EXPECT_EQ(snapshot.begun.front().calls, 10u);
  const auto open = log.recorder.issued(record);
  for (int i = 0; i < 4; ++i) log.recorder.completed(log.recorder.issued(record));
  snapshot = take_snapshot(log);
  EXPECT_TRUE(snapshot.is_complete);
  ASSERT_EQ(snapshot.calls.size(), 1u);
  EXPECT_EQ(snapshot.calls[0].record, open);
  log.recorder.completed(open);
  EXPECT_TRUE(take_snapshot(log).calls.empty());
}

}  // namespace
}  // namespace dist
