// Lab 03, the demonstration: numbers travel along four ranks; two ranks both send first, and hang; an
// exchange in the right order; a ring; and which rank waits for which. Code that is right runs on real
// processes. Code that hangs runs on virtual ranks, because the simulator can say why it hangs.
#include <array>
#include <cstdlib>
#include <functional>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/dist.h"
#include "dist/simulate/simulate.h"

#include "send_recv.h"
#include "story.h"

namespace {

using namespace std::chrono_literals;

bool all_well = true;

using story::say;

// One section. An error, or a function that is not written yet, ends this section only.
void act(const std::string& title, const std::function<void()>& play) {
  say(title);
  try {
    play();
  } catch (const dist::Error& error) {
    say(fmt::format("   {}", error.what()));
    all_well = false;
  }
  say("");
}

// Runs `part` on each of `ranks` real processes. It returns a line; rank 0 prints the lines of all ranks.
void on_real_ranks(int ranks, const std::function<std::string(int rank)>& part) {
  dist::spawn(ranks, [&](int rank) {
    dist::init_process_group({.backend = "host", .timeout = 5s});
    for (const auto& line : dist::gather_object(part(rank), 0)) say("   " + line);
    dist::destroy_process_group();
  });
}

std::string relayed(int rank) {
  dist::Tensor t = dist::tensor({rank == 0 ? 100.f : 0.f, rank == 0 ? 200.f : 0.f});
  lab::relay(t);
  return fmt::format("rank {} holds {}", rank, t.str());
}

// Sets DIST_SEND for one run, and restores what the user has set: this demonstration needs both modes.
class SendMode {
 public:
  explicit SendMode(const char* mode) {
    if (const char* readers = std::getenv("DIST_SEND")) before_ = readers;
    ::setenv("DIST_SEND", mode, 1);
  }
  ~SendMode() { before_.empty() ? ::unsetenv("DIST_SEND") : ::setenv("DIST_SEND", before_.c_str(), 1); }
  SendMode(SendMode&&) = delete;

 private:
  std::string before_;
};

dist::sim::Report on_virtual_ranks(int ranks, const char* sends, const std::function<void(int rank)>& fn) {
  const SendMode mode(sends);
  dist::sim::RunOptions options;
  options.ranks = ranks;
  return dist::sim::run(options, fn);
}

void each_sends_first(int rank) {
  dist::init_process_group();
  dist::Tensor mine = dist::full({2}, 10 + rank), theirs = dist::zeros({2});
  dist::send(mine, 1 - rank);
  dist::recv(theirs, 1 - rank);
}

// The first finding of the checker. A run that failed for another reason (a DIST_ variable) throws that
// reason.
dist::check::Finding found_by(const dist::sim::Report& report) {
  if (report.findings.empty()) throw std::runtime_error(report.text());
  return report.findings.front();
}

void hang() {
  say(found_by(on_virtual_ranks(2, "rendezvous", each_sends_first)).text());
  const auto eager = on_virtual_ranks(2, "eager", each_sends_first);
  say(fmt::format("With DIST_SEND=eager the same program {}",
                  eager.ok() ? "completes: its messages were buffered" : "fails: " + eager.text()));
}

std::string exchanged(int rank) {
  const dist::Tensor mine = dist::full({2}, 10 + rank);
  dist::Tensor theirs = dist::zeros({2});
  lab::exchange(mine, theirs, 3 - rank);  // 0 with 3, and 1 with 2
  return fmt::format("rank {} had {} and received {} from rank {}", rank, mine.str(), theirs.str(), 3 - rank);
}

std::string shifted(int rank) {
  const dist::Tensor out = dist::full({1}, 10 + rank);
  dist::Tensor in = dist::zeros({1});
  lab::ring_shift(out, in);
  return fmt::format("rank {} sent {} and received {}", rank, out.item<int>(), in.item<int>());
}

// Ranks 1, 3 and 4 all send first; ranks 0 and 2 wait for messages that are never sent.
constexpr int waiting = 5;
void a_knot(int rank) {
  constexpr std::array peer{1, 3, 0, 4, 1};
  dist::init_process_group();
  dist::Tensor t = dist::full({1}, rank);
  if (rank == 0 || rank == 2)
    dist::recv(t, peer[static_cast<std::size_t>(rank)]);
  else
    dist::send(t, peer[static_cast<std::size_t>(rank)]);
}

void untie() {
  const auto report = on_virtual_ranks(waiting, "rendezvous", a_knot);
  std::vector<int> waits_for(waiting, -1);
  for (const auto& party : found_by(report).parties) {
    say(fmt::format("   rank {} is in {} and waits for rank {}", party.rank, party.doing,
                    party.waits_for.at(0)));
    waits_for[static_cast<std::size_t>(party.rank)] = party.waits_for.at(0);
  }
  const auto cycle = lab::wait_cycle(waits_for);
  say(fmt::format("   wait_cycle({{{}}}) returns {{{}}}: each of these waits for another one of them",
                  fmt::join(waits_for, ", "), fmt::join(cycle, ", ")));
}

}  // namespace

int main(int argc, char**) {
  if (argc != 1) return story::refuse_arguments();
  act("1  A relay: two numbers go from rank to rank, doubling on the way", [] { on_real_ranks(4, relayed); });
  act("2  Two ranks: each sends first and receives afterwards (on virtual ranks; real ones would hang)",
      hang);
  act("3  The exchange: one of the two sends first, the other receives first",
      [] { on_real_ranks(4, exchanged); });
  act("4  A ring of five: every rank sends to the next", [] { on_real_ranks(5, shifted); });
  act("5  Five ranks hang. Which of them are the cause?", untie);
  return all_well ? 0 : 1;
}
