// --nnodes least:most with a store, and at times a node, that the test plays.
#include <memory>

#include <signal.h>

#include "dist/store/tcp_store.h"

#include "elastic.h"

namespace {

using namespace dist_test;

// The test hosts the store.
class ElasticStore : public Elastic {
 protected:
  std::shared_ptr<dist::Store> reach(const dist::LastWill& will = {}) const {
    return dist::make_tcp_store(server_.address(), token, soon(), will);
  }
  static std::string key(const std::string& name) { return "distrun/none/" + name; }
  // Node 0, which the test plays, and a real node with this script begin the first attempt.
  void begin_with(const Words& real) {
    ghost_ = reach({key("gone0"), "ghost"});
    ghost_->set(key("nnodes"), real[2]);
    ghost_->add(key("names"), 1);
    ghost_->add(key("attempt0/arrived"), 1);
    ghost_->set(key("attempt0/member0"), "0 1 -1 default");
    real_ = std::make_unique<Running>(real);
    ghost_->get(key("attempt0/member1"), soon());
    ghost_->set(key("attempt0/closed"), "0 0 1");
  }

  static constexpr const char* token = "distrun:none";
  dist::StoreServer server_{"tcp://" + endpoint_, token};
  std::shared_ptr<dist::Store> ghost_;
  std::unique_ptr<Running> real_;
};

TEST_F(ElasticStore, ASpareEndsWithTheJob) {
  for (const bool is_lost : {false, true}) {
    const std::string job = fmt::format("job{}", is_lost);
    const Words flags = guest + Words{"--rdzv-id", job};
    const std::vector<std::string> environment{"DIST_JOB_TOKEN=" + std::string(token)};
    const std::string script = "echo ready; " + until("end" + job);
    Running a(node("1:2", flags, script), environment), b(node("1:2", flags, script), environment);
    ASSERT_TRUE(a.wait_for_output("ready") && b.wait_for_output("ready"));
    Running c(node("1:2", flags, script), environment);
    reach()->get("distrun/" + job + "/attempt0/waiting", soon());
    if (is_lost) a.send_signal(SIGKILL), b.send_signal(SIGKILL);
    touch("end" + job);
    const Ran spare = c.wait(20);
    EXPECT_EQ(spare.code, is_lost ? 1 : 0) << spare.err;
    EXPECT_TRUE(
        contains(spare.err, is_lost ? "has ended: all its nodes have left" : "did not need this node"))
        << spare.err;
  }
}

TEST_F(ElasticStore, Node0IsMissedBeforeTheRanksStart) {
  begin_with(node("2", guest, "echo never"));
  ghost_.reset();
  const Ran ran = real_->wait(20);
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err, "distrun: node 0 is lost: its distrun has ended\n");
  EXPECT_EQ(ran.out, "");
}

TEST_F(ElasticStore, ANodeThatIsLostBeforeTheRanksStartCostsNothing) {
  begin_with(node("1:2", guest, "echo rank $RANK of $WORLD_SIZE, attempt $TORCHELASTIC_RESTART_COUNT"));
  sleep_ms(200);
  ghost_.reset();
  const Ran ran = real_->wait(20);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "rank 0 of 1, attempt 1")) << ran.out;
}

// One node learns first that all ranks have ended, or that another node waits.
TEST_F(ElasticStore, NodesAgreeOnWhyAnAttemptEnds) {
  begin_with(node("1:2", guest, "exit 0"));
  ghost_->set(key("attempt0/master_addr"), "127.0.0.1");
  ghost_->set(key("attempt0/master_port"), "1");
  ghost_->get(key("attempt0/done1"), soon());
  ghost_->set(key("attempt0/why"), "finished");
  ghost_->add(key("attempt0/waiting"), 1);
  sleep_ms(300);
  ghost_->set(key("attempt0/done0"), "1");
  const Ran ran = real_->wait(20);
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_FALSE(contains(ran.err, "again")) << ran.err;
  EXPECT_EQ(ghost_->get_text(key("over"), soon()), "finished");
}

}  // namespace
