// Lab 09, the demonstration: the messages that carry chunks around a ring; what they cost; and additions that
// are hidden behind messages.
//   ./distlab run 9
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/dist.h"

#include "ring_all_reduce.h"
#include "story.h"

namespace {

using dist::Tensor;
using dist::trace::Kind, dist::trace::Trace;
using story::say;

// Whose values are in a chunk: one letter per rank.
std::string letters(std::uint64_t contributors) {
  std::string text;
  for (int rank = 0; rank < 4; ++rank)
    text += (contributors >> rank & 1) != 0 ? static_cast<char>('a' + rank) : '.';
  return text;
}

// Prints the messages of each step: which rank sends each one, and whose values are in it.
void watch(Trace trace) {
  std::erase_if(trace.events, [](const auto& event) { return event.kind != Kind::send; });
  std::ranges::stable_sort(trace.events, {}, &dist::trace::Event::begin);
  say("              0 -> 1   1 -> 2   2 -> 3   3 -> 0");
  constexpr std::size_t n = 4;
  for (std::size_t step = 0; (step + 1) * n <= trace.events.size(); ++step) {
    std::vector<std::string> sent(n);
    for (std::size_t i = step * n; i < (step + 1) * n; ++i)
      sent[static_cast<std::size_t>(trace.events[i].rank)] = letters(trace.events[i].contributors);
    say(fmt::format("   step {:>2}     {}", step + 1, fmt::join(sent, "     ")));
  }
}

void compare_sizes() {
  constexpr std::int64_t mib = 256 * 1024;  // f32 elements
  say("   ranks     a rank sends   2(n-1)/n S         time    8 bytes: time");
  for (const int n : {2, 4, 8, 16, 64}) {
    const auto large = story::all_reduce_run(n, 4 * mib, lab::ring_all_reduce),
               small = story::all_reduce_run(n, 2, lab::ring_all_reduce);
    say(fmt::format("   {:>5}     {:>8.3f} MiB  {:>7.3f} MiB  {:>8.1f} us      {:>8.1f} us", n,
                    static_cast<double>(large.max_bytes_sent()) / (1 << 20), 2. * (n - 1) / n * 4,
                    large.virtual_time_s * 1e6, small.virtual_time_s * 1e6));
  }
}

void hide_the_adding() {
  constexpr std::int64_t elements = 4 * 1024 * 1024;
  say("     segments/chunk      time     messages per rank");
  const auto row = [](int m, const dist::sim::Report& report) {
    say(fmt::format("   {:>16}  {:>8.1f} us  {:>9}", m, report.virtual_time_s * 1e6,
                    report.traffic[0].messages_sent));
  };
  row(1, story::all_reduce_run(8, elements, lab::ring_all_reduce));
  for (const int m : {2, 4, 16, 64, 256}) {
    row(m, story::all_reduce_run(8, elements,
                                 [=](Tensor& t) { lab::all_reduce_pipelined(t, elements / 8 / m); }));
  }
}

void tell() {
  say("1  ring_all_reduce among 4 ranks: whose values (a: rank 0's, ...) are in each chunk that is sent\n");
  const auto report = story::all_reduce_run(4, 64, lab::ring_all_reduce, true);
  watch(report.trace);
  say("\n2  The same run in space and time\n");
  story::draw(report, 9);
  say("\n3  S = 4 MiB, and 8 bytes, in the virtual time of a laptop");
  compare_sizes();
  say("\n4  16 MiB on 8 ranks, with the chunks cut into segments");
  hide_the_adding();
}

}  // namespace

int main(int argc, char**) { return story::tell(argc, tell); }
