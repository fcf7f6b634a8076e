// Control groups: what is written for them, and a process in one where one can be made.
#include "judge/cgroup.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "judge/child.h"
#include "judge/confined_run.h"
#include "judge/trouble.h"

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A folder of groups where one can be made, with or without controllers.
std::shared_ptr<judge::ControlGroup> any_group() {
  for (const char* parent : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
    struct statfs about {};
    if (::statfs(parent, &about) != 0 || about.f_type != CGROUP2_SUPER_MAGIC) continue;
    try {
      return std::make_shared<judge::ControlGroup>(parent);
    } catch (const judge::Trouble&) {
      continue;
    }
  }
  return nullptr;
}

TEST(ControlGroups, have_the_limits_in_their_files) {
  const judge::ScratchFolder folder;
  const fs::path files = folder.path();
  const judge::Limits limits{.processes = 10, .memory_bytes = 4096};
  EXPECT_FALSE(judge::limit_group(folder.path(), limits)) << "a group without controllers";
  for (const char* name : {"memory.max", "memory.swap.max", "pids.max"}) std::ofstream(files / name).close();
  EXPECT_TRUE(judge::limit_group(folder.path(), limits));
  EXPECT_EQ(text_of(files / "memory.max"), "4096");
  EXPECT_EQ(text_of(files / "memory.swap.max"), "0");
  EXPECT_EQ(text_of(files / "pids.max"), "14");
}

TEST(ControlGroups, refuse_a_folder_that_is_not_one) {
  const judge::ScratchFolder folder;
  EXPECT_THROW(judge::ControlGroup{folder.path()}, judge::Trouble);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(ControlGroups, end_what_is_in_them) {
  auto group = any_group();
  if (!group) GTEST_SKIP() << "no control group of version 2 can be made here";
  const fs::path folder = group->folder();
  judge::Child child({.argv = {"/usr/bin/sleep", "1000"}, .group = group});
  EXPECT_EQ(text_of(folder / "cgroup.procs"), std::to_string(child.pid()) + "\n");
  const pid_t pid = child.pid();
  group.reset();
  const int status = child.end();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  EXPECT_NE(::kill(pid, 0), 0);
  EXPECT_FALSE(fs::exists(folder));
}

}  // namespace
