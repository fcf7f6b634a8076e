// reduce_many(): several inputs at once against one reduce() after the other; lists of tensors; cheap stamps.
#include <cmath>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "dist/core/kernels.h"
#include "dist/core/tensor_list.h"
#include "dist/core/ticks.h"
#include "dist/core/view_list.h"

#include "support/expect_error.h"

namespace dist {
namespace {

using test::expect_error;

Tensor values(std::int64_t count, int seed, DType dtype) {
  Tensor t = arange(count, DType::i64);
  for (auto& value : t.data<std::int64_t>())
    value = (value * 7 + seed * 13) % 11 - (dtype == DType::u8 ? 0 : 5);
  return t.to(dtype);
}

struct Inputs {
  Inputs(int n, std::int64_t count, DType dtype) {
    for (int i = 0; i < n; ++i) tensors.push_back(values(count, i, dtype));
    for (const Tensor& t : tensors) views.push_back(t.flat());
  }
  std::vector<Tensor> tensors;
  std::vector<TensorView> views;
};

TEST(ReduceMany, IsOneReductionAfterTheOther) {
  for (const DType dtype : {DType::u8, DType::i32, DType::i64, DType::f32, DType::f64})
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max})
      for (const int n : {1, 2, 3, 5})
        for (const std::int64_t count : {0, 1, 63, 2048, 5001}) {
          const Inputs in(n, count, dtype);
          Tensor expected = in.tensors[0].clone();
          for (int i = 1; i < n; ++i)
            reduce(expected.flat(), in.tensors[static_cast<std::size_t>(i)].flat(), op);
          Tensor first = empty({count}, dtype), second = empty({count}, dtype);
          const std::vector<TensorView> outs{first.flat(), second.flat()};
          reduce_many(outs, in.views, op);
          ASSERT_TRUE(equal(first, expected)) << name(op.kind()) << " of " << n << " x " << count;
          ASSERT_TRUE(equal(second, expected));
        }
}

TEST(ReduceMany, OutputsMayBeTheInputs) {
  for (const int n : {2, 3, 4})
    for (const DType dtype : {DType::f32, DType::bf16}) {
      Inputs in(n, 3000, dtype);
      const Tensor expected = [&] {
        Tensor sum = in.tensors[0].to(DType::f32);
        for (int i = 1; i < n; ++i) sum.add_(in.tensors[static_cast<std::size_t>(i)].to(DType::f32));
        return sum.to(dtype);
      }();
      std::vector<TensorView> outs(in.views.rbegin(), in.views.rend());  // in another order
      reduce_many(outs, in.views, ReduceOp::sum);
      for (const Tensor& t : in.tensors) ASSERT_TRUE(equal(t, expected)) << n;
    }
}

// 1 + 2^-8 + 2^-8 is 1 in bf16 when every sum is rounded, and not when only the last is.
TEST(ReduceMany, RoundsHalvesOnce) {
  const double small = std::ldexp(1.0, -8);
  const Tensor one = full({9}, 1, DType::bf16), a = full({9}, small, DType::bf16), b = a.clone();
  Tensor out = empty({9}, DType::bf16);
  const TensorView target = out.flat();
  const std::vector<TensorView> ins{one.flat(), a.flat(), b.flat()};
  reduce_many({&target, 1}, ins, ReduceOp::sum);
  EXPECT_EQ(out.to_vector<double>(), std::vector<double>(9, 1 + 2 * small));
}

TEST(ReduceMany, AveragesAndTruncatesIntegers) {
  for (const DType dtype : {DType::i32, DType::f64}) {
    const Tensor a = full({5}, -3, dtype), b = full({5}, -4, dtype);
    Tensor out = empty({5}, dtype);
    const TensorView target = out.flat();
    const std::vector<TensorView> ins{a.flat(), b.flat()};
    reduce_many({&target, 1}, ins, ReduceOp::avg);
    EXPECT_EQ(out.to_vector<double>(), std::vector<double>(5, dtype == DType::i32 ? -3 : -3.5));
  }
}

TEST(ReduceMany, RefusesWhatItCannotDo) {
  const Tensor a = zeros({4}), longer = zeros({5}), bits = zeros({4}, DType::boolean);
  const TensorView out = a.flat();
  const std::vector<TensorView> uneven{a.flat(), longer.flat()}, mixed{a.flat(), bits.flat()}, same{a.flat()};
  expect_error(Errc::internal, {"one count, one dtype and one device"}, [&] {
    reduce_many({&out, 1}, uneven, ReduceOp::sum);
  });
  expect_error(Errc::internal, {"one count, one dtype and one device"}, [&] {
    reduce_many({&out, 1}, mixed, ReduceOp::sum);
  });
  expect_error(Errc::internal, {"band on f32"}, [&] { reduce_many({&out, 1}, same, ReduceOp::band); });
  expect_error(Errc::internal, {"premul_sum"}, [&] {
    reduce_many({&out, 1}, same, ReduceOp::premul_sum(2));
  });
}

TEST(TensorListTest, BorrowsSplitsAndOwns) {
  Tensor whole = arange(12);
  TensorList parts;
  parts.split(whole, 3);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[1].data, whole.flat().slice(4, 4).data);
  EXPECT_EQ(parts[2].count, 4);
  const TensorList copied = parts;
  parts.own();
  whole = Tensor();  // the parts keep the storage
  ASSERT_EQ(parts.owned().size(), 3u);
  EXPECT_EQ(parts.owned()[2].to_vector<int>(), (std::vector<int>{8, 9, 10, 11}));
  EXPECT_EQ(copied.size(), 3u);
  EXPECT_TRUE(TensorList().empty());
  TensorList one;
  one.borrow(parts.owned()[0]);
  EXPECT_EQ(one[0].data, parts[0].data);
  one.own();
  EXPECT_EQ(one.owned().size(), 1u);
}

TEST(ViewListTest, HoldsFewAndMany) {
  const Tensor t = zeros({100});
  for (const std::size_t size : {0, 1, 8, 9, 50}) {
    ViewList views(size);
    for (std::size_t i = 0; i < size; ++i) views.set(i, t.flat().slice(static_cast<std::int64_t>(i), 1));
    const std::span<const TensorView> all = views;
    ASSERT_EQ(all.size(), size);
    for (std::size_t i = 0; i < size; ++i)
      EXPECT_EQ(all[i].data, t.flat().slice(static_cast<std::int64_t>(i), 1).data);
  }
}

TEST(Ticks, AreTimesOfTheClock) {
  const TickClock clock;
  const auto before = Clock::now();
  const std::uint64_t stamp = clock.now();
  const auto after = Clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const TickClock::Reading later = clock.read();
  const auto time = clock.time_of(stamp, later);
  constexpr auto tolerance = std::chrono::microseconds(100);  // the two clocks are read one after the other
  EXPECT_GE(time, before - tolerance);
  EXPECT_LE(time, after + tolerance);
  EXPECT_LE(time, clock.time_of(later.ticks, later));
}

}  // namespace
}  // namespace dist
