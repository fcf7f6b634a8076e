// Every collective of the API on every small number of ranks, against results computed by hand.
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include <gtest/gtest.h>

#include "dist/collectives/algorithms.h"
#include "dist/group/job_state.h"

#include "support/expect_error.h"
#include "support/ranks.h"

namespace dist {
namespace {

using test::run_ranks;
using namespace std::chrono_literals;
using Values = std::vector<std::int64_t>;

class Collectives : public testing::TestWithParam<int> {
 protected:
  const int n = GetParam();
};
INSTANTIATE_TEST_SUITE_P(Ranks, Collectives, testing::Values(1, 2, 3, 4, 5, 8),
                         [](const auto& of) { return "n" + std::to_string(of.param); });

// Element i of rank r's contribution: distinct, small, exact in every dtype that has room for it.
std::int64_t part(int rank, std::int64_t i) { return rank + 1 + i % 5; }

Tensor contribution(int rank, std::int64_t count, DType dtype) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(part(rank, i));
  return tensor<std::int64_t>(std::span<const std::int64_t>(values)).to(dtype);
}

Values sum_of_parts(int n, std::int64_t count) {
  Values sums(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    for (int rank = 0; rank < n; ++rank) sums[static_cast<std::size_t>(i)] += part(rank, i);
  }
  return sums;
}

Values expected(int rank, std::int64_t count) {
  Values values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(part(rank, i));
  return values;
}

constexpr std::int64_t sizes[] = {0, 1, 2, 7, 1000};

TEST_P(Collectives, BroadcastFromEveryRoot) {
  run_ranks(n, [&](int rank) {
    for (int root = 0; root < n; ++root) {
      for (const auto count : sizes) {
        Tensor t = rank == root ? contribution(root, count, DType::i32) : zeros({count}, DType::i32);
        broadcast(t, root);
        EXPECT_EQ(t.to_vector<std::int64_t>(), expected(root, count)) << "root " << root;
      }
    }
  });
}

TEST_P(Collectives, AllReduceEveryDtype) {
  run_ranks(n, [&](int rank) {
    for (const DType dtype : all_dtypes) {
      if (dtype == DType::boolean) continue;
      for (const auto count : sizes) {
        Tensor t = contribution(rank, count, dtype);
        all_reduce(t);
        EXPECT_EQ(t.to_vector<std::int64_t>(), sum_of_parts(n, count)) << name(dtype);
      }
    }
  });
}

TEST_P(Collectives, AllReduceEveryOp) {
  run_ranks(n, [&](int rank) {
    const auto reduced = [&](std::int64_t mine, ReduceOp op, DType dtype = DType::i64) {
      Tensor t = full({3}, static_cast<double>(mine), dtype);
      all_reduce(t, op);
      return t.to_vector<double>()[2];
    };
    const int sum = n * (n + 1) / 2;
    double product = 1;
    int all_and = ~0, all_or = 0, all_xor = 0;
    for (int r = 1; r <= n; ++r) product *= r, all_and &= r, all_or |= r, all_xor ^= r;
    EXPECT_EQ(reduced(rank + 1, ReduceOp::sum), sum);
    EXPECT_EQ(reduced(rank + 1, ReduceOp::product), product);
    EXPECT_EQ(reduced(rank + 1, ReduceOp::min), 1);
    EXPECT_EQ(reduced(-rank, ReduceOp::max), 0);
    EXPECT_EQ(reduced(rank + 1, ReduceOp::band), all_and);
    EXPECT_EQ(reduced(rank + 1, ReduceOp::bor), all_or);
    EXPECT_EQ(reduced(rank + 1, ReduceOp::bxor), all_xor);
    EXPECT_EQ(reduced(-(rank + 1), ReduceOp::avg), -(sum / n)) << "integers truncate towards zero";
    EXPECT_EQ(reduced(rank + 1, ReduceOp::avg, DType::f64), static_cast<double>(sum) / n);
    EXPECT_EQ(reduced(rank + 1, ReduceOp::premul_sum(0.5), DType::f32), sum * 0.5);
    EXPECT_EQ(reduced(rank == n - 1, ReduceOp::sum, DType::boolean), 1);
    EXPECT_EQ(reduced(rank == n - 1, ReduceOp::min, DType::boolean), n == 1 ? 1 : 0);
  });
}

TEST_P(Collectives, AllReduceEveryAlgorithm) {
  run_ranks(n, [&](int rank) {
    for (const AlgorithmEntry& algorithm : algorithms()) {
      if (algorithm.collective != OpKind::all_reduce) continue;
      Tensor t = contribution(rank, 1000, DType::f32);
      all_reduce(t, ReduceOp::sum, {.algorithm = std::string(algorithm.name)});
      EXPECT_EQ(t.to_vector<std::int64_t>(), sum_of_parts(n, 1000)) << algorithm.name;
    }
  });
}

// What the flight recorder says about this rank's last call.
std::string last_algorithm() {
  return std::string(JobState::of(rank_context())->log->recorder.snapshot().back().algorithm);
}

TEST_P(Collectives, RanksOfOneHostWorkInTheirSharedMemory) {
  REAL_RANKS_ONLY("virtual ranks send messages");
  run_ranks(n, [&](int rank) {
    Tensor small = contribution(rank, 4, DType::f32), large = contribution(rank, 100'000, DType::f32);
    all_reduce(small);
    EXPECT_EQ(last_algorithm(), "one_shot");
    all_reduce(large);
    EXPECT_EQ(last_algorithm(), n == 1 ? "one_shot" : "two_shot");
    EXPECT_EQ(large.to_vector<std::int64_t>(), sum_of_parts(n, 100'000));
    broadcast(large, 0);
    EXPECT_EQ(last_algorithm(), "direct");
    barrier();
    EXPECT_EQ(last_algorithm(), "direct");
    all_reduce(small, ReduceOp::premul_sum(0.5));
    EXPECT_NE(last_algorithm(), "one_shot") << "multiplied in memory of its own, by messages";
  });
}

// Otherwise one of them would sum a part, and the others would take it for the whole.
TEST(Algorithms, NamedDifferentlyAreAnErrorOnEveryRank) {
  REAL_RANKS_ONLY("virtual ranks send messages");
  for (const int n : {2, 3})
    for (const std::int64_t count : {1, 100, 1000})
      for (const bool is_foreign : {false, true}) {
        std::vector<std::string> errors(static_cast<std::size_t>(n));
        run_ranks(n, [&](int rank) {
          std::vector<float> mine(static_cast<std::size_t>(count), 1);
          Tensor t = is_foreign ? Tensor::from_blob(mine.data(), {count}) : ones({count});
          try {
            all_reduce(t, ReduceOp::sum, {.algorithm = rank == 0 ? "one_shot" : "two_shot"});
          } catch (const Error& error) {
            errors[static_cast<std::size_t>(rank)] = error.what();
          }
        });
        std::string all;
        for (const std::string& error : errors) {
          EXPECT_NE(error, "") << count << " elements";
          all += error + '\n';
        }
        EXPECT_NE(all.find("runs it with another algorithm"), std::string::npos) << all;
      }
}

// Each rank comes later than the one before, but none so late that this delay alone would be too long.
TEST(Timeouts, AreOfTheWholeCollective) {
  REAL_RANKS_ONLY("time does not pass by itself for simulated ranks");
  for (const std::string_view algorithm : {"one_shot", "ring"})
    run_ranks(4, [&](int rank) {
      Tensor t = ones({4});
      dist::sleep(rank * 300ms);
      const auto start = std::chrono::steady_clock::now();
      std::optional<Errc> code;
      try {
        all_reduce(t, ReduceOp::sum, {.timeout = 500ms, .algorithm = std::string(algorithm)});
      } catch (const Error& error) {
        code = error.code();
      }
      if (rank > 0) return;
      EXPECT_EQ(code, Errc::timeout) << algorithm;
      EXPECT_LT(std::chrono::steady_clock::now() - start, 800ms) << algorithm;
    });
}

TEST_P(Collectives, MemoryOfTheCallersOwn) {
  run_ranks(n, [&](int rank) {
    constexpr std::int64_t count = 50'000;
    std::vector<float> mine(count, static_cast<float>(rank + 1)), all(static_cast<std::size_t>(n) * count);
    Tensor foreign = Tensor::from_blob(mine.data(), {count});
    all_reduce(foreign);
    const auto sum = static_cast<float>(n * (n + 1) / 2);
    EXPECT_EQ(mine, std::vector<float>(count, sum));
    Tensor everything = Tensor::from_blob(all.data(), {n * count});
    all_gather_into_tensor(everything, foreign);
    EXPECT_EQ(all, std::vector<float>(all.size(), sum));
    reduce(foreign, n - 1);
    EXPECT_EQ(mine, std::vector<float>(count, rank == n - 1 ? sum * static_cast<float>(n) : sum));
  });
}

// Every finite number of a 16-bit type whose sum over the ranks an f32 holds, from the smallest subnormal on.
std::vector<std::uint16_t> every_half(DType dtype, int n) {
  std::vector<std::uint16_t> all(1 << 16);
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  const auto values = Tensor::from_blob(all.data(), {1 << 16}, dtype).to_vector<double>();
  std::vector<std::uint16_t> finite;
  for (const std::uint16_t bits : all)
    if (std::abs(values[bits]) * n <= std::numeric_limits<float>::max()) finite.push_back(bits);
  return finite;
}

// The mean of equal numbers is that number, even where their sum is too large for the type, or a fraction of
// it too small.
TEST_P(Collectives, MeansOf16BitsByEveryAlgorithm) {
  run_ranks(n, [&](int rank) {
    for (const DType dtype : {DType::f16, DType::bf16}) {
      const auto all = every_half(dtype, n);
      const auto count = static_cast<std::int64_t>(all.size());
      for (const AlgorithmEntry& algorithm : algorithms()) {
        const Options options{.algorithm = std::string(algorithm.name)};
        auto mine = all;
        Tensor t = Tensor::from_blob(mine.data(), {count}, dtype);
        if (algorithm.collective == OpKind::all_reduce) {
          all_reduce(t, ReduceOp::avg, options);
        } else if (algorithm.collective == OpKind::reduce) {
          reduce(t, n - 1, ReduceOp::avg, options);
        } else if (algorithm.collective == OpKind::reduce_scatter) {
          const std::vector<Tensor> parts(static_cast<std::size_t>(n), t.clone());
          t.fill_(0);
          reduce_scatter(t, parts, ReduceOp::avg, options);
        } else {
          continue;
        }
        EXPECT_EQ(mine, all) << name(algorithm.collective) << " " << algorithm.name << " rank " << rank;
      }
    }
  });
}

// The mean of equal numbers whose sum is too large for the type: `avg` is that sum, divided.
double mean_of_large(DType dtype, double each, int n) {
  if (n == 1) return each;
  if (is_floating_point(dtype)) return std::numeric_limits<double>::infinity();
  return static_cast<double>(static_cast<std::int8_t>(static_cast<int>(each) * n) / n);
}

TEST_P(Collectives, MeansByEveryAlgorithmWhereTheSumIsTooLarge) {
  run_ranks(n, [&](int rank) {
    for (const auto& [dtype, each] : {std::pair{DType::f32, 3e38}, std::pair{DType::f64, 1.7e308},
                                      std::pair{DType::bf16, 3e38}, std::pair{DType::i8, 100.0}}) {
      for (const AlgorithmEntry& algorithm : algorithms()) {
        const Options options{.algorithm = std::string(algorithm.name)};
        const Tensor large = full({7}, each, dtype);
        const double want = mean_of_large(dtype, large.to_vector<double>()[0], n);
        Tensor mean = large.clone();
        if (algorithm.collective == OpKind::all_reduce) {
          all_reduce(mean, ReduceOp::avg, options);
        } else if (algorithm.collective == OpKind::reduce) {
          reduce(mean, 0, ReduceOp::avg, options);
          if (rank != 0) continue;
        } else if (algorithm.collective == OpKind::reduce_scatter) {
          reduce_scatter(mean, std::vector<Tensor>(static_cast<std::size_t>(n), large), ReduceOp::avg,
                         options);
        } else {
          continue;
        }
        EXPECT_EQ(mean.to_vector<double>(), std::vector<double>(7, want))
            << name(algorithm.collective) << " " << algorithm.name << " " << name(dtype);
      }
    }
  });
}

// Rounded once: 1 + 2^-10 is the next f16 after 1.
TEST_P(Collectives, MeansOf16BitsAreRoundedOnce) {
  run_ranks(n, [&](int rank) {
    Tensor t = full({5}, rank == 0 ? 1 + 1.0 / 1024 : 1, DType::f16);
    for (const char* algorithm : {"", "ring", "double_binary_tree"}) {
      Tensor mean = t.clone();
      if (*algorithm && n == 1) continue;
      all_reduce(mean, ReduceOp::avg, {.algorithm = algorithm});
      Tensor want = full({5}, 1 + 1.0 / 1024 / n, DType::f32).to(DType::f16);
      EXPECT_EQ(mean.to_vector<double>(), want.to_vector<double>()) << algorithm;
    }
  });
}

TEST_P(Collectives, AllReduceCoalesced) {
  run_ranks(n, [&](int rank) {
    std::vector<Tensor> tensors;
    for (const auto count : sizes) tensors.push_back(contribution(rank, count, DType::f32));
    tensors.push_back(contribution(rank, 6, DType::f32).view({2, 3}));
    const Tensor alias = tensors.back();
    all_reduce_coalesced(tensors);
    for (std::size_t i = 0; i < std::size(sizes); ++i)
      EXPECT_EQ(tensors[i].to(DType::i64).to_vector<std::int64_t>(), sum_of_parts(n, sizes[i]));
    EXPECT_EQ(alias.to(DType::i64).to_vector<std::int64_t>(), sum_of_parts(n, 6));
    EXPECT_EQ(alias.shape(), (Shape{2, 3}));
  });
}

TEST(CollectivesCoalesced, RefusesWhatIsNoListOfOneKind) {
  run_ranks(2, [](int) {
    const Tensor a = ones({2}, DType::f32);
    const auto refuses = [](std::vector<Tensor> tensors, const char* why, bool async = false) {
      test::expect_error(Errc::invalid_argument, {"all_reduce_coalesced", why},
                         [&] { all_reduce_coalesced(tensors, ReduceOp::sum, {.async_op = async}); });
    };
    refuses({}, "empty");
    refuses({a, Tensor{}}, "tensors[1] is an undefined tensor");
    refuses({a, ones({2}, DType::f64)}, "tensors[1]");
    refuses({a, a.narrow(1, 1)}, "tensors");
    refuses({a}, ".async_op", true);
  });
}

TEST_P(Collectives, ReduceLeavesTheOthersAlone) {
  run_ranks(n, [&](int rank) {
    for (int root = 0; root < n; ++root) {
      for (const ReduceOp op : {ReduceOp::sum, ReduceOp::premul_sum(2), ReduceOp::avg}) {
        Tensor t = contribution(rank, 7, DType::f64);
        reduce(t, root, op);
        auto sums = sum_of_parts(n, 7);
        std::vector<double> want(sums.begin(), sums.end());
        for (auto& each : want) {
          if (op.kind() == ReduceOp::Kind::premul_sum) each *= 2;
          if (op.kind() == ReduceOp::Kind::avg) each /= n;
        }
        if (rank != root) want = contribution(rank, 7, DType::f64).to_vector<double>();
        EXPECT_EQ(t.to_vector<double>(), want) << "root " << root << " " << name(op.kind());
      }
    }
  });
}

// Rank r's share has r + 1 elements, or none when `hole` is r.
std::vector<Tensor> uneven_list(int n, int hole, DType dtype = DType::i32) {
  std::vector<Tensor> list;
  for (int r = 0; r < n; ++r) list.push_back(full({r == hole ? 0 : r + 1}, -1, dtype));
  return list;
}

TEST_P(Collectives, ScatterAndGatherUneven) {
  run_ranks(n, [&](int rank) {
    for (int root = 0; root < n; ++root) {
      std::vector<Tensor> list;
      if (rank == root) {
        list = uneven_list(n, 1);
        for (int r = 0; r < n; ++r) list[static_cast<std::size_t>(r)].fill_(10 * root + r);
      }
      Tensor mine = full({rank == 1 ? 0 : rank + 1}, -1, DType::i32);
      scatter(mine, list, root);
      EXPECT_EQ(mine.to_vector<int>(),
                std::vector<int>(static_cast<std::size_t>(mine.numel()), 10 * root + rank));

      mine.fill_(100 * root + rank);
      std::vector<Tensor> gathered;
      if (rank == root) gathered = uneven_list(n, 1);
      gather(mine, gathered, root);
      for (std::size_t r = 0; r < gathered.size(); ++r) {
        const auto count = static_cast<std::size_t>(gathered[r].numel());
        EXPECT_EQ(gathered[r].to_vector<int>(), std::vector<int>(count, 100 * root + static_cast<int>(r)));
      }
    }
  });
}

TEST_P(Collectives, AllGatherUnevenAndInPlace) {
  run_ranks(n, [&](int rank) {
    std::vector<Tensor> list = uneven_list(n, n - 1);
    Tensor& own = list[static_cast<std::size_t>(rank)];
    own.fill_(rank + 5);
    all_gather(list, own);
    for (int r = 0; r < n; ++r) {
      const auto& got = list[static_cast<std::size_t>(r)];
      EXPECT_EQ(got.numel(), r == n - 1 ? 0 : r + 1);
      EXPECT_EQ(got.to_vector<int>(), std::vector<int>(static_cast<std::size_t>(got.numel()), r + 5));
    }
  });
}

TEST_P(Collectives, AllGatherIntoTensor) {
  run_ranks(n, [&](int rank) {
    for (const auto count : sizes) {
      Tensor out = zeros({n, count}, DType::i64);
      all_gather_into_tensor(out, contribution(rank, count, DType::i64));
      Values want;
      for (int r = 0; r < n; ++r) {
        for (const auto value : expected(r, count)) want.push_back(value);
      }
      EXPECT_EQ(out.to_vector<std::int64_t>(), want);
    }
    Tensor out = zeros({2 * n});
    Tensor own = out.narrow(2 * rank, 2);
    own.fill_(rank);
    all_gather_into_tensor(out, own);  // in place
    for (int i = 0; i < 2 * n; ++i) EXPECT_EQ(out.to_vector<int>()[static_cast<std::size_t>(i)], i / 2);
  });
}

TEST_P(Collectives, ReduceScatterUnevenAndInPlace) {
  run_ranks(n, [&](int rank) {
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::premul_sum(0.5), ReduceOp::avg}) {
      for (const bool in_place : {false, true}) {
        std::vector<Tensor> list = uneven_list(n, 0, DType::f64);
        for (auto& each : list) each.fill_(2 * (rank + 1));
        const auto before = list[0].clone();
        Tensor out = in_place ? list[static_cast<std::size_t>(rank)]
                              : zeros_like(list[static_cast<std::size_t>(rank)]);
        reduce_scatter(out, list, op);
        double want = n * (n + 1);
        if (op.kind() == ReduceOp::Kind::premul_sum) want /= 2;
        if (op.kind() == ReduceOp::Kind::avg) want /= n;
        EXPECT_EQ(out.to_vector<double>(), std::vector<double>(static_cast<std::size_t>(out.numel()), want));
        for (int r = 0; r < n; ++r) {  // inputs are not written
          if (in_place && r == rank) continue;
          const auto& input = list[static_cast<std::size_t>(r)];
          EXPECT_EQ(input.to_vector<int>(),
                    std::vector<int>(static_cast<std::size_t>(input.numel()), 2 * (rank + 1)));
        }
      }
    }
  });
}

TEST_P(Collectives, ReduceScatterTensor) {
  run_ranks(n, [&](int rank) {
    for (const auto count : sizes) {
      Tensor all = contribution(rank, n * count, DType::i32), out = zeros({count}, DType::i32);
      reduce_scatter_tensor(out, all);
      const Values sums = sum_of_parts(n, n * count);
      const auto first = sums.begin() + rank * count;
      EXPECT_EQ(out.to_vector<std::int64_t>(), Values(first, first + count));
    }
  });
}

TEST_P(Collectives, AllToAllUneven) {
  run_ranks(n, [&](int rank) {
    std::vector<Tensor> ins, outs;  // rank i sends i + j elements to rank j
    for (int j = 0; j < n; ++j) {
      ins.push_back(full({rank + j}, 10 * rank + j, DType::i32));
      outs.push_back(zeros({rank + j}, DType::i32));
    }
    all_to_all(outs, ins);
    for (int j = 0; j < n; ++j) {
      EXPECT_EQ(outs[static_cast<std::size_t>(j)].to_vector<int>(),
                std::vector<int>(static_cast<std::size_t>(rank + j), 10 * j + rank));
    }
  });
}

TEST_P(Collectives, AllToAllSingleEqualAndWithSplits) {
  run_ranks(n, [&](int rank) {
    Tensor in = zeros({2 * n, 3}, DType::i32), out = zeros({2 * n, 3}, DType::i32);
    for (int j = 0; j < n; ++j) in.narrow(2 * j, 2).fill_(10 * rank + j);
    all_to_all_single(out, in);
    for (int j = 0; j < n; ++j) {
      EXPECT_EQ(out.narrow(2 * j, 2).to_vector<int>(), std::vector<int>(6, 10 * j + rank));
    }
    std::vector<std::int64_t> in_splits, out_splits(static_cast<std::size_t>(n), rank);  // j rows to rank j
    for (int j = 0; j < n; ++j) in_splits.push_back(j);
    const auto rows = std::accumulate(in_splits.begin(), in_splits.end(), std::int64_t{0});
    Tensor uneven_in = full({rows, 2}, rank, DType::i32), uneven_out = zeros({n * rank, 2}, DType::i32);
    all_to_all_single(uneven_out, uneven_in, out_splits, in_splits);
    for (int j = 0; j < n; ++j) {
      EXPECT_EQ(uneven_out.narrow(j * rank, rank).to_vector<int>(),
                std::vector<int>(static_cast<std::size_t>(2 * rank), j));
    }
  });
}

TEST_P(Collectives, BarrierHoldsEverybodyBack) {
  std::atomic<int> arrived{0};
  run_ranks(n, [&](int) {
    for (int round = 1; round <= 20; ++round) {
      ++arrived;
      barrier();
      EXPECT_GE(arrived.load(), round * n);
      barrier();
    }
  });
}

TEST_P(Collectives, Objects) {
  run_ranks(n, [&](int rank) {
    const auto text = [](int r) {
      return std::string(static_cast<std::size_t>(r * 700), static_cast<char>('a' + r)) + '\0';
    };
    const int root = n - 1;
    std::string object = rank == root ? text(3) : "to be replaced";
    broadcast_object(object, root);
    EXPECT_EQ(object, text(3));
    std::string nothing = rank == 0 ? "" : "x";
    broadcast_object(nothing, 0);
    EXPECT_EQ(nothing, "");

    if (n > 1 && rank == 1) {
      send_object(text(3), 0);
      send_object("", 0, {.tag = 7});
      send_object_list({text(2), "", "a\nb"}, 0);
      send_object_list({}, 0);
      send_object("no list", 0);
    }
    if (n > 1 && rank == 0) {
      std::string sent = "to be replaced";
      EXPECT_EQ(recv_object(sent), 1) << "from any rank";
      EXPECT_EQ(sent, text(3));
      EXPECT_EQ(recv_object(sent, 1, {.tag = 7}), 1);
      EXPECT_EQ(sent, "");
      std::vector<std::string> list{"to be replaced"};
      EXPECT_EQ(recv_object_list(list), 1) << "from any rank";
      EXPECT_EQ(list, (std::vector<std::string>{text(2), "", "a\nb"}));
      EXPECT_EQ(recv_object_list(list, 1), 1);
      EXPECT_TRUE(list.empty());
      EXPECT_DIST_ERROR(recv_object_list(list, 1), Errc::mismatch, "send_object_list() sends one");
    }
    const auto all = all_gather_object(rank == 0 ? "" : text(rank));
    ASSERT_EQ(static_cast<int>(all.size()), n);
    for (int r = 0; r < n; ++r) EXPECT_EQ(all[static_cast<std::size_t>(r)], r == 0 ? "" : text(r));

    const auto gathered = gather_object(text(rank), root);
    ASSERT_EQ(static_cast<int>(gathered.size()), rank == root ? n : 0);
    for (std::size_t r = 0; r < gathered.size(); ++r) EXPECT_EQ(gathered[r], text(static_cast<int>(r)));

    std::vector<std::string> objects;
    for (int r = 0; rank == 0 && r < n; ++r) objects.push_back(text(r));
    EXPECT_EQ(scatter_object(objects, 0), text(rank));
  });
}

}  // namespace
}  // namespace dist
