// The same table on the real transports, ranks as threads, and on the simulator's under its checker: what ran
// on the virtual ranks of the tests runs here unchanged.
#include "dist/transport/endpoint.h"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dist/core/fail.h"

#include "collective_case.h"
#include "endpoints.h"

namespace dist::test {
namespace {

// Runs cases one after the other on an endpoint, as a group would: each has its own sequence number.
class CaseRunner {
 public:
  explicit CaseRunner(Endpoint& endpoint) : endpoint_(endpoint) {}

  void run(const CollectiveCase& c, SendMode mode) {
    TransportOptions options;
    options.members = Members::everybody(endpoint_.world_size());
    options.channel.tag = sequence_;
    options.label = {c.str(), sequence_++, {}, CallSite::current()};
    options.mode = mode;
    options.deadline = Deadline::after(std::chrono::seconds(60));
    const auto net = endpoint_.open(std::move(options));
    try {
      run_case(*net, c);
    } catch (const Error& e) {
      fail(e.code(), "{} on rank {}, {}: {}", c.str(), endpoint_.rank(),
           mode == SendMode::eager ? "eager" : "rendezvous", e.what());
    }
  }

 private:
  Endpoint& endpoint_;
  std::uint64_t sequence_ = 0;
};

std::vector<std::int64_t> counts_for(const AlgorithmEntry& algorithm, int n, std::int64_t elements) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(n), elements);
  if (takes_uneven_counts(algorithm))
    for (int r = 0; r < n; ++r) counts[static_cast<std::size_t>(r)] = elements * (r % 3) / 2;
  return counts;
}

void run_algorithm(CaseRunner& runner, const AlgorithmEntry& algorithm, int n, std::int64_t elements) {
  const auto roots = has_root(algorithm.collective) ? std::set<int>{0, n - 1} : std::set<int>{0};
  for (int root : roots) {
    const CollectiveCase c{.algorithm = &algorithm,
                           .counts = counts_for(algorithm, n, elements),
                           .root = root,
                           .in_place = root > 0};
    for (SendMode mode : {SendMode::rendezvous, SendMode::eager}) runner.run(c, mode);
  }
}

class RealTransport : public ::testing::TestWithParam<const char*> {};

TEST_P(RealTransport, RunsTheWholeTable) {
  for (int n : {1, 2, 3, 5, 8})
    run_endpoints(n, GetParam(), [](Endpoint& endpoint) {
      CaseRunner runner(endpoint);
      for (std::int64_t elements : {0, 1, 7, 1000})
        for (const AlgorithmEntry& algorithm : algorithms())
          run_algorithm(runner, algorithm, endpoint.world_size(), elements);
    });
}

TEST_P(RealTransport, MovesDataOfSeveralSegments) {
  for (int n : {3, 5})
    run_endpoints(n, GetParam(), [](Endpoint& endpoint) {
      CaseRunner runner(endpoint);
      for (const AlgorithmEntry& algorithm : algorithms()) {
        // Lists of large parts are slow to check, so they are tested on few ranks only.
        const bool lists = !has_root(algorithm.collective) && algorithm.collective != OpKind::all_reduce;
        if (!lists || endpoint.world_size() == 3)
          run_algorithm(runner, algorithm, endpoint.world_size(), 33'000);
      }
    });
}

TEST_P(RealTransport, KeepsManyCollectivesInARowApart) {
  run_endpoints(4, GetParam(), [](Endpoint& endpoint) {
    CaseRunner runner(endpoint);
    for (int i = 0; i < 50; ++i)
      for (const char* name : {"ring", "recursive_doubling", "tree", "reduce_broadcast"})
        runner.run({.algorithm = &find_algorithm(OpKind::all_reduce, name),
                    .counts = std::vector<std::int64_t>(4, i)},
                   i % 2 ? SendMode::eager : SendMode::rendezvous);
  });
}

// Ranks 0, 2, 4 say that they are on one host, 1 and 3 that they are on another.
TEST(SeveralHosts, AreNodesThatHierarchicalKnows) {
  REAL_RANKS_ONLY("the hosts of virtual ranks are those of their topology");
  run_unjoined(5, [&](int rank, const std::shared_ptr<Store>& store) {
    set_current_rank_label(rank);
    EndpointOptions options;
    options.rank = rank;
    options.world_size = 5;
    options.host = rank % 2 == 0 ? "even" : "odd";
    options.deadline = Deadline::after(std::chrono::seconds(30));
    const auto endpoint = connect_endpoint(*store, options);
    {
      TransportOptions all;
      all.members = {4, 3, 2, 1, 0};  // group ranks are not global ones
      all.deadline = options.deadline;
      const auto net = endpoint->open(std::move(all));
      for (int r = 0; r < 5; ++r) EXPECT_EQ(net->node_of(r), r % 2 == 0 ? 0 : 1);
    }
    CaseRunner(*endpoint).run({.algorithm = &find_algorithm(OpKind::all_reduce, "hierarchical"),
                               .counts = std::vector<std::int64_t>(5, 1000)},
                              SendMode::rendezvous);
    endpoint->close("");
  });
}

INSTANTIATE_TEST_SUITE_P(Over, RealTransport, ::testing::Values("shm", "tcp"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace dist::test
