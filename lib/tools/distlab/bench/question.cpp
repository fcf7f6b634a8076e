#include "distlab/bench/question.h"

#include <algorithm>
#include <array>

#include "dist/core/fail.h"
#include "dist/core/kernels.h"

namespace distlab::bench {
namespace {

constexpr int period = 113;  // a prime that fits into an i8

// Combines two contributions. For bool, sum is "or" and product is "and".
int combine(const Question& question, int a, int b) {
  using enum dist::ReduceOp::Kind;
  const bool logical = question.dtype == dist::DType::boolean;
  switch (question.op.kind()) {
    case sum: return logical ? a | b : a + b;
    case avg: return a + b;
    case product: return logical ? a & b : a * b;
    case min: return std::min(a, b);
    case max: return std::max(a, b);
    case band: return a & b;
    case bor: return a | b;
    case bxor: return a ^ b;
    case premul_sum: break;
  }
  dist::fail(dist::Errc::internal, "bench has no test data for {}", dist::name(question.op.kind()));
}

int reduced(const Question& question, std::int64_t index) {
  int result = contribution(question, 0, index);
  for (int rank = 1; rank < question.ranks; ++rank)
    result = combine(question, result, contribution(question, rank, index));
  return question.op == dist::ReduceOp::avg ? result / question.ranks : result;
}

// Values so small that the results of n ranks are exact: sums up to 2n, products 2 or 3, means 1 to 3.
int reducible(const Question& question, int rank, std::int64_t index) {
  const int mine = static_cast<int>((index + std::int64_t{31} * rank) % period);
  const int common = static_cast<int>(index % period);
  if (question.op == dist::ReduceOp::sum) return mine % 3;
  if (question.op == dist::ReduceOp::product)
    return rank != common % question.ranks ? 1 : common % 2 == 0 ? 2 : 3;
  if (question.op == dist::ReduceOp::avg)
    return common % 3 + 1 + (rank == 0 ? 1 : 0) - (rank == question.ranks - 1 ? 1 : 0);
  return mine;
}

// Returns values(i) for one period. values(i) must repeat after `period`.
template <class T, class Values>
std::array<T, period> one_period(const Values& values) {
  std::array<T, period> result;
  for (int i = 0; i < period; ++i) result[static_cast<std::size_t>(i)] = static_cast<T>(values(i));
  return result;
}

template <class T, class Values>
std::int64_t count_different(std::span<const T> found, const Values& values) {
  const auto expected = one_period<T>(values);
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < found.size(); i += period) {
    const std::size_t length = std::min<std::size_t>(period, found.size() - i);
    for (std::size_t k = 0; k < length; ++k) wrong += found[i + k] != expected[k];
  }
  return wrong;
}

}  // namespace

int Question::partner() const {
  const int other = rank ^ 1;
  return other < ranks ? other : -1;
}

int contribution(const Question& question, int rank, std::int64_t index) {
  const int plain = static_cast<int>((index + std::int64_t{31} * rank) % period);
  if (question.dtype == dist::DType::boolean) return plain % 2;
  return reduces(question.collective) ? reducible(question, rank, index) : plain;
}

void fill_input(const Question& question, dist::Tensor& into) {
  if (into.device() != dist::cpu) {
    dist::Tensor here = dist::empty(into.shape(), into.dtype());
    fill_input(question, here);
    into.copy_(here);
    return;
  }
  dist::visit_dtype(question.dtype, [&]<class T>() {
    const auto values = one_period<T>([&](int i) { return contribution(question, question.rank, i); });
    const std::span<T> all = into.data<T>();
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = values[i % period];
  });
}

void fill_garbage(dist::Tensor& tensor) { tensor.fill_(tensor.dtype() == dist::DType::boolean ? 1 : 121); }

std::int64_t count_wrong(const Question& question, const dist::Tensor& output) {
  if (output.device() != dist::cpu) return count_wrong(question, output.to(dist::cpu));
  const auto from = [&](int source, std::int64_t first) {
    return [&question, source, first](int i) { return contribution(question, source, first + i); };
  };
  const std::int64_t mine = question.rank * question.count;  // where this rank's part begins in the inputs
  return dist::visit_dtype(question.dtype, [&]<class T>() -> std::int64_t {
    const std::span<const T> found = output.data<T>();
    const auto shares_from_all = [&](std::int64_t first) {
      std::int64_t wrong = 0;
      const auto length = static_cast<std::size_t>(question.count);
      for (int source = 0; source < question.ranks; ++source) {
        const auto share = found.subspan(static_cast<std::size_t>(source) * length, length);
        wrong += count_different<T>(share, from(source, first));
      }
      return wrong;
    };
    const auto sums = [&](std::int64_t first) {
      return count_different<T>(found, [&](int i) { return reduced(question, first + i); });
    };
    switch (question.collective) {
      case Collective::all_reduce: return sums(0);
      case Collective::broadcast: return count_different<T>(found, from(question.root, 0));
      case Collective::reduce:
        return question.is_root() ? sums(0) : count_different<T>(found, from(question.rank, 0));
      case Collective::all_gather:
      case Collective::gather: return shares_from_all(0);
      case Collective::reduce_scatter: return sums(mine);
      case Collective::all_to_all: return shares_from_all(mine);
      case Collective::scatter: return count_different<T>(found, from(question.root, mine));
      case Collective::barrier: return 0;
      case Collective::send_recv: return count_different<T>(found, from(question.partner(), 0));
    }
    __builtin_unreachable();
  });
}

}  // namespace distlab::bench
