// Two nodes: two distruns that meet on loopback.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include "dist/core/handles.h"

#include "distrun/machine.h"
#include "run_program.h"

namespace {

using namespace dist_test;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

dist::UniqueFd bound(int port) {
  dist::UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fd.reset();
  return fd;
}

class TwoNodes : public testing::Test {
 protected:
  std::vector<std::string> node(std::vector<std::string> more,
                                const std::vector<std::string>& program) const {
    std::vector<std::string> result{DISTRUN, "--nnodes", "2", "--rdzv-endpoint",
                                    fmt::format("127.0.0.1:{}", port_)};
    result.insert(result.end(), more.begin(), more.end());
    result.insert(result.end(), program.begin(), program.end());
    return result;
  }
  std::vector<std::string> shell(const std::string& script) const { return {"sh", "-c", script}; }
  int port_ = distrun::free_port();
};

TEST_F(TwoNodes, TheSameProgramRunsAcrossThem) {
  Running a(node({"--nproc-per-node", "2"}, {SAME_PROGRAM})),
      b(node({"--nproc-per-node", "3"}, {SAME_PROGRAM}));
  const Ran first = a.wait(), second = b.wait();
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_TRUE(contains(first.out + second.out, "[0] all 5 ranks agree")) << first.out << second.out;
}

TEST_F(TwoNodes, NumbersByFlagWhateverTheOrderOfArrival) {
  const std::string script =
      "echo rank $RANK of $WORLD_SIZE, local $LOCAL_RANK, node $GROUP_RANK, $MASTER_ADDR:$MASTER_PORT";
  Running late(node({"--node-rank", "1", "--nproc-per-node", "2"}, shell(script)));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  Running early(node({"--node_rank", "0", "--nproc-per-node", "1"}, shell(script)));
  const Ran one = late.wait(), zero = early.wait();
  ASSERT_EQ(zero.code, 0) << zero.err;
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_TRUE(contains(zero.out, "[0] rank 0 of 3, local 0, node 0, 127.0.0.1:")) << zero.out;
  EXPECT_TRUE(contains(one.out, "[1] rank 1 of 3, local 0, node 1, 127.0.0.1:")) << one.out;
  EXPECT_TRUE(contains(one.out, "[2] rank 2 of 3, local 1, node 1, 127.0.0.1:")) << one.out;
  const auto master = [](const std::string& out) { return out.substr(out.find("127.0.0.1:"), 16); };
  EXPECT_EQ(lines_of(master(zero.out))[0], lines_of(master(one.out))[0]);  // one port, the same on both
}

TEST_F(TwoNodes, ANodeWithoutANumberGetsWhatIsLeft) {
  Running any(node({}, shell("echo node $GROUP_RANK")));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  Running zero(node({"--node-rank", "0"}, shell("echo node $GROUP_RANK")));
  const Ran first = any.wait(20), second = zero.wait(20);
  EXPECT_EQ(first.out, "[1] node 1\n") << first.err;
  EXPECT_EQ(second.out, "[0] node 0\n") << second.err;
}

TEST_F(TwoNodes, AFailureOnOneEndsTheOther) {
  const std::string script = "[ $RANK = 1 ] && exit 5; sleep 60";
  Running a(node({"--node-rank", "0", "--grace-period", "0.3"}, shell(script)));
  Running b(node({"--node-rank", "1", "--grace-period", "0.3"}, shell(script)));
  const Ran zero = a.wait(20), one = b.wait(20);
  EXPECT_EQ(one.code, 5);
  EXPECT_EQ(zero.code, 1);
  EXPECT_TRUE(contains(zero.err, "rank 1 on node 1 failed first: exit code 5")) << zero.err;
  EXPECT_TRUE(contains(one.err, "rank 1 failed: exit code 5")) << one.err;
}

// Whichever node is faster, the node whose rank failed second also names the root cause and its last words.
TEST_F(TwoNodes, TheRootCauseIsNamedOnBoth) {
  const std::string script =
      "if [ $RANK = 1 ]; then sleep 0.4; echo 'rank 1: cannot read batch 7' >&2; exit 5; fi; "
      "echo 'rank 0: all_reduce #3: rank 1 left' >&2; exit 1";
  Running a(node({"--node-rank", "0"}, shell(script))), b(node({"--node-rank", "1"}, shell(script)));
  const Ran zero = a.wait(20), one = b.wait(20);
  EXPECT_EQ(zero.code, 1);
  EXPECT_EQ(one.code, 5);
  EXPECT_TRUE(contains(zero.err,
                       "distrun: rank 1 on node 1 failed first: exit code 5\n"
                       "distrun: its last lines on stderr:\n"
                       "distrun:   rank 1: cannot read batch 7\n"
                       "distrun: rank 0 failed: exit code 1"))
      << zero.err;
  EXPECT_FALSE(contains(one.err, "failed first")) << one.err;
}

TEST_F(TwoNodes, APortOfAnotherProgramIsSaidAtOnceAndAtTheEnd) {
  dist::UniqueFd other = bound(port_);
  ASSERT_TRUE(other);
  ASSERT_EQ(listen(other.get(), 16), 0);  // connects, and never answers
  const std::string taken = fmt::format("distrun: port {} of 127.0.0.1 is taken", port_);
  const Ran any = run_program(node({"--rdzv-conf", "join_timeout=3"}, shell("true")));
  EXPECT_EQ(any.code, 1);
  ASSERT_EQ(lines_of(any.err).size(), 2U) << any.err;
  for (const std::string& line : lines_of(any.err)) EXPECT_TRUE(line.starts_with(taken)) << any.err;
  EXPECT_TRUE(contains(any.err, "trying for 2 s more")) << any.err;
  const Ran zero = run_program(node({"--node-rank", "0"}, shell("true")));  // must keep the store itself
  EXPECT_EQ(zero.code, 1);
  EXPECT_LT(zero.seconds, 10);
  EXPECT_TRUE(contains(zero.err, taken)) << zero.err;
  EXPECT_EQ(lines_of(zero.err).size(), 1U) << zero.err;
}

TEST_F(TwoNodes, AMasterAddressMayBeIPv6) {
  const auto node_of = [&](const std::string& rank) {
    return std::vector<std::string>{DISTRUN,
                                    "--nnodes",
                                    "2",
                                    "--node-rank",
                                    rank,
                                    "--master-addr",
                                    "::1",
                                    "--master-port",
                                    std::to_string(port_),
                                    SAME_PROGRAM};
  };
  Running a(node_of("0")), b(node_of("1"));
  const Ran zero = a.wait(30), one = b.wait(30);
  EXPECT_EQ(zero.code, 0) << zero.err;
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_TRUE(contains(zero.out, "[0] all 2 ranks agree")) << zero.out;
}

// The endpoint may be on the machine of any node, whatever the nodes' numbers are.
TEST_F(TwoNodes, IsHostDecidesWhoKeepsTheStore) {
  Running zero(
      node({"--node-rank", "0", "--rdzv-conf", "is_host=0,join_timeout=20"}, shell("echo node $GROUP_RANK")));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(bound(port_));  // node 0 does not bind it: it waits for another node to do so
  Running one(
      node({"--node-rank", "1", "--rdzv-conf", "is_host=1,join_timeout=20"}, shell("echo node $GROUP_RANK")));
  const Ran first = zero.wait(30), second = one.wait(30);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_TRUE(contains(first.out, "[0] node 0") && contains(second.out, "[1] node 1"))
      << first.out << second.out;
}

TEST_F(TwoNodes, BothStartAgainTogether) {
  const std::string script =
      "echo attempt $TORCHELASTIC_RESTART_COUNT; [ $RANK$TORCHELASTIC_RESTART_COUNT = 00 ] && exit 5; sleep "
      "0.5";
  Running a(node({"--max-restarts", "1", "--grace-period", "0.3"}, shell(script)));
  Running b(node({"--max-restarts", "1", "--grace-period", "0.3"}, shell(script)));
  const Ran first = a.wait(30), second = b.wait(30);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_TRUE(contains(first.out, "attempt 1") && contains(second.out, "attempt 1"))
      << first.out << second.out;
}

// As if another connection happened to have that port number.
TEST_F(TwoNodes, APortThatIsTakenForAMomentIsWaitedFor) {
  dist::UniqueFd holder = bound(port_);
  ASSERT_TRUE(holder);
  Running a(node({}, shell("true"))), b(node({}, shell("true")));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  holder.reset();
  const Ran first = a.wait(20), second = b.wait(20);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(second.code, 0) << second.err;
}

TEST_F(TwoNodes, ALostNodeIsNoticed) {
  for (const bool keeper : {false, true}) {  // also the one that keeps the store
    port_ = distrun::free_port();
    Running zero(node({"--node-rank", "0", "--grace-period", "0.3"}, shell("echo ready; sleep 60")));
    Running one(node({"--node-rank", "1", "--grace-period", "0.3"}, shell("echo ready; sleep 60")));
    ASSERT_TRUE(zero.wait_for_output("ready") && one.wait_for_output("ready"));
    (keeper ? zero : one).send_signal(SIGKILL);
    const Ran ran = (keeper ? one : zero).wait(20);
    EXPECT_EQ(ran.code, 1);
    EXPECT_TRUE(contains(ran.err, "is lost")) << ran.err;
  }
}

// The ranks of the lost node die with it, so the others fail first: the cause must still be named.
TEST_F(TwoNodes, ALostNodeIsNamedWhenItsPeersFailFirst) {
  Running zero(node({"--node-rank", "0", "--grace-period", "0.3", "--rdzv-conf", "is_host=1"},
                    {SAME_PROGRAM, "stay"}));
  Running one(node({"--node-rank", "1", "--grace-period", "0.3", "--rdzv-conf", "is_host=0"},
                   {SAME_PROGRAM, "stay"}));
  ASSERT_TRUE(zero.wait_for_output("stays") && one.wait_for_output("stays"));
  one.send_signal(SIGKILL);
  const Ran ran = zero.wait(20);
  EXPECT_NE(ran.code, 0);
  EXPECT_TRUE(contains(ran.err, "distrun: node 1 is lost: its distrun has ended")) << ran.err;
}

TEST_F(TwoNodes, RanksOfARoleAreCounted) {
  const std::string script = "echo role $ROLE_NAME $ROLE_RANK of $ROLE_WORLD_SIZE";
  Running zero(node({"--node-rank", "0", "--role", "trainer"}, shell(script)));
  Running one(node({"--node-rank", "1", "--role", "server"}, shell(script)));
  const Ran first = zero.wait(20), second = one.wait(20);
  EXPECT_TRUE(contains(first.out, "role trainer 0 of 1")) << first.out;
  EXPECT_TRUE(contains(second.out, "role server 0 of 1")) << second.out;
}

// The host of the store stops answering, as when the network to it is cut.
TEST_F(TwoNodes, AStoreThatDoesNotAnswerLeavesDistrunAllEars) {
  const std::string script = "trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done";
  Running host(node({"--node-rank", "0", "--rdzv-conf", "is_host=1"}, shell(script)));
  Running other(node({"--node-rank", "1", "--rdzv-conf", "is_host=0"}, shell(script)));
  ASSERT_TRUE(host.wait_for_output("ready") && other.wait_for_output("ready"));
  host.send_signal(SIGSTOP);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  other.send_signal(SIGTERM);
  const Ran ran = other.wait(30);
  EXPECT_EQ(ran.code, 128 + SIGTERM) << ran.err;
  EXPECT_LT(ran.seconds, 15);
  host.send_signal(SIGCONT);
}

TEST_F(TwoNodes, AMissingNodeIsSaid) {
  const Ran ran = run_program(node({"--rdzv-conf", "join_timeout=1"}, shell("true")));
  EXPECT_EQ(ran.code, 1);
  EXPECT_TRUE(contains(ran.err, "only 1 of 2 nodes arrived")) << ran.err;
  EXPECT_EQ(lines_of(ran.err).size(), 1U) << ran.err;
}

TEST_F(TwoNodes, AStoreThatIsNotThereIsDistrunsError) {
  const Ran ran = run_program(node({"--rdzv-conf", "join_timeout=1,is_host=0"}, shell("true")));
  EXPECT_EQ(ran.code, 1);
  EXPECT_TRUE(ran.err.starts_with("distrun: store tcp://")) << ran.err;
}

TEST_F(TwoNodes, ThatDisagreeOnHowManyTheyAreAreTold) {
  Running first(node({"--rdzv-conf", "join_timeout=3"}, shell("true")));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  auto words = node({}, shell("true"));
  words[2] = "3";
  const Ran other = run_program(words);
  EXPECT_EQ(other.code, 127);
  EXPECT_TRUE(contains(other.err, "--nnodes is 3 here, but 2 on the node that started job")) << other.err;
  EXPECT_EQ(lines_of(other.err).size(), 1U) << other.err;
  Running second(node({}, shell("true")));  // the refused one took no one's place
  EXPECT_EQ(first.wait().code, 0);
  EXPECT_EQ(second.wait().code, 0);
}

TEST_F(TwoNodes, AThirdNodeAndATakenNumberAreRefused) {
  Running zero(node({"--node-rank", "0"}, shell("echo ready; sleep 3")));
  Running one(node({"--node-rank", "1"}, shell("echo ready; sleep 3")));
  ASSERT_TRUE(zero.wait_for_output("ready") && one.wait_for_output("ready"));
  const Ran third = run_program(node({}, shell("true")));
  EXPECT_EQ(third.code, 127);
  EXPECT_TRUE(contains(third.err, "already has its 2 nodes")) << third.err;
  EXPECT_EQ(zero.wait().code, 0);
  EXPECT_EQ(one.wait().code, 0);
}

// Node 0 has ended its ranks and waits for the next attempt, while node 1 still ends its own.
TEST_F(TwoNodes, AThirdNodeIsRefusedBetweenTwoAttempts) {
  const auto member = [this](const std::string& number, const std::string& first_attempt) {
    return node({"--max-restarts", "1", "--grace-period", "1", "--node-rank", number},
                shell("echo ready; [ $TORCHELASTIC_RESTART_COUNT = 1 ] && exit 0; " + first_attempt));
  };
  Running zero(member("0", "sleep 1; exit 3")), one(member("1", "trap '' TERM; sleep 30"));
  ASSERT_TRUE(zero.wait_for_output("ready") && one.wait_for_output("ready"));
  std::this_thread::sleep_for(std::chrono::milliseconds(1800));
  const Ran third = run_program(node({}, shell("true")));
  EXPECT_EQ(third.code, 127);
  EXPECT_TRUE(contains(third.err, "already has its 2 nodes")) << third.err;
  EXPECT_EQ(zero.wait().code, 0);
  EXPECT_EQ(one.wait().code, 0);
}

TEST_F(TwoNodes, AStrangerWithAnotherTokenIsRefused) {
  Running zero(node({"--rdzv-conf", "join_timeout=5"}, shell("true")), {"DIST_JOB_TOKEN=secret"});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const Ran stranger =
      run_program(node({"--rdzv-conf", "join_timeout=2"}, shell("true")), {"DIST_JOB_TOKEN=guess"});
  EXPECT_EQ(stranger.code, 1);
  EXPECT_TRUE(contains(stranger.err, "token")) << stranger.err;
}

}  // namespace
