// The mpi backend, with ranks that mpirun starts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dist/backend/backend.h"

#include "integration/launchers/run_program.h"

namespace {

using dist_test::Ran;
using dist_test::run_program;
using dist_test::Running;

Ran mpirun(int n, const std::string& deed, const std::vector<std::string>& environment = {},
           const std::string& program = MPI_PROGRAM) {
  return run_program(
      {MPIRUN, "-n", fmt::to_string(n), "--oversubscribe", "--allow-run-as-root", program, deed},
      environment);
}

void expect_right(const Ran& ran) { EXPECT_EQ(ran.code, 0) << ran.out << ran.err; }

void expect_words(const std::string& text, const std::vector<std::string>& words) {
  for (const auto& word : words)
    EXPECT_NE(text.find(word), std::string::npos) << word << " is not in: " << text;
}

class Mpi : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (!dist::backend_named("mpi").available(&why)) GTEST_SKIP() << why;
  }
};

class MpiRanks : public Mpi, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, MpiRanks, testing::Values(1, 2, 3, 4, 7), testing::PrintToStringParamName());

TEST_P(MpiRanks, EveryOperationIsExact) { expect_right(mpirun(GetParam(), "sweep")); }
TEST_P(MpiRanks, SmallNumbersWrapAround) { expect_right(mpirun(GetParam(), "small_sums")); }
TEST_P(MpiRanks, AsynchronousAndOnGroups) { expect_right(mpirun(GetParam(), "groups")); }

TEST_F(Mpi, EagerSends) { expect_right(mpirun(3, "groups", {"DIST_SEND=eager"})); }
TEST_F(Mpi, CallsAreCompared) { expect_right(mpirun(3, "groups", {"DIST_DEBUG=detail"})); }
TEST_F(Mpi, AReceiverThatHasTakenEverythingLeavesNoSenderInDoubt) { expect_right(mpirun(2, "many_isends")); }
TEST_F(Mpi, SizesThatDifferAreNamed) {
  const Ran compared = mpirun(2, "sizes", {"DIST_DEBUG=detail"});
  EXPECT_NE(compared.code, 0);
  expect_words(compared.err,
               {"rank 0 is in all_reduce #0 (100 f32)", "rank 1 is in all_reduce #0 (200 f32)"});
  const Ran by_mpi = mpirun(2, "sizes");
  EXPECT_NE(by_mpi.code, 0);
  expect_words(by_mpi.err,
               {"in all_reduce #0 (100 f32): the ranks may pass different sizes", "DIST_DEBUG=detail"});
}
TEST_F(Mpi, OrderOfWhatIsUnderWay) { expect_right(mpirun(3, "overlap")); }
TEST_F(Mpi, InPlaceAndScatteredMemory) { expect_right(mpirun(5, "memory")); }
TEST_F(Mpi, RefusesWhatMpiCannotDo) { expect_right(mpirun(2, "refusals")); }
TEST_F(Mpi, ReceivesThatTimeOutAreTakenBack) {
  const Ran ran = mpirun(2, "receive_timeouts");
  expect_right(ran);
  expect_words(ran.err, {"recv #3 (4 f32)", "was never waited for"});
}

TEST_F(Mpi, ACollectiveThatTimesOutBreaksItsGroup) {
  const Ran ran = mpirun(2, "collective_timeout");
  expect_words(ran.out, {"rank 0 was told"});
  EXPECT_LT(ran.seconds, 15);
}

TEST_F(Mpi, ARankThatLeftIsNamed) {
  for (const char* deed : {"leaver_recv", "leaver_send"}) {
    const Ran ran = mpirun(2, deed);
    expect_words(ran.out, {"rank 0 was told"});
    EXPECT_LT(ran.seconds, 15) << deed;
  }
}

TEST_F(Mpi, AnErrorOfOneRankEndsTheJob) {
  const Ran ran = mpirun(3, "failure");
  EXPECT_NE(ran.code, 0);
  expect_words(ran.err, {"rank 1: something of its own"});
  EXPECT_LT(ran.seconds, 15);
}

TEST_F(Mpi, RanksNameTheSameBackend) {
  const Ran ran = mpirun(2, "disagreement");
  EXPECT_NE(ran.code, 0);
  expect_words(ran.out, {"the ranks of the default group disagree", "backend mpi", "backend host"});
  EXPECT_LT(ran.seconds, 15);
}

TEST_F(Mpi, RanksThatMpirunDidNotStartAreRefused) {
  const Ran processes = run_program({DISTRUN, "--nproc-per-node", "2", MPI_PROGRAM, "sweep"});
  EXPECT_NE(processes.code, 0);
  expect_words(processes.err, {"were not started with mpirun", "start the ranks with mpirun -n 2 PROGRAM"});
  const Ran threads = run_program({MPI_PROGRAM, "threads"});
  EXPECT_NE(threads.code, 0);
  expect_words(threads.err, {"threads of one process", "start the ranks with mpirun -n 2 PROGRAM"});
}

TEST_F(Mpi, APlainProcessIsAWorldOfOne) {
  expect_right(run_program({MPI_PROGRAM, "groups"}, {"RANK=0", "WORLD_SIZE=1"}));
}

void expect_training(int n, const std::string& deed, const std::string& said) {
  const Ran ran = mpirun(n, deed, {}, MPI_TRAINING);
  expect_right(ran);
  expect_words(ran.out, {said});
}

TEST_F(Mpi, TrainsAsPyTorchTrains) {
  expect_training(1, "golden", "1 golden runs");
  expect_training(2, "golden", "3 golden runs");
  expect_training(4, "golden", "1 golden runs");
}

TEST_F(Mpi, RanksTrainTogetherAsOneAlone) {
  for (const int n : {2, 3, 4}) expect_training(n, "equality", "100 steps");
}

}  // namespace
