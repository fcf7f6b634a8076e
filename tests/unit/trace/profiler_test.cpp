// What a profiler is told: every collective and message where it runs, and every wait.
#include "dist/trace/profiler.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "dist/dist.h"

#include "support/ranks.h"

namespace dist::test {
namespace {

class Notes final : public Profiler {
 public:
  Notes() { set_profiler(this); }
  ~Notes() override { set_profiler(nullptr); }
  void begin(const std::string& name) override {
    const std::scoped_lock lock(mutex_);
    names_.push_back(name);
    ++open_[std::this_thread::get_id()];
  }
  void end() override {
    const std::scoped_lock lock(mutex_);
    --open_[std::this_thread::get_id()];
  }
  std::vector<std::string> names() {
    const std::scoped_lock lock(mutex_);
    std::sort(names_.begin(), names_.end());
    return names_;
  }
  bool all_ended() {
    const std::scoped_lock lock(mutex_);
    return std::all_of(open_.begin(), open_.end(), [](const auto& of) { return of.second == 0; });
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> names_;
  std::map<std::thread::id, int> open_;
};

TEST(Profiler, IsToldWhatRunsAndWhatIsWaitedFor) {
  REAL_RANKS_ONLY("ranges belong to threads");
  Notes notes;
  run_ranks(1, [](int) {
    Tensor t = ones({4});
    all_reduce(t);
    Work work = broadcast(t, 0, {.async_op = true});
    work.wait();
    Work got = irecv(t, 0);
    isend(ones({4}), 0).wait();
    got.wait();
  });
  EXPECT_TRUE(notes.all_ended());
  EXPECT_EQ(notes.names(), (std::vector<std::string>{"all_reduce #0 (4 f32)", "broadcast #1 (4 f32)",
                                                     "wait: broadcast #1 (4 f32)", "wait: recv #0 (4 f32)",
                                                     "wait: send #1 (4 f32)"}));
}

TEST(Profiler, IsNotAskedForANameWhereNoneIs) {
  bool asked = false;
  {
    const ProfilerRange range([&] {
      asked = true;
      return std::string("no one reads this");
    });
  }
  EXPECT_FALSE(asked);
}

}  // namespace
}  // namespace dist::test
