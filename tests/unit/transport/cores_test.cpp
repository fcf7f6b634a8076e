// Ranks that the system has put on one core.
#include "dist/transport/engine/cores.h"

#include <fstream>
#include <sstream>

#include <sched.h>
#include <unistd.h>

#include "dist/core/limits.h"

#include "unit/transport/ranks.h"

namespace dist::test {
namespace {

void bind_to(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  ASSERT_EQ(::sched_setaffinity(0, sizeof set, &set), 0);
}

// Reads the state of a thread of this process, from proc(5).
struct ThreadState {
  char state = '?';  // 'S': it sleeps
  int cpu = -1;      // on which it runs, or ran last
};

ThreadState state_of(pid_t thread) {
  constexpr int fields_between = 36;  // state is the third, right after the name, processor the 39th
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line, field;
  std::getline(file, line);
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  ThreadState found;
  fields >> found.state;
  for (int i = 0; i < fields_between; ++i) fields >> field;
  found.cpu = std::stoi(field);
  return found;
}

template <class Holds>
bool comes_true(const Holds& holds) {
  const auto end = std::chrono::steady_clock::now() + 5s;
  while (!holds())
    if (std::chrono::steady_clock::now() > end) return false;
  return true;
}

class Cores : public testing::Test {
 protected:
  void SetUp() override {
    if (usable_cores() < 2) GTEST_SKIP() << "needs two cores";
  }
  void TearDown() override { bind_to(all); }
  const std::vector<int> all = usable_cpus();
};

TEST_F(Cores, whoever_leaves_one_is_elsewhere_and_bound_to_nothing) {
  const int first = all.front();
  bind_to({first});
  bind_to(all);
  // The system may put it back at any time.
  EXPECT_TRUE(comes_true([&] {
    net::leave_cores({first + 1});
    return ::sched_getcpu() != first;
  }));
  EXPECT_EQ(usable_cpus(), all);
}

TEST_F(Cores, whoever_has_no_other_stays) {
  bind_to({all.front()});
  net::leave_cores({all.front() + 1, 0});
  EXPECT_EQ(usable_cpus(), std::vector{all.front()});
}

TEST_F(Cores, a_rank_that_waits_leaves_its_core_to_the_one_it_waits_for) {
  std::atomic<pid_t> first{0}, second{0};
  run_world({2}, [&](Rank& me) {
    auto net = me.open();
    Message message(8, Memory::arena);
    bind_to({all.front()});
    if (me.rank() == 0) {
      first = ::gettid();
      net->irecv(message.view(), 1).wait();  // asleep: so the other knows its core
      EXPECT_TRUE(comes_true([&] { return second != 0 && state_of(second).cpu != all.front(); }));
      net->isend(message.view(), 1).wait();
    } else {
      EXPECT_TRUE(comes_true([&] { return first != 0 && state_of(first).state == 'S'; }));
      net->isend(message.view(), 0).wait();
      bind_to(all);
      second = ::gettid();
      net->irecv(message.view(), 0).wait();
      EXPECT_EQ(usable_cpus(), all);
    }
  });
}

}  // namespace
}  // namespace dist::test
