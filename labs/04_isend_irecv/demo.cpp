// Lab 04, the demonstration: ranks swap tensors, and what it costs to wait at the wrong place.
//   ./distlab run 4
// Real processes show what is exchanged; a simulated 10 Gb/s Ethernet shows how long it takes.
#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/dist.h"

#include "drawing/ascii.h"
#include "isend_irecv.h"
#include "story.h"

namespace {

using dist::Tensor;

constexpr std::int64_t megabyte_of_f32 = 250'000;

using story::say;

// Rank 0 prints the lines of all ranks, in rank order.
void report(const std::string& line) {
  for (const auto& each : dist::gather_object(line, 0)) say(each);
}

void as_rank(const std::function<void(int rank)>& tell) {
  dist::init_process_group();
  tell(dist::get_rank());
  dist::destroy_process_group();
}

void tell_swap(int rank) {
  const Tensor mine = dist::full({3}, rank);
  Tensor theirs = dist::full({3}, -1);
  const int partner = dist::get_world_size() - 1 - rank;
  lab::swap_with(mine, theirs, partner);
  report(fmt::format("   rank {} swaps with rank {}: sent {}, received {}", rank, partner, mine.str(),
                     theirs.str()));
}

std::string rows_of(const Tensor& field) {
  std::string text;
  for (std::int64_t row = 0; row < field.size(0); ++row) {
    const bool is_ghost = row == 0 || row + 1 == field.size(0);
    text += fmt::format("{}{:>4}{}", is_ghost ? " (" : "  ", fmt::join(field[row].to_vector<int>(), " "),
                        is_ghost ? ")" : " ");
  }
  return text;
}

// The border is 0, and a ghost row that is not yet known is -1.
void tell_ghosts(int rank) {
  Tensor field = dist::full({4, 3}, -1);
  for (std::int64_t row = 1; row <= 2; ++row) field[row].fill_(10. * rank + static_cast<double>(row));
  if (rank == 0) field[0].fill_(0);
  if (rank + 1 == dist::get_world_size()) field[3].fill_(0);
  const auto before = rows_of(field);
  lab::exchange_ghosts(field);
  report(fmt::format("   rank {}  before: {}\n           after:  {}", rank, before, rows_of(field)));
}

// Runs `tell` on simulated ranks and returns the report. Throws if the run failed.
dist::sim::Report simulated(int ranks, const std::function<void(int rank)>& tell, bool trace = false) {
  dist::sim::RunOptions options;
  options.ranks = ranks;
  options.topology = "10gbe";
  options.trace = trace;
  auto done = dist::sim::run(options, [&](int rank) {
    dist::init_process_group();
    tell(rank);
  });
  if (!done.ok()) throw dist::Error(dist::Errc::internal, done.text());
  return done;
}

std::string took(const dist::sim::Report& report) {
  return fmt::format("{:5.0f} us", report.virtual_time_s * 1e6);
}

void tell_overlap() {
  const auto work = [] { dist::sim::compute(700e-6); };
  const auto with = [&](bool overlapped) {
    return simulated(
        2,
        [&](int rank) {
          const Tensor out = dist::zeros({megabyte_of_f32});
          Tensor in = dist::zeros({megabyte_of_f32});
          if (overlapped) return lab::overlap(out, in, 1 - rank, work);
          lab::swap_with(out, in, 1 - rank);
          work();
        },
        true);
  };
  say("   swap, then compute    " + took(with(false)));
  const auto overlapped = with(true);
  say("   both at the same time " + took(overlapped) + "\n");
  say(dist::trace::to_ascii(overlapped.trace));
}

// Computing one row takes 100 us.
void mean_of_rows(const Tensor& above, const Tensor&, const Tensor& below, Tensor& next) {
  next.copy_(above).add_(below).mul_(0.5);
  dist::sim::compute(100e-6);
}

void tell_relax() {
  constexpr int ranks = 4, steps = 10, rows = 10;
  const auto with = [&](const std::function<void(Tensor&)>& make_steps) {
    return simulated(ranks, [&](int rank) {
      Tensor field = dist::zeros({rows + 2, megabyte_of_f32 / 4});
      if (rank == 0) field[0].fill_(100);
      make_steps(field);
    });
  };
  say("   exchange first, then all rows  " + took(with([](Tensor& field) {
        for (int step = 0; step < steps; ++step) {
          lab::exchange_ghosts(field);
          for (int row = 0; row < rows; ++row) dist::sim::compute(100e-6);
        }
      })));
  say("   inner rows during the exchange " +
      took(with([](Tensor& field) { lab::relax(field, steps, mean_of_rows); })));
}

void tell_stream() {
  constexpr int blocks = 8;
  constexpr double produce = 800e-6, consume = 600e-6;
  const auto compute_for = [](double seconds) {
    return [=](int, const Tensor&) { dist::sim::compute(seconds); };
  };
  const auto block = [] { return dist::zeros({megabyte_of_f32}); };
  const auto in_turns = simulated(2, [&](int rank) {
    Tensor t = block();
    for (int i = 0; i < blocks; ++i) {
      if (rank == 0) dist::sim::compute(produce), dist::send(t, 1);
      if (rank == 1) dist::recv(t, 0), dist::sim::compute(consume);
    }
  });
  const auto streamed = simulated(2, [&](int rank) {
    lab::Buffers buffers{block(), block()};
    if (rank == 0) lab::stream_to(1, buffers, blocks, compute_for(produce));
    if (rank == 1) lab::stream_from(0, buffers, blocks, compute_for(consume));
  });
  say("   send and recv, one buffer           " + took(in_turns));
  say("   isend and irecv, two buffers each   " + took(streamed));
}

void tell_all() {
  say("1  Four processes swap: 0 with 3, 1 with 2");
  dist::spawn(4, [](int) { as_rank(tell_swap); });
  say("\n2  Swapping a megabyte takes 830 us, the computation 700 us");
  tell_overlap();
  say("3  Three processes and their ghost rows, in parentheses (0: the border, -1: not known yet)");
  dist::spawn(3, [](int) { as_rank(tell_ghosts); });
  say("\n4  Ten steps on 4 x 10 rows, 100 us per row");
  tell_relax();
  say("\n5  A stream of eight megabytes: each is produced in 800 us, sent in 830 us, consumed in 600 us");
  tell_stream();
}

}  // namespace

int main(int argc, char**) { return story::tell(argc, tell_all); }
