// What every collective must give, computed the plain way from what each rank contributes. Contributions are
// small integers chosen so that every intermediate result is exact in every dtype.
#pragma once

#include <cstdint>
#include <vector>

#include "dist/core/tensor.h"
#include "dist/core/types.h"

namespace dist::sweep {

// Element i of what `rank` contributes; `salt` tells several tensors of one rank apart.
inline int contribution(int rank, std::int64_t i, int salt, DType dtype, ReduceOp::Kind kind) {
  const auto mix = static_cast<unsigned>(i * 7 + rank * 3 + salt * 5);
  if (dtype == DType::boolean) return static_cast<int>(mix % 3 == 0);
  if (kind == ReduceOp::Kind::product) return 1 + static_cast<int>(mix % 2);     // 8 ranks: at most 256
  if (kind == ReduceOp::Kind::premul_sum) return 2 * static_cast<int>(mix % 5);  // halves stay whole
  const int value = static_cast<int>(mix % 11);
  return dtype == DType::u8 ? value : value - 5;
}

// One element reduced over all ranks, in the arithmetic of T (f16 and bf16 in float).
template <class T>
T reduced(const std::vector<int>& values, ReduceOp op) {
  using Kind = ReduceOp::Kind;
  using Wide = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;
  const auto n = static_cast<std::int64_t>(values.size());
  std::int64_t acc = values[0];
  for (std::int64_t i = 1; i < n; ++i) {
    const std::int64_t v = values[static_cast<std::size_t>(i)];
    switch (op.kind()) {
      case Kind::sum:
      case Kind::avg:
      case Kind::premul_sum: acc += v; break;
      case Kind::product: acc *= v; break;
      case Kind::min: acc = std::min(acc, v); break;
      case Kind::max: acc = std::max(acc, v); break;
      case Kind::band: acc &= v; break;
      case Kind::bor: acc |= v; break;
      case Kind::bxor: acc ^= v; break;
    }
  }
  if constexpr (std::is_same_v<T, bool>) return acc != 0;
  if (op.kind() == Kind::avg) {
    // The sum of bytes wraps before it is divided, as it does in the tensor.
    const auto sum = static_cast<Wide>(acc);
    if constexpr (std::is_floating_point_v<Wide>) return T(sum / static_cast<Wide>(n));
    return static_cast<T>(static_cast<std::int64_t>(sum) / n);
  }
  if (op.kind() == Kind::premul_sum) return T(static_cast<Wide>(static_cast<double>(acc) * op.factor()));
  return T(static_cast<Wide>(acc));
}

}  // namespace dist::sweep
