// The grader against processes that misbehave. They are this very program, started by the grader as it starts
// a lab's runner: then the channel is open, and the task says how to misbehave.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "judge/door.h"
#include "judge/exam.h"
#include "judge/outcome.h"
#include "judge/patience.h"
#include "judge/progress.h"
#include "judge/runner.h"
#include "judge/sandbox.h"
#include "judge/team.h"
#include "judge/trouble.h"

judge::Json rank_does(const judge::Json& task);     // sim_run_test.cpp
judge::Json sums_wrongly(const judge::Json& task);  // sim_run_test.cpp
judge::Json crash(const judge::Json& task);         // crash_test.cpp

namespace {

using judge::Json, judge::Limits, judge::Outcome, judge::Team;
using namespace std::chrono_literals;

void write_raw(const std::string& bytes) {
  if (::write(judge::channel_fd, bytes.data(), bytes.size()) < 0) std::abort();
}

std::string frame_bytes(const std::string& body) {
  std::string frame;
  for (int i = 0; i < 4; ++i) frame += static_cast<char>(body.size() >> 8 * i & 0xFF);
  return frame + body;
}

// Runs until then, or, without an argument, until it is killed.
void spin(std::clock_t until = std::numeric_limits<std::clock_t>::max()) {
  while (std::clock() < until) continue;
}

// What a process finds of the world outside of its sandbox, and what it can make there.
Json break_out(const Json& task) {
  const auto can = [](auto call) { return call() >= 0; };
  const auto can_read = [&](const char* path) { return can([&] { return ::open(path, O_RDONLY); }); };
  const auto can_make = [&](const char* path) {
    return can([&] { return ::open(path, O_WRONLY | O_CREAT, 0600); });
  };
  const auto can_call = [](auto... call) { return ::syscall(call...) >= 0; };
  Json found;
  for (const char* path : {"/proc", "/proc/self/status", "/sys", "/usr/bin", "/bin/sh", "/usr/include",
                           "/etc/passwd", "/dev/shm", "/tmp"})
    found[fmt::format("read {}", path)] = can_read(path);
  found["read the sources"] = can_read(task.at("sources").get<std::string>().c_str());
  for (const char* path : {"/mine", "/usr/mine", "/tmp/mine", "/dev/mine", "/dev/shm/mine"})
    found[fmt::format("write to {}", path)] = can_make(path);
  found["write to the program"] =
      can([&] { return ::open(task.at("program").get<std::string>().c_str(), O_WRONLY); });
  found["a process"] = can([] { return ::fork(); });
  found["a process by vfork"] = can_call(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0);
  found["a thread with descriptors of its own"] =
      can_call(SYS_clone, CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD, 0, 0, 0, 0);
  found["descriptors of its own"] = can_call(SYS_close_range, 100, 101, CLOSE_RANGE_UNSHARE);
  found["a larger socket"] = can([] {
    const int bytes = 1 << 20;
    return ::setsockopt(judge::channel_fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  });
  found["another program"] = can([&] {
    char* const nothing[] = {nullptr};
    return ::execve(task.at("program").get<std::string>().c_str(), nothing, nothing);
  });
  found["signals to others"] = can([] { return ::kill(::getppid(), 0); });
  found["a socket"] = can([] { return ::socket(AF_INET, SOCK_STREAM, 0); });
  found["a local socket"] = can([] { return ::socket(AF_UNIX, SOCK_STREAM, 0); });
  found["shared memory"] = can([] { return ::memfd_create("mine", 0); });
  found["a lock"] = can([] { return ::flock(STDOUT_FILENO, LOCK_EX | LOCK_NB); });
  struct flock all {};
  all.l_type = F_RDLCK;
  found["a lock of a part"] = can([&] { return ::fcntl(judge::memory_fd, F_SETLK, &all); });
  found["a limit of its own"] = can([] {
    const rlimit less{16, 16};
    return ::setrlimit(RLIMIT_NOFILE, &less);
  });
  found["name spaces"] = can([] { return ::unshare(CLONE_NEWUSER); });
  static const int word = 0;  // in the program's file
  found["other processes' futexes"] = can_call(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  found["keys"] = can_call(SYS_add_key, "user", "mine", "x", 1, -4);
  found["a filter"] = can_call(SYS_seccomp, 1, 0, nullptr);
  found["ptrace"] = can_call(SYS_ptrace, 0, 0, 0, 0);
  found["bpf"] = can_call(SYS_bpf, 0, nullptr, 0);
  found["clone3"] = can_call(SYS_clone3, nullptr, 0);
  return found;
}

Json misbehave(const Json& task) {
  const std::string how = task.at("how");
  if (how == "exit") std::exit(0);
  if (how == "crash") std::abort();
  if (how == "hang") std::this_thread::sleep_for(1h);
  if (how == "spin") spin();
  if (how == "spin in a thread") std::jthread([] { spin(); }).join();
  if (how == "work for 0.2 s") spin(CLOCKS_PER_SEC / 5);
  if (how == "work and sleep in turn") {
    while (true) {
      spin(std::clock() + CLOCKS_PER_SEC / 20);
      std::this_thread::sleep_for(50ms);
    }
  }
  if (how == "fault") throw std::runtime_error("no such call");
  if (how == "garbage") write_raw("\xff\xff\xff\x7f and so on");
  if (how == "not json") write_raw(std::string("\x03\0\0\0{{{", 7));
  if (how == "forge")
    judge::write_frame(judge::channel_fd, {{"nonce", "guess"}, {"reply", 1}, {"done", true}});
  if (how == "exit in a destructor") std::atexit([] { ::_exit(7); });
  if (how == "stop") {
    fmt::print("now\n");
    std::fflush(stdout);
    ::raise(SIGSTOP);
  }
  if (how == "sleep in a vfork") {
    fmt::print("now\n");
    std::fflush(stdout);
    if (::syscall(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0) == 0)
      while (true) ::syscall(SYS_ppoll, nullptr, 0, nullptr, nullptr, 0);
  }
  if (how == "flood") {
    for (int i = 0; i < 3000; ++i) fmt::print("{:0>1000}", i);
  }
  if (how == "128 MiB") {
    std::vector<char> memory(128 << 20, 'x');
    if (memory[task.size()] != 'x') return how;
  }
  if (how == "deep") write_raw(frame_bytes(std::string(1 << 20, '[')));
  if (how == "wide") write_raw(frame_bytes("[" + std::string(3 << 20, ',') + "]"));
  if (how == "many") {
    for (int i = 0; i < 100; ++i) write_raw(frame_bytes("1"));
  }
  if (how == "does not read") {
    judge::write_frame(judge::channel_fd, {{"ready", true}});
    std::this_thread::sleep_for(1h);
  }
  if (how == "fetch") return {judge::fetch({7, 0}), judge::fetch({7, 1}), judge::fetch({7, 2})};
  if (how == "fetch forever") {
    while (true) judge::fetch({0, 0});
  }
  if (how == "break out") return break_out(task);
  if (how == "look around") {
    Json found{{"variables", Json::array()}, {"descriptors", 0}};
    for (char** variable = environ; *variable != nullptr; ++variable) found["variables"].push_back(*variable);
    for (int fd = 0; fd < 256; ++fd)
      found["descriptors"] = found["descriptors"].get<int>() + (::fcntl(fd, F_GETFD) >= 0);
    return found;
  }
  return how;
}

// The processor on which this thread is, and what it starts, has more to do than it can.
class BusyProcessor {
 public:
  BusyProcessor() {
    ::sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    ::sched_setaffinity(0, sizeof one, &one);
    for (pid_t& other : others_) {
      other = ::fork();
      if (other != 0) continue;
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      spin();
    }
  }
  ~BusyProcessor() {
    ::sched_setaffinity(0, sizeof before_, &before_);
    for (const pid_t other : others_) {
      ::kill(other, SIGKILL);
      ::waitpid(other, nullptr, 0);
    }
  }
  BusyProcessor(const BusyProcessor&) = delete;

 private:
  cpu_set_t before_{};
  std::array<pid_t, 6> others_{};
};

Outcome outcome_of(const std::string& how, Limits limits = {}, const judge::Hidden& hidden = {}) {
  Team team("/proc/self/exe", 1, limits);
  team.hide(hidden);
  team.start(0, {{"how", how}});
  return team.finish().at(0);
}

TEST(Judge, takes_an_answer_with_its_completion_record) {
  const auto outcome = outcome_of("well");
  EXPECT_TRUE(outcome.completed) << outcome.how_it_ended;
  EXPECT_EQ(outcome.reply, "well");
}

TEST(Judge, does_not_take_an_exit_for_an_answer) {
  const auto outcome = outcome_of("exit");
  EXPECT_FALSE(outcome.completed);
  EXPECT_EQ(outcome.how_it_ended, "ended with exit status 0 before it had reported that it was done");
}

TEST(Judge, tells_the_signal_of_a_crash) {
  const auto outcome = outcome_of("crash");
  EXPECT_FALSE(outcome.completed);
  EXPECT_TRUE(outcome.how_it_ended.starts_with("was ended by signal 6 (Aborted)")) << outcome.how_it_ended;
}

TEST(Judge, stops_what_hangs) {
  const auto start = std::chrono::steady_clock::now();
  const auto outcome = outcome_of("hang", {.asleep = 300ms});
  EXPECT_FALSE(outcome.completed);
  EXPECT_TRUE(outcome.how_it_ended.ends_with(" s of sleep and was stopped")) << outcome.how_it_ended;
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
}

TEST(Judge, stops_what_has_stopped_itself) {
  const auto outcome = outcome_of("stop", {.asleep = 300ms});
  EXPECT_FALSE(outcome.completed);
  EXPECT_TRUE(outcome.how_it_ended.ends_with(" s of sleep and was stopped")) << outcome.how_it_ended;
}

TEST(Judge, stops_what_works_for_ever) {
  for (const auto* how : {"spin", "spin in a thread"}) {
    const auto outcome = outcome_of(how, {.work = 300ms});
    EXPECT_FALSE(outcome.completed) << how;
    EXPECT_TRUE(outcome.how_it_ended.ends_with(" s of work (a loop that does not end?) and was stopped"))
        << outcome.how_it_ended;
  }
}

// A process that another one keeps from the processor: as on a machine with too much to do.
TEST(Judge, is_as_patient_with_long_work_after_others_were_stopped) {
  for (int stopped = 0; stopped < 2; ++stopped) outcome_of("hang", {.asleep = 100ms});
  EXPECT_TRUE(outcome_of("work for 0.2 s", {.work = 600ms}).completed);
}

// That depends on how many processes the machine has, and on how long it keeps these waiting.
TEST(Judge, does_not_count_what_it_takes_to_look_at_processes) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (true) ::pause();
  }
  judge::Patience patience({.work = 1s, .asleep = 1h});  // looks each 10 ms
  const auto until = std::chrono::steady_clock::now() + 1s;
  while (std::chrono::steady_clock::now() < until) {
    EXPECT_FALSE(patience.is_used_up({child}));
    std::this_thread::sleep_for(1ms);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_LT(patience.spent() - patience.asleep(), 80ms);
}

// A program that is slow in every run, and never stopped, has no more time in the end than one that is
// stopped.
TEST(Judge, is_less_patient_when_all_runs_together_have_taken_long) {
  const auto before = judge::progress();
  outcome_of("work for 0.2 s", {.work = 600ms});
  outcome_of("hang", {.asleep = 4s});
  EXPECT_GT(judge::progress().beyond, before.beyond);
  judge::progress().beyond = 30s;
  const auto how = outcome_of("hang").how_it_ended;  // 10 s / 6, to the next look
  EXPECT_TRUE(how.starts_with("had not finished after 1.") || how.starts_with("had not finished after 2."))
      << how;
  EXPECT_TRUE(outcome_of("work for 0.2 s").completed);
  judge::progress() = before;
}

TEST(Judge, starts_no_run_when_all_runs_together_have_taken_too_long) {
  const auto before = judge::progress();
  judge::progress().beyond = 39s;
  const auto how = outcome_of("hang", {.asleep = 60s}).how_it_ended;  // what is left
  EXPECT_TRUE(how.starts_with("had not finished after 1.") || how.starts_with("had not finished after 2."))
      << how;
  EXPECT_THROW(outcome_of("well"), judge::OutOfPatience);
  judge::progress() = before;
}

// Neither its work nor its sleep alone is too much.
TEST(Judge, stops_a_run_when_work_and_sleep_together_are_too_much) {
  const auto before = judge::progress();
  judge::progress().beyond = 39s;
  const auto how = outcome_of("work and sleep in turn").how_it_ended;
  EXPECT_TRUE(how.ends_with(" s of work and sleep and was stopped")) << how;
  EXPECT_GE(judge::progress().beyond, 40s);
  judge::progress() = before;
}

// A right answer of a long lab may have more to do than a run usually has.
TEST(Judge, counts_only_what_is_beyond_the_time_of_right_answers) {
  const auto before = judge::progress();
  judge::progress().beyond = 39s;
  EXPECT_TRUE(outcome_of("work for 0.2 s", {.work = 60s}).completed);
  EXPECT_EQ(judge::progress().beyond, 39s);
  judge::progress() = before;
}

TEST(Judge, looks_at_a_process_at_times_that_it_cannot_know) {
  judge::Child child({.argv = {"/usr/bin/sleep", "1000"}});
  judge::Patience patience({.work = 10s, .asleep = 3s});  // a look every 30 ms
  using Clock = std::chrono::steady_clock;
  std::vector<Clock::duration> between;
  for (auto last = Clock::now(); between.size() < 20 && !patience.is_used_up({child.pid()}, [&] {
         between.push_back(Clock::now() - std::exchange(last, Clock::now()));
         return false;
       });)
    std::this_thread::sleep_for(1ms);
  ASSERT_EQ(between.size(), 20U);
  const auto [least, most] = std::ranges::minmax(between);
  EXPECT_GT(most - least, 10ms);
}

TEST(Judge, does_not_hold_a_busy_machine_against_a_process) {
  const BusyProcessor busy;
  const auto start = std::chrono::steady_clock::now();
  const auto outcome = outcome_of("work for 0.2 s", {.work = 4s, .asleep = 2s});
  EXPECT_TRUE(outcome.completed) << outcome.how_it_ended;
  EXPECT_GT(std::chrono::steady_clock::now() - start, 300ms) << "it had the processor for itself";
}

TEST(Judge, does_not_judge_what_the_machine_has_no_time_for) {
  const BusyProcessor busy;
  const auto run = [] {
    Team team("/proc/self/exe", 1, {.wall = 300ms});
    team.start(0, {{"how", "spin"}});
    team.finish();
  };
  EXPECT_THROW(run(), std::runtime_error);
}

TEST(Judge, does_not_read_what_has_not_the_nonce) {
  const auto outcome = outcome_of("forge");
  EXPECT_TRUE(outcome.completed) << outcome.how_it_ended;
  EXPECT_EQ(outcome.reply, "forge");
}

TEST(Judge, refuses_what_is_no_frame) {
  for (const auto* how : {"garbage", "not json"}) {
    const auto outcome = outcome_of(how);
    EXPECT_FALSE(outcome.completed) << how;
    EXPECT_NE(outcome.how_it_ended.find("nonsense"), std::string::npos)
        << how << ": " << outcome.how_it_ended;
  }
}

TEST(Judge, wants_a_clean_end_after_the_answer) {
  const auto outcome = outcome_of("exit in a destructor");
  EXPECT_EQ(outcome.reply, "exit in a destructor");
  EXPECT_FALSE(outcome.completed);
}

TEST(Judge, keeps_the_beginning_of_a_flood) {
  const auto outcome = outcome_of("flood");
  EXPECT_TRUE(outcome.completed) << outcome.how_it_ended;
  EXPECT_EQ(outcome.output.size(), Limits{}.output_bytes);
}

TEST(Judge, counts_what_is_said_before_it_keeps_it) {
  const std::pair<const char*, const char*> all[] = {{"deep", "arrays within each other"},
                                                     {"wide", "3145730 bytes was announced"},
                                                     {"many", "more than 16 frames came"}};
  for (const auto& [how, why] : all) {
    const auto outcome = outcome_of(how);
    EXPECT_FALSE(outcome.completed) << how;
    EXPECT_NE(outcome.how_it_ended.find(why), std::string::npos) << how << ": " << outcome.how_it_ended;
  }
}

TEST(Judge, gives_hidden_data_piece_by_piece) {
  std::vector<std::int64_t> asked;
  const auto outcome = outcome_of("fetch", {}, [&](int rank, const judge::Request& request) {
    EXPECT_EQ(rank, 0);
    EXPECT_EQ(request.of, 7);
    asked.push_back(request.index);
    return request.index < 2 ? Json(10 * request.index) : Json();
  });
  ASSERT_TRUE(outcome.completed) << outcome.how_it_ended;
  EXPECT_EQ(outcome.reply, (Json{0, 10, nullptr}));
  EXPECT_EQ(asked, (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(Judge, bounds_the_requests_for_hidden_data) {
  int asked = 0;
  const auto outcome = outcome_of("fetch forever", {.work = 60s, .asleep = 300s},
                                  [&](int, const judge::Request&) { return ++asked; });
  EXPECT_FALSE(outcome.completed);
  EXPECT_LE(asked, judge::most_requests + judge::most_frames);
  EXPECT_NE(outcome.how_it_ended.find("frames came"), std::string::npos) << outcome.how_it_ended;
  const auto without = outcome_of("fetch");
  EXPECT_NE(without.how_it_ended.find("where the task has none"), std::string::npos) << without.how_it_ended;
}

TEST(Judge, knows_from_the_kernel_how_much_memory_a_process_had) {
  const std::size_t little = outcome_of("well").peak_memory_bytes,
                    much = outcome_of("128 MiB").peak_memory_bytes;
  EXPECT_GT(little, std::size_t{1} << 20);
  EXPECT_LT(little, std::size_t{64} << 20);
  EXPECT_NEAR(static_cast<double>(much - little), 128 << 20, 2 << 20);
}

TEST(Judge, gives_no_descriptors_and_no_variables_of_its_own) {
  const dist::UniqueFd secret(::open("/dev/null", O_RDONLY));
  ::setenv("SECRET", "1", 1);
  const auto found = outcome_of("look around").reply;
  Json variables = Json::array();
  for (const std::string variable : found.at("variables"))
    if (!variable.starts_with("PWD=")) variables.push_back(variable);
  EXPECT_EQ(variables, (Json{"LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin", "DIST_MEMORY_FD=6"}));
  EXPECT_EQ(found.at("descriptors"), 5);  // input, output, errors, channel, memory for tensors
}

// Otherwise graded code could make a grade void by saying so.
TEST(Judge, a_fault_that_a_process_reports_is_a_failure) {
  const auto outcome = outcome_of("fault");
  EXPECT_EQ(outcome.fault, "no such call");
  EXPECT_NONFATAL_FAILURE(EXPECT_FALSE(judge::has_completed(outcome, "rank 0")), "no such call");
}

TEST(Judge, counts_every_rank) {
  Team team("/proc/self/exe", 3);
  team.start_all({{{"how", "well"}}, {{"how", "exit"}}, {{"how", "well"}}});
  const auto outcomes = team.finish();
  EXPECT_TRUE(outcomes[0].completed && outcomes[2].completed);
  EXPECT_FALSE(outcomes[1].completed);
}

TEST(Judge, keeps_everything_else_out_of_sight) {
  const auto confined = judge::confine("/proc/self/exe", {});
  if (confined.isolation != judge::Isolation::bubblewrap)
    GTEST_SKIP() << "bubblewrap does not work here: " << name(confined.isolation);
  Team team("/proc/self/exe", 1);
  team.start(0, {{"how", "break out"}, {"program", confined.argv.back()}, {"sources", __FILE__}});
  const auto outcome = team.finish().at(0);
  ASSERT_TRUE(outcome.completed) << outcome.how_it_ended;
  for (const auto& [what, could] : outcome.reply.items()) EXPECT_EQ(could, false) << what;
}

// In containers bubblewrap is often refused, and root's home is closed to every other user.
TEST(Judge, runs_as_another_user_only_where_that_one_may_read_the_program) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  namespace fs = std::filesystem;
  std::string made = (fs::temp_directory_path() / "judge.XXXXXX").string();
  ASSERT_NE(::mkdtemp(made.data()), nullptr);
  const fs::path folder = made;
  ::setenv("JUDGE_ISOLATION", "user_id", 1);
  const auto isolation_of = [&](const char* copy) {
    fs::copy_file("/usr/bin/true", folder / copy);
    return judge::confine(judge::Command{.argv = {folder / copy}}, {}).isolation;
  };
  EXPECT_EQ(name(isolation_of("closed")), "limits");  // mkdtemp makes folders of one's own
  fs::permissions(folder, fs::perms(0755));
  EXPECT_EQ(name(isolation_of("open")), "user_id");
  ::unsetenv("JUDGE_ISOLATION");
  fs::remove_all(folder);
}

TEST(Frames, survive_any_cut) {
  judge::FrameReader reader;
  const std::string frames(
      "\x01\0\0\0"
      "1"
      "\x02\0\0\0"
      "[]",
      11);
  std::vector<Json> got;
  for (const char byte : frames) {
    reader.feed({&byte, 1});
    while (auto frame = reader.next()) got.push_back(*frame);
  }
  EXPECT_EQ(got, (std::vector<Json>{1, Json::array()}));
}

TEST(Frames, hexadecimal_there_and_back) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(judge::from_hex(judge::to_hex(all)), all);
  for (const auto* wrong : {"0", "0g", "0A"})
    EXPECT_THROW(judge::from_hex(wrong), std::runtime_error) << wrong;
}

TEST(Random, comes_back_with_its_seed_and_purpose) {
  judge::Random a("purpose"), b("purpose"), c("another");
  const auto word = a.word(20);
  EXPECT_EQ(word, b.word(20));
  EXPECT_NE(word, c.word(20));
  for (int i = 0; i < 1000; ++i) {
    const int x = a.between(-2, 2);
    EXPECT_TRUE(-2 <= x && x <= 2) << x;
  }
}

}  // namespace

int main(int argc, char** argv) {
  // Started by the grader: no argument, and a channel that no shell opens.
  if (argc == 1 && ::fcntl(judge::channel_fd, F_GETFD) >= 0)
    return judge::serve([](const Json& task) {
      if (task.contains("crash")) return crash(task);
      if (task.contains("items")) return sums_wrongly(task);
      return task.contains("rank_does") ? rank_does(task) : misbehave(task);
    });
  return judge::run_exam(argc, argv);
}
