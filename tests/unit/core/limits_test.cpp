#include "dist/core/limits.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace dist {
namespace {

// Changes the limit on open files, and restores it at the end.
class Limits : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    if (before_.rlim_max < 300) GTEST_SKIP() << "the hard limit on open files is " << before_.rlim_max;
    set_soft(200);
  }
  void TearDown() override { setrlimit(RLIMIT_NOFILE, &before_); }

  void set_soft(rlim_t value) {
    const rlimit limit{value, before_.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  rlimit before_{};
};

TEST_F(Limits, SaysTheOneInForce) { EXPECT_EQ(soft_limit(RLIMIT_NOFILE), 200u); }

TEST_F(Limits, IsRaisedButNeverLowered) {
  raise_soft_limit(RLIMIT_NOFILE, 300);
  EXPECT_EQ(soft_limit(RLIMIT_NOFILE), 300u);
  raise_soft_limit(RLIMIT_NOFILE, 100);
  EXPECT_EQ(soft_limit(RLIMIT_NOFILE), 300u);
}

TEST_F(Limits, IsRaisedNoFurtherThanTheHardOne) {
  raise_soft_limit(RLIMIT_NOFILE, unlimited);
  EXPECT_EQ(soft_limit(RLIMIT_NOFILE), before_.rlim_max);
}

}  // namespace
}  // namespace dist
