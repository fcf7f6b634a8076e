// Variables of which each process has its own and which virtual ranks share: a note names them.
#include <iomanip>
#include <iostream>
#include <map>
#include <random>
#include <sstream>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "dist/core/sanitizer.h"
#include "dist/core/tasking.h"
#include "dist/dist.h"
#include "dist/sim/variables.h"

// Not in namespace dist, whose variables are the library's.
int my_rank = -1;
std::vector<double> losses;
float inbox[4];
extern const int constant[3];
const int constant[3] = {1, 2, 3};
thread_local int of_the_thread = 0;
namespace {
static int steps = 0;
std::mt19937 dice;
double grid[200][200];
struct Trainer {
  static int epoch;
};
int Trainer::epoch = 0;

template <int I>
int counter = 0;

template <int... I>
std::vector<int*> pointers(std::integer_sequence<int, I...>) {
  return {&counter<I>...};
}

std::vector<int*> counters() { return pointers(std::make_integer_sequence<int, 10>()); }

int next_id() {
  static int count = 0;
  return ++count;
}

template <class T>
T next_of() {
  static T count = 0;
  return ++count;
}

int look_up(int key) {
  static const std::map<int, int> table{{0, 3}, {1, 5}, {2, 7}};
  return table.at(key);
}

std::vector<std::string> notes(const std::function<void(int)>& fn, bool check = true, int ranks = 3) {
  dist::sim::RunOptions options;
  options.ranks = ranks;
  options.check = check;
  const auto report = dist::sim::run(options, fn);
  EXPECT_TRUE(report.ok()) << report.text();
  return report.notes;
}

std::string note(const std::function<void(int)>& fn) {
  const auto all = notes(fn);
  return all.size() == 1 ? all[0] : fmt::format("{} notes: {}", all.size(), fmt::join(all, "\n"));
}

class Globals : public testing::Test {
 protected:
  void SetUp() override {
    if (dist::built_with_tsan) GTEST_SKIP() << "they are not watched under ThreadSanitizer";
  }
};

}  // namespace

TEST_F(Globals, ThatAllRanksChangeAreNoted) {
  const auto said = note([](int rank) {
    my_rank = rank;
    dist::init_process_group();
    dist::barrier();
  });
  EXPECT_EQ(
      said,
      "ranks 0, 1, 2 change the global variable 'my_rank': virtual ranks share it, processes would not; "
      "keep it in a local variable");
}

TEST_F(Globals, ThatOneRankChangesAreNoted) {
  const auto said = note([](int rank) {
    dist::init_process_group();
    for (int i = 0; i < 3; ++i) {
      dist::barrier();
      if (rank == 1) losses.push_back(i);
    }
  });
  EXPECT_EQ(
      said,
      "rank 1 changes the global variable 'losses': all virtual ranks see that, other processes would not; "
      "keep it in a local variable");
}

TEST_F(Globals, HaveTheirNames) {
  const auto name = [](const std::function<void()>& change) {
    const auto said = note([&](int rank) {
      if (rank != 2) return;
      change();
      dist::sleep(std::chrono::seconds(1));
    });
    return said.substr(0, said.find(": all "));
  };
  EXPECT_EQ(name([] { ++steps; }), "rank 2 changes the global variable 'steps'");
  EXPECT_EQ(name([] { ++Trainer::epoch; }), "rank 2 changes the global variable 'Trainer::epoch'");
  EXPECT_EQ(name([] { next_id(); }), "rank 2 changes the static variable 'count' in next_id()");
  EXPECT_EQ(name([] { next_of<int>(); }), "rank 2 changes the static variable 'count' in next_of<int>()");
  EXPECT_EQ(name([] {
              static int of_lambda = 0;
              ++of_lambda;
            }),
            "rank 2 changes the static variable 'of_lambda' in Globals_HaveTheirNames_Test::TestBody()");
}

TEST_F(Globals, ThatAreLargeAreNotedByTheirBeginning) {
  EXPECT_EQ(notes([](int) { grid[1][1] += 1; }).size(), 1u);
  EXPECT_TRUE(notes([](int) { grid[199][199] += 1; }).empty());
  EXPECT_EQ(note([](int) { dice(); }).substr(0, 47), "ranks 0, 1, 2 change the global variable 'dice'");
}

TEST_F(Globals, ThatAWorkerChangesAreItsRanks) {
  const auto said = note([](int rank) {
    if (rank != 1) return;
    dist::Worker worker([] { ++steps; });
    worker.join();
  });
  EXPECT_TRUE(said.starts_with("rank 1 changes the global variable 'steps'")) << said;
}

TEST_F(Globals, ThatReceiveAMessageAreTheReceivers) {
  for (const bool late : {false, true}) {
    const auto said = note([&](int rank) {
      dist::init_process_group();
      const dist::Tensor mine = dist::full({4}, late ? 7 : 8);
      if (rank == 1 && late) dist::sleep(std::chrono::seconds(1));
      if (rank == 2 && !late) dist::sleep(std::chrono::seconds(1));
      if (rank == 1) dist::send(mine, 2);
      if (rank != 2) return;
      auto theirs = dist::Tensor::from_blob(inbox, {4});
      dist::recv(theirs, 1);
    });
    EXPECT_TRUE(said.starts_with("rank 2 changes the global variable 'inbox'")) << said;
  }
}

TEST_F(Globals, OfLargeJobsNameSomeRanks) {
  const auto all = notes([](int rank) { my_rank = 1000 + rank; }, true, 40);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all[0].starts_with("ranks 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ... (40 in all) change"))
      << all[0];
}

TEST_F(Globals, OfManyNamesSomeAreNoted) {
  const auto all =
      notes([](int rank) { std::ranges::for_each(counters(), [&](int* each) { *each += rank; }); });
  ASSERT_EQ(all.size(), 9u);
  EXPECT_EQ(all[8], "ranks change 2 more global or static variables");
}

TEST_F(Globals, AreNotNotedWithoutCheckOrOfOneRankAlone) {
  EXPECT_TRUE(notes([](int rank) { my_rank = 2000 + rank; }, false).empty());
  EXPECT_TRUE(notes([](int rank) { my_rank = 3000 + rank; }, true, 1).empty());
}

TEST_F(Globals, ThatTheCallerChangesAreNotNoted) {
  my_rank = 4000;
  EXPECT_TRUE(notes([](int) { dist::sleep(std::chrono::seconds(1)); }).empty());
  EXPECT_EQ(my_rank, 4000);
}

TEST_F(Globals, InitialisedByTheirFunctionAreNotNoted) {
  EXPECT_EQ(note([](int rank) {
              dist::sleep(std::chrono::seconds(rank));
              EXPECT_EQ(look_up(rank), 3 + 2 * rank);
            }),
            "0 notes: ");
}

TEST_F(Globals, OfTheStandardLibraryAreNotNoted) {
  const auto before = std::cout.precision();
  std::ostringstream text;
  auto* const terminal = std::cout.rdbuf(text.rdbuf());
  EXPECT_EQ(note([](int rank) {
              std::cout << std::setprecision(3 + rank) << std::hex << rank << "\n";
              of_the_thread = rank;
            }),
            "0 notes: ");
  std::cout.rdbuf(terminal);
  std::cout << std::dec << std::setprecision(static_cast<int>(before));
}

TEST_F(Globals, OfARightProgramAreNotNoted) {
  EXPECT_EQ(note([](int rank) {
              dist::init_process_group();
              dist::Tensor t = dist::full({8}, rank + constant[0]);
              dist::all_reduce(t);
              EXPECT_EQ(t.to_vector<int>()[0], 6);
              dist::destroy_process_group();
            }),
            "0 notes: ");
}

TEST(ProgramVariables, AreThoseThatMayChange) {
  const auto is_there = [](const void* at) {
    return std::ranges::count(dist::sim::program_variables(), at, [](const auto& variable) {
             return static_cast<const void*>(variable.at);
           }) == 1;
  };
  EXPECT_TRUE(is_there(&my_rank));
  EXPECT_TRUE(is_there(&grid));
  EXPECT_FALSE(is_there(&constant));
  EXPECT_FALSE(is_there(&of_the_thread));
  EXPECT_FALSE(is_there(&std::cout));
  EXPECT_FALSE(is_there(&stdout));
  for (const auto& variable : dist::sim::program_variables())
    EXPECT_EQ(variable.what.find("testing::"), std::string::npos) << variable.what;
}
