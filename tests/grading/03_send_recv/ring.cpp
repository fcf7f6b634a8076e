// Lab 03, part 3: the ring.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "judge/outcome.h"
#include "transfer.h"

namespace lab03 {
namespace {

using judge::misconception;

const Names ring_names{"out", "in"};
constexpr int most_rounds = 3;

Transfer make_ring(Random& random, int ranks, int length) {
  std::vector<int> to;
  for (int rank = 0; rank < ranks; ++rank) to.push_back((rank + 1) % ranks);
  return make_transfer(random, "ring_shift", to, length);
}

bool goes_backwards(const judge::SimRun& run) {
  const int ranks = static_cast<int>(run.ranks.size());
  const auto& links = run.report.links;
  return ranks > 2 && !links.empty() && std::ranges::all_of(links, [&](const auto& link) {
           return link.dst == (link.src + ranks - 1) % ranks;
         });
}

bool all_call(const std::map<int, std::string>& stuck, int ranks, const std::string& call) {
  return static_cast<int>(stuck.size()) == ranks &&
         std::ranges::all_of(stuck, [&](const auto& one) { return one.second == call; });
}

bool names_another(const judge::Outcome& rank) {
  if (!rank.reply.is_object() || !rank.reply.contains("value")) return false;
  return rank.reply["value"].value("moved", false);
}

// Diagnoses before the failure is reported. `random` is a separate stream, so that the cases stay the same.
void diagnose_ring(const Transfer& ring, const judge::SimRun& run) {
  if (!is_written(run) || ring.is_right(run)) return;
  const int ranks = ring.trial.ranks();
  const auto stuck = blocked(run);
  Random random("ring: an even one beside it");
  const auto& failures = run.report.failures;
  if (ranks == 1) {
    if (names_another(run.ranks.front())) return;  // it has copied; expect_transferred reports where to
    misconception("ring_of_one",
                  "in a ring of one rank the next rank is the rank itself, which cannot send to itself; fix: "
                  "copy `out` to `in`");
  } else if (!failures.empty() && failures.front().what.find("= -1 is not a rank") != std::string::npos) {
    misconception("negative_remainder",
                  "(rank - 1) % n is -1 for rank 0 in C++, where a remainder has the sign of the dividend; "
                  "fix: add n first, (rank + n - 1) % n");
  } else if (all_call(stuck, ranks, "send")) {
    misconception("works_only_when_eager",
                  "every rank sends first, and each of these sends waits for a rank that is sending, too: "
                  "this works only where a send returns before its message is received");
  } else if (all_call(stuck, ranks, "recv")) {
    misconception("everybody_receives_first",
                  "every rank waits for a message, and no rank has sent one; fix: let some ranks send first");
  } else if (goes_backwards(run)) {
    misconception("wrong_way_round",
                  "every rank sends to the previous rank and receives from the next; fix: send to the next "
                  "rank and receive from the previous one");
  } else if (const auto even = make_ring(random, 4, ring.length());
             ranks % 2 != 0 && even.is_right(lab03::run(even.trial, Sends::wait))) {
    misconception("even_odd_broken_for_odd_n",
                  "pairs of an even and an odd rank cover an even ring; in an odd ring the last rank and "
                  "rank 0 are neighbours and both even; fix: give their link a round of its own");
  }
}

}  // namespace

void expect_ring_shift(Random& random, int ranks, int length) {
  const auto ring = make_ring(random, ranks, length);
  for (const auto sends : {Sends::wait, Sends::eager}) {
    const auto done = run(ring.trial, sends);
    diagnose_ring(ring, done);
    if (!ring.expect_transferred(done, ring_names)) return;
  }
}

void expect_ring_rounds(Random& random, int ranks) {
  const auto ring = make_ring(random, ranks, random.between(3, 9));
  const auto done = run(ring.trial, Sends::wait);
  diagnose_ring(ring, done);
  if (!ring.expect_transferred(done, ring_names)) return;
  const int rounds = judge::rounds(done.report);
  if (rounds > most_rounds) {
    misconception("one_after_the_other",
                  "one rank begins and all others wait for the rank before them, so the messages go one "
                  "after another; fix: let every second rank send at the same time");
    ADD_FAILURE() << fmt::format(
        "{}the shift may take at most {} rounds, whatever the size of the ring; it took {}", done.about,
        most_rounds, rounds);
  }
  if (rounds < 2) {
    diagnose_not_blocking();
    ADD_FAILURE() << fmt::format(
        "{}with blocking calls a rank either sends or receives, so the shift takes at least 2 rounds; it "
        "took {}",
        done.about, rounds);
  }
}

}  // namespace lab03
