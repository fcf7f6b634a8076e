// The kernel's counts of processes that it has ended for want of memory, as its files show them.
#include "dist/launch/oom_kills.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <stdlib.h>

namespace {

namespace fs = std::filesystem;

// A root with /proc and /sys of its own.
class OomKills : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(mkdtemp(root_.data()), nullptr); }
  void TearDown() override { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  std::string root_ = "/tmp/distlab_test_XXXXXX";
};

TEST_F(OomKills, AreCountedInTheGroupOfVersion2) {
  write("/proc/self/cgroup", "0::/job/7\n");
  write("/sys/fs/cgroup/job/7/memory.events", "low 0\nhigh 0\nmax 9\noom 1\noom_kill 2\noom_group_kill 0\n");
  write("/sys/fs/cgroup/job/7/memory.max", "1073741824\n");
  const dist::OomKills kills(root_);
  EXPECT_EQ(kills.explain(), "");
  write("/sys/fs/cgroup/job/7/memory.events", "low 0\nhigh 0\nmax 9\noom 2\noom_kill 3\noom_group_kill 0\n");
  EXPECT_EQ(
      kills.explain(),
      ", probably by the kernel's out-of-memory killer: memory ran out (the limit of this control group is "
      "1024 MiB); use fewer ranks, or less memory per rank");
}

TEST_F(OomKills, AreCountedInTheGroupOfVersion1) {
  write("/proc/self/cgroup", "5:cpu:/\n4:memory:/job\n0::/\n");
  write("/sys/fs/cgroup/memory/job/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n");
  write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "67108864\n");
  const dist::OomKills kills(root_);
  write("/sys/fs/cgroup/memory/job/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
  EXPECT_NE(kills.explain().find("is 64 MiB)"), std::string::npos) << kills.explain();
}

TEST_F(OomKills, OfAContainerAndOfTheMachineCountToo) {
  write("/proc/self/cgroup", "0::/not/seen/from/here\n");
  write("/sys/fs/cgroup/memory.events", "oom_kill 0\n");
  write("/sys/fs/cgroup/memory.max", "max\n");
  write("/proc/vmstat", "nr_free_pages 7\noom_kill 4\n");
  const dist::OomKills before(root_);
  write("/proc/vmstat", "nr_free_pages 7\noom_kill 5\n");
  EXPECT_NE(before.explain().find("memory ran out; use"), std::string::npos) << before.explain();
  const dist::OomKills after(root_);
  EXPECT_EQ(after.explain(), "");
  write("/sys/fs/cgroup/memory.events", "oom_kill 1\n");
  EXPECT_NE(after.explain(), "");
}

TEST_F(OomKills, WithoutCountsNothingIsSaid) { EXPECT_EQ(dist::OomKills(root_).explain(), ""); }

}  // namespace
