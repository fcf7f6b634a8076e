// The algorithms of ranks that map each other's memory, ranks as threads. (tests/integration has the same
// through the whole library, ranks as processes.)
#include "dist/direct/algorithms.h"

#include <chrono>
#include <cstring>
#include <latch>
#include <random>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "dist/core/tensor.h"
#include "dist/transport/engine/tuning.h"

#include "direct_ranks.h"
#include "support/expect_error.h"

namespace dist::test {
namespace {

using namespace std::chrono_literals;

void run_everywhere(DirectRank& rank, const AlgorithmEntry& algorithm, std::int64_t elements, DType dtype,
                    ReduceOp op) {
  const int n = rank.size();
  const auto roots = has_root(algorithm.collective) ? std::set<int>{0, n / 2, n - 1} : std::set<int>{0};
  for (const int root : roots)
    for (const bool in_place : {false, true})
      rank.run({.algorithm = &algorithm,
                .counts = counts_for(algorithm, n, elements),
                .dtype = dtype,
                .op = op,
                .root = root,
                .in_place = in_place});
}

TEST(Direct, EveryCollectiveOnEveryNumberOfRanks) {
  for (const int n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17})
    run_direct_ranks(n, [](DirectRank& rank) {
      for (const std::int64_t elements : {0, 1, 7, 9, 500, 2049, 5000})
        for (const AlgorithmEntry& algorithm : direct_entries())
          if (rank.size() <= 9 || elements <= 500)
            run_everywhere(rank, algorithm, elements, DType::f32, ReduceOp::sum);
    });
}

TEST(Direct, EveryDtypeAndOperation) {
  run_direct_ranks(3, [](DirectRank& rank) {
    for (const AlgorithmEntry& algorithm : direct_entries())
      for (const DType dtype : {DType::u8, DType::i8, DType::i32, DType::i64, DType::f16, DType::bf16,
                                DType::f32, DType::f64, DType::boolean})
        for (const ReduceOp op : {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max,
                                  ReduceOp::band, ReduceOp::bor, ReduceOp::bxor}) {
          if (reduces(algorithm.collective) ? !is_defined(op.kind(), dtype) : op != ReduceOp::sum) continue;
          for (const std::int64_t elements : {5, 3001}) run_everywhere(rank, algorithm, elements, dtype, op);
        }
  });
}

TEST(Direct, AveragesInOneGo) {
  run_direct_ranks(4, [](DirectRank& rank) {
    for (const DirectFunction algorithm : {one_shot_all_reduce, two_shot_all_reduce})
      for (const DType dtype : {DType::f32, DType::bf16, DType::i64}) {
        Tensor data = full({5000}, rank.rank() * 4, dtype);
        CollectiveArgs args;
        args.out = data.flat();
        args.op = ReduceOp::avg;
        algorithm(rank.call(OpKind::all_reduce, dtype), args);
        ASSERT_TRUE(equal(data, full({5000}, 6, dtype))) << data;
      }
  });
}

TEST(Direct, AllRanksGetTheSameBitsEveryTime) {
  for (const int n : {2, 3, 8})
    run_direct_ranks(n, [](DirectRank& rank) {
      for (const std::int64_t count : {1, 33, 4097})
        for (const DirectFunction algorithm : {one_shot_all_reduce, two_shot_all_reduce}) {
          std::mt19937 random(static_cast<unsigned>(rank.rank() * 77 + 1));
          std::uniform_real_distribution<float> uniform(-1e4f, 1e4f);
          Tensor given = empty({count});
          for (float& value : given.data<float>()) value = uniform(random);
          Tensor first = given.clone(), again = given.clone();
          rank.all_reduce(first, algorithm);
          rank.all_reduce(again, algorithm);
          ASSERT_EQ(std::memcmp(first.raw(), again.raw(), first.nbytes()), 0) << "another run";
          std::vector<Tensor> all(static_cast<std::size_t>(rank.size()));
          std::vector<TensorView> outs;
          for (Tensor& t : all) outs.push_back((t = empty({count})).flat());
          CollectiveArgs args;
          args.in = first.flat();
          args.outs = outs;
          direct_all_gather(rank.call(OpKind::all_gather, DType::f32), args);
          for (const Tensor& theirs : all)
            ASSERT_EQ(std::memcmp(first.raw(), theirs.raw(), first.nbytes()), 0) << "another rank";
        }
    });
}

// A root that is far ahead must not overwrite what others have not read yet.
TEST(Direct, AFastRootWaitsForSlowReaders) {
  run_direct_ranks(3, [](DirectRank& rank) {
    for (int i = 0; i < 200; ++i) {
      Tensor data = full({300}, rank.rank() == 0 ? i : -1);
      CollectiveArgs args;
      args.out = data.flat();
      if (rank.rank() == 2 && i % 16 == 0) std::this_thread::sleep_for(1ms);
      direct_broadcast(rank.call(OpKind::broadcast, DType::f32), args);
      ASSERT_TRUE(equal(data, full({300}, i))) << i << ": " << data;
      data.fill_(-2);  // the root's is its own again
    }
  });
}

TEST(Direct, AnotherCollectiveIsNamedOnBothSides) {
  run_direct_ranks(2, [](DirectRank& rank) {
    Tensor data = ones({4});
    CollectiveArgs args;
    args.out = data.flat();
    expect_error(Errc::mismatch, {"all_reduce f32", " reduce f32"}, [&] {
      if (rank.rank() == 0)
        rank.all_reduce(data, one_shot_all_reduce);
      else
        direct_reduce(rank.call(OpKind::reduce, DType::f32), (args.root = 1, args));
    });
  });
}

TEST(Direct, AnotherSizeIsNamedOnBothSides) {
  for (const bool large : {false, true})
    run_direct_ranks(2, [&](DirectRank& rank) {
      Tensor data = ones({(large ? 50'000 : 4) + rank.rank()});
      expect_error(Errc::mismatch, {"sizes"},
                   [&] { rank.all_reduce(data, large ? two_shot_all_reduce : one_shot_all_reduce); });
    });
}

TEST(Direct, ARankThatDoesNotComeIsNamed) {
  run_direct_ranks(3, [](DirectRank& rank) {
    if (rank.rank() != 1) {
      rank.set_timeout(200ms);
      Tensor data = ones({50'000});
      expect_error(Errc::timeout, {"rank 1"}, [&] { rank.all_reduce(data, two_shot_all_reduce); });
    } else {
      std::this_thread::sleep_for(600ms);
    }
  });
}

// The late rank finds the others' memory withdrawn: they may have freed it.
TEST(Direct, NobodyTouchesMemoryThatWasGivenUp) {
  run_direct_ranks(2, [](DirectRank& rank) {
    Tensor data = full({50'000}, rank.rank() + 1);
    if (rank.rank() == 0) {
      rank.set_timeout(100ms);
      expect_error(Errc::timeout, {}, [&] { rank.all_reduce(data, two_shot_all_reduce); });
      std::this_thread::sleep_for(400ms);
      EXPECT_TRUE(equal(data, ones({50'000}))) << "written after it was given up";
    } else {
      std::this_thread::sleep_for(300ms);
      expect_error(Errc::peer_failed, {"gave up"}, [&] { rank.all_reduce(data, two_shot_all_reduce); });
    }
  });
}

// It had published a copy, so the round it gave up is whole for the others; they learn of it in the next one.
TEST(Direct, WhoHasGivenUpAndLivesOnIsNotWaitedFor) {
  std::latch done(1);
  run_direct_ranks(2, [&](DirectRank& rank) {
    Tensor data = full({4}, rank.rank() + 1);
    if (rank.rank() == 1) {
      rank.set_timeout(100ms);
      expect_error(Errc::timeout, {}, [&] { rank.all_reduce(data, one_shot_all_reduce); });
      return done.wait();
    }
    std::this_thread::sleep_for(300ms);
    rank.all_reduce(data, one_shot_all_reduce);
    EXPECT_TRUE(equal(data, full({4}, 3)));
    const auto start = std::chrono::steady_clock::now();
    expect_error(Errc::peer_failed, {"rank 1", "gave up"},
                 [&] { rank.all_reduce(data, one_shot_all_reduce); });
    EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
    done.count_down();
  });
}

// The root has exposed nothing and read nothing yet; still, the rank that exposed its part must learn of
// it.
TEST(Direct, WhoGivesUpBeforeItBeganTellsThoseWhoWaitForIt) {
  run_direct_ranks(3, [](DirectRank& rank) {
    if (rank.rank() == 2) return std::this_thread::sleep_for(600ms);
    Tensor data = ones({50'000}), all = zeros({150'000});
    const std::vector<TensorView> outs{all.flat().slice(0, 50'000), all.flat().slice(50'000, 50'000),
                                       all.flat().slice(100'000, 50'000)};
    CollectiveArgs args;
    args.in = data.flat();
    if (rank.rank() == 0) {
      args.outs = outs;
      rank.set_timeout(200ms);
      expect_error(Errc::timeout, {"rank 2"},
                   [&] { direct_gather(rank.call(OpKind::gather, DType::f32), args); });
    } else {
      expect_error(Errc::peer_failed, {"rank 0", "gave up"},
                   [&] { direct_gather(rank.call(OpKind::gather, DType::f32), args); });
    }
  });
}

// Each rank decides by its own part, and the root by all parts, whether a part is copied in place, and which
// rank copies it.
TEST(Direct, ListsOfShortAndLongParts) {
  const std::vector<std::int64_t> counts{10, 20'000, 600, 0, 3'000};
  for (const char* const whose : {"no rank", "rank 1", "the root"})
    for (const char* const spin : {"0", "20"}) {  // us: what is short depends on whether each has a core
      const ScopedEnv looks("DIST_SPIN_US", spin);
      run_direct_ranks(5, [&](DirectRank& rank) {
        for (const AlgorithmEntry& algorithm : direct_entries())
          for (const int root : {0, 1, 3}) {
            if (!takes_uneven_counts(algorithm) || (root > 0 && !has_root(algorithm.collective))) continue;
            for (const bool in_place : {false, true}) {
              CollectiveCase c{.algorithm = &algorithm, .counts = counts, .root = root, .in_place = in_place};
              if (whose == std::string("rank 1")) c.is_foreign = [](int r, int) { return r == 1; };
              if (whose == std::string("the root")) c.is_foreign = [root](int r, int) { return r == root; };
              SCOPED_TRACE(c.str() + ", foreign: " + whose + ", DIST_SPIN_US=" + spin);
              rank.run(c);
            }
          }
      });
    }
}

// The other rank copies nothing here: the root copies the chunk that it gets.
TEST(Direct, ARootThatScattersInPlaceCopiesAShareForTheOthers) {
  constexpr std::int64_t count = 100'000;
  run_direct_ranks(2, [](DirectRank& rank) {
    const DirectCall call = rank.call(OpKind::scatter, DType::f32);
    if (rank.rank() == 0) {
      const Tensor list = arange(2 * count);
      const std::vector<TensorView> parts{list.flat().slice(0, count), list.flat().slice(count, count)};
      CollectiveArgs args;
      args.ins = parts;
      args.out = parts[0];
      direct_scatter(call, args);
      EXPECT_TRUE(equal(list, arange(2 * count)));
    } else {
      const Tensor mine = zeros({count});
      Round round(call.peers, call.terms, call.label);
      round.publish_in_place(mine.flat(), 0);
      round.finish();
      EXPECT_TRUE(equal(mine.narrow(0, count / 2), zeros({count / 2})));
      EXPECT_TRUE(
          equal(mine.narrow(count / 2, count / 2), arange(2 * count).narrow(3 * count / 2, count / 2)));
    }
  });
}

// The root copies nothing here.
TEST(Direct, EachRankBringsItsPartToARootThatGathers) {
  constexpr std::int64_t count = 5'000;
  run_direct_ranks(3, [](DirectRank& rank) {
    const DirectCall call = rank.call(OpKind::gather, DType::f32);
    if (rank.rank() != 1) {
      const Tensor mine = full({count}, rank.rank() + 1);
      CollectiveArgs args;
      args.in = mine.flat();
      args.root = 1;
      return direct_gather(call, args);
    }
    const Tensor list = zeros({3, count});
    const std::vector<TensorView> parts{list[0].flat(), list[1].flat(), list[2].flat()};
    Round round(call.peers, call.terms, call.label);
    round.publish_in_place(parts);
    round.finish();
    for (const int r : {0, 1, 2})
      EXPECT_TRUE(equal(list[r], full({count}, r == 1 ? 0 : r + 1))) << "part " << r;
  });
}

// Rank 1 copies nothing here.
TEST(Direct, EachRankBringsItsPartToAllThatGather) {
  constexpr std::int64_t count = 50'000;
  run_direct_ranks(3, [](DirectRank& rank) {
    const DirectCall call = rank.call(OpKind::all_gather, DType::f32);
    const Tensor mine = full({count}, rank.rank() + 1), list = zeros({3, count});
    const std::vector<TensorView> parts{list[0].flat(), list[1].flat(), list[2].flat()};
    if (rank.rank() != 1) {
      CollectiveArgs args;
      args.in = mine.flat();
      args.outs = parts;
      direct_all_gather(call, args);
    } else {
      std::vector<TensorView> exposed = parts;
      exposed.push_back(mine.flat());
      Round round(call.peers, call.terms, call.label);
      round.publish_in_place(exposed);
      round.finish();
    }
    for (const int r : {0, 1, 2})
      EXPECT_TRUE(equal(list[r], full({count}, r == 1 ? 0 : r + 1))) << "part " << r;
  });
}

TEST(Direct, ADeathEndsTheOthersWait) {
  const auto began = std::chrono::steady_clock::now();
  run_unjoined(3, [](int rank, const std::shared_ptr<Store>& store) {
    auto endpoint = connect(rank, 3, "shm", *store);
    {
      DirectRank me(*endpoint);
      me.barrier();
      if (rank != 2) {
        Tensor data = ones({50'000});
        expect_error(Errc::peer_failed, {"rank 2"}, [&] { me.all_reduce(data, two_shot_all_reduce); });
      }
    }
    if (rank == 2)
      endpoint.reset();  // without a goodbye
    else
      endpoint->close("");
  });
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
}

TEST(Direct, ManyGroupsOneAfterTheOtherFindRoom) {
  run_endpoints(2, "shm", [](Endpoint& endpoint) {
    for (std::uint32_t context = 1; context <= 1200; ++context) {
      DirectRank rank(endpoint, context);
      rank.barrier();
    }
  });
}

TEST(Direct, MoreThanAMillionGroups) {  // 20 bits of a round's number are the group's
  run_endpoints(2, "shm", [](Endpoint& endpoint) {
    for (std::uint32_t context = (1U << 20) - 3; context <= (1U << 20) + 2; ++context) {
      DirectRank rank(endpoint, context);
      for (int round = 0; round < 3; ++round) rank.barrier();
    }
  });
}

// Options of two ranks that agree on going without messages.
TransportOptions agreement(std::uint32_t context, Timeout timeout) {
  TransportOptions options;
  options.members = Members::everybody(2);
  options.channel = {context, setup_tag, 0, false};
  options.deadline = Deadline::after(timeout);
  return options;
}

TEST(Direct, AnAgreementThatFailsKeepsNoRoom) {
  run_endpoints(2, "shm", [](Endpoint& endpoint) {
    for (std::uint32_t i = 0; endpoint.rank() == 0 && i <= net::area_count; ++i)
      EXPECT_THROW(connect_direct(endpoint, agreement(2 + i, 1ms)), Error);
    DirectRank rank(endpoint);
    rank.barrier();
  });
}

TEST(Direct, RanksThatAreFarApartAreRefused) {
  run_endpoints(2, "tcp",
                [](Endpoint& endpoint) { EXPECT_EQ(connect_direct(endpoint, agreement(1, 20s)), nullptr); });
}

}  // namespace
}  // namespace dist::test
