#include "dist/core/types.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "dist/core/functors.h"
#include "dist/core/op_kind.h"

namespace dist {
namespace {

constexpr std::array all_kinds{ReduceOp::Kind::sum, ReduceOp::Kind::avg,  ReduceOp::Kind::product,
                               ReduceOp::Kind::min, ReduceOp::Kind::max,  ReduceOp::Kind::band,
                               ReduceOp::Kind::bor, ReduceOp::Kind::bxor, ReduceOp::Kind::premul_sum};

TEST(DType, NamesAndSizes) {
  EXPECT_EQ(size_of(DType::u8), 1U);
  EXPECT_EQ(size_of(DType::i8), 1U);
  EXPECT_EQ(size_of(DType::boolean), 1U);
  EXPECT_EQ(size_of(DType::f16), 2U);
  EXPECT_EQ(size_of(DType::bf16), 2U);
  EXPECT_EQ(size_of(DType::i32), 4U);
  EXPECT_EQ(size_of(DType::f32), 4U);
  EXPECT_EQ(size_of(DType::i64), 8U);
  EXPECT_EQ(size_of(DType::f64), 8U);
  std::set<std::string_view> names;
  for (const DType dtype : all_dtypes) names.insert(name(dtype));
  EXPECT_EQ(names,
            (std::set<std::string_view>{"u8", "i8", "i32", "i64", "f16", "bf16", "f32", "f64", "bool"}));
}

TEST(DType, VisitingAndNamingTheTypeAgree) {
  for (const DType dtype : all_dtypes)
    EXPECT_EQ(visit_dtype(dtype, []<class T>() { return dtype_of<T>(); }), dtype) << name(dtype);
}

TEST(ReduceOp, WhatIsDefinedOnWhichElements) {
  for (const DType dtype : all_dtypes) {
    const bool real = is_floating_point(dtype), boolean = dtype == DType::boolean;
    for (const auto kind :
         {ReduceOp::Kind::sum, ReduceOp::Kind::product, ReduceOp::Kind::min, ReduceOp::Kind::max})
      EXPECT_TRUE(is_defined(kind, dtype));
    for (const auto kind : {ReduceOp::Kind::band, ReduceOp::Kind::bor, ReduceOp::Kind::bxor})
      EXPECT_EQ(is_defined(kind, dtype), !real) << name(dtype);
    EXPECT_EQ(is_defined(ReduceOp::Kind::avg, dtype), !boolean) << name(dtype);
    EXPECT_EQ(is_defined(ReduceOp::Kind::premul_sum, dtype), real) << name(dtype);
  }
}

// avg and premul_sum add with Sum, and have conditions of their own.
TEST(ReduceOp, ABaseOperationIsDefinedExactlyWhereItsFunctorIs) {
  for (const auto kind : all_kinds) {
    if (kind == ReduceOp::Kind::avg || kind == ReduceOp::Kind::premul_sum) continue;
    for (const DType dtype : all_dtypes) {
      const bool has_functor = visit_op(kind, [&](auto op) {
        return visit_dtype(dtype, [&]<class T>() {
          return std::is_invocable_v<decltype(op), ComputeType<T>, ComputeType<T>>;
        });
      });
      EXPECT_EQ(has_functor, is_defined(kind, dtype)) << name(kind) << " " << name(dtype);
    }
  }
}

TEST(ReduceOp, ComparesByKindAndFactor) {
  EXPECT_EQ(ReduceOp::premul_sum(2), ReduceOp::premul_sum(2));
  EXPECT_NE(ReduceOp::premul_sum(2), ReduceOp::premul_sum(3));
  EXPECT_NE(ReduceOp::sum, ReduceOp::max);
  EXPECT_EQ(ReduceOp(), ReduceOp::sum);
  EXPECT_EQ(ReduceOp::premul_sum(0.25).factor(), 0.25);
  EXPECT_EQ(name(ReduceOp::premul_sum(2).kind()), "premul_sum");
}

TEST(Device, NamesItselfAsInTorch) {
  EXPECT_EQ(cpu.str(), "cpu");
  EXPECT_EQ(cuda(3).str(), "cuda:3");
  EXPECT_NE(cuda(0), cuda(1));
  EXPECT_NE(cuda(0), cpu);
}

TEST(OpKind, EveryOperationHasItsOwnName) {
  std::set<std::string_view> names;
  for (int kind = 0; kind <= static_cast<int>(OpKind::barrier); ++kind)
    names.insert(name(static_cast<OpKind>(kind)));
  EXPECT_EQ(names.size(), 11U);
  EXPECT_EQ(name(OpKind::reduce_scatter), "reduce_scatter");
  EXPECT_FALSE(is_collective(OpKind::send));
  EXPECT_TRUE(is_collective(OpKind::barrier));
}

}  // namespace
}  // namespace dist
