// ./distlab sim COLLECTIVE --trace: one collective on real tensors, so that the trace knows which ranks'
// parts each message carries.
#include <fmt/format.h>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/dist.h"
#include "dist/simulate/simulate_collective.h"
#include "dist/trace/recorder.h"

#include "distlab/commands.h"

namespace distlab {
namespace {

// The tensor has `count` elements; collectives that split it make n equal parts.
void call(dist::OpKind kind, std::int64_t count, const dist::Options& options) {
  const int n = dist::get_world_size(), root = 0;
  const bool is_root = dist::get_rank() == root;
  const std::int64_t share = (count + n - 1) / n;
  const auto shares = [&] {
    std::vector<dist::Tensor> list;
    for (int i = 0; i < n; ++i) list.push_back(dist::ones({share}));
    return list;
  };
  dist::Tensor whole = dist::ones({count}), mine = dist::ones({share});
  std::vector<dist::Tensor> in = shares(), out = shares();
  std::vector<dist::Tensor> none;
  constexpr dist::CallSite nowhere;  // because no line of the user's program makes the call
  switch (kind) {
    case dist::OpKind::broadcast: dist::broadcast(whole, root, options, nowhere); break;
    case dist::OpKind::reduce: dist::reduce(whole, root, dist::ReduceOp::sum, options, nowhere); break;
    case dist::OpKind::all_reduce: dist::all_reduce(whole, dist::ReduceOp::sum, options, nowhere); break;
    case dist::OpKind::scatter: dist::scatter(mine, is_root ? in : none, root, options, nowhere); break;
    case dist::OpKind::gather: dist::gather(mine, is_root ? out : none, root, options, nowhere); break;
    case dist::OpKind::all_gather: dist::all_gather(out, mine, options, nowhere); break;
    case dist::OpKind::reduce_scatter:
      dist::reduce_scatter(mine, in, dist::ReduceOp::sum, options, nowhere);
      break;
    case dist::OpKind::all_to_all: dist::all_to_all(out, in, options, nowhere); break;
    case dist::OpKind::barrier: dist::barrier(options, nowhere); break;
    case dist::OpKind::send:
    case dist::OpKind::recv: break;
  }
}

}  // namespace

void trace_collective(const SimOptions& options, dist::OpKind collective, const dist::sim::WhatIf& what_if) {
  constexpr int most_ranks = 64;  // a trace can distinguish the parts of that many
  if (options.ranks.size() > 1 || options.bytes.size() > 1 || options.algorithms.size() > 1 ||
      !options.sweep.empty())
    dist::fail(dist::Errc::invalid_argument,
               "--trace is for one run; give one algorithm, one number of ranks and one size");
  if (!options.algorithms.empty() && options.algorithms.front() == dist::sim::in_switches)
    dist::fail(
        dist::Errc::invalid_argument,
        "--trace shows what ranks send, but with {} the switches add; leave out --trace, or trace another "
        "algorithm: -a ring",
        dist::sim::in_switches);
  dist::sim::RunOptions run;
  run.ranks = options.ranks.empty() ? 4 : options.ranks.front();
  if (run.ranks > most_ranks)
    dist::fail(dist::Errc::invalid_argument, "--trace shows at most {} ranks, not {}", most_ranks, run.ranks);
  run.topology = options.topology;
  run.what_if = what_if;
  run.trace = true;
  const std::uint64_t bytes = options.bytes.empty() ? 4 : options.bytes.front();
  dist::Options how;
  if (!options.algorithms.empty()) how.algorithm = options.algorithms.front();
  dist::sim::Report report = dist::sim::run(run, [&](int) {
    dist::init_process_group();
    call(collective, static_cast<std::int64_t>((bytes + 3) / 4), how);
  });
  if (!report.failures.empty() && what_if.losses.empty())
    dist::fail(dist::Errc::invalid_argument, "{}", report.failures.front().what);
  report.trace.title = fmt::format("{}{}{}, {}", options.what, how.algorithm.empty() ? "" : " by ",
                                   how.algorithm, report.trace.title);
  dist::trace::write_file(report.trace, options.trace);
  fmt::print(stderr, "the events of {} are in {}; to draw them: ./distlab trace {}\n",
             dist::counted(report.messages, "message"), options.trace.string(), options.trace.string());
}

}  // namespace distlab
