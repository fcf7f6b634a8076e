// Every function against the same thing done one element at a time.
#include "dist/core/axes.h"

#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace dist {
namespace {

const std::vector<Shape> shapes{{5},       {1},          {0},          {2, 3},       {3, 0},
                                {0, 4},    {1, 7, 1},    {2, 3, 4},    {4, 1, 3, 2}, {3, 2, 0, 2},
                                {2, 5, 3}, {2, 2, 3, 4}, {1, 1, 1, 6}, {7, 3, 2}};

std::int64_t product(const Shape& shape) {
  std::int64_t count = 1;
  for (const auto size : shape) count *= size;
  return count;
}

Tensor numbered(const Shape& shape, DType dtype = DType::i32) {
  return arange(product(shape), DType::i32).to(dtype).view(shape);
}

// Where each element of a tensor is, in order: its index along every axis.
std::vector<Shape> indices(const Shape& shape) {
  std::vector<Shape> all{{}};
  for (const auto size : shape) {
    std::vector<Shape> longer;
    for (const Shape& index : all)
      for (std::int64_t i = 0; i < size; ++i) {
        longer.push_back(index);
        longer.back().push_back(i);
      }
    all = std::move(longer);
  }
  return all;
}

int element(const Tensor& t, const Shape& index) {
  std::int64_t at = 0;
  for (std::size_t axis = 0; axis < index.size(); ++axis) at = at * t.shape()[axis] + index[axis];
  return t.to_vector<int>()[static_cast<std::size_t>(at)];
}

TEST(Axes, NarrowTakesTheseEntriesAndPutReturnsThem) {
  for (const Shape& shape : shapes)
    for (const DType dtype : {DType::u8, DType::bf16, DType::i32, DType::f64})
      for (std::size_t axis = 0; axis < shape.size(); ++axis)
        for (std::int64_t start = 0; start <= shape[axis]; ++start)
          for (std::int64_t length = 0; length <= shape[axis] - start; ++length) {
            const Tensor t = numbered(shape, dtype);
            const auto from_back = static_cast<std::int64_t>(axis) - t.dim();
            const Tensor part = narrow(t, from_back, start, length);
            Shape expected = shape;
            expected[axis] = length;
            ASSERT_EQ(part.shape(), expected);
            ASSERT_EQ(part.dtype(), dtype);
            Tensor into = full(shape, 100, dtype), by_hand = full(shape, 100, dtype);
            put(into, from_back, start, part);
            const std::vector<Shape> all = indices(shape);
            std::vector<int> values(all.size(), 100);
            for (std::size_t i = 0; i < all.size(); ++i) {
              if (all[i][axis] < start || all[i][axis] >= start + length) continue;
              values[i] = element(t, all[i]);
              Shape within = all[i];
              within[axis] -= start;
              ASSERT_EQ(element(part, within), values[i]);
            }
            ASSERT_EQ(into.to_vector<int>(), values);
          }
}

TEST(Axes, OnlyTheFirstAxisIsNarrowedToAView) {
  const Tensor t = numbered({4, 3});
  EXPECT_EQ(narrow(t, 0, 1, 2).raw(), t[1].raw());
  Tensor columns = narrow(t, 1, 0, 3);
  columns.zero_();
  EXPECT_EQ(sum(t), 66);
}

TEST(Axes, TorchChunksBeginAsInPyTorch) {
  const auto sizes = [](std::int64_t count, std::int64_t n) {
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < n; ++i)
      all.push_back(torch_chunk_begin(count, i + 1, n) - torch_chunk_begin(count, i, n));
    return all;
  };
  using Sizes = std::vector<std::int64_t>;
  EXPECT_EQ(sizes(6, 4), (Sizes{2, 2, 2, 0}));
  EXPECT_EQ(sizes(5, 4), (Sizes{2, 2, 1, 0}));
  EXPECT_EQ(sizes(7, 3), (Sizes{3, 3, 1}));
  EXPECT_EQ(sizes(8, 4), (Sizes{2, 2, 2, 2}));
  EXPECT_EQ(sizes(1, 3), (Sizes{1, 0, 0}));
  EXPECT_EQ(sizes(0, 2), (Sizes{0, 0}));
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  static_assert(torch_chunk_begin(huge, 24576, 24576) == huge);
  static_assert(torch_chunk_begin(huge, 1, 2) == huge / 2 + 1);
  static_assert(torch_chunk_begin(huge, 2, 2) == huge);
}

TEST(Axes, ChunksAreCompleteAlongEveryAxisAndCatJoinsThem) {
  for (const Shape& shape : shapes)
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      for (const std::int64_t n : {1, 2, 3, 4, 6, 8}) {
        const Tensor t = numbered(shape, DType::f32);
        const auto along = static_cast<std::int64_t>(axis);
        const std::vector<Tensor> balanced = chunk(t, n, along), rounded_up = torch_chunk(t, n, along);
        ASSERT_EQ(balanced.size(), static_cast<std::size_t>(n));
        ASSERT_EQ(rounded_up.size(), static_cast<std::size_t>(n));
        for (std::int64_t i = 0; i < n; ++i) {
          const auto at = static_cast<std::size_t>(i);
          ASSERT_EQ(balanced[at].size(along),
                    chunk_begin(shape[axis], i + 1, n) - chunk_begin(shape[axis], i, n));
          ASSERT_EQ(rounded_up[at].size(along),
                    std::min((shape[axis] + n - 1) / n, shape[axis] - torch_chunk_begin(shape[axis], i, n)));
        }
        ASSERT_TRUE(equal(cat(balanced, along), t));
        ASSERT_TRUE(equal(cat(rounded_up, along - t.dim()), t));
      }
}

TEST(Axes, TransposeExchangesTwoIndices) {
  for (const Shape& shape : shapes)
    for (const DType dtype : {DType::i8, DType::f16, DType::f32, DType::i64})
      for (std::size_t a = 0; a < shape.size(); ++a)
        for (std::size_t b = 0; b < shape.size(); ++b) {
          const Tensor t = numbered(shape, dtype);
          const Tensor turned =
              transpose(t, static_cast<std::int64_t>(a), static_cast<std::int64_t>(b) - t.dim());
          Shape expected = shape;
          std::swap(expected[a], expected[b]);
          ASSERT_EQ(turned.shape(), expected);
          ASSERT_EQ(turned.dtype(), dtype);
          for (Shape index : indices(shape)) {
            const int value = element(t, index);
            std::swap(index[a], index[b]);
            ASSERT_EQ(element(turned, index), value);
          }
        }
}

TEST(Axes, LargeMatricesAreTransposedInBlocks) {
  for (const Shape& shape : {Shape{63, 130}, Shape{130, 64}, Shape{65, 1, 2}}) {
    const Tensor t = numbered(shape), turned = transpose(t, 0, 1);
    const std::vector<int> from = t.to_vector<int>(), to = turned.to_vector<int>();
    const std::int64_t rows = shape[0], columns = shape[1], rest = product(shape) / rows / columns;
    for (std::int64_t i = 0; i < product(shape); ++i) {
      const std::int64_t row = i / rest / columns, column = i / rest % columns;
      ASSERT_EQ(to[static_cast<std::size_t>((column * rows + row) * rest + i % rest)],
                from[static_cast<std::size_t>(i)]);
    }
  }
}

TEST(Axes, ErrorsNameTheCallTheLineAndWhatIsWrong) {
  Tensor t = numbered({2, 3});
  EXPECT_DIST_ERROR(narrow(t, 2, 0, 1), Errc::invalid_argument,
                    "axis 2 of a tensor of shape [2, 3], which has 2 axes");
  EXPECT_DIST_ERROR(narrow(t, -3, 0, 1), Errc::invalid_argument, "axes_test.cpp:");
  EXPECT_DIST_ERROR(narrow(t, 1, 2, 2), Errc::invalid_argument,
                    "2 entries from entry 2 on; axis 1 of shape [2, 3] has 3 entries");
  EXPECT_DIST_ERROR(narrow(t, 1, INT64_MAX, INT64_MAX), Errc::invalid_argument, "narrow at");
  EXPECT_DIST_ERROR(narrow(t, 1, -1, 1), Errc::invalid_argument, "-1");
  EXPECT_DIST_ERROR(narrow(Tensor(), 0, 0, 0), Errc::invalid_argument, "undefined");
  EXPECT_DIST_ERROR(narrow(full({}, 1), 0, 0, 0), Errc::invalid_argument, "0 axes");
  EXPECT_DIST_ERROR(put(t, 1, 2, numbered({2, 2})), Errc::invalid_argument, "axis 1 of shape [2, 3]");
  EXPECT_DIST_ERROR(put(t, 1, 0, numbered({3, 2})), Errc::invalid_argument,
                    "shapes [2, 3] and [3, 2] differ in more than axis 1");
  EXPECT_DIST_ERROR(put(t, 1, 0, numbered({2, 2}, DType::f32)), Errc::invalid_argument, "i32 on cpu and f32");
  EXPECT_DIST_ERROR(put(t, 0, 0, t[0].view({1, 3})), Errc::invalid_argument, "clone() it first");
  EXPECT_DIST_ERROR(chunk(t, 0, 1), Errc::invalid_argument, "0 chunks");
  EXPECT_DIST_ERROR(torch_chunk(t, 2, 5), Errc::invalid_argument, "torch_chunk at");
  EXPECT_DIST_ERROR(cat({}, 0), Errc::invalid_argument, "at least one");
  EXPECT_DIST_ERROR(cat({t, numbered({2, 3, 1})}, 0), Errc::invalid_argument, "differ in more than axis 0");
  EXPECT_DIST_ERROR(cat({t, Tensor()}, 0), Errc::invalid_argument, "undefined");
  EXPECT_DIST_ERROR(transpose(t, 0, 2), Errc::invalid_argument, "axis 2");
}

}  // namespace
}  // namespace dist
