#include "dist/transport/members.h"

#include <gtest/gtest.h>

namespace dist::test {
namespace {

TEST(Members, KnowBothNumbersOfARank) {
  const Members some{5, 2, 9, 3};
  EXPECT_EQ(some.size(), 4);
  for (int group_rank = 0; group_rank < 4; ++group_rank)
    EXPECT_EQ(some.group_rank_of(some[group_rank]), group_rank);
  for (int stranger : {-1, 0, 4, 10}) {
    EXPECT_EQ(some.group_rank_of(stranger), -1);
    EXPECT_FALSE(some.contains(stranger));
  }
}

TEST(Members, OfNoGroupAreNobody) {
  const Members nobody;
  EXPECT_EQ(nobody.size(), 0);
  EXPECT_FALSE(nobody.contains(0));
  EXPECT_TRUE(nobody.list().empty());
}

TEST(Members, EverybodyIsOneListForAll) {
  const Members a = Members::everybody(1000), b = Members::everybody(1000), fewer = Members::everybody(10);
  EXPECT_EQ(&a.list(), &b.list());
  EXPECT_EQ(a.size(), 1000);
  EXPECT_EQ(fewer.size(), 10);
  EXPECT_EQ(a.group_rank_of(999), 999);
  EXPECT_EQ(a.group_rank_of(1000), -1);
}

TEST(Members, CopiesShareTheirList) {
  const Members some{1, 0};
  const Members copy = some;
  EXPECT_EQ(&copy.list(), &some.list());
}

}  // namespace
}  // namespace dist::test
