// Where the grader is not root, and where nothing can be executed.
#include "judge/sandbox.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "judge/census.h"
#include "judge/child.h"
#include "judge/confined_run.h"
#include "judge/libraries.h"
#include "judge/outcome.h"
#include "judge/team.h"
#include "judge/trouble.h"

namespace {

namespace fs = std::filesystem;
using judge::Json;
using namespace std::chrono_literals;

enum How { as_it_should = 0, otherwise = 1, not_here = 77 };

How in_a_process(const std::function<How()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    How how = otherwise;
    try {
      how = body();
    } catch (const std::exception& error) {
      fmt::print("{}\n", error.what());
    }
    std::fflush(stdout);
    ::_exit(how);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? static_cast<How>(WEXITSTATUS(status)) : otherwise;
}

// A user who owns nothing, where this one is root.
How as_some_user(const std::function<How()>& body) {
  return in_a_process([&] {
    constexpr uid_t some_user = 61200;
    if (::geteuid() == 0 &&
        (::setgroups(0, nullptr) != 0 || ::setgid(some_user) != 0 || ::setuid(some_user) != 0))
      return not_here;
    return body();
  });
}

// In name spaces of users the process owns what file systems the sandbox makes: "/", /dev and /tmp.
TEST(Sandbox, of_a_user_lets_nothing_grow_without_a_bound) {
  const How how = as_some_user([] {
    const std::string places = "/ /dev /dev/shm /etc /usr /tmp";
    const std::string script = "for place in " + places +
                               "; do (: > $place/mine) 2> /dev/null && echo $place; done\n" +
                               "mkdir /new 2> /dev/null && echo /new\n"
                               "head -c 50000000 /dev/zero > /tmp/mine 2> /dev/null\n"
                               "test $(stat -c %s /tmp/mine) -le 16777216 && echo bounded";
    const judge::Command command{.argv = {"/bin/sh", "-c", script}};
    if (judge::confine(command, {}).isolation != judge::Isolation::bubblewrap) return not_here;
    const auto ran = judge::run_confined(command, {});
    fmt::print("{}", ran.output);
    return ran.output == "/tmp\nbounded\n" ? as_it_should : otherwise;
  });
  if (how == not_here) GTEST_SKIP() << "bubblewrap does not work here for a user";
  EXPECT_EQ(how, as_it_should);
}

TEST(Sandbox, of_a_user_shows_a_graded_process_nothing_else) {
  const judge::ScratchFolder scratch;
  const std::string program = scratch.path() + "/runner";  // not yet known as what root runs
  fs::copy_file("/proc/self/exe", program);
  const How how = as_some_user([&] {
    ::setenv("TMPDIR", scratch.path().c_str(), 1);
    const auto confined = judge::confine(program, {});
    if (confined.isolation != judge::Isolation::bubblewrap) return not_here;
    judge::Team team(program, 1);
    team.start(0, {{"how", "break out"}, {"program", confined.argv.back()}, {"sources", __FILE__}});
    const auto outcome = team.finish().at(0);
    fmt::print("{} {}\n", outcome.how_it_ended, outcome.reply.dump());
    bool could_any = !outcome.completed;
    for (const auto& [what, could] : outcome.reply.items())
      could_any = could_any || (could != false && what != "read /tmp");  // where its program is
    return could_any ? otherwise : as_it_should;
  });
  if (how == not_here) GTEST_SKIP() << "bubblewrap does not work here for a user";
  EXPECT_EQ(how, as_it_should);
}

// What is handed in becomes a program among the temporary files.
TEST(Sandbox, that_has_a_tmp_does_not_hide_a_program_there) {
  const judge::ScratchFolder scratch("/tmp");
  fs::permissions(scratch.path(), fs::perms(0755));
  const std::string program = scratch.path() + "/runner";
  fs::copy_file("/proc/self/exe", program);
  judge::Team team(program, 1, {.writes_files = true});
  team.start(0, {{"how", "break out"}, {"program", program}, {"sources", __FILE__}});
  const auto outcome = team.finish().at(0);
  ASSERT_TRUE(outcome.completed) << outcome.how_it_ended;
  if (judge::confine(program, {}).isolation != judge::Isolation::bubblewrap)
    GTEST_SKIP() << "no bubblewrap here";
  EXPECT_EQ(outcome.reply.at("write to /tmp/mine"), true);
  EXPECT_EQ(outcome.reply.at("write to the program"), false);
  EXPECT_EQ(outcome.reply.at("write to /mine"), false);
}

// Whether a process has this in its command line.
bool is_running(const std::string& program) {
  std::error_code gone;
  for (fs::directory_iterator entry("/proc", gone), end; !gone && entry != end; entry.increment(gone)) {
    std::ifstream file(entry->path() / "cmdline", std::ios::binary);
    const std::string line(std::istreambuf_iterator<char>(file), {});
    if (line.find(program) != line.npos) return true;
  }
  return false;
}

// Starts the program as a tool, which may make system calls that a rank may not; returns when it does nothing
// any more.
How starts_what_stands_still(const std::string& program, const std::string& how) {
  judge::Command command{.argv = {program}, .readable = judge::libraries_of(program)};
  command.readable.push_back(program);
  const auto confined = judge::confine(command, {});
  if (confined.isolation != judge::Isolation::bubblewrap) return not_here;
  static judge::Child child(confined);  // this process ends without a word to it
  judge::write_frame(child.channel(), {{"nonce", "mine"}, {"task", {{"how", how}}}});
  const auto until = std::chrono::steady_clock::now() + 30s;
  for (std::string said; said != "now\n";) {
    pollfd output{child.output(), POLLIN, 0};
    char letter = 0;
    if (::poll(&output, 1, 100) > 0 && ::read(output.fd, &letter, 1) == 1) said += letter;
    if (std::chrono::steady_clock::now() > until) return otherwise;
  }
  while (judge::census_of({child.pid()}).is_awake && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(10ms);
  return is_running(program) ? as_it_should : otherwise;
}

// A stopped process, and the parent of a vfork whose child sleeps, take no step of their own; the signal that
// ends them comes from the kernel.
TEST(Sandbox, ends_with_its_grader_whatever_stands_still_in_it) {
  for (const char* how : {"stop", "sleep in a vfork"}) {
    const judge::ScratchFolder scratch;
    const std::string program = scratch.path() + "/tool";  // no other command line has this name
    fs::copy_file("/proc/self/exe", program);
    const How began = in_a_process([&] { return starts_what_stands_still(program, how); });
    if (began == not_here) GTEST_SKIP() << "bubblewrap does not work here";
    ASSERT_EQ(began, as_it_should) << how;
    const auto until = std::chrono::steady_clock::now() + 30s;
    while (is_running(program) && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(10ms);
    EXPECT_FALSE(is_running(program)) << how;
  }
}

TEST(Sandbox, is_not_chosen_by_a_mistyped_name) {
  ::setenv("JUDGE_ISOLATION", "bublewrap", 1);
  std::string why;
  try {
    judge::confine(judge::Command{.argv = {"/usr/bin/true"}}, {});
  } catch (const judge::Trouble& trouble) {
    why = trouble.what();
  }
  ::unsetenv("JUDGE_ISOLATION");
  EXPECT_EQ(why, "JUDGE_ISOLATION is \"bublewrap\"; it must be one of bubblewrap, user_id, limits");
}

// A usual hardening of /tmp, for which a submission is not to blame.
TEST(Sandbox, is_none_where_nothing_can_be_executed) {
  const judge::ScratchFolder scratch;
  const How how = in_a_process([&] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", scratch.path().c_str(), "tmpfs", MS_NOEXEC, "size=200m") != 0)
      return not_here;
    const auto program = fs::path(scratch.path()) / "runner";
    fs::copy_file("/proc/self/exe", program);
    try {
      judge::confine(program.string(), {});
    } catch (const judge::Trouble& trouble) {
      fmt::print("{}\n", trouble.what());
      const std::string why = trouble.what();
      const bool is_said =
          why.find("set TMPDIR to another folder") != why.npos && why.find(scratch.path()) != why.npos;
      return is_said ? as_it_should : otherwise;
    }
    return otherwise;
  });
  if (how == not_here) GTEST_SKIP() << "only root can mount";
  EXPECT_EQ(how, as_it_should);
}

}  // namespace
