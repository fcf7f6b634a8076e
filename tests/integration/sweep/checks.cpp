#include "integration/sweep/checks.h"

#include <limits>
#include <set>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>

#include "dist/dist.h"

#include "integration/sweep/reference.h"

namespace dist::sweep {
namespace {

using Kind = ReduceOp::Kind;

std::vector<ReduceOp> ops_of(DType dtype) {
  std::vector<ReduceOp> all{ReduceOp::sum, ReduceOp::avg,  ReduceOp::product,
                            ReduceOp::min, ReduceOp::max,  ReduceOp::band,
                            ReduceOp::bor, ReduceOp::bxor, ReduceOp::premul_sum(0.5)};
  std::erase_if(all, [&](ReduceOp op) { return !is_defined(op.kind(), dtype); });
  return all;
}

// One cell of the sweep: checks speak of it when they fail.
struct Cell {
  Options with;  // group, async_op
  int rank, n;
  std::int64_t size;
  DType dtype;
  ReduceOp op = ReduceOp::sum;

  std::string str(std::string_view call) const {
    return fmt::format("{}{} of {} {} by {}, rank {} of {} of {}", with.async_op ? "async " : "", call, size,
                       name(dtype), name(op.kind()), rank, n, with.group.name());
  }
  int global(int r) const { return with.group.global_rank(r); }
  Tensor mine(int salt = 0) const { return of(rank, size, salt); }
  Tensor of(int r, std::int64_t count, int salt) const {
    Tensor t = empty({count}, dtype);
    visit_dtype(dtype, [&]<class T>() {
      auto out = t.data<T>();
      for (std::int64_t i = 0; i < count; ++i)
        out[static_cast<std::size_t>(i)] = T(contribution(r, i, salt, dtype, op.kind()));
    });
    return t;
  }
  Tensor blank(std::int64_t count) const { return full({count}, 1, dtype); }
  // What all ranks' mine(salt) reduce to.
  Tensor reduced_all(int salt = 0) const {
    Tensor t = empty({size}, dtype);
    visit_dtype(dtype, [&]<class T>() {
      auto out = t.data<T>();
      std::vector<int> values(static_cast<std::size_t>(n));
      for (std::int64_t i = 0; i < size; ++i) {
        for (int r = 0; r < n; ++r)
          values[static_cast<std::size_t>(r)] = contribution(r, i, salt, dtype, op.kind());
        out[static_cast<std::size_t>(i)] = reduced<T>(values, op);
      }
    });
    return t;
  }
  void expect(std::string_view call, const Tensor& got, const Tensor& want) const {
    if (!equal(got, want))
      throw std::runtime_error(fmt::format("{}: got {}, expected {}", str(call), got.str(), want.str()));
  }
};

void check_reductions(const Cell& c) {
  const Tensor want = c.reduced_all();
  Tensor t = c.mine();
  all_reduce(t, c.op, c.with).wait();
  c.expect("all_reduce", t, want);

  const int root = c.n - 1;
  t = c.mine();
  reduce(t, c.global(root), c.op, c.with).wait();
  c.expect("reduce", t, c.rank == root ? want : c.mine());

  // Rank r's share is reduced from every rank's tensor with salt r.
  std::vector<Tensor> list;
  for (int r = 0; r < c.n; ++r) list.push_back(c.mine(r));
  Tensor out = c.blank(c.size);
  reduce_scatter(out, list, c.op, c.with).wait();
  c.expect("reduce_scatter", out, c.reduced_all(c.rank));

  Tensor whole = c.blank(c.size * c.n);
  for (int r = 0; r < c.n; ++r) whole.narrow(r * c.size, c.size).copy_(list[static_cast<std::size_t>(r)]);
  out = c.blank(c.size);
  reduce_scatter_tensor(out, whole, c.op, c.with).wait();
  c.expect("reduce_scatter_tensor", out, c.reduced_all(c.rank));
}

void check_one_to_all(const Cell& c) {
  for (int root = 0; root < c.n; root += std::max(1, c.n - 1)) {
    Tensor t = c.rank == root ? c.mine() : c.blank(c.size);
    broadcast(t, c.global(root), c.with).wait();
    c.expect("broadcast", t, c.of(root, c.size, 0));

    std::vector<Tensor> list;
    if (c.rank == root)
      for (int r = 0; r < c.n; ++r) list.push_back(c.mine(r));
    Tensor out = c.blank(c.size);
    scatter(out, list, c.global(root), c.with).wait();
    c.expect("scatter", out, c.of(root, c.size, c.rank));

    list.clear();
    if (c.rank == root)
      for (int r = 0; r < c.n; ++r) list.push_back(c.blank(c.size));
    gather(c.mine(), list, c.global(root), c.with).wait();
    for (int r = 0; c.rank == root && r < c.n; ++r)
      c.expect("gather", list[static_cast<std::size_t>(r)], c.of(r, c.size, 0));
  }
}

void check_all_to_all_kinds(const Cell& c) {
  std::vector<Tensor> list, ins;
  for (int r = 0; r < c.n; ++r) {
    list.push_back(c.blank(c.size));
    ins.push_back(c.mine(r));
  }
  all_gather(list, c.mine(), c.with).wait();
  for (int r = 0; r < c.n; ++r) c.expect("all_gather", list[static_cast<std::size_t>(r)], c.of(r, c.size, 0));

  Tensor whole = c.blank(c.size * c.n);
  all_gather_into_tensor(whole, c.mine(), c.with).wait();
  for (int r = 0; r < c.n; ++r)
    c.expect("all_gather_into_tensor", whole.narrow(r * c.size, c.size), c.of(r, c.size, 0));

  std::vector<Tensor> outs;
  for (int r = 0; r < c.n; ++r) outs.push_back(c.blank(c.size));
  all_to_all(outs, ins, c.with).wait();
  for (int r = 0; r < c.n; ++r)
    c.expect("all_to_all", outs[static_cast<std::size_t>(r)], c.of(r, c.size, c.rank));

  // Uneven: the number of elements depends on both ranks; split (from, to) = (from + 2 * to) % 4 * size
  // / 4.
  const auto split = [&](int from, int to) { return (from + 2 * to) % 4 * (c.size / 4); };
  std::vector<std::int64_t> in_splits, out_splits;
  std::int64_t in_total = 0, out_total = 0;
  for (int r = 0; r < c.n; ++r) {
    in_splits.push_back(split(c.rank, r));
    out_splits.push_back(split(r, c.rank));
    in_total += in_splits.back();
    out_total += out_splits.back();
  }
  Tensor in = c.blank(in_total), out = c.blank(out_total);
  std::int64_t at = 0;
  for (int r = 0; r < c.n; at += in_splits[static_cast<std::size_t>(r++)])
    in.narrow(at, split(c.rank, r)).copy_(c.of(c.rank, split(c.rank, r), r));
  all_to_all_single(out, in, out_splits, in_splits, c.with).wait();
  at = 0;
  for (int r = 0; r < c.n; at += out_splits[static_cast<std::size_t>(r++)])
    c.expect("all_to_all_single", out.narrow(at, split(r, c.rank)), c.of(r, split(r, c.rank), c.rank));
}

// The mean of equal numbers of which the sum is too large for the type: all backends say inf, as types.h
// does. f16 are summed in f32.
void check_means_of_large_numbers(const Options& with, int rank, int n) {
  if (n == 1) return;
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const auto& [dtype, each, mean] : {std::tuple{DType::f16, 60000.0, 60000.0},
                                          {DType::bf16, 3e38, inf},
                                          {DType::f32, 3e38, inf},
                                          {DType::f64, 1.7e308, inf}}) {
    const Cell c{with, rank, n, 5, dtype, ReduceOp::avg};
    Tensor t = full({5}, each, dtype);
    all_reduce(t, c.op, c.with).wait();
    c.expect("all_reduce of large numbers", t, full({5}, mean, dtype));
    Tensor whole = full({5 * n}, each, dtype), out = c.blank(5);
    reduce_scatter_tensor(out, whole, c.op, c.with).wait();
    c.expect("reduce_scatter_tensor of large numbers", out, full({5}, mean, dtype));
  }
}

// The last rank takes one message from each other rank, in whatever order they come.
void check_any_rank(const Cell& c) {
  if (c.rank != c.n - 1) {
    send(c.mine(), c.global(c.n - 1), c.with).wait();
    return;
  }
  std::set<int> sources;
  for (int i = 0; i < c.n - 1; ++i) {
    Tensor t = c.blank(c.size);
    Work work = recv(t, c.with);
    work.wait();
    const int source = c.with.group.group_rank(work.source_rank());
    sources.insert(source);
    c.expect("recv from any rank", t, c.of(source, c.size, 0));
  }
  if (static_cast<int>(sources.size()) != c.n - 1 || sources.contains(c.rank))
    throw std::runtime_error(c.str("recv from any rank") + ": a source came twice");
}

void check_point_to_point(const Cell& c) {
  if (c.n == 1) return;
  Tensor t = c.mine(), from_left = c.blank(c.size), from_right = c.blank(c.size);
  const int left = (c.rank + c.n - 1) % c.n, right = (c.rank + 1) % c.n;
  const ProcessGroup& group = c.with.group;
  auto works = batch_isend_irecv({{P2P::isend, t, c.global(right), group, 1},
                                  {P2P::isend, t, c.global(left), group, 2},
                                  {P2P::irecv, from_left, c.global(left), group, 1},
                                  {P2P::irecv, from_right, c.global(right), group, 2}});
  for (auto& work : works) work.wait();
  c.expect("batch_isend_irecv from the left", from_left, c.of(left, c.size, 0));
  c.expect("batch_isend_irecv from the right", from_right, c.of(right, c.size, 0));
  if (c.rank == 0) send(t, c.global(1), c.with).wait();
  if (c.rank == 1) {
    recv(from_left, c.global(0), c.with).wait();
    c.expect("recv", from_left, c.of(0, c.size, 0));
  }
  check_any_rank(c);
}

}  // namespace

void check_all(const Options& with, const std::vector<std::int64_t>& sizes) {
  Options options = with;
  if (!options.group) options.group = default_group();
  const int rank = options.group.rank(), n = options.group.size();
  for (DType dtype : all_dtypes)
    for (std::int64_t size : sizes) {
      const Cell plain{options, rank, n, size, dtype};
      check_one_to_all(plain);
      check_all_to_all_kinds(plain);
      check_point_to_point(plain);
      for (ReduceOp op : ops_of(dtype)) check_reductions({options, rank, n, size, dtype, op});
      barrier(options).wait();
    }
  check_means_of_large_numbers(options, rank, n);
}

}  // namespace dist::sweep
