// Tensors that are made without a device: on the CPU, until a thread says otherwise, or DIST_DEVICE does.
#include <thread>

#include <gtest/gtest.h>

#include "dist/dist.h"
#include "dist/nn/linear.h"

#include "support/expect_error.h"
#include "support/fake_device.h"
#include "unit/device/on_backend.h"

namespace dist::test {
namespace {

// Sets it back at the end.
struct DefaultDevice {
  explicit DefaultDevice(Device device) { set_default_device(device); }
  ~DefaultDevice() { set_default_device(cpu); }
};

TEST(DefaultDevice, IsWhereFactoriesMakeTensors) {
  const FakeDeviceGuard fake(FakeDeviceOptions{.count = 2});
  EXPECT_EQ(get_default_device(), cpu);
  {
    const DefaultDevice gpu(cuda(1));
    const std::vector<float> values{1, 2, 3};
    for (const Tensor& t : {zeros({3}), ones({3}), full({3}, 2), arange(3), tensor({1, 2, 3}),
                            tensor(std::span<const float>(values)), empty({3}), zeros({3}).clone()})
      EXPECT_EQ(t.device(), cuda(1)) << t.str();
    EXPECT_EQ(arange(3).to_vector<int>(), (std::vector{0, 1, 2}));
    EXPECT_EQ(tensor({1, 2, 3}).to_vector<int>(), (std::vector{1, 2, 3}));
    EXPECT_EQ(zeros({3}, DType::f32, cpu).device(), cpu) << "a device that is named";
    EXPECT_EQ(zeros_like(zeros({3}, DType::f32, cpu)).device(), cpu);
    float memory[3]{};
    EXPECT_EQ(Tensor::from_blob(memory, {3}).device(), cpu) << "memory that is there already";
    EXPECT_EQ(nn::Linear(2, 3).parameters()[0]->value.device(), cuda(1));
  }
  EXPECT_EQ(zeros({3}).device(), cpu);
}

TEST(DefaultDevice, IsThatOfAThread) {
  const FakeDeviceGuard fake;
  const DefaultDevice gpu(cuda(0));
  std::thread([] { EXPECT_EQ(get_default_device(), cpu); }).join();
}

TEST(DefaultDevice, IsTheCpuForVirtualRanks) {
  const FakeDeviceGuard fake;
  const DefaultDevice gpu(cuda(0));
  const ScopedEnv asked("DIST_DEVICE", "cuda"), backend("DIST_BACKEND", "nccl");
  sim::RunOptions two;
  two.ranks = 2;
  const auto report = sim::run(two, [](int) {
    init_process_group();
    Tensor t = ones({3});
    all_reduce(t);
    EXPECT_EQ(t.device(), cpu);
    EXPECT_EQ(get_device(), cpu);
  });
  EXPECT_TRUE(report.ok()) << report.text();
  EXPECT_EQ(get_default_device(), cuda(0));
}

// Does what a lab's program does, whose tensors name no device.
void all_that_ranks_say(const std::string& backend, DeviceType device) {
  const int rank = get_rank(), n = get_world_size();
  EXPECT_EQ(get_backend(), backend);
  EXPECT_EQ(get_device().type, device);
  EXPECT_EQ(get_default_device().type, device);
  Tensor t = full({5}, rank + 1);
  EXPECT_EQ(t.device(), get_default_device());
  all_reduce(t);
  EXPECT_TRUE(equal(t, full({5}, n * (n + 1) / 2))) << t.str();
  Tensor all = zeros({n});
  all_gather_into_tensor(all, tensor({static_cast<float>(rank)}));
  EXPECT_TRUE(equal(all, arange(n))) << all.str();
  if (rank == 0) send(t, 1);
  if (rank == 1) recv(t, 0);
  EXPECT_EQ(all_gather_object(std::to_string(rank)).back(), std::to_string(n - 1)) << "text is the host's";
}

TEST(DefaultDevice, IsTheRanksGpuWhereDistDeviceAsksForIt) {
  const FakeDeviceGuard fake(FakeDeviceOptions{.count = 2});
  const ScopedEnv asked("DIST_DEVICE", "cuda");
  run_unjoined(3, [](int rank, const std::shared_ptr<Store>& store) {
    init_process_group({.rank = rank, .world_size = 3, .timeout = std::chrono::seconds(20), .store = store});
    EXPECT_EQ(get_default_device(), cuda(rank % 2)) << "ranks take GPUs in turn";
    all_that_ranks_say("cuda", DeviceType::cuda);
    destroy_process_group();
    EXPECT_EQ(get_default_device(), cpu);
  });
}

TEST(DefaultDevice, StaysTheCpuForABackendThatTakesNoOther) {
  const FakeDeviceGuard fake;
  const ScopedEnv asked("DIST_DEVICE", "cuda");
  run_ranks(
      2, [](int) { EXPECT_EQ(get_default_device(), cpu); }, on_backend("host"));
}

TEST(DefaultDevice, DistDeviceCpuLeavesGpusAlone) {
  const FakeDeviceGuard fake;
  const ScopedEnv asked("DIST_DEVICE", "cpu");
  run_ranks(2, [](int) { all_that_ranks_say("host", DeviceType::cpu); });
}

TEST(DefaultDevice, DistBackendIsForThoseWhoSayAuto) {
  const FakeDeviceGuard fake;
  const ScopedEnv asked("DIST_BACKEND", "host");
  run_ranks(2, [](int) { EXPECT_EQ(get_backend(), "host"); });
  run_ranks(
      2, [](int) { EXPECT_EQ(get_backend(), "cuda"); }, on_cuda());
}

TEST(DefaultDevice, ValuesThatAreNoneAreNamed) {
  const auto join = [] { run_ranks(1, [](int) {}); };
  {
    const ScopedEnv asked("DIST_DEVICE", "gpu");
    expect_error(Errc::invalid_argument, {"DIST_DEVICE=\"gpu\"", "auto, cpu, cuda"}, join);
  }
  const ScopedEnv asked("DIST_BACKEND", "foo");
  expect_error(Errc::invalid_argument, {"\"foo\" does not exist", "auto, host"}, join);
}

}  // namespace
}  // namespace dist::test
