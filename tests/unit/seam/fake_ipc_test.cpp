// Memory of the fake device exported to another process and to another thread.
#include <array>
#include <csignal>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dist/core/kernels.h"
#include "dist/core/sanitizer.h"
#include "dist/core/tensor.h"

#include "support/expect_error.h"
#include "support/fake_device.h"

namespace dist::test {
namespace {

TensorView view_at(void* pointer, std::int64_t count) {
  return {static_cast<std::byte*>(pointer), count, DType::f32, cuda(0)};
}

// In the process of the peer: adds 1 to every element it was given a handle of.
void add_one_to(const std::vector<std::byte>& handle, std::int64_t count) {
  const FakeDeviceGuard device;
  void* theirs = device->import_memory(cuda(0), handle);
  const Tensor ones_here = ones({count}, DType::f32, cuda(0));
  reduce(view_at(theirs, count), ones_here.flat(), ReduceOp::sum);
  device->synchronize(cuda(0), nullptr);
  device->release_import(cuda(0), theirs);
}

// Forked before any thread exists, as processes of a job are separate from the start.
TEST(FakeIpc, AnotherProcessWritesIntoExportedMemory) {
  if (built_with_tsan) GTEST_SKIP() << "ThreadSanitizer does not support threads in a forked child";
  constexpr std::int64_t count = 1000;
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(::pipe(pipe_ends.data()), 0);
  const UniqueFd read_end(pipe_ends[0]);
  UniqueFd write_end(pipe_ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    write_end.reset();
    std::vector<std::byte> handle(sizeof(FakeHandle));
    if (::read(read_end.get(), handle.data(), handle.size()) != static_cast<ssize_t>(handle.size()))
      ::_exit(1);
    add_one_to(handle, count);
    ::_exit(0);
  }
  const FakeDeviceGuard device;
  const Tensor before =
      zeros({5}, DType::f32, cuda(0));  // so that the exported block does not start the segment
  const Tensor t = arange(count, DType::f32, cuda(0));
  const auto handle = device->export_memory(cuda(0), t.raw());
  ASSERT_EQ(::write(write_end.get(), handle.data(), handle.size()), static_cast<ssize_t>(handle.size()));
  int status = -1;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(equal(t, arange(count) + ones({count})));
  EXPECT_EQ(sum(before), 0);
}

TEST(FakeIpc, AnImportInTheSameProcessIsTheSameMemory) {
  const FakeDeviceGuard device;
  const Tensor t = zeros({100}, DType::f32, cuda(0));
  void* again = device->import_memory(cuda(0), device->export_memory(cuda(0), t.raw()));
  EXPECT_NE(again, t.raw());
  fill(view_at(again, 100), 3);
  EXPECT_EQ(sum(t), 300);
  EXPECT_DIST_ERROR(fill(view_at(again, 101), 3), Errc::internal, "host memory");
  device->release_import(cuda(0), again);
  EXPECT_DIST_ERROR(fill(view_at(again, 100), 3), Errc::internal, "host memory");
}

TEST(FakeIpc, WhatIsNoBlockCannotBeExportedAndGarbageNotImported) {
  const FakeDeviceGuard device;
  const Tensor t = zeros({100}, DType::f32, cuda(0));
  EXPECT_DIST_ERROR(device->export_memory(cuda(0), t.narrow(1, 1).raw()), Errc::invalid_argument,
                    "start of a block");
  EXPECT_DIST_ERROR(device->import_memory(cuda(0), std::vector<std::byte>(3)), Errc::invalid_argument,
                    "3 bytes");
  FakeHandle nobody{1 << 30, 3, 4096, 0, 64, {}};
  std::vector<std::byte> handle(sizeof nobody);
  std::memcpy(handle.data(), &nobody, sizeof nobody);
  EXPECT_DIST_ERROR(device->import_memory(cuda(0), handle), Errc::connection, "No such file");
}

}  // namespace
}  // namespace dist::test
