// Lab 07, the demonstration: chunks around a ring, a sum on every rank, a mean of means that is wrong, and
// rounding.
//   ./distlab run 7
#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "dist/dist.h"

#include "all_gather_all_reduce.h"
#include "story.h"

namespace {

using dist::Tensor;

using story::say;

template <class Program>
dist::sim::Report simulate(int ranks, Program program) {
  dist::sim::RunOptions options;
  options.ranks = ranks;
  options.trace = true;
  return story::well(dist::sim::run(options, [&](int rank) {
    dist::init_process_group();
    program(rank);
  }));
}

// Which chunks each rank has: chunk r is shown as the letter of rank r.
void draw(const std::string& when, const std::vector<std::string>& held) {
  std::string line = fmt::format("   {:<14}", when);
  for (const auto& parts : held) line += "   " + parts;
  say(line);
}

// Replays the messages: each carries the chunk that its sender received last.
void watch_the_ring() {
  constexpr int n = 4;
  auto trace = simulate(n, [](int rank) {
                 Tensor mine = dist::full({1}, rank), all = dist::full({n}, -1);
                 lab::all_gather(all, mine);
                 if (!dist::equal(all, dist::arange(n)))
                   throw std::runtime_error(fmt::format("rank {} gathered {}", rank, all.str()));
               }).trace;
  std::erase_if(trace.events, [](const auto& event) { return event.kind != dist::trace::Kind::send; });
  std::ranges::stable_sort(trace.events, {}, &dist::trace::Event::begin);
  std::vector<std::string> held(n, "....");
  std::vector<std::size_t> newest(n);
  for (std::size_t rank = 0; rank < n; ++rank)
    held[rank][newest[rank] = rank] = static_cast<char>('a' + rank);
  say("                   rank 0 rank 1 rank 2 rank 3");
  draw("before", held);
  int steps = 0;
  for (std::size_t i = 0; i < trace.events.size();) {
    const auto step = trace.events[i].begin;
    const auto before = newest;
    for (; i < trace.events.size() && trace.events[i].begin == step; ++i) {
      const auto from = static_cast<std::size_t>(trace.events[i].rank);
      const auto to = static_cast<std::size_t>(trace.events[i].peer);
      held[to][newest[to] = before[from]] = static_cast<char>('a' + before[from]);
    }
    draw(fmt::format("after step {}", ++steps), held);
  }
}

// On each of four processes.
void sum_and_average(int rank) {
  dist::init_process_group();
  Tensor own = dist::tensor({1.F + static_cast<float>(rank), 10.F * static_cast<float>(rank)});
  Tensor all = dist::zeros({8}), sum = own.clone(), mean = own.clone();
  lab::all_gather(all, own);
  lab::all_reduce_sum(sum);
  lab::all_reduce_avg(mean);
  story::say_in_turn(fmt::format("{:<16} sum {:<16} mean {}", own.str(), sum.str(), mean.str()));
  if (rank == 0) say(fmt::format("   gathered, on every rank: {}", all.str()));
  dist::destroy_process_group();
}

void compare_costs() {
  constexpr int n = 8;
  constexpr std::int64_t kib = 256;  // f32 elements
  const auto gathering = [&](std::int64_t each) {
    return simulate(n, [&](int) {
      Tensor all = dist::zeros({n * each}), mine = dist::ones({each});
      lab::all_gather(all, mine);
    });
  };
  const auto summing = [&](std::int64_t each) {
    return simulate(n, [&](int) {
      Tensor data = dist::ones({each});
      lab::all_reduce_sum(data);
    });
  };
  const auto row = [&](const char* name, std::int64_t in, std::int64_t out, const dist::sim::Report& report) {
    say(fmt::format("   {:<11} {:>5} KiB {:>7} KiB {:>9} KiB {:>10.1f} us", name, in / kib, out / kib,
                    story::bytes_sent(report) / 1024, report.virtual_time_s * 1e6));
  };
  say("                 input    output   all ranks send       time");
  row("all_reduce", 64 * kib, 64 * kib, summing(64 * kib));
  row("all_gather", 64 * kib, 512 * kib, gathering(64 * kib));
  row("all_gather", 8 * kib, 64 * kib, gathering(8 * kib));
}

// Shards of very different sizes: the mean of the two accuracies, and the accuracy on all samples.
void evaluate(int rank) {
  dist::init_process_group();
  constexpr std::int64_t correct[]{10, 0}, seen[]{10, 1000};
  const double own = static_cast<double>(correct[rank]) / static_cast<double>(seen[rank]);
  Tensor mean = dist::tensor({own});
  lab::all_reduce_avg(mean);
  const double all = lab::global_accuracy(correct[rank], seen[rank]);
  const auto lines = dist::gather_object(
      fmt::format("{:>3} of {:>4} right;   mean of the two accuracies {:.1f} %,   of all samples {:.2f} %",
                  correct[rank], seen[rank], 100 * mean.item<double>(), 100 * all),
      0);
  for (std::size_t i = 0; i < lines.size(); ++i) say(fmt::format("   rank {}: {}", i, lines[i]));
  dist::destroy_process_group();
}

// The same four numbers, added by each rank in its own order, and by all_reduce.
void compare_bits() {
  constexpr int n = 4;
  constexpr float numbers[n]{1e8F, 3.F, -1e8F, 3.F};
  std::vector<float> summed(n);
  simulate(n, [&](int rank) {
    Tensor data = dist::tensor({numbers[rank]});
    lab::all_reduce_sum(data);
    summed[static_cast<std::size_t>(rank)] = data.item<float>();
  });
  for (int rank = 0; rank < n; ++rank) {
    float own_order = 0;
    for (int i = 0; i < n; ++i) own_order += numbers[(rank + i) % n];
    say(fmt::format("   rank {}: {} if it starts with its own,   {} by all_reduce", rank, own_order,
                    summed[static_cast<std::size_t>(rank)]));
  }
}

void tell() {
  say("1  all_gather among 4 ranks: which chunks each rank has after each step\n");
  watch_the_ring();
  say("\n2  Sum and mean over four processes");
  dist::spawn(4, sum_and_average);
  say("\n3  The same input, or the same output? 8 ranks in the virtual time of a laptop");
  compare_costs();
  say("\n4  An evaluation on two processes with uneven shards");
  dist::spawn(2, evaluate);
  say("\n5  1e8 + 3 - 1e8 + 3 in f32 (the exact sum is 6)");
  compare_bits();
}

}  // namespace

int main(int argc, char**) { return story::tell(argc, tell); }
