// --nnodes least:most: nodes that join, leave and are lost.
#include "elastic.h"

#include <signal.h>

namespace {

using namespace dist_test;

TEST_F(Elastic, ANodeThatComesLaterTakesPart) {
  Running a(node("1:2", soon_enough));
  ASSERT_TRUE(a.wait_for_output("rank 0 of 1, attempt 0"));
  Running b(node("1:2", {"--nproc-per-node", "2"}));
  const Ran first = a.wait(20), second = b.wait(20);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_TRUE(contains(first.err, "another node joins the job: starting all ranks again")) << first.err;
  EXPECT_TRUE(contains(second.err, "is running; it starts again with this node")) << second.err;
  const std::string both = first.out + second.out;
  for (const int rank : {0, 1, 2})
    EXPECT_TRUE(contains(both, fmt::format("rank {} of 3, attempt 1", rank))) << both;
}

TEST_F(Elastic, TheRestGoesOnWhenANodeIsLostAndAnotherTakesItsPlace) {
  Running a(node("1:3", {"--max-restarts", "1", "--rdzv-conf", "is_host=1,last_call_timeout=0"}));
  ASSERT_TRUE(a.wait_for_output("rank 0 of 1, attempt 0"));
  Running b(node("1:3", {"--rdzv-conf", "is_host=0"}));
  ASSERT_TRUE(a.wait_for_output("of 2, attempt 1") && b.wait_for_output("of 2, attempt 1"));
  b.send_signal(SIGKILL);
  ASSERT_TRUE(a.wait_for_output("rank 0 of 1, attempt 2"));
  Running c(node("1:3", {"--nproc-per-node", "2"}));  // it costs no restart
  const Ran first = a.wait(20), third = c.wait(20);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(third.code, 0) << third.err;
  EXPECT_TRUE(contains(first.err, "is lost: its distrun has ended; restarting all ranks (1 of 1)"))
      << first.err;
  EXPECT_TRUE(contains(first.out + third.out, "of 3, attempt 3")) << first.out << third.out;
}

TEST_F(Elastic, FailuresAreCountedAndTooFewNodesAreSaid) {
  const Ran ran = run_program(
      node("1:2", {"--max-restarts", "1", "--grace-period", "0.2", "--rdzv-conf", "last_call_timeout=0"},
           "exit 7"));
  EXPECT_EQ(ran.code, 7);
  EXPECT_TRUE(contains(ran.err, "restarting all ranks (1 of 1)")) << ran.err;
  const Ran alone = run_program(node("2:3", {"--rdzv-conf", "join_timeout=1"}));
  EXPECT_EQ(alone.code, 1);
  EXPECT_TRUE(contains(alone.err, "only 1 of at least 2 nodes arrived")) << alone.err;
}

// Ranks that get SIGTERM break the collectives of the others, whose nodes look for joins too late.
TEST_F(Elastic, AJoinIsNotTheFailureThatItCauses) {
  const std::string told = fmt::format("trap 'touch {}; sleep 0.3; exit 0' TERM; ", file("told"));
  Running a(node("2:3", soon_enough + Words{"--monitor-interval", "0.05"},
                 once + told + "while :; do sleep 0.02; done"));
  Running b(node("2:3", soon_enough + Words{"--monitor-interval", "1"}, once + until("told") + "exit 9"));
  ASSERT_TRUE(a.wait_for_output("ready") && b.wait_for_output("ready"));
  Running c(node("2:3", {}, "exit 0"));
  const Ran first = a.wait(20), second = b.wait(20), third = c.wait(20);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(third.code, 0) << third.err;
  EXPECT_TRUE(contains(second.err, "another node joins the job: starting all ranks again")) << second.err;
}

TEST_F(Elastic, ACrashIsNotAJoin) {
  const std::string script = "if [ $RANK = 0 ]; then echo dying; exit 3; fi; trap '' TERM; sleep 1; exit 4";
  Running a(node("1:2", soon_enough + Words{"--nproc-per-node", "2"}, script));
  ASSERT_TRUE(a.wait_for_output("dying"));
  sleep_ms(200);
  Running c(node("1:2"));
  const Ran first = a.wait(20), second = c.wait(20);
  EXPECT_EQ(first.code, 3);
  EXPECT_TRUE(contains(first.err, "rank 0 failed: exit code 3")) << first.err;
  EXPECT_EQ(second.code, 1);
  EXPECT_TRUE(contains(second.err, "has ended: ")) << second.err;
}

TEST_F(Elastic, AJoinDoesNotProlongAStop) {
  const std::string script = "trap 'echo told' TERM; echo ready; while :; do sleep 0.05; done";
  Running a(node("1:2", soon_enough + Words{"--grace-period", "1"}, script));
  ASSERT_TRUE(a.wait_for_output("ready"));
  a.send_signal(SIGTERM);
  ASSERT_TRUE(a.wait_for_output("told"));
  Running c(node("1:2"));
  const Ran ran = a.wait(20);
  EXPECT_EQ(ran.code, 128 + SIGTERM) << ran.err;
  EXPECT_EQ(ran.out.find("told"), ran.out.rfind("told")) << ran.out;
}

// Its output waits for a reader, so its distrun goes on for a while.
TEST_F(Elastic, ANodeThatHasLeftIsNotWaitedFor) {
  Running a(node("1:2", host + Words{"--max-restarts", "1", "--grace-period", "0.2"}, once + "sleep 60"));
  Running b(node("1:2", guest, once + until("go") + "head -c 100000 /dev/zero | tr '\\0' x; echo; exit 1"));
  ASSERT_TRUE(a.wait_for_output("ready") && b.wait_for_output("ready"));
  touch("go");
  const Ran first = a.wait(20);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_TRUE(is_alive(b.pid()));
  EXPECT_EQ(b.wait(20).code, 1);
}

TEST_F(Elastic, ASpareIsThereLongAfterItsJoinTimeout) {
  const Words more{"--max-restarts", "1", "--grace-period", "0.2"};
  Running a(node("1:2", host + more, once + "sleep 60")), b(node("1:2", guest + more, once + "sleep 60"));
  ASSERT_TRUE(a.wait_for_output("ready") && b.wait_for_output("ready"));
  Running c(node("1:2", {"--rdzv-conf", "is_host=0,join_timeout=1"}, "echo rank $RANK of $WORLD_SIZE"));
  sleep_ms(1600);
  b.send_signal(SIGKILL);
  const Ran first = a.wait(20), third = c.wait(20);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(third.code, 0) << third.err;
  EXPECT_TRUE(contains(third.out, "rank 1 of 2")) << third.out << third.err;
  EXPECT_TRUE(contains(third.err, "is running on 2 nodes; this one waits until one of them is lost"))
      << third.err;
}

// One node's ranks end at once, the other's later: a spare must not take that node's place.
TEST_F(Elastic, NoRankStartsWhileOneOfTheLastAttemptRuns) {
  const std::string next = fmt::format(
      "if [ $TORCHELASTIC_RESTART_COUNT = 1 ]; then [ -e {} ] && echo saved; exit 0; fi; echo ready; ",
      file("saved"));
  const Words more{"--max-restarts", "1"};
  Running a(node("1:2", host + more, next + until("go") + "sleep 1; touch " + file("saved") + "; exit 1"));
  Running b(node("1:2", guest + more, next + until("go") + "exit 1"));
  ASSERT_TRUE(a.wait_for_output("ready") && b.wait_for_output("ready"));
  Running c(node("1:2", guest + more, next));
  sleep_ms(500);
  touch("go");
  const Ran first = a.wait(20), second = b.wait(20), spare = c.wait(20);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_TRUE(contains(first.out, "saved") && contains(second.out, "saved")) << first.out << second.out;
  EXPECT_EQ(spare.code, 0) << spare.err;
  EXPECT_TRUE(contains(spare.err, "has ended, and did not need this node")) << spare.err;
  EXPECT_EQ(spare.out, "");
}

TEST_F(Elastic, AStoreThatIsLostEndsTheJobAtOnce) {
  const Words more{"--max-restarts", "1", "--grace-period", "0.2"};
  Running a(node("1:2", host + more)), b(node("1:2", guest + more));
  ASSERT_TRUE(a.wait_for_output("of 2, attempt 0") && b.wait_for_output("of 2, attempt 0"));
  a.send_signal(SIGKILL);
  const Ran ran = b.wait(20);
  EXPECT_EQ(ran.code, 1);
  EXPECT_TRUE(contains(ran.err, "first failure: the node that hosts the store is lost")) << ran.err;
}

TEST_F(Elastic, TheHostOfTheStoreMayBeStopped) {
  const Words more{"--max-restarts", "1", "--grace-period", "0.2"};
  Running a(node("1:2", host + more)), b(node("1:2", guest + more));
  ASSERT_TRUE(a.wait_for_output("of 2, attempt 0") && b.wait_for_output("of 2, attempt 0"));
  a.send_signal(SIGTERM);
  const Ran first = a.wait(20), second = b.wait(20);
  EXPECT_EQ(first.code, 128 + SIGTERM) << first.err;
  EXPECT_EQ(second.code, 1);
  EXPECT_LT(first.seconds, 10);
  EXPECT_TRUE(contains(second.err, "the node that hosts its store leaves; the ranks are not restarted"))
      << second.err;
}

TEST_F(Elastic, APortThatTheStoreHasIsNotGivenToRank0) {
  const std::string port = endpoint_.substr(endpoint_.find(':') + 1);
  const Ran ran =
      run_program(node("1:2", soon_enough + Words{"--master-port", port}, "echo port $MASTER_PORT."));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "port ") && !contains(ran.out, "port " + port + ".")) << ran.out;
}

// The job has used up more restarts than the node that came last allows.
TEST_F(Elastic, FewerRestartsOnALateNodeAreAnEnd) {
  Running a(node(
      "1:2", {"--max-restarts", "1", "--grace-period", "0.2", "--rdzv-conf", "is_host=1,last_call_timeout=0"},
      "[ $TORCHELASTIC_RESTART_COUNT = 0 ] && exit 7; echo stays; trap 'exit 0' TERM; sleep 60 & wait"));
  ASSERT_TRUE(a.wait_for_output("stays"));
  Running c(node("1:2", guest + Words{"--grace-period", "0.2"}, "exit 9"));
  const Ran first = a.wait(20), third = c.wait(20);
  EXPECT_EQ(first.code, 1) << first.err;
  EXPECT_EQ(third.code, 9) << third.err;
}

}  // namespace
