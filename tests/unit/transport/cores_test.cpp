// Ranks that the system has put on one core.
#include "dist/transport/cores.h"

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

// Where a thread of this process runs, or ran last.
int cpu_of(pid_t thread) {
  constexpr int after_the_name = 37;  // proc(5): the 39th field of all, "processor"
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line, field;
  std::getline(file, line);
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  for (int i = 0; i < after_the_name; ++i) fields >> field;
  return std::stoi(field);
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
  std::atomic<pid_t> waiter{0};
  run_world({2}, [&](Rank& me) {
    auto net = me.open();
    Message message(8, Memory::arena);
    bind_to({all.front()});
    if (me.rank() == 0) {
      net->irecv(message.view(), 1).wait();  // asleep: so the other knows its core
      EXPECT_TRUE(comes_true([&] { return waiter != 0 && cpu_of(waiter) != all.front(); }));
      net->isend(message.view(), 1).wait();
    } else {
      std::this_thread::sleep_for(50ms);
      net->isend(message.view(), 0).wait();
      bind_to(all);
      waiter = ::gettid();
      net->irecv(message.view(), 0).wait();
      EXPECT_EQ(usable_cpus(), all);
    }
  });
}

}  // namespace
}  // namespace dist::test
