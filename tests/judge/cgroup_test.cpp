// Control groups: what is written for them, and a process in one where one can be made.
#include "judge/cgroup.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "judge/child.h"
#include "judge/confined_run.h"
#include "judge/trouble.h"

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A group where one can be made, with or without controllers.
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
  for (const char* name : {"memory.max", "memory.swap.max", "memory.oom.group", "pids.max"})
    std::ofstream(files / name).close();
  EXPECT_TRUE(judge::limit_group(folder.path(), limits));
  EXPECT_EQ(text_of(files / "memory.max"), std::to_string(4096 + (64 << 20)));
  EXPECT_EQ(text_of(files / "memory.swap.max"), "0");
  EXPECT_EQ(text_of(files / "memory.oom.group"), "1");
  EXPECT_EQ(text_of(files / "pids.max"), "14");
}

TEST(ControlGroups, need_a_folder_that_passes_the_controllers_on) {
  const judge::ScratchFolder folder;
  const fs::path files = folder.path();
  EXPECT_NE(judge::why_no_limits_below(folder.path()).find("has no controllers"), std::string::npos);
  std::ofstream(files / "cgroup.controllers") << "cpu memory";
  std::ofstream(files / "cgroup.subtree_control") << "memory cpu\n";
  EXPECT_NE(judge::why_no_limits_below(folder.path()).find("has no controllers"), std::string::npos);
  EXPECT_EQ(text_of(files / "cgroup.subtree_control"), "memory cpu\n") << "nothing was asked for";
  std::ofstream(files / "cgroup.controllers") << "cpu memory pids";
  EXPECT_NE(judge::why_no_limits_below(folder.path()).find("cannot write"), std::string::npos);
  EXPECT_EQ(text_of(files / "cgroup.subtree_control"), "+memory +pids") << "that no kernel has read";
  std::ofstream(files / "cgroup.subtree_control") << "cpu memory pids\n";
  EXPECT_EQ(judge::why_no_limits_below(folder.path()), "");
}

// A grader that was told where to make them says why it cannot, and grades nothing.
TEST(ControlGroups, that_were_asked_for_are_not_left_out) {
  const auto program = fs::read_symlink("/proc/self/exe").string();
  const int status = std::system(
      fmt::format("JUDGE_CGROUP=/tmp '{0}' --runner '{0}' --gtest_filter=Frames.* > /dev/null 2>&1", program)
          .c_str());
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

TEST(ControlGroups, end_a_process_where_the_kernel_does_not_do_that_for_all) {
  const judge::ScratchFolder folder;
  const fs::path files = folder.path();
  judge::Child child({.argv = {"/usr/bin/sleep", "1000"}});
  std::ofstream(files / "cgroup.procs") << child.pid() << "\n";
  std::ofstream(files / "pids.max") << "9";
  std::ofstream(files / "cgroup.kill").close();
  judge::end_all_in(folder.path());
  EXPECT_EQ(text_of(files / "cgroup.kill"), "1");
  EXPECT_EQ(text_of(files / "pids.max"), "9") << "the kernel does it";
  EXPECT_EQ(::kill(child.pid(), 0), 0);
  fs::remove(files / "cgroup.kill");
  judge::end_all_in(folder.path());
  EXPECT_EQ(text_of(files / "pids.max"), "0");
  siginfo_t how{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid()), &how, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(how.si_code == CLD_KILLED && how.si_status == SIGKILL) << how.si_status;
}

// A group that is gone, or that this process may not enter: no fault of the command.
TEST(ControlGroups, that_cannot_be_entered_are_the_graders_trouble) {
  auto group = any_group();
  if (!group) GTEST_SKIP() << "no control group of version 2 can be made here";
  ASSERT_EQ(::rmdir(group->folder().c_str()), 0);
  EXPECT_THROW(judge::Child({.argv = {"/usr/bin/true"}, .group = group}), judge::Trouble);
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
