// Lab 06, the demonstration: a batch is distributed to processes, and their results are collected; an uneven
// batch loses no row; and then flat and tree scatter are compared in virtual time.
//   ./distlab run 6
#include <algorithm>

#include <fmt/format.h>

#include "dist/core/fail.h"
#include "dist/dist.h"

#include "scatter_gather.h"
#include "story.h"

namespace {

using dist::Tensor;

using story::in_bytes, story::say;

// Rank 0 prints the lines of all ranks, in rank order.
void say_all(const std::string& mine) {
  const auto lines = dist::gather_object(mine, 0);
  for (std::size_t rank = 0; rank < lines.size(); ++rank)
    say(fmt::format("   rank {} {}", rank, lines[rank]));
}

// Rank 0 has twelve samples; each rank adds up the squares of its three samples.
void deal_and_collect(int rank) {
  dist::init_process_group();
  const int n = dist::get_world_size();
  std::vector<Tensor> batch, sums;
  for (int r = 0; r < n && rank == 0; ++r) {
    batch.push_back(dist::arange(3) + dist::full({3}, 3 * r));
    sums.push_back(dist::zeros({1}));
  }
  auto samples = dist::zeros({3});
  lab::scatter(samples, batch, 0);
  const auto result = dist::full({1}, dist::sum(samples * samples));
  say_all(fmt::format("has {} and computes {}", samples.str(), result.item<float>()));
  lab::gather(result, sums, 0);
  for (std::size_t r = 0; r < sums.size(); ++r) {
    const auto end = r + 1 < sums.size() ? "," : "  are now on rank 0";
    fmt::print("{}{}{}", r == 0 ? "   " : " ", sums[r].item<float>(), end);
  }
  if (rank == 0) say("");
  dist::destroy_process_group();
}

// Only rank 2 knows how many rows there are.
void deal_rows(int rank) {
  dist::init_process_group();
  for (const int rows : {10, 3}) {
    Tensor all;
    if (rank == 2) all = dist::arange(2 * rows).view({rows, 2});
    const auto part = lab::scatter_rows(all, 2, 2);
    if (rank == 0) say(fmt::format("   {} rows", rows));
    const auto first =
        part.numel() > 0 ? fmt::format(", from row {} on", part.to_vector<float>()[0] / 2) : "";
    say_all(fmt::format("has {}{}", part.size(0), first));
  }
  dist::destroy_process_group();
}

constexpr int ranks = 8;

Tensor share_of(const Tensor& all, int rank, std::int64_t k) { return all.narrow(rank * k, k); }

void by_flat(Tensor& mine, const Tensor& all) {
  std::vector<Tensor> list;
  for (int r = 0; r < ranks && all.is_defined(); ++r) list.push_back(share_of(all, r, mine.numel()));
  lab::scatter(mine, list, 0);
}

void by_tree(Tensor& mine, const Tensor& all) { lab::tree_scatter(mine, all, 0); }

// For comparison, with the library's broadcast.
void by_broadcast(Tensor& mine, const Tensor& all) {
  auto everything = all.is_defined() ? all : dist::empty({ranks * mine.numel()});
  dist::broadcast(everything, 0);
  mine.copy_(share_of(everything, dist::get_rank(), mine.numel()));
}

struct Way {
  const char* name;
  void (*deal)(Tensor& mine, const Tensor& all);
};
constexpr Way ways[]{{"flat", by_flat}, {"tree", by_tree}, {"broadcast", by_broadcast}};

// A scatter among virtual ranks. Throws unless every rank has its chunk afterwards.
dist::sim::Report simulate(const Way& way, std::int64_t k) {
  dist::sim::RunOptions options;
  options.ranks = ranks;
  return story::well(dist::sim::run(options, [&](int rank) {
    dist::init_process_group();
    Tensor all;
    if (rank == 0) {
      all = dist::empty({ranks * k});
      for (int r = 0; r < ranks; ++r) share_of(all, r, k).fill_(r);
    }
    auto mine = dist::full({k}, -1);
    way.deal(mine, all);
    if (-dist::max(mine * -1) != rank || dist::max(mine) != rank)
      dist::fail(dist::Errc::invalid_argument, "after {} rank {} has {}; expected {} everywhere", way.name,
                 rank, mine.str(), rank);
  }));
}

void compare(std::int64_t k) {
  say(fmt::format("\n   a chunk is {}", in_bytes(4 * static_cast<std::uint64_t>(k))));
  say("                   time        the root sends   all ranks send");
  for (const auto& way : ways) {
    const auto report = simulate(way, k);
    say(fmt::format("   {:>9}  {:>7.1f} us  {:>8} in {:>2} msg  {:>15}", way.name,
                    report.virtual_time_s * 1e6, in_bytes(report.traffic[0].bytes_sent),
                    report.traffic[0].messages_sent, in_bytes(story::bytes_sent(report))));
  }
}

void tell() {
  say("1  Twelve samples are distributed to four processes, and the results are collected");
  dist::spawn(4, deal_and_collect);
  say("\n2  Rows from rank 2, which alone knows how many there are");
  dist::spawn(4, deal_rows);
  say(fmt::format("\n3  Flat or tree, on {} virtual ranks of a laptop", ranks));
  compare(1);
  compare(256 * 1024);
}

}  // namespace

int main(int argc, char**) { return story::tell(argc, tell); }
