// Handles of libraries on a GPU: one for each thread that needs one at the same time, however many come.
#include "dist/nn/cuda/per_thread.h"

#include <set>
#include <thread>

#include <gtest/gtest.h>

namespace dist::nn {
namespace {

TEST(PerThread, AThreadLeavesItsHandleToTheNext) {
  struct Made {};
  using Handle = const Made*;
  std::set<Handle> made;
  const auto use = [&](Device device, StreamHandle stream) {
    auto& [handle, last] = PerThread<Handle>::of(device);
    if (!handle) made.insert(handle = new Made);
    last = stream;
    EXPECT_EQ(PerThread<Handle>::of(device).handle, handle) << "it stays this thread's";
    return handle;
  };
  int first = 0, second = 0;
  const Handle mine = use(cuda(0), &first);
  for (int i = 0; i < 10; ++i)
    std::thread([&] {
      EXPECT_NE(use(cuda(0), &second), mine);
      use(cuda(1), &second);
    }).join();
  EXPECT_EQ(made.size(), 3U) << "this thread's, and one for each device of the others";
  std::thread([&] {
    EXPECT_EQ(PerThread<Handle>::of(cuda(0)).stream, &second) << "what the one before has enqueued";
    EXPECT_EQ(PerThread<Handle>::of(cuda(2)).handle, nullptr);
  }).join();
  std::thread([&] { use(cuda(2), &first); }).join();
  EXPECT_EQ(made.size(), 4U) << "nothing is left of a handle that could not be made";
  for (const Handle handle : made) delete handle;
}

}  // namespace
}  // namespace dist::nn
