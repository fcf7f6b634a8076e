// show ring, tree, double-tree: one all-reduce, message by message, on virtual ranks of which each message
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
  say(fmt::format("Counted: {} messages, {} bytes in all, {} from the busiest rank; S = {} bytes.",
                  report.messages, sent, report.max_bytes_sent(), 4 * elements));
  return std::move(report.trace);
}

}  // namespace

dist::trace::Trace ring() {
  say("Every rank talks to its neighbours only, and all talk at once. First each sum travels around the ring "
      "and grows "
      "by one part a step (reduce-scatter), then the complete sums travel around (all-gather).");
  auto trace = show_all_reduce("ring", 4, 4);
  say("2(n-1) = 6 steps; each rank sends 2(n-1)/n S, nearly the same for any n: no rank can do with less "
      "than "
      "2(n-1)/n S when all data must move. But 2(n-1) messages one after the other: see ./distlab show "
      "scale");
  return trace;
}

dist::trace::Trace tree() {
  say("Sums go up to the root, the result comes down. The way is as long as the tree is deep: log2 n, not "
      "n.");
  auto trace = show_all_reduce("tree", 4, 2);
  say("An inner rank moves 3 S each way, a leaf only S: half of the ranks are leaves, and half of their "
      "links rest.");
  return trace;
}

dist::trace::Trace double_tree() {
  say("Two trees at once, half of the data on each. Who is a leaf in one is an inner rank in the other, so "
      "that "
      "nobody rests and nobody moves more than 2 S.");
  auto trace = show_all_reduce("double_binary_tree", 4, 2);
  say("The trees are NCCL's; as deep as one tree, as much bandwidth as a ring.");
  return trace;
}

}  // namespace distlab::show
