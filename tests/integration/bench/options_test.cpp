// Options of `distlab bench`: what is refused, and what the ranks are given.
#include "distlab/bench/options.h"

#include <gtest/gtest.h>

#include "dist/backend/backend.h"

#include "support/expect_error.h"

namespace {

using dist::Errc;
using distlab::BenchOptions;
using namespace distlab::bench;

// What make_plan() says about these options.
template <class Change>
void refused(Errc code, const std::vector<std::string>& words, Change&& change) {
  BenchOptions options;
  options.what = "all_reduce";
  options.ranks = 2;
  change(options);
  dist::test::expect_error(code, words, [&] { make_plan(options); });
}

}  // namespace

TEST(BenchPlan, ReadsNames) {
  BenchOptions options;
  options.what = "reduce_scatter";
  options.ranks = 4;
  options.dtype = "f64";
  options.op = "max";
  options.max = 1024;
  const Plan plan = make_plan(options);
  EXPECT_EQ(plan.collective, Collective::reduce_scatter);
  EXPECT_EQ(plan.dtype, dist::DType::f64);
  EXPECT_EQ(plan.op, dist::ReduceOp::max);
  EXPECT_EQ(plan.sizes, (std::vector<std::int64_t>{32, 64, 256, 1024}))
      << "4 and 16 bytes are not one element per rank";
  EXPECT_EQ(plan.share(1024), 32);
  EXPECT_EQ(plan.algorithms, std::vector<std::string>{""});
}

TEST(BenchPlan, TakesAllAlgorithmsOfTheTable) {
  BenchOptions options;
  options.what = "all_reduce";
  options.all_algorithms = true;
  const auto names = make_plan(options).algorithms;
  EXPECT_GE(names.size(), 4U);
  EXPECT_NE(std::ranges::find(names, "ring"), names.end());
  EXPECT_EQ(std::ranges::find(names, "dissemination"), names.end()) << "of barrier";
}

TEST(BenchPlan, AnythingOddIsOneLine) {
  constexpr auto odd = Errc::invalid_argument, unsupported = Errc::unsupported;
  refused(odd, {"\"all_reduec\"", "all_reduce", "send_recv"}, [](auto& o) { o.what = "all_reduec"; });
  refused(odd, {"--nproc is -1", "1 to 1024"}, [](auto& o) { o.ranks = -1; });
  refused(odd, {"--dtype cannot be \"float\"", "f32"}, [](auto& o) { o.dtype = "float"; });
  refused(odd, {"--op cannot be \"add\"", "sum"}, [](auto& o) { o.op = "add"; });
  refused(odd, {"--op cannot be \"premul_sum\""}, [](auto& o) { o.op = "premul_sum"; });
  refused(odd, {"band is not defined for f32"}, [](auto& o) { o.op = "band"; });
  refused(odd, {"--root is 2", "0 to 1"}, [](auto& o) { o.root = 2; });
  refused(odd, {"--min is 8", "--max is only 4"}, [](auto& o) { o.min = 8, o.max = 4; });
  refused(odd, {"--max is", "16 GiB"}, [](auto& o) { o.max = std::uint64_t{1} << 60; });
  refused(odd, {"--factor is 1"}, [](auto& o) { o.factor = 1; });
  refused(odd, {"--repeat is 0"}, [](auto& o) { o.repeats = 0; });
  refused(odd, {"--iters is -3"}, [](auto& o) { o.iterations = -3; });
  refused(odd, {"no algorithm \"rnig\"", "ring"}, [](auto& o) { o.algorithm = "rnig"; });
  refused(odd, {"cannot be combined"}, [](auto& o) { o.algorithm = "ring", o.all_algorithms = true; });
  refused(odd, {"send_recv", "has no algorithms"},
          [](auto& o) { o.what = "send_recv", o.algorithm = "ring"; });
  refused(odd, {"send_recv needs at least two ranks"}, [](auto& o) { o.what = "send_recv", o.ranks = 1; });
  refused(odd, {"\"hst\" does not exist", "host"}, [](auto& o) { o.backend = "hst"; });
  if (dist::backend_named("mpi").available(nullptr))
    refused(odd, {"--backend mpi", "leave --algorithm"},
            [](auto& o) { o.backend = "mpi", o.algorithm = "ring"; });
  refused(odd, {"--plot needs several sizes"}, [](auto& o) { o.plot = "x.svg", o.min = o.max = 4; });
  refused(odd, {"--plot needs several sizes"}, [](auto& o) { o.plot = "x.svg", o.what = "barrier"; });
  refused(odd, {"--compare cannot be \"gloo\"", "mpi"}, [](auto& o) { o.compare = "gloo"; });
  refused(unsupported, {"nccl", "needs tensors on a GPU"}, [](auto& o) { o.compare = "nccl"; });
  refused(unsupported, {"MPI counts elements with an int"},
          [](auto& o) { o.compare = "mpi", o.dtype = "u8", o.max = std::uint64_t{4} << 30; });
  refused(odd, {"which collective?"}, [](auto& o) { o.what.clear(); });
  refused(unsupported, {"MPI has no avg"}, [](auto& o) { o.compare = "mpi", o.op = "avg"; });
  refused(unsupported, {"cannot reduce bf16"}, [](auto& o) { o.compare = "mpi", o.dtype = "bf16"; });
}

TEST(BenchWords, TellTheRanksEverything) {
  BenchOptions options;
  options.what = "gather";
  options.ranks = 3;
  options.cores = 5;
  options.min = 8;
  options.max = std::uint64_t{5} << 30;
  options.factor = 7;
  options.dtype = "i8";
  options.op = "bxor";
  options.root = 2;
  options.backend = "host";
  options.algorithm = "flat";
  options.all_algorithms = true;
  options.iterations = 9;
  options.repeats = 4;
  options.json = "a = b.json";
  options.plot = "p q.svg";
  options.compare = "mpi";
  options.foreign = options.hot = true;
  const auto words = to_words(options);
  EXPECT_EQ(to_words(from_words(words)), words);
  EXPECT_NE(words, to_words(BenchOptions{}));
  const BenchOptions read = from_words(words);
  EXPECT_EQ(read.json, "a = b.json");
  EXPECT_EQ(read.max, std::uint64_t{5} << 30);
  EXPECT_TRUE(read.hot && read.foreign && read.all_algorithms);
  for (const char* odd : {"", "what", "nothing=1", "ranks=two", "ranks=2x", "min="})
    dist::test::expect_error(Errc::invalid_argument, {"is not an option of this program"},
                             [&] { from_words({odd}); });
}
