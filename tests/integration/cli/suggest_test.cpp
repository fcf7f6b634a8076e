#include "distlab/suggest.h"

#include <gtest/gtest.h>

using distlab::closest;
using distlab::edit_distance;

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("", "demo"), 4);
  EXPECT_EQ(edit_distance("demo", "demo"), 0);
  EXPECT_EQ(edit_distance("dmeo", "demo"), 1);
  EXPECT_EQ(edit_distance("grade", "graded"), 1);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
}

TEST(Closest, FindsWhatWasMeant) {
  const std::vector<std::string> commands{"demo", "doctor", "grade", "hint", "list", "run", "test"};
  EXPECT_EQ(closest("dmeo", commands), "demo");
  EXPECT_EQ(closest("grad", commands), "grade");
  EXPECT_EQ(closest("gr", commands), "grade");  // a beginning
  EXPECT_EQ(closest("docter", commands), "doctor");
  EXPECT_EQ(closest("tset", commands), "test");
  EXPECT_EQ(closest("rnu", commands), "run");
}

TEST(Closest, IsSilentRatherThanWrong) {
  const std::vector<std::string> commands{"demo", "grade", "run"};
  EXPECT_EQ(closest("frobnicate", commands), "");
  EXPECT_EQ(closest("", commands), "");
  EXPECT_EQ(closest("xyz", commands), "");
}
