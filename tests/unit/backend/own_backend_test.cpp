// A backend of one's own (counting_backend.h), as a program registers it.
#include <future>

#include <gtest/gtest.h>

#include "dist/group/process_group.h"

#include "counting_backend.h"
#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist {
namespace {

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
