// Programs under many schedules.
#include "dist/simulate/explore.h"

#include <gtest/gtest.h>

#include "dist/dist.h"
#include "dist/sim/choices.h"
#include "dist/store/memory_store.h"
#include "dist/trace/chrome_json.h"

#include "support/expect_error.h"

namespace dist::test {
namespace {

using sim::Search;

sim::RunOptions ranks(int n) {
  sim::RunOptions options;
  options.ranks = n;
  return options;
}

template <class Body>
std::function<void(int)> with_group(Body body) {
  return [body](int rank) {
    init_process_group();
    body(rank);
  };
}

// Rank 0 believes that rank 1's message comes first, as it usually does.
const auto believes_in_order = with_group([](int rank) {
  Tensor mine = full({1}, rank), theirs = zeros({1});
  sim::compute(1e-6 * rank);
  if (rank > 0) return void(send(mine, 0));
  for (int from = 1; from < get_world_size(); ++from) {
    recv(theirs);
    if (theirs.item<int>() != from) throw std::runtime_error("took rank 1's place for granted");
  }
});

TEST(Explore, FindsWhatDependsOnTheOrderOfMessages) {
  EXPECT_TRUE(sim::run(ranks(3), believes_in_order).ok());
  for (const Search search : {Search::seeds, Search::exhaustive}) {
    const auto found = sim::explore(ranks(3), believes_in_order, {.search = search});
    ASSERT_TRUE(found.wrong) << found.text();
    EXPECT_GT(found.runs, 1);
    EXPECT_NE(found.text().find("took rank 1's place"), std::string::npos) << found.text();
    auto again = ranks(3);
    again.seed = found.seed;
    EXPECT_EQ(sim::run(again, believes_in_order).text(), found.wrong->text()) << found.seed;
  }
}

TEST(Explore, AllOrdersOfMessagesAreTaken) {
  std::set<std::vector<int>> orders;
  const auto program = with_group([&](int rank) {
    Tensor mine = full({1}, rank), theirs = zeros({1});
    if (rank > 0) return void(send(mine, 0));
    std::vector<int> order;
    for (int i = 1; i < 4; ++i) {
      recv(theirs);
      order.push_back(theirs.item<int>());
    }
    orders.insert(order);
  });
  const auto found = sim::explore(ranks(4), program, {.search = Search::exhaustive, .runs = 1000});
  EXPECT_TRUE(found.complete) << found.text();
  EXPECT_EQ(orders.size(), 6u);
  EXPECT_EQ(found.runs, 13);  // the ordinary one, and 3! orders in both modes of sends
}

// Receives from any source meet messages in the order in which they were posted, whichever is asked about
// first.
TEST(Explore, MessagesOfOneSenderStayInOrderWhereALaterReceiveIsPolled) {
  const auto program = with_group([](int rank) {
    Tensor first = zeros({1}), second = zeros({1});
    if (rank == 1) {
      for (int i = 1; i < 3; ++i) send(full({1}, i), 0);
      return;
    }
    if (rank == 2) return;
    Work one = irecv(first), two = irecv(second);
    while (!two.is_completed()) sim::compute(1e-6);
    two.wait();
    one.wait();
    if (first.item<int>() != 1 || second.item<int>() != 2) throw std::runtime_error("overtaken");
  });
  for (const Search search : {Search::seeds, Search::exhaustive})
    EXPECT_FALSE(sim::explore(ranks(3), program, {.search = search}).wrong);
}

// What is an input and an output of one call is written by the call, not by the program.
void work_in_place() {
  const int n = get_world_size(), rank = get_rank();
  Tensor all = full({2 * n}, rank + 1), mine = all.narrow(2 * rank, 2);
  std::vector<Tensor> parts = all.chunk(n), none;
  reduce_scatter_tensor(mine, all, {.async_op = true}).wait();
  EXPECT_EQ(max(mine), n * (n + 1) / 2);
  reduce_scatter(mine, parts, {.async_op = true}).wait();
  all_gather_into_tensor(all, mine, {.async_op = true}).wait();
  all_gather(parts, mine, {.async_op = true}).wait();
  gather(mine, rank == 0 ? parts : none, 0, {.async_op = true}).wait();
  scatter(mine, rank == 0 ? parts : none, 0, {.async_op = true}).wait();
}

TEST(Explore, OperationsInPlaceAreRight) {
  const auto program = with_group([](int) { work_in_place(); });
  const auto found = sim::explore(ranks(3), program, {.runs = 20});
  EXPECT_FALSE(found.wrong) << found.text();
  EXPECT_EQ(sim::run(ranks(65), program).text(), "") << "more ranks than have their tensors guarded";
}

// ... and what the program changes of the other parts is still found.
TEST(Explore, AChangedPartOfAnOperationInPlaceIsFound) {
  const auto program = with_group([](int rank) {
    const int n = get_world_size();
    Tensor all = full({2 * n}, rank + 1), mine = all.narrow(2 * rank, 2);
    Work work = reduce_scatter_tensor(mine, all, {.async_op = true});
    all.narrow(2 * ((rank + 1) % n), 1).fill_(7);
    work.wait();
  });
  EXPECT_EQ(sim::run(ranks(65), program).findings.at(0).code, check::Code::changed_before_wait);
}

TEST(Explore, MessagesOfOneSenderStayInOrder) {
  const auto program = with_group([](int rank) {
    Tensor t = zeros({1});
    if (rank > 0) {
      for (int i = 0; i < 3; ++i) {
        t.fill_(10 * rank + i);
        send(t, 0);
      }
      return;
    }
    std::vector<int> next{0, 0, 0};
    for (int i = 0; i < 6; ++i) {
      recv(t);
      const int value = t.item<int>();
      if (value % 10 != next[static_cast<std::size_t>(value / 10)]++) throw std::runtime_error("overtaken");
    }
  });
  const auto found = sim::explore(ranks(3), program, {.search = Search::exhaustive, .runs = 1000});
  EXPECT_TRUE(found.complete && !found.wrong) << found.text();
}

TEST(Explore, FindsADeadlockThatNeedsAnOrder) {
  // Rank 0 answers whoever comes first, and asks rank 2 afterwards: a deadlock when that came first.
  const auto program = with_group([](int rank) {
    Tensor t = zeros({1});
    if (rank != 0) return void(send(t, 0));
    recv(t);
    recv(t, 2);
  });
  const auto found = sim::explore(ranks(3), program, {.search = Search::exhaustive});
  ASSERT_TRUE(found.wrong) << found.text();
  ASSERT_FALSE(found.wrong->findings.empty());
  EXPECT_EQ(found.wrong->findings[0].code, check::Code::deadlock);
}

TEST(Explore, ALaterReceiveFromOneSourceDoesNotOvertake) {
  const auto program = with_group([](int rank) {
    Tensor mine = full({1}, rank), any = zeros({1}), second = zeros({1});
    if (rank > 0) {
      send(mine, 0);
      if (rank == 1) send(mine, 0);
      return;
    }
    Work a = irecv(any), b = irecv(second, 1);
    a.wait();
    b.wait();
    recv(any);
    if (second.item<int>() != 1) throw std::runtime_error("overtaken");
  });
  const auto found = sim::explore(ranks(3), program, {.search = Search::exhaustive, .runs = 500});
  EXPECT_TRUE(found.complete && !found.wrong) << found.text();
}

TEST(Explore, FindsWhoComesFirstAtAStore) {
  const auto program = [](const std::shared_ptr<Store>& store) {
    return [store](int rank) {
      sim::compute(1e-6 * rank);
      const auto ticket = store->add("tickets", 1);
      if (rank == 1 && ticket == 1) throw std::runtime_error("rank 1 was first");
    };
  };
  const auto once = [&](int rank) {
    static std::shared_ptr<Store> store;
    if (rank == 0) store = make_memory_store();
    program(store)(rank);
  };
  const auto found = sim::explore(ranks(2), once, {.search = Search::exhaustive});
  ASSERT_TRUE(found.wrong) << found.text();
  EXPECT_GT(found.runs, 1);
}

TEST(Explore, FindsWhoBelievesInIsCompleted) {
  const auto program = with_group([](int rank) {
    Tensor t = full({1}, 5);
    if (rank == 1) return void(send(t, 0));
    t.zero_();
    Work work = irecv(t, 1);
    sim::compute(1e-3);
    if (!work.is_completed()) throw std::runtime_error("a millisecond was enough");
    work.wait();
  });
  EXPECT_TRUE(sim::run(ranks(2), program).ok());
  const auto found = sim::explore(ranks(2), program, {.search = Search::exhaustive});
  ASSERT_TRUE(found.wrong) << found.text();
}

TEST(Explore, PollingProgramsEnd) {
  const auto program = with_group([](int rank) {
    Tensor t = full({1}, rank);
    if (rank == 2) return void(recv(t));
    if (rank == 3) return void(recv(t));
    Work work = isend(t, rank + 2);
    while (!work.is_completed()) {
    }
  });
  const auto found = sim::explore(ranks(4), program, {.search = Search::exhaustive, .runs = 300});
  EXPECT_TRUE(found.complete && !found.wrong) << found.text();
}

TEST(Explore, ARightProgramIsLeftAlone) {
  const auto program = with_group([](int rank) {
    Tensor t = ones({10}), from_others = zeros({10});
    Work sum = all_reduce(t, ReduceOp::sum, {.async_op = true});
    if (rank > 0) send(from_others, 0);
    for (int i = 1; rank == 0 && i < get_world_size(); ++i) recv(from_others);
    sum.wait();
    if (t.data<float>()[9] != static_cast<float>(get_world_size())) throw std::runtime_error("wrong sum");
    barrier();
  });
  const auto found = sim::explore(ranks(4), program, {.runs = 60});
  EXPECT_FALSE(found.wrong) << found.text();
  EXPECT_EQ(found.runs, 60);
}

TEST(Explore, EqualSeedsGiveEqualTracesAndOthersDiffer) {
  const auto trace_of = [](const std::string& seed) {
    auto options = ranks(4);
    options.seed = seed;
    options.trace = true;
    return trace::to_chrome_json(sim::run(options, with_group([](int rank) {
                                            Tensor t = zeros({1});
                                            if (rank > 0) send(t, 0);
                                            for (int i = 1; rank == 0 && i < 4; ++i) recv(t);
                                          }))
                                     .trace);
  };
  std::set<std::string> different;
  for (int seed = 1; seed <= 20; ++seed) {
    const auto text = trace_of(std::to_string(seed));
    EXPECT_EQ(text, trace_of(std::to_string(seed)));
    different.insert(text);
  }
  EXPECT_GT(different.size(), 5u);
}

TEST(Explore, OddOptionsAreRefused) {
  const auto nothing = [](int) {};
  EXPECT_DIST_ERROR(sim::explore(ranks(2), nothing, sim::ExploreOptions{.runs = 0}), Errc::invalid_argument,
                    "0 runs");
  auto seeded = ranks(2);
  seeded.seed = "3";
  EXPECT_DIST_ERROR(sim::explore(seeded, nothing), Errc::invalid_argument, "it chooses the seeds itself");
  for (const std::string bad :
       {"x", "=", "=1.", "=1..2", "-1", "1.5", "=a", "99999999999999999999999", "=70000"}) {
    seeded.seed = bad;
    EXPECT_DIST_ERROR(sim::run(seeded, nothing), Errc::invalid_argument, "schedule \"" + bad);
  }
}

}  // namespace
}  // namespace dist::test
