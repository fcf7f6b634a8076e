#include "dist/launch/root_cause.h"

#include <gtest/gtest.h>

namespace {

using dist::RankFailure;
using dist::ranks_named;
using dist::root_cause;

RankFailure failure(int rank, int at_ms, const std::string& words, bool blames = false) {
  return {rank, std::chrono::steady_clock::time_point(std::chrono::milliseconds(at_ms)), "failed", words,
          blames};
}

TEST(RanksNamed, FindsThemInSentences) {
  EXPECT_EQ(ranks_named(""), std::vector<int>{});
  EXPECT_EQ(ranks_named("rank 3: got 4 of 5 bytes from rank 12 in 30 ms"), (std::vector<int>{3, 12}));
  EXPECT_EQ(ranks_named("ranks 1, 4 and 6 did not come; rank 0 waited"), (std::vector<int>{1, 4, 6, 0}));
  EXPECT_EQ(ranks_named("frank 5, pranks 6, ranking 7, rank: 8, rank x, rank"), std::vector<int>{});
  EXPECT_EQ(ranks_named("rank 99999999999999"), std::vector<int>{});
}

TEST(RootCause, TheEarliestWhenNobodyBlamesAnother) {
  EXPECT_EQ(root_cause(std::vector{failure(0, 20, "rank 0: x"), failure(1, 10, "rank 1: y")}), 1U);
}

TEST(RootCause, OneWhoNamesAnotherFailedRankFollowsIt) {
  EXPECT_EQ(root_cause(std::vector{failure(0, 10, "rank 0: rank 2 left"), failure(2, 30, "rank 2: no memory"),
                                   failure(1, 20, "rank 1: rank 0 left")}),
            1U);
}

TEST(RootCause, NamingARankThatDidNotFailIsNoExcuse) {
  EXPECT_EQ(root_cause(std::vector{failure(0, 10, "rank 0: rank 3 sent a wrong shape"), failure(1, 20, "")}),
            0U);
}

TEST(RootCause, AKilledRankHasNoWordsAndIsTheCause) {
  EXPECT_EQ(root_cause(std::vector{failure(0, 10, "rank 0: rank 1 is gone"), failure(1, 11, "")}), 1U);
}

TEST(RootCause, KnownConsequencesComeLast) {
  EXPECT_EQ(root_cause(std::vector{failure(0, 10, "", true), failure(1, 20, "", true), failure(2, 30, "")}),
            2U);
}

TEST(RootCause, AmongConsequencesTheEarliest) {
  EXPECT_EQ(
      root_cause(std::vector{failure(0, 20, "rank 0: rank 1 left"), failure(1, 10, "rank 1: rank 0 left")}),
      1U);
  EXPECT_EQ(root_cause(std::vector{failure(5, 1, "", true)}), 0U);
}

}  // namespace
