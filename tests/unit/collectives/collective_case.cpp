#include "collective_case.h"

#include <algorithm>
#include <memory>
#include <ostream>

#include "dist/core/fail.h"
#include "dist/core/tensor.h"

namespace dist {
void PrintTo(const AlgorithmEntry& algorithm, std::ostream* out) {
  *out << algorithm.name << ' ' << name(algorithm.collective);
}
}  // namespace dist

namespace dist::test {

namespace {

using Values = std::vector<double>;
using Kind = ReduceOp::Kind;

// Elements with a guard on either side, so that writes outside show.
struct Guarded {
  Guarded() = default;
  Guarded(const Values& values, DType dtype, bool is_foreign) {
    Values padded = values;
    padded.insert(padded.begin(), guard);
    padded.push_back(guard);
    storage = tensor(std::span<const double>(padded)).to(dtype);
    if (is_foreign) {
      foreign = std::make_shared<std::vector<std::byte>>(storage.nbytes());
      storage = Tensor::from_blob(foreign->data(), storage.shape(), dtype).copy_(storage);
    }
    view = storage.flat().slice(1, static_cast<std::int64_t>(values.size()));
  }
  void expect(const std::string& who, const Values& expected) const {
    const bool is_bool = storage.dtype() == DType::boolean;
    const auto found = storage.to_vector<double>();
    const auto count = static_cast<std::size_t>(view.count);
    for (std::size_t i = 0; i < count; ++i)
      if (found[i + 1] != expected[i])
        fail(Errc::internal, "{}[{}] of {} is {}, not {}", who, i, count, found[i + 1], expected[i]);
    const double edge = is_bool ? 1 : guard;
    if (found.front() != edge || found.back() != edge)
      fail(Errc::internal, "{} was written out of bounds", who);
  }

  static constexpr double guard = 99;
  std::shared_ptr<std::vector<std::byte>> foreign;
  Tensor storage;
  TensorView view;
};

double combine(Kind op, bool is_bool, double a, double b) {
  const auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
  switch (op) {
    case Kind::sum: return is_bool ? static_cast<double>(x | y) : a + b;
    case Kind::product: return a * b;
    case Kind::min: return std::min(a, b);
    case Kind::max: return std::max(a, b);
    case Kind::band: return static_cast<double>(x & y);
    case Kind::bor: return static_cast<double>(x | y);
    case Kind::bxor: return static_cast<double>(x ^ y);
    case Kind::avg:
    case Kind::premul_sum: break;
  }
  fail(Errc::internal, "{} is not a base operation", name(op));
}

// Everything about one rank's run.
class RankRun {
 public:
  RankRun(int rank, const CollectiveCase& c, const RunAlgorithm& run)
      : run_(run), c_(c), n_(c.ranks()), rank_(rank) {}

  void broadcast() {
    args_.root = c_.root;
    Guarded data = make(rank_ == c_.root ? input(c_.root, 0) : garbage(c_.counts[0]));
    run_on(data);
    data.expect("data", input(c_.root, 0));
  }
  void reduce() {
    args_.root = c_.root;
    Guarded data = make(input(rank_, 0));
    run_on(data);
    data.expect("data", rank_ == c_.root ? reduced(0) : input(rank_, 0));
  }
  void all_reduce() {
    Guarded data = make(input(rank_, 0));
    run_on(data);
    data.expect("data", reduced(0));
  }
  void scatter() {
    args_.root = c_.root;
    if (rank_ == c_.root) fill_ins();
    const bool in_place = c_.in_place && rank_ == c_.root;
    Guarded out = make(garbage(c_.counts[rank_]));
    if (in_place) out = ins_[rank_];
    run_on(out);
    out.expect("out", input(c_.root, rank_));
    check_ins();
  }
  void reduce_scatter() {
    fill_ins();
    Guarded out = make(garbage(c_.counts[rank_]));
    if (c_.in_place) out = ins_[rank_];
    run_on(out);
    out.expect("out", reduced(rank_));
    check_ins(c_.in_place ? rank_ : -1);
  }
  void gather(bool to_all) {
    args_.root = c_.root;
    const bool receives = to_all || rank_ == c_.root;
    Guarded in = make(input(rank_, 0));
    if (receives)
      for (int i = 0; i < n_; ++i) outs_.push_back(make(garbage(c_.counts[i])));
    if (c_.in_place && receives) outs_[rank_] = in;
    args_.in = in.view;
    run();
    for (int i = 0; i < static_cast<int>(outs_.size()); ++i)
      outs_[i].expect(fmt::format("outs[{}]", i), input(i, 0));
    in.expect("in", input(rank_, 0));
  }
  void all_to_all() {
    fill_ins();
    for (int i = 0; i < n_; ++i) outs_.push_back(make(garbage(share(i, rank_))));
    run();
    for (int i = 0; i < n_; ++i) outs_[i].expect(fmt::format("outs[{}]", i), input(i, rank_));
    check_ins();
  }
  void barrier() { run(); }

 private:
  // Elements that rank `from` has for rank `to`.
  std::int64_t share(int from, int to) const {
    switch (c_.algorithm->collective) {
      case OpKind::scatter:
      case OpKind::reduce_scatter: return c_.counts[to];
      case OpKind::all_to_all: return c_.counts[mod(from + 2 * to, n_)];
      case OpKind::gather:
      case OpKind::all_gather: return c_.counts[from];
      case OpKind::send:
      case OpKind::recv:
      case OpKind::broadcast:
      case OpKind::reduce:
      case OpKind::all_reduce:
      case OpKind::barrier: return c_.counts[0];
    }
    __builtin_unreachable();
  }
  // Small enough that every sum and product is exact in every dtype.
  double element(int from, int to, std::int64_t i) const {
    const auto mixed = from * 3 + to * 5 + i * 7;
    if (c_.dtype == DType::boolean) return mixed % 3 == 0;
    if (!reduces(c_.algorithm->collective)) return static_cast<double>(mixed % 98);
    if (c_.op == ReduceOp::sum) return static_cast<double>(mixed % 4);
    if (c_.op == ReduceOp::product) return mixed % 5 == 0 ? 2 : 1;
    return static_cast<double>(mixed % 98);
  }
  Values input(int from, int to) const {
    Values values(static_cast<std::size_t>(share(from, to)));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = element(from, to, static_cast<std::int64_t>(i));
    return values;
  }
  static Values garbage(std::int64_t count) { return Values(static_cast<std::size_t>(count), 98); }
  Values reduced(int to) const {
    Values result = input(0, to);
    for (int from = 1; from < n_; ++from)
      for (std::size_t i = 0; i < result.size(); ++i)
        result[i] = combine(c_.op.kind(), c_.dtype == DType::boolean, result[i],
                            element(from, to, static_cast<std::int64_t>(i)));
    return result;
  }

  Guarded make(const Values& values) {
    return {values, c_.dtype, c_.is_foreign && c_.is_foreign(rank_, made_++)};
  }
  void fill_ins() {
    for (int i = 0; i < n_; ++i) ins_.push_back(make(input(rank_, i)));
  }
  void check_ins(int except = -1) const {
    for (int i = 0; i < static_cast<int>(ins_.size()); ++i)
      if (i != except) ins_[i].expect(fmt::format("ins[{}] afterwards", i), input(rank_, i));
  }
  void run_on(const Guarded& out) {
    args_.out = out.view;
    run();
  }
  void run() {
    std::vector<TensorView> ins, outs;
    for (const Guarded& g : ins_) ins.push_back(g.view);
    for (const Guarded& g : outs_) outs.push_back(g.view);
    args_.ins = ins;
    args_.outs = outs;
    args_.op = c_.op;
    run_(args_);
  }

  const RunAlgorithm& run_;
  const CollectiveCase& c_;
  const int n_, rank_;
  CollectiveArgs args_;
  std::vector<Guarded> ins_, outs_;
  int made_ = 0;  // tensors
};

}  // namespace

std::string CollectiveCase::str() const {
  std::string text = fmt::format("{} {} on {} ranks, {} {}", algorithm->name, name(algorithm->collective),
                                 ranks(), counts[0], name(dtype));
  if (std::ranges::adjacent_find(counts, std::ranges::not_equal_to{}) != counts.end()) text += " (uneven)";
  if (reduces(algorithm->collective)) text += fmt::format(", {}", name(op.kind()));
  if (has_root(algorithm->collective)) text += fmt::format(", root {}", root);
  return text + (in_place ? ", in place" : "");
}

void run_case(Transport& net, const CollectiveCase& c) {
  run_case(net.rank(), c, [&](const CollectiveArgs& args) { c.algorithm->run(net, args); });
}

void run_case(int rank, const CollectiveCase& c, const RunAlgorithm& how) {
  RankRun run(rank, c, how);
  switch (c.algorithm->collective) {
    case OpKind::broadcast: return run.broadcast();
    case OpKind::reduce: return run.reduce();
    case OpKind::all_reduce: return run.all_reduce();
    case OpKind::scatter: return run.scatter();
    case OpKind::gather: return run.gather(false);
    case OpKind::all_gather: return run.gather(true);
    case OpKind::reduce_scatter: return run.reduce_scatter();
    case OpKind::all_to_all: return run.all_to_all();
    case OpKind::barrier: return run.barrier();
    case OpKind::send:
    case OpKind::recv: break;
  }
  fail(Errc::internal, "{} is not a collective", name(c.algorithm->collective));
}

bool has_root(OpKind kind) {
  return kind == OpKind::broadcast || kind == OpKind::reduce || kind == OpKind::scatter ||
         kind == OpKind::gather;
}

bool reduces(OpKind kind) {
  return kind == OpKind::reduce || kind == OpKind::all_reduce || kind == OpKind::reduce_scatter;
}

bool takes_uneven_counts(const AlgorithmEntry& algorithm) {
  const OpKind kind = algorithm.collective;
  const bool shares = kind == OpKind::scatter || kind == OpKind::gather || kind == OpKind::all_gather ||
                      kind == OpKind::reduce_scatter || kind == OpKind::all_to_all;
  return shares && !algorithm.needs_equal_counts;
}

}  // namespace dist::test
