// Wrong answers to lab 03, in the order of its parts: tests/README.md says how they are written.

#include <algorithm>

#include "dist/group/process_group.h"

#include "send_recv.h"

//// doubles_after_sending
// Misconception: it does not matter whether a rank doubles before or after it sends. The next rank gets what
// was sent.
// Replaces: relay
// Killed by: Part1Relay.doubles_on_the_way
// Diagnosis: doubles_after_sending

void relay(dist::Tensor& t) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  if (rank > 0) dist::recv(t, rank - 1);
  if (rank + 1 < n) dist::send(t, rank + 1);
  if (rank > 0) t.mul_(2);
}

//// nothing_for_nothing
// Misconception: a tensor without elements need not be sent.
// Replaces: relay
// Killed by: Part1Relay.alone_or_empty_handed
// Diagnosis: none

void relay(dist::Tensor& t) {
  if (dist::get_rank() + 1 == dist::get_world_size() && t.numel() == 0) return;
  right_relay(t);
}

//// off_by_one_peer
// Misconception: every rank below n sends to the next one. The last rank is below n, too.
// Replaces: relay
// Killed by: Part1Relay.doubles_on_the_way
// Diagnosis: off_by_one_peer

void relay(dist::Tensor& t) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  if (rank > 0) {
    dist::recv(t, rank - 1);
    t.mul_(2);
  }
  if (rank < n) dist::send(t, rank + 1);
}

//// another_name
// Misconception: `theirs = mine` copies the elements. It makes `theirs` another name for the same memory, as
// in Python.
// Replaces: exchange
// Killed by: Part2Exchange.with_itself
// Diagnosis: another_name

void exchange(const dist::Tensor& mine, dist::Tensor& theirs, int partner) {
  if (partner == dist::get_rank())
    theirs = mine;
  else
    right_exchange(mine, theirs, partner);
}

//// both_send_first
// Misconception: send returns as soon as the data is on its way, so both ranks may send and then receive. A
// blocking send may wait until the partner receives.
// Replaces: exchange
// Killed by: Part2Exchange.two_ranks_swap
// Diagnosis: both_send_first

void exchange(const dist::Tensor& mine, dist::Tensor& theirs, int partner) {
  if (partner == dist::get_rank()) {
    theirs.copy_(mine);
    return;
  }
  dist::send(mine, partner);
  dist::recv(theirs, partner);
}

//// does_not_block
// Misconception: any program that ends without a deadlock solves the exercise. This one ends, but it avoids
// the blocking calls whose order is to be found.
// Replaces: exchange
// Killed by: Part2Exchange.blocks_for_two_rounds
// Diagnosis: does_not_block

void exchange(const dist::Tensor& mine, dist::Tensor& theirs, int partner) {
  if (partner == dist::get_rank()) {
    theirs.copy_(mine);
    return;
  }
  auto sent = dist::isend(mine, partner);
  dist::recv(theirs, partner);
  sent.wait();
}

//// only_rank_0_sends_first
// Misconception: the pattern for two ranks, `if (rank == 0)`, works for every pair. In each pair without rank
// 0 both ranks receive first.
// Replaces: exchange
// Killed by: Part2Exchange.whoever_the_partners_are
// Diagnosis: only_rank_0_sends_first

void exchange(const dist::Tensor& mine, dist::Tensor& theirs, int partner) {
  if (partner == dist::get_rank()) {
    theirs.copy_(mine);
  } else if (dist::get_rank() == 0) {
    dist::send(mine, partner);
    dist::recv(theirs, partner);
  } else {
    dist::recv(theirs, partner);
    dist::send(mine, partner);
  }
}

//// order_by_parity
// Misconception: even ranks send first and odd ranks receive first, so two partners never do the same. Two
// even partners do.
// Replaces: exchange
// Killed by: Part2Exchange.whoever_the_partners_are
// Diagnosis: order_by_parity

void exchange(const dist::Tensor& mine, dist::Tensor& theirs, int partner) {
  if (partner == dist::get_rank()) {
    theirs.copy_(mine);
  } else if (dist::get_rank() % 2 == 0) {
    dist::send(mine, partner);
    dist::recv(theirs, partner);
  } else {
    dist::recv(theirs, partner);
    dist::send(mine, partner);
  }
}

//// talks_to_itself
// Misconception: the partner is always another rank. "Every rank with its mirror, n - 1 - rank" pairs the
// middle rank of an odd world with itself.
// Replaces: exchange
// Killed by: Part2Exchange.with_itself
// Diagnosis: talks_to_itself

void exchange(const dist::Tensor& mine, dist::Tensor& theirs, int partner) {
  if (dist::get_rank() <= partner) {
    dist::send(mine, partner);
    dist::recv(theirs, partner);
  } else {
    right_exchange(mine, theirs, partner);
  }
}

//// even_odd_broken_for_odd_n
// Misconception: two phases serve every ring: pairs (0, 1), (2, 3), ..., then pairs (1, 2), (3, 4), ... The
// last link of an odd ring is in neither.
// Replaces: ring_shift
// Killed by: Part3Ring.odd_rings
// Diagnosis: even_odd_broken_for_odd_n

void ring_shift(const dist::Tensor& out, dist::Tensor& in) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const int next = (rank + 1) % n, previous = (rank + n - 1) % n;
  for (int phase = 0; phase < 2; ++phase) {
    if (n == 1) in.copy_(out);
    if (rank % 2 == phase && next % 2 != phase) dist::send(out, next);
    if (rank % 2 != phase && previous % 2 == phase) dist::recv(in, previous);
  }
}

//// negative_remainder
// Misconception: -1 % n is n - 1. This is true in Python; in C++ it is -1.
// Replaces: ring_shift
// Killed by: Part3Ring.even_rings
// Diagnosis: negative_remainder

void ring_shift(const dist::Tensor& out, dist::Tensor& in) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const int next = (rank + 1) % n, previous = (rank - 1) % n;
  if (n == 1) {
    in.copy_(out);
  } else if (rank % 2 == 0) {
    dist::send(out, next);
    dist::recv(in, previous);
  } else {
    dist::recv(in, previous);
    dist::send(out, next);
  }
}

//// one_after_the_other
// Misconception: a ring is free of deadlock if one rank begins. It is, but every other rank waits for its
// turn.
// Replaces: ring_shift
// Killed by: Part3Ring.at_most_three_rounds
// Diagnosis: one_after_the_other

void ring_shift(const dist::Tensor& out, dist::Tensor& in) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const int next = (rank + 1) % n, previous = (rank + n - 1) % n;
  if (n == 1) {
    in.copy_(out);
  } else if (rank == 0) {
    dist::send(out, next);
    dist::recv(in, previous);
  } else {
    dist::recv(in, previous);
    dist::send(out, next);
  }
}

//// ring_by_another_name
// Misconception: `in = ...` fills the memory of `in`. It binds the variable to another tensor, as in
// another_name.
// Replaces: ring_shift
// Killed by: Part3Ring.a_ring_of_one
// Diagnosis: another_name

void ring_shift(const dist::Tensor& out, dist::Tensor& in) {
  auto received = dist::empty_like(in);
  right_ring_shift(out, received);
  in = received;
}

//// ring_of_one
// Misconception: a ring of one rank is a ring like any other, and a rank may send to itself. A rank that is
// in send cannot receive.
// Replaces: ring_shift
// Killed by: Part3Ring.a_ring_of_one
// Diagnosis: ring_of_one

void ring_shift(const dist::Tensor& out, dist::Tensor& in) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const int next = (rank + 1) % n, previous = (rank + n - 1) % n;
  if (rank % 2 == 0) {
    dist::send(out, next);
    dist::recv(in, previous);
  } else {
    dist::recv(in, previous);
    dist::send(out, next);
  }
}

//// works_only_when_eager
// Misconception: it ran on my machine, so it is right. With buffered sends every rank reaches its receive;
// with sends that wait no rank does.
// Replaces: ring_shift
// Killed by: Part3Ring.even_rings
// Diagnosis: works_only_when_eager

void ring_shift(const dist::Tensor& out, dist::Tensor& in) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  if (n == 1) {
    in.copy_(out);
    return;
  }
  dist::send(out, (rank + 1) % n);
  dist::recv(in, (rank + n - 1) % n);
}

//// wrong_way_round
// Misconception: each rank receives from the rank after it.
// Replaces: ring_shift
// Killed by: Part3Ring.even_rings
// Diagnosis: wrong_way_round

void ring_shift(const dist::Tensor& out, dist::Tensor& in) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const int next = (rank + n - 1) % n, previous = (rank + 1) % n;
  if (n == 1) {
    in.copy_(out);
  } else if (rank % 2 == 0) {
    dist::send(out, next);
    dist::recv(in, previous);
  } else {
    dist::recv(in, previous);
    dist::send(out, next);
  }
}

//// looks_from_rank_0_only
// Misconception: all waits are connected, so a walk from rank 0 finds the cycle. Rank 0 may not be blocked at
// all.
// Replaces: wait_cycle
// Killed by: Part4WaitCycle.others_wait_for_it
// Diagnosis: looks_from_rank_0_only

std::vector<int> wait_cycle(const std::vector<int>& waits_for) {
  std::vector<int> path;
  if (waits_for.empty()) return {};
  const int meets = follow(waits_for, 0, path);
  std::vector<int> cycle(std::ranges::find(path, meets), path.end());
  std::ranges::rotate(cycle, std::ranges::min_element(cycle));
  return cycle;
}

//// tail_in_the_cycle
// Misconception: every blocked rank is part of the cycle. Some ranks only wait for a rank of the cycle.
// Replaces: wait_cycle
// Killed by: Part4WaitCycle.others_wait_for_it
// Diagnosis: tail_in_the_cycle

std::vector<int> wait_cycle(const std::vector<int>& waits_for) {
  for (int start = 0; start < static_cast<int>(waits_for.size()); ++start) {
    std::vector<int> path;
    if (follow(waits_for, start, path) != -1) return path;
  }
  return {};
}

//// walks_for_ever
// Misconception: a walk along the waits comes back to its start. It does so only if it started in the cycle.
// Replaces: wait_cycle
// Killed by: Part4WaitCycle.others_wait_for_it
// Diagnosis: walks_for_ever

std::vector<int> wait_cycle(const std::vector<int>& waits_for) {
  for (int start = 0; start < static_cast<int>(waits_for.size()); ++start) {
    std::vector<int> path;
    int at = start;
    do {
      path.push_back(at);
      at = waits_for[static_cast<std::size_t>(at)];
      if (path.size() > 1000) path.clear();  // still endless, with bounded memory
    } while (at != -1 && at != start);
    if (at == start) return path;
  }
  return {};
}
