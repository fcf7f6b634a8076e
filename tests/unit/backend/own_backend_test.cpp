// A backend of one's own, as a program registers it: it counts the collectives that it passes on to "host".
#include <atomic>
#include <future>

#include <gtest/gtest.h>

#include "dist/backend/backend.h"
#include "dist/group/process_group.h"

#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist {
namespace {

std::atomic<int> counted_calls{0};

class CountingBackend final : public Backend {
 public:
  explicit CountingBackend(const BackendContext& context) : host_(find_backend("host").make(context)) {}
  std::string_view name() const override { return "counting"; }
  bool supports(OpKind kind, ReduceOp::Kind op, DType dtype, Device device, std::string* why) const override {
    return host_->supports(kind, op, dtype, device, why);
  }
  int run(const Operation& operation) override {
    ++counted_calls;
    return host_->run(operation);
  }
  std::shared_ptr<WorkState> submit(Operation operation) override {
    ++counted_calls;
    return host_->submit(std::move(operation));
  }
  std::vector<std::string> finish() override { return host_->finish(); }
  std::string algorithm_for(const Operation& operation) const override {
    return host_->algorithm_for(operation);
  }

 private:
  const std::unique_ptr<Backend> host_;
};

const BackendEntry counting{"counting", DeviceType::cpu,
                            [](std::string* why) { return why ? why->clear() : void(), true; },
                            [](const BackendContext& context) -> std::unique_ptr<Backend> {
                              return std::make_unique<CountingBackend>(context);
                            }};

TEST(OwnBackend, RunsWhatTheProgramCalls) {
  register_backend(counting);
  for (const BackendEntry& taken :
       {counting, BackendEntry{"gloo", {}, {}, {}}, BackendEntry{"auto", {}, {}, {}}})
    test::expect_error(Errc::invalid_argument, {"is a backend's name already; take another"},
                       [&] { register_backend(taken); });
  test::RankOptions options;
  options.init.backend = "counting";
  test::run_ranks(
      3,
      [](int rank) {
        EXPECT_EQ(get_backend(), "counting");
        Tensor sum = full({2}, rank + 1);
        all_reduce(sum);
        EXPECT_EQ(sum.to_vector<float>(), (std::vector<float>{6, 6}));
        Work work = all_reduce(sum, ReduceOp::sum, {.async_op = true});
        work.wait();
        EXPECT_EQ(sum.to_vector<float>()[0], 18);
      },
      options);
  EXPECT_EQ(counted_calls, 6);
}

// What PyTorch's work.get_future().then(f) does: any thread may wait for a Work, and go on when it ends.
TEST(Work, AnotherThreadWaitsForItAndGoesOn) {
  test::run_ranks(3, [](int rank) {
    Tensor sum = full({2}, rank + 1);
    Work work = all_reduce(sum, ReduceOp::sum, {.async_op = true});
    std::future<float> after = std::async(std::launch::async, [work, &sum]() mutable {
      work.wait();
      return sum.to_vector<float>()[0] * 2;
    });
    EXPECT_EQ(after.get(), 12);
  });
}

}  // namespace
}  // namespace dist
