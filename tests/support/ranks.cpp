#include "support/ranks.h"

#include <exception>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "dist/launch/spawn_simulated.h"

namespace dist::test {
namespace {

using Body = std::function<void(int, const std::shared_ptr<Store>&)>;
using Codes = std::vector<check::Code>;

// The first error in time of several ranks.
class FirstError {
 public:
  void keep() {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

void run_as_threads(int n, const Body& fn, FirstError& first) {
  const std::shared_ptr<Store> store = make_memory_store();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < n; ++rank) {
    threads.emplace_back([&, rank] {
      RankContext context;
      RankContextGuard guard(context);
      try {
        fn(rank, store);
      } catch (const std::exception& error) {
        first.keep();
        leave_job(context, error.what());
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

// Says at the end how much was checked: a program that checked nothing has not passed.
class Tally : public testing::Environment {
 public:
  void add(int ranks) {
    ++jobs_, ranks_ += ranks;
    if (const auto* test = testing::UnitTest::GetInstance()->current_test_info())
      tests_.insert(std::string(test->test_suite_name()) + '.' + test->name());
  }
  void TearDown() override {
    if (!ranks_are_simulated()) return;
    std::printf("under the checker: %zu tests, %d jobs, %d virtual ranks\n", tests_.size(), jobs_, ranks_);
    EXPECT_GT(jobs_, 0) << "DIST_SIM is set, but nothing ran on virtual ranks";
  }

 private:
  std::set<std::string> tests_;
  int jobs_ = 0, ranks_ = 0;
};

Tally& tally() {
  static Tally& tally = *static_cast<Tally*>(testing::AddGlobalTestEnvironment(new Tally));
  return tally;
}
const Tally& registered_before_main = tally();

void run_simulated(int n, const Body& fn, FirstError& first, const Codes& expected) {
  sim::RunOptions options = simulation_asked(process_environment)->options;
  options.ranks = n;
  options.stack_bytes = 256 << 10;  // assertions print
  const std::shared_ptr<Store> store = make_memory_store();
  tally().add(n);
  const sim::Report report = sim::run(options, [&](int rank) {
    try {
      fn(rank, store);
    } catch (...) {
      first.keep();
      throw;
    }
  });
  Codes found;
  for (const check::Finding& finding : report.findings) found.push_back(finding.code);
  EXPECT_EQ(found, expected) << report.text();
  EXPECT_TRUE(report.notes.empty()) << report.text();
}

}  // namespace

bool ranks_are_simulated() { return simulation_asked(process_environment).has_value(); }

std::vector<std::string> told(std::vector<std::string> always,
                              const std::vector<std::string>& of_the_others) {
  if (!ranks_are_simulated()) always.insert(always.end(), of_the_others.begin(), of_the_others.end());
  return always;
}

void run_unjoined(int n, const Body& fn, const Codes& findings) {
  FirstError first;
  ranks_are_simulated() ? run_simulated(n, fn, first, findings) : run_as_threads(n, fn, first);
  first.rethrow();
}

void run_ranks(int n, const std::function<void(int)>& fn, const RankOptions& options) {
  run_unjoined(
      n,
      [&](int rank, const std::shared_ptr<Store>& store) {
        InitOptions init = options.init;
        init.rank = rank;
        init.world_size = n;
        init.store = store;
        init_process_group(init);
        fn(rank);
        if (is_initialized()) destroy_process_group();
      },
      options.findings);
}

}  // namespace dist::test
