// show ring, tree, double-tree: one all-reduce on virtual ranks, message by message.
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "dist/core/fail.h"
#include "dist/dist.h"

#include "distlab/show/scene.h"

namespace distlab::show {
namespace {

dist::sim::Report all_reduce_by(const std::string& algorithm, int ranks, std::int64_t elements) {
  dist::sim::RunOptions run;
  run.ranks = ranks;
  run.trace = true;
  auto report = dist::sim::run(run, [&](int rank) {
    dist::init_process_group();
    auto t = dist::full({elements}, rank + 1);
    dist::all_reduce(t, dist::ReduceOp::sum, {.algorithm = algorithm});
    if (!dist::equal(t, dist::full({elements}, ranks * (ranks + 1) / 2)))
      dist::fail(dist::Errc::internal, "rank {} has a wrong sum: {}", rank, t.str());
    dist::destroy_process_group();
  });
  if (!report.failures.empty()) dist::fail(dist::Errc::internal, "{}", report.failures.front().what);
  report.trace.title = fmt::format("all_reduce by {}, {} ranks", algorithm, ranks);
  return report;
}

dist::trace::Trace show_all_reduce(const std::string& algorithm, int ranks, std::int64_t elements) {
  auto report = all_reduce_by(algorithm, ranks, elements);
  draw(report.trace);
  std::uint64_t sent = 0;
  for (const auto& rank : report.traffic) sent += rank.bytes_sent;
  say(fmt::format("Counted: {} messages, {} bytes in all, {} bytes from the busiest rank; S = {} bytes.",
                  report.messages, sent, report.max_bytes_sent(), 4 * elements));
  return std::move(report.trace);
}

}  // namespace

dist::trace::Trace ring() {
  say("Every rank talks only to its neighbours, and all ranks talk at the same time. First each sum travels "
      "around the ring and grows by one part per step (reduce-scatter); then the complete sums travel around "
      "(all-gather).");
  auto trace = show_all_reduce("ring", 4, 4);
  say("The ring takes 2(n-1) = 6 steps. Each rank sends 2(n-1)/n S, nearly the same for any n, and if the "
      "ranks "
      "do all additions, no algorithm can make the busiest rank send less. But the 2(n-1) messages follow "
      "each "
      "other: see ./distlab show scale");
  return trace;
}

dist::trace::Trace tree() {
  say("Sums go up to the root, and the result comes down. The critical path is as long as the tree is deep: "
      "log2 n, not n.");
  auto trace = show_all_reduce("tree", 4, 2);
  say("An inner rank sends 3 S and receives 3 S, a leaf only S. Half of the ranks are leaves, whose links "
      "are "
      "mostly idle.");
  return trace;
}

dist::trace::Trace double_tree() {
  say("Two trees work at the same time, each on half of the data. A leaf of one tree is an inner rank of the "
      "other, so every rank works, and none moves more than 2 S.");
  auto trace = show_all_reduce("double_binary_tree", 4, 2);
  say("These are NCCL's trees: they are as deep as one tree and use as much bandwidth as a ring.");
  return trace;
}

}  // namespace distlab::show
