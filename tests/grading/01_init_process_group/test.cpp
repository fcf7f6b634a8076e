// The grading of lab 01. The grader hosts the store, starts every rank as a process of its own, computes what
// each must return, and plays some ranks itself, so that no process can know their entries before.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support.h"

namespace {

using judge::all_completed, judge::misconception, judge::shown, judge::Random, judge::Team, judge::worth;
using namespace std::chrono_literals;

// ---------------------------------------------------------------------------------------- part 1: place_of

TEST(Part1Place, even_nodes) {
  worth(8, 1);
  Random random("even");
  const std::vector<int> nodes(static_cast<std::size_t>(random.between(2, 4)), random.between(2, 8));
  lab01::expect_places(lab01::places_of(nodes));
}

TEST(Part1Place, uneven_nodes) {
  worth(7, 1);
  Random random("uneven");
  auto cases = lab01::places_of({3, 1, 2});
  for (const auto& nodes : {std::vector{random.between(5, 8), 0, random.between(1, 4)}, std::vector{1}}) {
    for (const auto& one : lab01::places_of(nodes)) cases.push_back(one);
  }
  lab01::expect_places(cases);
}

TEST(Part1Place, refuses_what_does_not_exist) {
  worth(5, 1);
  const std::vector<int> nodes{2, 0, 3};
  lab01::expect_refused(
      {{nodes, 3, 0}, {nodes, -1, 0}, {nodes, 0, 2}, {nodes, 0, -1}, {nodes, 1, 0}, {{}, 0, 0}});
  if (!HasFailure()) lab01::expect_places(lab01::places_of(nodes));  // and nothing else is refused
}

// -------------------------------------------------------------------------------------- part 2: rendezvous

TEST(Part2Rendezvous, every_rank_returns_the_same_membership) {
  worth(10, 2);
  Random random("membership");
  for (const int world_size : {1, random.between(2, 3), random.between(5, 7), random.between(11, 12)}) {
    lab01::Lobby lobby;
    lab01::JobRun run(lobby, random, world_size, 4000ms);
    run.start_all();
    run.expect_membership();
    if (HasFailure()) return;
  }
}

TEST(Part2Rendezvous, publishes_under_the_agreed_key) {
  worth(5, 2);
  Random random("key");
  lab01::Lobby lobby;
  lab01::JobRun run(lobby, random, random.between(3, 5), 4000ms);
  const int real = random.between(0, run.world_size() - 1);
  run.start(real);
  if (!run.await_published({real})) return;
  if (const auto value = lobby.value(run.key(real)); value != run.entry(real)) {
    ADD_FAILURE() << fmt::format("rank {}'s entry is {}; the store has {} under {}", real,
                                 shown(run.entry(real)), shown(value), run.key(real));
  }
  for (int rank = 0; rank < run.world_size(); ++rank) {
    if (rank != real) run.play(rank);
  }
  run.expect_membership();
}

TEST(Part2Rendezvous, waits_for_late_joiners) {
  worth(10, 2);
  Random random("late");
  // Each rank is the late one once, the first and the last included.
  for (const bool last : {true, false}) {
    lab01::Lobby lobby;
    lab01::JobRun run(lobby, random, random.between(3, 4), 6000ms);
    const int late = last ? run.world_size() - 1 : random.between(0, run.world_size() - 2);
    if (!last) run.without_a_limit();
    if (!run.start_all_but(late)) return;
    run.team().listen(250ms);
    run.expect_nobody_has_returned(fmt::format("rank {} had called it", late));
    if (HasFailure()) return;
    run.start(late);
    run.expect_membership();
    if (HasFailure()) return;
  }
}

TEST(Part2Rendezvous, two_jobs_on_one_store) {
  worth(10, 2);
  Random random("jobs");
  lab01::Lobby lobby;
  const int world_size = random.between(2, 4);
  lab01::JobRun complete(lobby, random, world_size, 4000ms), waiting(lobby, random, world_size, 6000ms);
  complete.start_all();
  complete.expect_membership();
  if (HasFailure()) return;
  const int late = random.between(0, 1) == 0 ? 0 : world_size - 1;
  if (!waiting.start_all_but(late)) return;
  waiting.team().listen(250ms);
  waiting.expect_nobody_has_returned(
      fmt::format("rank {} of its job had; only job {} on the same store is complete", late, complete.job()),
      &complete);
  if (HasFailure()) return;
  waiting.start(late);
  waiting.expect_membership();
}

TEST(Part2Rendezvous, names_the_missing_ranks) {
  worth(10, 2);
  Random random("missing");
  lab01::Lobby lobby, other_lobby;
  const auto timeout = 800ms;
  lab01::JobRun one(lobby, random, random.between(2, 4), timeout),
      three(other_lobby, random, random.between(5, 6), timeout);
  one.leave_out(random, 1);
  three.leave_out(random, 3);
  one.start_all();
  three.start_all();
  one.expect_missing_named();
  three.expect_missing_named();
  if (HasFailure()) return;
  lab01::JobRun run(lobby, random, 3, 6000ms);
  run.lose_the_store();
  run.start(1);
  run.expect_store_lost();
}

TEST(Part2Rendezvous, has_one_deadline_for_the_whole_call) {
  worth(5, 2);
  Random random("deadline");
  lab01::Lobby lobby;
  const auto timeout = 700ms;
  lab01::JobRun run(lobby, random, 3, timeout);
  run.start(0);
  if (!run.await_published({0})) return;
  run.team().listen(timeout * 6 / 10);
  run.play(1);  // comes in time
  run.team().listen(timeout * 8 / 10);
  run.play(2);  // comes too late, but within a timeout after rank 1
  run.expect_too_late(2);
}

// ---------------------------------------------------------------------------------------- part 3: describe

TEST(Part3Describe, names_pid_host_and_device) {
  worth(6, 3);
  Random random("describe");
  lab01::expect_descriptions(random);
}

// ------------------------------------------------------------------------------------ part 4: pack, unpack

TEST(Part4Text, packs_with_zeros_to_the_end) {
  worth(7, 4);
  Random random("pack");
  std::vector<lab01::Packing> cases{{"", 0}, {"", 5}, {"节点", 6}, {"节点", 7}};
  for (const int length : {1, 9, 40}) {
    const auto text = random.word(length);
    cases.push_back({text, length});  // fits exactly: there is no room for a terminator, and none is needed
    cases.push_back({text, length + random.between(1, 40)});
  }
  lab01::expect_packed(cases);
}

TEST(Part4Text, cuts_between_characters) {
  worth(5, 4);
  Random random("cut");
  std::vector<lab01::Packing> cases;
  for (const std::string character : {"x", "é", "节", "🚀"}) {
    const auto text = random.word(random.between(1, 4)) + character + character + random.word(3);
    for (std::int64_t size = 0; size < static_cast<std::int64_t>(text.size()); ++size)
      cases.push_back({text, size});
  }
  lab01::expect_packed(cases);
}

TEST(Part4Text, unpacks_up_to_the_first_zero) {
  worth(4, 4);
  Random random("unpack");
  const auto text = random.word(12);
  const std::string zeros(9, '\0');
  lab01::expect_unpacked(
      {text + zeros, text, zeros, "", "节点" + zeros, text + std::string(1, '\0') + random.word(5)});
}

// ---------------------------------------------------------------------------------------- part 5: exchange

TEST(Part5Exchange, every_rank_reads_every_text) {
  worth(8, 5);
  Random random("exchange");
  lab01::expect_exchanged(random, 1);
  lab01::expect_exchanged(random, random.between(3, 4));
}

}  // namespace
