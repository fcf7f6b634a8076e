// Pinned memory, proved on a device whose streams are threads of the CPU.
#include "dist/data/pinned_memory.h"

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "dist/data/data_loader.h"

#include "numbers.h"
#include "support/fake_device.h"

namespace dist::data {
namespace {

using dist::test::FakeDeviceGuard;
using test::Numbers;
using test::NumberStream;
using test::targets_of;

const Device gpu = cuda(0);

TEST(PinnedMemory, IsRegisteredAndUsedAgain) {
  const FakeDeviceGuard fake;
  PinnedMemory pinned(gpu);
  const void* first = nullptr;
  {
    Tensor t = pinned.empty({3, 1000}, DType::f32);
    first = t.raw();
    EXPECT_EQ(t.device(), cpu);
    EXPECT_TRUE(fake->is_registered_host(first));
    EXPECT_TRUE(fake->is_registered_host(&t.data<float>().back()));
    EXPECT_NE(pinned.empty({3, 1000}, DType::f32).raw(), first) << "in use";
  }
  EXPECT_EQ(fake->host_pages_registered(), 2U) << "kept for the next";
  const Tensor again = pinned.empty({3000}, DType::f32), other = pinned.empty({3000}, DType::f32);
  EXPECT_TRUE(again.raw() == first || other.raw() == first);
  EXPECT_EQ(fake->host_pages_registered(), 2U);
  EXPECT_NE(pinned.empty({}, DType::i64).raw(), nullptr);
  EXPECT_NE(pinned.empty({0}, DType::i64).raw(), nullptr);
}

TEST(PinnedMemory, OutlivesItsMakerAndIsThenLetGo) {
  const FakeDeviceGuard fake;
  {
    std::optional<PinnedMemory> pinned(gpu);
    Tensor t = pinned->empty({5}, DType::i64).fill_(7);
    pinned.reset();
    EXPECT_TRUE(fake->is_registered_host(t.raw()));
    EXPECT_TRUE(equal(t.to(gpu).to(cpu), full({5}, 7, DType::i64)));
  }
  EXPECT_EQ(fake->host_pages_registered(), 0U);
}

TEST(PinnedLoader, BatchesAreTheSameAndLieInFewRegisteredPages) {
  const FakeDeviceGuard fake;
  const Numbers numbers(101);
  const NumberStream stream(101);
  for (const int workers : {0, 1, 3}) {
    const LoaderOptions plain{.batch_size = 4, .workers = workers};
    LoaderOptions options = plain;
    options.pin_for = gpu;
    const DataLoader from_map(numbers, options), from_stream(stream, {}, options);
    EXPECT_EQ(targets_of(from_map), targets_of(DataLoader(numbers, plain)));
    EXPECT_EQ(targets_of(from_stream), targets_of(DataLoader(stream, {}, plain)));
    std::set<const void*> places;
    for (const auto& [inputs, targets] : from_map) {
      EXPECT_TRUE(fake->is_registered_host(inputs.raw()) && fake->is_registered_host(targets.raw()));
      EXPECT_TRUE(equal(inputs.to(gpu).to(cpu), inputs));
      places.insert(inputs.raw());
    }
    // Inputs and targets, which take a page each: of two batches that a worker has ready, of one that it is
    // making, and of two that the caller holds, but not of all 26.
    EXPECT_LE(places.size(), static_cast<std::size_t>(2 * (workers * 3 + 2))) << workers << " workers";
  }
  EXPECT_EQ(fake->host_pages_registered(), 0U) << "loaders are gone";
}

TEST(PinnedLoader, OnACpuNothingIsRegistered) {
  const FakeDeviceGuard fake;
  const Numbers numbers(8);
  for (const auto& batch : DataLoader(numbers, {.batch_size = 4, .workers = 1, .pin_for = cpu}))
    EXPECT_FALSE(fake->is_registered_host(batch.inputs.raw()));
  EXPECT_EQ(fake->host_pages_registered(), 0U);
}

}  // namespace
}  // namespace dist::data
