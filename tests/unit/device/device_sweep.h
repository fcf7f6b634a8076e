// Every collective on device tensors against the same call on CPU tensors, which the host backend runs.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "dist/core/sanitizer.h"
#include "dist/dist.h"

namespace dist::test {

// Element types and sizes of a sweep. Which threads meet, and where, does not depend on the type; and every
// type has its kernels' own tests, which sanitizers see as well.
inline std::vector<DType> swept_dtypes() {
  if (built_with_tsan) return {DType::f32};
  if (built_with_asan) return {DType::f32, DType::u8};
  return {DType::f32, DType::i64, DType::bf16, DType::u8};
}
inline std::vector<std::int64_t> swept_counts(const std::vector<std::int64_t>& all) {
  return built_with_tsan ? std::vector{all.back()} : all;
}

// What one rank holds: small integers that differ between ranks, so that sums are exact.
inline Tensor contribution(int rank, std::int64_t count, DType dtype, Device device) {
  std::vector<int> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<int>((i * 7 + rank * 3) % 5 + 1));
  return tensor(std::span<const int>(values)).to(dtype).to(device);
}

// Runs the call on both devices; throws where the results differ.
using Call = std::function<std::vector<Tensor>(Device device)>;
inline void expect_as_on_cpu(const std::string& what, Device device, const Call& call) {
  const std::vector<Tensor> expected = call(cpu), got = call(device);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (got[i].device() != device) throw std::runtime_error(what + ": a result is not on the device");
    if (equal(got[i], expected[i])) continue;
    throw std::runtime_error(fmt::format("{}, rank {}, tensor {}: {} instead of {}", what, get_rank(), i,
                                         got[i].str(), expected[i].str()));
  }
}

enum class Sweep { all_operations, without_bit_operations };

// All collectives of one size and dtype.
inline void sweep_collectives(Device device, std::int64_t count, DType dtype, const Options& options = {},
                              Sweep sweep = Sweep::all_operations) {
  const int rank = get_rank(), n = get_world_size();
  const int root = static_cast<int>(count) % n;
  const auto mine = [&](Device at, int salt = 0) { return contribution(rank + salt, count, dtype, at); };
  const auto blank = [&](Device at) { return full({count}, 1, dtype, at); };
  const auto list_of = [&](int size, const auto& make) {
    std::vector<Tensor> list;
    for (int r = 0; r < size; ++r) list.push_back(make(r));
    return list;
  };
  const auto name_of = [&](std::string_view call) {
    return fmt::format("{} of {} {}", call, count, name(dtype));
  };
  for (const ReduceOp op :
       {ReduceOp::sum, ReduceOp::avg, ReduceOp::max, ReduceOp::bxor, ReduceOp::premul_sum(2)}) {
    if (!is_defined(op.kind(), dtype)) continue;
    if (sweep == Sweep::without_bit_operations && op == ReduceOp::bxor) continue;
    expect_as_on_cpu(name_of("all_reduce"), device, [&](Device at) {
      Tensor t = mine(at);
      all_reduce(t, op, options).wait();
      return std::vector{t};
    });
    expect_as_on_cpu(name_of("reduce"), device, [&](Device at) {
      Tensor t = mine(at);
      reduce(t, root, op, options).wait();
      return std::vector{t};
    });
    expect_as_on_cpu(name_of("reduce_scatter"), device, [&](Device at) {
      Tensor out = blank(at);
      reduce_scatter(out, list_of(n, [&](int r) { return mine(at, r); }), op, options).wait();
      return std::vector{out};
    });
  }
  expect_as_on_cpu(name_of("broadcast"), device, [&](Device at) {
    Tensor t = mine(at);
    broadcast(t, root, options).wait();
    return std::vector{t};
  });
  expect_as_on_cpu(name_of("scatter"), device, [&](Device at) {
    Tensor out = blank(at);
    scatter(out, list_of(rank == root ? n : 0, [&](int r) { return mine(at, r); }), root, options).wait();
    return std::vector{out};
  });
  expect_as_on_cpu(name_of("gather"), device, [&](Device at) {
    auto list = list_of(rank == root ? n : 0, [&](int) { return blank(at); });
    gather(mine(at), list, root, options).wait();
    return list;
  });
  expect_as_on_cpu(name_of("all_gather"), device, [&](Device at) {
    auto list = list_of(n, [&](int) { return blank(at); });
    all_gather(list, mine(at), options).wait();
    return list;
  });
  const int left = (rank + n - 1) % n, right = (rank + 1) % n;
  if (n > 1)
    expect_as_on_cpu(name_of("messages"), device, [&](Device at) {
      Tensor from_left = blank(at), from_right = blank(at);
      const Tensor t = mine(at);
      if (rank % 2 == 0) send(t, right);
      recv(from_left, left);
      if (rank % 2 != 0) send(t, right);
      for (Work& work : batch_isend_irecv({{P2P::isend, t, left}, {P2P::irecv, from_right, right}}))
        work.wait();
      return std::vector{from_left, from_right};
    });
  expect_as_on_cpu(name_of("all_to_all"), device, [&](Device at) {
    auto outs = list_of(n, [&](int) { return blank(at); });
    all_to_all(outs, list_of(n, [&](int r) { return mine(at, r); }), options).wait();
    return outs;
  });
}

}  // namespace dist::test
