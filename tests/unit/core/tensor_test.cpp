#include "dist/core/tensor.h"

#include <functional>
#include <sstream>

#include <gtest/gtest.h>

#include "dist/core/memory/arena.h"

#include "support/expect_error.h"

namespace dist {
namespace {

TEST(Tensor, FactoriesGiveShapeDtypeAndValues) {
  const Tensor t = full({2, 3}, 4, DType::i32);
  EXPECT_EQ(t.shape(), (Shape{2, 3}));
  EXPECT_EQ(t.dim(), 2);
  EXPECT_EQ(t.numel(), 6);
  EXPECT_EQ(t.nbytes(), 24U);
  EXPECT_EQ(t.size(0), 2);
  EXPECT_EQ(t.size(-1), 3);
  EXPECT_EQ(t.to_vector<int>(), std::vector<int>(6, 4));
  EXPECT_EQ(zeros({3}).to_vector<int>(), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(ones({2}, DType::bf16).to_vector<int>(), (std::vector<int>{1, 1}));
  EXPECT_EQ(arange(4, DType::u8).to_vector<int>(), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(tensor({1.F, 2.F}).dtype(), DType::f32);
  EXPECT_EQ(tensor({1, 2}).dtype(), DType::i32);
  EXPECT_EQ(tensor({true, false}).dtype(), DType::boolean);
  const std::vector<double> values{1, 2, 3};
  EXPECT_EQ(tensor(std::span<const double>(values)).to_vector<double>(), values);
  EXPECT_EQ(zeros_like(t).shape(), t.shape());
}

TEST(Tensor, LivesInTheArenaUnlessItIsBorrowed) {
  const Tensor own = zeros({10});
  EXPECT_TRUE(Arena::local().offset_of(own.raw(), own.nbytes()));
  std::vector<float> memory{1, 2, 3, 4};
  Tensor borrowed = Tensor::from_blob(memory.data(), {2, 2});
  EXPECT_FALSE(Arena::local().offset_of(borrowed.raw(), borrowed.nbytes()));
  borrowed.fill_(7);
  EXPECT_EQ(memory, (std::vector<float>{7, 7, 7, 7}));
}

TEST(Tensor, MemoryIsFreedWithTheLastTensorOverIt) {
  const std::size_t before = Arena::local().in_use();
  Tensor part;
  {
    const Tensor whole = arange(1000);
    part = whole.narrow(10, 5);
  }
  EXPECT_GE(Arena::local().in_use(), before + 4000);
  EXPECT_EQ(part.to_vector<int>(), (std::vector<int>{10, 11, 12, 13, 14}));
  part = Tensor();
  EXPECT_EQ(Arena::local().in_use(), before);
}

TEST(Tensor, WithoutElementsEverythingIsStillValid) {
  const Tensor t = empty({0, 5});
  EXPECT_EQ(t.numel(), 0);
  EXPECT_NE(t.raw(), nullptr);
  EXPECT_EQ(t.view({5, 0}).shape(), (Shape{5, 0}));
  EXPECT_EQ(t.narrow(0, 0).numel(), 0);
  EXPECT_EQ(t.clone().shape(), t.shape());
  EXPECT_EQ(t.str(), "[] f32");
  EXPECT_EQ(sum(t), 0);
  EXPECT_TRUE(equal(t, t + t));
  EXPECT_EQ(t.to(DType::i8).numel(), 0);
  EXPECT_EQ(t.chunk(3).size(), 3U);
  EXPECT_EQ(empty({3, 0})[1].shape(), (Shape{0}));
  EXPECT_EQ(Tensor::from_blob(nullptr, {0}).numel(), 0);
  EXPECT_EQ(empty({0, std::int64_t{1} << 62, 1 << 30}).numel(), 0);
}

TEST(Tensor, AScalarHasOneElementAndNoAxis) {
  const Tensor t = full({}, 2.5);
  EXPECT_EQ(t.numel(), 1);
  EXPECT_EQ(t.item<double>(), 2.5);
  EXPECT_EQ(t.item<int>(), 2);
  EXPECT_EQ(t.view({1}).shape(), (Shape{1}));
  EXPECT_EQ(t.str(), "2.5 f32");
  EXPECT_DIST_ERROR(t.size(0), Errc::invalid_argument, "0 axes");
  EXPECT_DIST_ERROR(t.narrow(0, 1), Errc::invalid_argument, "scalar");
  EXPECT_DIST_ERROR(t[0], Errc::invalid_argument, "scalar");
  EXPECT_DIST_ERROR(t.chunk(2), Errc::invalid_argument, "scalar");
}

TEST(Tensor, ViewsShareStorage) {
  Tensor t = arange(12);
  Tensor grid = t.view({3, 4});
  grid[1].fill_(0);
  EXPECT_EQ(t.to_vector<int>(), (std::vector<int>{0, 1, 2, 3, 0, 0, 0, 0, 8, 9, 10, 11}));
  EXPECT_EQ(grid.narrow(1, 2).view({-1}).to_vector<int>(), (std::vector<int>{0, 0, 0, 0, 8, 9, 10, 11}));
  EXPECT_EQ(grid[-1][2].item<int>(), 10);
  Tensor copied = t.clone();
  copied.zero_();
  EXPECT_EQ(t.to_vector<int>()[11], 11);
}

TEST(Tensor, ViewInfersOneSize) {
  const Tensor t = zeros({3, 4});
  EXPECT_EQ(t.view({-1}).shape(), (Shape{12}));
  EXPECT_EQ(t.view({2, -1, 3}).shape(), (Shape{2, 2, 3}));
  EXPECT_DIST_ERROR(t.view({-1, -1}), Errc::invalid_argument, "only one size can be -1");
  EXPECT_DIST_ERROR(t.view({-1, 5}), Errc::invalid_argument, "12 elements");
  EXPECT_DIST_ERROR(zeros({0}).view({-1, 0}), Errc::invalid_argument, "instead of -1");
  EXPECT_DIST_ERROR(t.view({5, 3}), Errc::invalid_argument,
                    "this shape has 15 elements, the tensor of shape [3, 4] has 12");
  EXPECT_DIST_ERROR(t.view({-2, -6}), Errc::invalid_argument, "negative");
}

TEST(Tensor, NarrowAndIndexCheckTheirRange) {
  const Tensor t = arange(10);
  EXPECT_EQ(t.narrow(10, 0).numel(), 0);
  EXPECT_DIST_ERROR(t.narrow(8, 3), Errc::invalid_argument, "first axis of shape [10] has 10");
  EXPECT_DIST_ERROR(t.narrow(-1, 1), Errc::invalid_argument, "narrow(-1, 1)");
  EXPECT_DIST_ERROR(t.narrow(1, -1), Errc::invalid_argument, "narrow(1, -1)");
  EXPECT_DIST_ERROR(t.narrow(1, INT64_MAX), Errc::invalid_argument, "narrow(1,");
  EXPECT_DIST_ERROR(t[10], Errc::invalid_argument, "[10]");
  EXPECT_DIST_ERROR(t[-11], Errc::invalid_argument, "[-11]");
}

TEST(Tensor, ChunksAreBalancedAndComplete) {
  for (const std::int64_t rows : {0, 1, 7, 1000})
    for (const std::int64_t n : {1, 2, 3, 5, 8}) {
      const Tensor t = arange(rows * 2).view({rows, 2});
      std::vector<double> seen;
      for (const Tensor& part : t.chunk(n)) {
        ASSERT_GE(part.size(0), rows / n);
        ASSERT_LE(part.size(0), rows / n + 1);
        for (const double element : part.to_vector<double>()) seen.push_back(element);
      }
      EXPECT_EQ(seen, t.to_vector<double>());
    }
  EXPECT_DIST_ERROR(arange(3).chunk(0), Errc::invalid_argument, "chunk(0)");
}

TEST(Tensor, UndefinedOnesRefuseEveryUse) {
  Tensor none;
  EXPECT_FALSE(none.is_defined());
  EXPECT_EQ(none.str(), "undefined");
  EXPECT_DIST_ERROR(none.numel(), Errc::invalid_argument, "undefined");
  EXPECT_DIST_ERROR(none.size(0), Errc::invalid_argument, "undefined");
  EXPECT_DIST_ERROR(none.raw(), Errc::invalid_argument, "undefined");
  EXPECT_DIST_ERROR(none.flat(), Errc::invalid_argument, "undefined");
  EXPECT_DIST_ERROR(none.view({1}), Errc::invalid_argument, "undefined");
  EXPECT_DIST_ERROR(none.narrow(0, 1), Errc::invalid_argument, "undefined");
  EXPECT_DIST_ERROR(none.clone(), Errc::invalid_argument, "undefined");
  EXPECT_DIST_ERROR(none.to(DType::f64), Errc::invalid_argument, "undefined");
  EXPECT_DIST_ERROR(none.fill_(1), Errc::invalid_argument, "undefined");
  EXPECT_DIST_ERROR(none.data<float>(), Errc::invalid_argument, "undefined");
  EXPECT_DIST_ERROR(none + none, Errc::invalid_argument, "undefined");
  EXPECT_DIST_ERROR(none.copy_(zeros({1})), Errc::invalid_argument, "undefined");
  EXPECT_DIST_ERROR(equal(none, none), Errc::invalid_argument, "undefined");
}

TEST(Tensor, WrongArgumentsAreNamed) {
  EXPECT_DIST_ERROR(zeros({2, -3}), Errc::invalid_argument, "[2, -3]");
  EXPECT_DIST_ERROR(empty({std::int64_t{1} << 40, std::int64_t{1} << 40}), Errc::invalid_argument, "63 bits");
  EXPECT_DIST_ERROR(empty({(std::int64_t{1} << 62)}, DType::f64), Errc::invalid_argument, "63 bits");
  EXPECT_DIST_ERROR(empty({std::int64_t{1} << 50}), Errc::resource, "does not fit");
  EXPECT_DIST_ERROR(zeros({3}).data<int>(), Errc::invalid_argument, "this tensor holds f32");
  EXPECT_DIST_ERROR(zeros({3}).item<float>(), Errc::invalid_argument, "3 elements, not one");
  EXPECT_DIST_ERROR(Tensor::from_blob(nullptr, {3}), Errc::invalid_argument, "null memory");
  EXPECT_DIST_ERROR(zeros({3}).copy_(zeros({4})), Errc::invalid_argument, "shapes [3] and [4] differ");
}

TEST(Tensor, CopyConvertsAndToIsTheSameTensorWhereNothingChanges) {
  Tensor t = zeros({3});
  t.copy_(tensor({1, 2, 3}));
  EXPECT_EQ(t.to_vector<int>(), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(t.to(cpu).raw(), t.raw());
  EXPECT_EQ(t.to(DType::f32).raw(), t.raw());
  EXPECT_NE(t.to(DType::f64).raw(), t.raw());
}

TEST(TensorPrint, ReadsLikeTheValues) {
  EXPECT_EQ(tensor({1.F, 2.5F, -3.F}).str(), "[1, 2.5, -3] f32");
  EXPECT_EQ(arange(6, DType::i32).view({2, 3}).str(), "[[0, 1, 2], [3, 4, 5]] i32");
  EXPECT_EQ(tensor({true, false}).str(), "[true, false] bool");
  EXPECT_EQ(full({2}, 65, DType::u8).str(), "[65, 65] u8") << "a number, not a letter";
  EXPECT_EQ(tensor({Half(0.5F)}).str(), "[0.5] f16");
  EXPECT_EQ(zeros({2, 0}).str(), "[[], []] f32");
  std::ostringstream out;
  out << arange(2);
  EXPECT_EQ(out.str(), "[0, 1] f32");
}

TEST(TensorPrint, LongOnesAreAbbreviatedAtEveryAxis) {
  EXPECT_EQ(arange(1000).str(), "[0, 1, 2, ..., 997, 998, 999] f32 of shape [1000]");
  EXPECT_EQ(arange(200).view({100, 2}).str(),
            "[[0, 1], [2, 3], [4, 5], ..., [194, 195], [196, 197], [198, 199]] f32 of shape [100, 2]");
  EXPECT_EQ(arange(104).view({2, 52}).str(),
            "[[0, 1, 2, ..., 49, 50, 51], [52, 53, 54, ..., 101, 102, 103]] f32 of shape [2, 52]");
}

// Every misuse of a tensor is reported with its line; each is on a line of its own.
struct Misuse {
  int line;
  std::function<void(Tensor& t, Tensor& none)> run;  // f32 [3], and an undefined one
};
#define MISUSE(expression)                                                                               \
  Misuse {                                                                                               \
    __LINE__,                                                                                            \
        []([[maybe_unused]] Tensor& t, [[maybe_unused]] Tensor& none) { static_cast<void>(expression); } \
  }

TEST(Tensor, AnErrorNamesTheLineOfTheCaller) {
  const std::vector<Misuse> all{
      MISUSE(t.data<double>()),
      MISUSE(std::as_const(t).data<double>()),
      MISUSE(t.item<float>()),
      MISUSE(t.narrow(2, 2)),
      MISUSE(t.view({2, 2})),
      MISUSE(t.view({-1, 2})),
      MISUSE(t[3]),
      MISUSE(t.size(1)),
      MISUSE(t.chunk(0)),
      MISUSE(t.copy_(zeros({4}))),
      MISUSE(t.add_(zeros({4}))),
      MISUSE(t.mul_(zeros({4}))),
      MISUSE(t + zeros({4})),
      MISUSE(t - zeros({4})),
      MISUSE(t * zeros({4})),
      MISUSE(t / zeros({4})),
      MISUSE(zeros({3}, DType::i32) * 0.5),
      MISUSE(exp(zeros({3}, DType::i32))),
      MISUSE(sqrt(zeros({3}, DType::i32))),
      MISUSE(max(zeros({0}))),
      MISUSE(empty({-1})),
      MISUSE(zeros({-1})),
      MISUSE(ones({-1})),
      MISUSE(full({-1}, 2)),
      MISUSE(arange(-1)),
      MISUSE(Tensor::from_blob(nullptr, {3})),
      MISUSE(none.numel()),
      MISUSE(none.nbytes()),
      MISUSE(none.raw()),
      MISUSE(none.flat()),
      MISUSE(none.data<float>()),
      MISUSE(none.clone()),
      MISUSE(none.to(DType::f64)),
      MISUSE(none.to(cpu)),
      MISUSE(none.fill_(1)),
      MISUSE(none.zero_()),
      MISUSE(none.mul_(2)),
      MISUSE(none.div_(2)),
      MISUSE(none * 2),
      MISUSE(none.item<float>()),
      MISUSE(none.to_vector<float>()),
      MISUSE(empty_like(none)),
      MISUSE(zeros_like(none)),
      MISUSE(sum(none)),
      MISUSE(equal(none, none)),
  };
  Tensor t = zeros({3}), none;
  for (const Misuse& misuse : all)
    test::expect_error(Errc::invalid_argument, {"tensor_test.cpp:" + std::to_string(misuse.line)},
                       [&] { misuse.run(t, none); });
}

}  // namespace
}  // namespace dist
