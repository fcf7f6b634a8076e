// The fake device keeps the promises of DeviceApi, and shows the mistakes it is there to show.
#include "support/fake_device.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "dist/core/kernels.h"
#include "dist/core/tensor.h"

#include "support/expect_error.h"

namespace dist::test {
namespace {

class FakeDeviceTest : public testing::Test {
 protected:
  FakeDeviceGuard device{FakeDeviceOptions{.count = 2}};
  const Device gpu = cuda(0);
};

TEST_F(FakeDeviceTest, TensorsGoThereAndComeBack) {
  for (const DType dtype : all_dtypes)
    for (const std::int64_t count : {0, 1, 7, 1000}) {
      const Tensor t = arange(count, dtype);
      EXPECT_TRUE(equal(t.to(gpu).to(cuda(1)).to(cpu), t)) << name(dtype) << " " << count;
    }
  EXPECT_EQ(tensor({1, 2}, gpu).str(), "[1, 2] i32 on cuda:0");
}

TEST_F(FakeDeviceTest, EveryKernelGivesWhatTheCpuGives) {
  for (const DType dtype : all_dtypes) {
    const Tensor a = tensor({6, 8, 10}).to(dtype), b = tensor({2, 4, 5}).to(dtype);
    const Tensor x = a.to(gpu), y = b.to(gpu);
    Tensor sum = x.clone(), cpu_sum = a.clone();
    reduce(sum.flat(), y.flat(), ReduceOp::sum);
    reduce(cpu_sum.flat(), b.flat(), ReduceOp::sum);
    EXPECT_TRUE(equal(sum, cpu_sum)) << name(dtype);
    EXPECT_TRUE(equal(full({3}, 2, dtype, gpu), full({3}, 2, dtype)));
    EXPECT_TRUE(equal(x.to(DType::f64), a.to(DType::f64)));
    if (dtype == DType::boolean) continue;
    EXPECT_TRUE(equal(x + y, a + b));
    EXPECT_TRUE(equal(x - y, a - b));
    EXPECT_TRUE(equal(x * y, a * b));
    EXPECT_TRUE(equal(x * 3, a * 3));
    EXPECT_TRUE(equal(x.clone().add_(y, 2), a.clone().add_(b, 2)));
    Tensor quotient = x.clone();
    divide(quotient.flat(), 3);
    EXPECT_EQ(quotient.to_vector<int>(), (std::vector<int>{2, 2, 3})) << name(dtype);
    if (!is_floating_point(dtype)) continue;
    EXPECT_TRUE(equal(x / y, a / b));
    EXPECT_TRUE(equal(exp(x), exp(a)));
    EXPECT_TRUE(equal(sqrt(x), sqrt(a)));
    EXPECT_TRUE(equal(x.clone().div_(4), a.clone().div_(4)));
  }
}

TEST_F(FakeDeviceTest, WorkIsAsynchronousUntilTheHostSynchronizes) {
  const Tensor t = zeros({4}, DType::f32, gpu);
  const Stream stream(gpu);
  Event done(gpu);
  EXPECT_TRUE(done.is_done()) << "never recorded";
  device->synchronize(gpu, nullptr);
  device->hold_all(true);
  {
    const StreamGuard guard(gpu, stream.handle());
    fill(t.flat(), 5);
    done.record(stream.handle());
  }
  EXPECT_FALSE(done.is_done());
  EXPECT_EQ(device->backlog(), 2U);
  device->hold_all(false);
  stream.synchronize();
  EXPECT_TRUE(done.is_done());
  EXPECT_EQ(t.to_vector<int>(), (std::vector<int>{5, 5, 5, 5}));
}

// Two streams, a producer that is held and a consumer that is not: with the wait the consumer sees the new
// value, without it the old one. That is what makes the seam's tests mean something.
class MissingWait : public FakeDeviceTest, public testing::WithParamInterface<bool> {};

TEST_P(MissingWait, ShowsAsOldData) {
  const bool with_wait = GetParam();
  const Tensor data = zeros({1}, DType::f32, gpu), seen = zeros({1}, DType::f32, gpu);
  device->synchronize(gpu, nullptr);
  const Stream producer(gpu), consumer(gpu);
  device->hold_all(true);
  Event written(gpu);
  {
    const StreamGuard guard(gpu, producer.handle());
    fill(data.flat(), 7);
    written.record(producer.handle());
  }
  const StreamGuard guard(gpu, consumer.handle());
  if (with_wait) written.make_wait(gpu, consumer.handle());
  copy(seen.flat(), data.flat());
  device->hold(gpu, consumer.handle(), false);
  if (!with_wait) consumer.synchronize();
  device->hold_all(false);
  EXPECT_EQ(seen.item<int>(), with_wait ? 7 : 0);
}
INSTANTIATE_TEST_SUITE_P(Fake, MissingWait, testing::Bool(),
                         [](const auto& test) { return test.param ? "WithTheWait" : "WithoutIt"; });

TEST_F(FakeDeviceTest, AnEventRecordedAgainMovesWithoutChangingEarlierWaits) {
  const Stream a(gpu), b(gpu);
  const Tensor t = zeros({1}, DType::f32, gpu);
  Event event(gpu);
  event.record(a.handle());
  event.make_wait(gpu, b.handle());
  a.synchronize();
  device->hold_all(true);
  event.record(a.handle());
  EXPECT_FALSE(event.is_done());
  device->hold(gpu, b.handle(), false);
  b.synchronize();  // waits only for the first record
  device->hold_all(false);
  a.synchronize();
  EXPECT_TRUE(event.is_done());
}

TEST_F(FakeDeviceTest, AStreamWaitsForAnEventOfAnotherDevice) {
  const Device other = cuda(1);
  const Stream here(gpu), there(other);
  const Tensor t = zeros({1}, DType::f32, gpu), seen = zeros({1}, DType::f32, other);
  device->synchronize(gpu, nullptr);
  device->synchronize(other, nullptr);
  device->hold_all(true);
  Event written(gpu);
  {
    const StreamGuard guard(gpu, here.handle());
    fill(t.flat(), 7);
    written.record(here.handle());
  }
  const StreamGuard guard(other, there.handle());
  written.make_wait(other, there.handle());
  copy(seen.flat(), t.flat());
  device->hold(other, there.handle(), false);
  EXPECT_EQ(device->backlog(), 4U) << "the copy waits, though its stream is free";
  device->hold_all(false);
  EXPECT_EQ(seen.item<int>(), 7);
}

TEST_F(FakeDeviceTest, ACopyToAnotherDeviceComesAfterTheWorkOnTheFirst) {
  const Tensor t = zeros({4}, DType::f32, gpu);
  device->synchronize(gpu, nullptr);
  const Stream own(gpu);
  const StreamGuard guard(gpu, own.handle());
  device->hold(gpu, own.handle(), true);
  fill(t.flat(), 7);
  std::thread releases([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    device->hold(gpu, own.handle(), false);
  });
  EXPECT_EQ(sum(t.to(cuda(1))), 28);
  releases.join();
}

TEST_F(FakeDeviceTest, FreedMemoryStaysUntilTheWorkThatUsesItIsDone) {
  const Tensor out = zeros({1000}, DType::f32, gpu);
  device->synchronize(gpu, nullptr);
  const std::size_t before = device->in_use(gpu);
  const Stream stream(gpu);
  {
    const Tensor source = full({1000}, 3, DType::f32, gpu);
    device->synchronize(gpu, nullptr);
    device->hold_all(true);
    const StreamGuard guard(gpu, stream.handle());
    copy(out.flat(), source.flat());
  }
  EXPECT_GT(device->in_use(gpu), before) << "a copy from it is still to come";
  const Tensor other = empty({1000}, DType::f32, gpu);  // must not get the same memory
  device->hold_all(false);
  stream.synchronize();
  device->synchronize(gpu, nullptr);
  EXPECT_EQ(sum(out), 3000);
}

TEST_F(FakeDeviceTest, NothingIsLeftBehind) {
  {
    const Stream stream(gpu);
    const Event event(gpu);
    Stream moved(cuda(1));
    moved = Stream(gpu);
    const Tensor t = zeros({1000}, DType::f32, gpu);
    EXPECT_GE(device->handles_alive(), 3U);
  }
  device->synchronize(gpu, nullptr);
  device->synchronize(cuda(1), nullptr);
  EXPECT_EQ(device->handles_alive(), 0U);
  EXPECT_EQ(device->in_use(gpu), 0U);
}

TEST_F(FakeDeviceTest, MisuseIsAnError) {
  const Tensor t = zeros({10}, DType::f32, gpu);
  EXPECT_DIST_ERROR(t.data<float>(), Errc::invalid_argument, "bring it over with .to(cpu)");
  EXPECT_DIST_ERROR(zeros({1}, DType::f32, cuda(2)), Errc::invalid_argument, "cuda:2 does not exist");
  EXPECT_DIST_ERROR(t + zeros({10}), Errc::invalid_argument, "cuda:0, the other on cpu");
  EXPECT_DIST_ERROR(t + zeros({10}, DType::f32, cuda(1)), Errc::invalid_argument, "cuda:1");
  TensorView beyond = t.flat();
  beyond.count = 11;
  EXPECT_DIST_ERROR(fill(beyond, 1), Errc::internal, "outside every block");
  float host = 0;
  const TensorView not_there{reinterpret_cast<std::byte*>(&host), 1, DType::f32, gpu};
  EXPECT_DIST_ERROR(fill(not_there, 1), Errc::internal, "host memory");
  EXPECT_DIST_ERROR(empty({1 << 28}, DType::f32, gpu), Errc::resource, "no room");
}

using FakeDeviceDeathTest = FakeDeviceTest;
TEST_F(FakeDeviceDeathTest, TheCpuCannotTouchDeviceMemory) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        const Tensor t = zeros({1}, DType::f32, cuda(0));
        *static_cast<volatile float*>(t.raw()) = 1;
      },
      "");
}

TEST_F(FakeDeviceTest, ManyThreadsUseItAtOnce) {
  std::vector<std::thread> threads;
  for (int id = 0; id < 4; ++id)
    threads.emplace_back([this, id] {
      const Device mine = cuda(id % 2);
      const Stream stream(mine);
      const StreamGuard guard(mine, stream.handle());
      Tensor t = full({100}, id, DType::f32, mine);
      for (int i = 0; i < 50; ++i) t.add_(ones({100}, DType::f32, mine));
      EXPECT_EQ(sum(t), 100 * (id + 50));
    });
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace dist::test
