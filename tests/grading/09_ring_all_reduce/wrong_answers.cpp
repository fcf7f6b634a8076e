// Wrong answers to lab 09, in the order of its parts: tests/README.md says how they are written.

#include <algorithm>
#include <array>
#include <vector>

#include "ring_all_reduce.h"

//// adds_before_it_came
// Misconception: the numbers have arrived when irecv returns, and wait() is for the end.
// Replaces: reduce_scatter
// Killed by: Part1ReduceScatter.small_rings
// Diagnosis: adds_before_it_came

void reduce_scatter(Tensor& data) {
  Ring ring(data);
  Tensor inbox = dist::empty({longest(ring)}, data.dtype());
  for (int step = 0; step < ring.n - 1; ++step) {
    Tensor& mine = ring.chunk(ring.rank - step - 2);
    Tensor arriving = inbox.narrow(0, mine.numel());
    Work arrival = dist::irecv(arriving, ring.before);
    dist::send(ring.chunk(ring.rank - step - 1), ring.next);
    add(mine, arriving);
    arrival.wait();
  }
}

//// from_any_rank
// Misconception: in a ring only the rank before sends to a rank, so its number does not matter. (The program
// around the call may have messages of its own.)
// Replaces: reduce_scatter
// Killed by: Part1ReduceScatter.any_number_of_ranks
// Diagnosis: takes_any_message

void reduce_scatter(Tensor& data) {
  Ring ring(data);
  Tensor inbox = dist::empty({longest(ring)}, data.dtype());
  for (int step = 0; step < ring.n - 1; ++step) {
    Tensor& mine = ring.chunk(ring.rank - step - 2);
    Tensor arriving = inbox.narrow(0, mine.numel());
    Work arrival = dist::irecv(arriving);
    dist::send(ring.chunk(ring.rank - step - 1), ring.next);
    arrival.wait();
    add(mine, arriving);
  }
}

//// off_by_one_chunk
// Misconception: chunk `rank` is mine, so I send it first.
// Replaces: reduce_scatter
// Killed by: Part1ReduceScatter.small_rings
// Diagnosis: off_by_one_chunk

void reduce_scatter(Tensor& data) {
  Ring ring(data);
  Tensor inbox = dist::empty({longest(ring)}, data.dtype());
  for (int step = 0; step < ring.n - 1; ++step) {
    Tensor& mine = ring.chunk(ring.rank - step - 1);
    Tensor arriving = inbox.narrow(0, mine.numel());
    Work arrival = dist::irecv(arriving, ring.before);
    dist::send(ring.chunk(ring.rank - step), ring.next);
    arrival.wait();
    add(mine, arriving);
  }
}

//// one_step_short
// Misconception: a chunk passes n - 1 ranks, and I am one of them, so there are n - 2 steps.
// Replaces: reduce_scatter
// Killed by: Part1ReduceScatter.small_rings
// Diagnosis: one_step_short

void reduce_scatter(Tensor& data) {
  Ring ring(data);
  Tensor inbox = dist::empty({longest(ring)}, data.dtype());
  for (int step = 0; step < ring.n - 2; ++step) {
    Tensor& mine = ring.chunk(ring.rank - step - 2);
    Tensor arriving = inbox.narrow(0, mine.numel());
    Work arrival = dist::irecv(arriving, ring.before);
    dist::send(ring.chunk(ring.rank - step - 1), ring.next);
    arrival.wait();
    add(mine, arriving);
  }
}

//// overwrites_its_own
// Misconception: a chunk has its position in the data, so it is received there. (This overwrites the rank's
// own numbers.)
// Replaces: reduce_scatter
// Killed by: Part1ReduceScatter.small_rings
// Diagnosis: overwrites_its_own

void reduce_scatter(Tensor& data) {
  Ring ring(data);
  for (int step = 0; step < ring.n - 1; ++step) {
    Work arrival = dist::irecv(ring.chunk(ring.rank - step - 2), ring.before);
    dist::send(ring.chunk(ring.rank - step - 1), ring.next);
    arrival.wait();
  }
}

//// scratch_as_long_as_the_data
// Misconception: arriving data needs memory, so the program allocates empty_like(data). (A ring does not need
// so much.)
// Replaces: reduce_scatter
// Killed by: Part1ReduceScatter.one_chunk_of_scratch
// Diagnosis: scratch_as_long_as_the_data

void reduce_scatter(Tensor& data) {
  Ring ring(data), inboxes(dist::empty_like(data));
  for (int step = 0; step < ring.n - 1; ++step) {
    Tensor& arriving = inboxes.chunk(ring.rank - step - 2);
    Work arrival = dist::irecv(arriving, ring.before);
    dist::send(ring.chunk(ring.rank - step - 1), ring.next);
    arrival.wait();
    add(ring.chunk(ring.rank - step - 2), arriving);
  }
}

//// sends_and_receives_in_turns
// Misconception: even ranks send first and odd ranks receive first, and no time is lost by it.
// Replaces: reduce_scatter
// Killed by: Part1ReduceScatter.one_chunk_a_step
// Diagnosis: sends_and_receives_in_turns

void reduce_scatter(Tensor& data) {
  Ring ring(data);
  Tensor inbox = dist::empty({longest(ring)}, data.dtype());
  for (int step = 0; step < ring.n - 1; ++step) {
    Tensor& mine = ring.chunk(ring.rank - step - 2);
    Tensor arriving = inbox.narrow(0, mine.numel());
    if (ring.rank % 2 == 0) dist::send(ring.chunk(ring.rank - step - 1), ring.next);
    dist::recv(arriving, ring.before);
    if (ring.rank % 2 == 1) dist::send(ring.chunk(ring.rank - step - 1), ring.next);
    add(mine, arriving);
  }
}

//// sums_integers_in_float
// Misconception: integers may be summed as f64, which is exact enough for all numbers.
// Replaces: reduce_scatter
// Killed by: Part1ReduceScatter.any_number_of_ranks
// Diagnosis: sums_integers_in_float

void reduce_scatter(Tensor& data) {
  if (data.dtype() != dist::DType::i64) return right_reduce_scatter(data);
  Tensor sum = data.to(dist::DType::f64);
  right_reduce_scatter(sum);
  data.copy_(sum);
}

//// everybody_sends_first
// Misconception: a rank may send first and receive afterwards, because the message is gone when send returns.
// Replaces: all_gather
// Killed by: Part2AllGather.small_rings
// Diagnosis: everybody_sends_first

void all_gather(Tensor& data) {
  Ring ring(data);
  for (int step = 0; step < ring.n - 1; ++step) {
    dist::send(ring.chunk(ring.rank - step), ring.next);
    dist::recv(ring.chunk(ring.rank - step - 1), ring.before);
  }
}

//// gathers_from_any_rank
// Misconception: only the rank before sends to a rank, so its number does not matter.
// Replaces: all_gather
// Killed by: Part2AllGather.any_number_of_ranks
// Diagnosis: takes_any_message

void all_gather(Tensor& data) {
  Ring ring(data);
  for (int step = 0; step < ring.n - 1; ++step) {
    Work arrival = dist::irecv(ring.chunk(ring.rank - step - 1));
    dist::send(ring.chunk(ring.rank - step), ring.next);
    arrival.wait();
  }
}

//// gathers_into_a_copy
// Misconception: arriving data needs memory of its own.
// Replaces: all_gather
// Killed by: Part2AllGather.one_chunk_a_step
// Diagnosis: scratch_as_long_as_the_data

void all_gather(Tensor& data) {
  Tensor copy = data.clone();
  right_all_gather(copy);
  data.copy_(copy);
}

//// overwrites_what_leaves
// Misconception: "in place" means that a chunk may arrive where the chunk that is being sent is.
// Replaces: all_gather
// Killed by: Part2AllGather.small_rings
// Diagnosis: overwrites_what_leaves

void all_gather(Tensor& data) {
  Ring ring(data);
  for (int step = 0; step < ring.n - 1; ++step) {
    Tensor& place = ring.chunk(ring.rank - step);
    Tensor leaving = place.narrow(0, ring.chunks[0].numel());
    Tensor arriving = place.narrow(0, ring.chunks[0].numel());
    Work arrival = dist::irecv(arriving, ring.before);
    dist::send(leaving, ring.next);
    arrival.wait();
  }
}

//// passes_its_own_on
// Misconception: every rank needs my chunk, so I send it in every step.
// Replaces: all_gather
// Killed by: Part2AllGather.small_rings
// Diagnosis: passes_its_own_on

void all_gather(Tensor& data) {
  Ring ring(data);
  for (int step = 0; step < ring.n - 1; ++step) {
    Work arrival = dist::irecv(ring.chunk(ring.rank - step - 1), ring.before);
    dist::send(ring.chunk(ring.rank), ring.next);
    arrival.wait();
  }
}

//// skips_empty_chunks
// Misconception: a chunk without elements need not be sent.
// Replaces: all_gather
// Killed by: Part2AllGather.one_chunk_a_step
// Diagnosis: skips_empty_messages

void all_gather(Tensor& data) {
  Ring ring(data);
  for (int step = 0; step < ring.n - 1; ++step) {
    Tensor &leaving = ring.chunk(ring.rank - step), &arriving = ring.chunk(ring.rank - step - 1);
    Work arrival;
    if (arriving.numel() > 0) arrival = dist::irecv(arriving, ring.before);
    if (leaving.numel() > 0) dist::send(leaving, ring.next);
    arrival.wait();
  }
}

//// a_new_tensor
// Misconception: the tensor is an output, so the function may assign a new one to it. But it is a handle to
// memory that others hold, too.
// Replaces: ring_all_reduce
// Killed by: Part3AllReduce.any_number_of_ranks
// Diagnosis: not_in_place

void ring_all_reduce(Tensor& data) {
  data = data.clone();
  right_ring_all_reduce(data);
}

//// each_rank_sums_for_itself
// Misconception: a sum does not depend on the order, so every rank adds what it receives, beginning with its
// own numbers.
// Replaces: ring_all_reduce
// Killed by: Part3AllReduce.same_bits_on_all_ranks
// Diagnosis: each_rank_sums_in_its_own_order

void ring_all_reduce(Tensor& data) {
  const Ring ring(data);
  Tensor passing = data.clone(), arriving = dist::empty_like(data);
  for (int step = 0; step < ring.n - 1; ++step) {
    Work arrival = dist::irecv(arriving, ring.before);
    dist::send(passing, ring.next);
    arrival.wait();
    add(data, arriving);
    passing.copy_(arriving);
  }
}

//// gathers_everything_to_sum
// Misconception: every rank receives all numbers and adds them up in the order of the ranks. (The result is
// right.)
// Replaces: ring_all_reduce
// Killed by: Part3AllReduce.two_n_minus_1_over_n
// Diagnosis: gathers_everything_to_sum

void ring_all_reduce(Tensor& data) {
  const int n = dist::get_world_size();
  Tensor all = dist::empty({n * data.numel()}, data.dtype());
  const auto numbers_of = [&](int rank) { return all.narrow(rank * data.numel(), data.numel()); };
  Tensor own = numbers_of(dist::get_rank());
  own.copy_(data);
  all_gather(all);
  data.zero_();
  for (int rank = 0; rank < n; ++rank) add(data, numbers_of(rank));
}

//// half_of_it
// Misconception: the all_reduce is finished once every chunk is summed on some rank.
// Replaces: ring_all_reduce
// Killed by: Part3AllReduce.any_number_of_ranks
// Diagnosis: half_of_it

void ring_all_reduce(Tensor& data) { reduce_scatter(data); }

//// remainder_dropped
// Misconception: n chunks of length / n elements are all elements.
// Replaces: ring_all_reduce
// Killed by: Part3AllReduce.any_length
// Diagnosis: remainder_dropped

void ring_all_reduce(Tensor& data) {
  const std::int64_t n = dist::get_world_size();
  Tensor even = data.narrow(0, data.numel() / n * n);
  right_ring_all_reduce(even);
}

//// scratch_out_of_sight
// Misconception: memory that is not in a tensor costs nothing, so the scratch may be a std::vector as long
// as the data.
// Replaces: ring_all_reduce
// Killed by: Part3AllReduce.two_n_minus_1_over_n
// Diagnosis: scratch_as_long_as_the_data

void ring_all_reduce(Tensor& data) {
  const std::vector<std::byte> before(static_cast<const std::byte*>(data.raw()),
                                      static_cast<const std::byte*>(data.raw()) + data.nbytes());
  right_ring_all_reduce(data);
  if (before.size() != data.nbytes()) data.zero_();
}

//// sums_twice
// Misconception: an all_reduce adds what arrives in every step.
// Replaces: ring_all_reduce
// Killed by: Part3AllReduce.any_number_of_ranks
// Diagnosis: sums_twice

void ring_all_reduce(Tensor& data) {
  reduce_scatter(data);
  Ring ring(data);
  Tensor inbox = dist::empty({longest(ring)}, data.dtype());
  for (int step = 0; step < ring.n - 1; ++step) {
    Tensor& mine = ring.chunk(ring.rank - step - 1);
    Tensor arriving = inbox.narrow(0, mine.numel());
    Work arrival = dist::irecv(arriving, ring.before);
    dist::send(ring.chunk(ring.rank - step), ring.next);
    arrival.wait();
    add(mine, arriving);
  }
}

//// adds_unseen
// Misconception: acc.add_(arrived) is the same as add(acc, arrived). (The numbers are the same, but in the
// simulation it takes no time, so nothing is left to hide.)
// Killed by: Part4Pipelined.hides_the_adding
// Diagnosis: adds_unseen

#define add(acc, arrived) (acc).add_(arrived)
#include SOLUTION

//// an_inbox_for_each_segment
// Misconception: every segment in flight needs memory of its own, so every segment gets a buffer.
// Replaces: all_reduce_pipelined
// Killed by: Part4Pipelined.two_segments_of_scratch
// Diagnosis: scratch_as_long_as_the_data

void all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  const Tensor inboxes = dist::empty_like(data);
  right_all_reduce_pipelined(data, segment);
  (void)inboxes;
}

//// cut_by_the_segment_length
// Misconception: the segments of a chunk have `segment` elements each, and the last one the rest.
// Replaces: all_reduce_pipelined
// Killed by: Part4Pipelined.one_segment_a_message
// Diagnosis: cut_by_the_segment_length

void all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  Ring ring(data);
  const auto m = static_cast<int>(std::max<std::int64_t>(1, (longest(ring) + segment - 1) / segment));
  const int turns = 2 * (ring.n - 1) * m, lag = std::min(m - 1, 1);
  const auto part = [&](int step, int turn) {
    const Tensor chunk = ring.chunk(ring.rank - step);
    const std::int64_t first = std::min(segment * (turn % m), chunk.numel());
    return chunk.narrow(first, std::min(segment, chunk.numel() - first));
  };
  const std::int64_t most = std::min(segment, longest(ring));
  const std::array inboxes{dist::empty({most}, data.dtype()), dist::empty({most}, data.dtype())};
  std::array<Tensor, 2> arriving;
  std::array<Work, 2> arrivals, leaving;

  for (int turn = 0; turn < turns + lag; ++turn) {
    if (turn < turns) {
      Tensor& place = arriving[at(turn % 2)] = part(turn / m + 2, turn);
      if (turn < turns / 2) place = inboxes[at(turn % 2)].narrow(0, place.numel());
      arrivals[at(turn % 2)] = dist::irecv(place, ring.before);
      leaving[at(turn % 2)] = dist::isend(part(turn / m + 1, turn), ring.next);
    }
    const int come = turn - lag;
    if (come < 0) continue;
    arrivals[at(come % 2)].wait();
    Tensor mine = part(come / m + 2, come);
    if (come < turns / 2) add(mine, arriving[at(come % 2)]);
    leaving[at(come % 2)].wait();
  }
}

//// f64_through_f32
// Misconception: segments are f32. The last digits of an f64 are lost on the way.
// Replaces: all_reduce_pipelined
// Killed by: Part4Pipelined.any_number_of_ranks
// Diagnosis: f64_through_f32

void all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  if (data.dtype() != dist::DType::f64) return right_all_reduce_pipelined(data, segment);
  Tensor sum = data.to(dist::DType::f32);
  right_all_reduce_pipelined(sum, segment);
  data.copy_(sum);
}

//// not_in_segments
// Misconception: segments are optional, because the result is the same without them.
// Replaces: all_reduce_pipelined
// Killed by: Part4Pipelined.one_segment_a_message
// Diagnosis: not_in_segments

void all_reduce_pipelined(Tensor& data, std::int64_t) { ring_all_reduce(data); }

//// one_segment_too_many
// Misconception: the number of segments is a quotient of integers plus one for the rest.
// Replaces: all_reduce_pipelined
// Killed by: Part4Pipelined.one_segment_a_message
// Diagnosis: too_many_segments

void all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  const std::int64_t n = dist::get_world_size(), longest = (data.numel() + n - 1) / n;
  const std::int64_t m = std::max<std::int64_t>(1, longest / segment + 1);
  right_all_reduce_pipelined(data, std::max<std::int64_t>(1, (longest + m - 1) / m));  // in m segments
}

//// segments_of_the_shortest_chunk
// Misconception: any chunk tells the number of segments.
// Replaces: all_reduce_pipelined
// Killed by: Part4Pipelined.one_segment_a_message
// Diagnosis: too_few_segments

void all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  const std::int64_t n = dist::get_world_size(), longest = (data.numel() + n - 1) / n;
  const std::int64_t m = std::max<std::int64_t>(1, (data.numel() / n + segment - 1) / segment);
  right_all_reduce_pipelined(data, std::max<std::int64_t>(1, (longest + m - 1) / m));  // in m segments
}

//// segments_rounded_down
// Misconception: the number of segments is the length of a chunk divided by `segment`.
// Replaces: all_reduce_pipelined
// Killed by: Part4Pipelined.one_segment_a_message
// Diagnosis: too_few_segments

void all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  const std::int64_t n = dist::get_world_size(), longest = (data.numel() + n - 1) / n;
  const std::int64_t m = std::max<std::int64_t>(1, longest / segment);
  right_all_reduce_pipelined(data, std::max<std::int64_t>(1, (longest + m - 1) / m));  // in m segments
}

//// skips_empty_segments
// Misconception: a message without elements says nothing.
// Replaces: all_reduce_pipelined
// Killed by: Part4Pipelined.one_segment_a_message
// Diagnosis: skips_empty_messages

void all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  Ring ring(data);
  const auto m = static_cast<int>(std::max<std::int64_t>(1, (longest(ring) + segment - 1) / segment));
  const int turns = 2 * (ring.n - 1) * m, lag = std::min(m - 1, 1);
  const auto part = [&](int step, int turn) { return ring.chunk(ring.rank - step).chunk(m)[at(turn % m)]; };
  const std::int64_t most = (longest(ring) + m - 1) / m;
  const std::array inboxes{dist::empty({most}, data.dtype()), dist::empty({most}, data.dtype())};
  std::array<Tensor, 2> arriving;
  std::array<Work, 2> arrivals, leaving;

  for (int turn = 0; turn < turns + lag; ++turn) {
    if (turn < turns) {
      Tensor& place = arriving[at(turn % 2)] = part(turn / m + 2, turn);
      if (turn < turns / 2) place = inboxes[at(turn % 2)].narrow(0, place.numel());
      if (place.numel() > 0) arrivals[at(turn % 2)] = dist::irecv(place, ring.before);
      const Tensor leaves = part(turn / m + 1, turn);
      if (leaves.numel() > 0) leaving[at(turn % 2)] = dist::isend(leaves, ring.next);
    }
    const int come = turn - lag;
    if (come < 0) continue;
    arrivals[at(come % 2)].wait();
    Tensor mine = part(come / m + 2, come);
    if (come < turns / 2) add(mine, arriving[at(come % 2)]);
    leaving[at(come % 2)].wait();
  }
}

//// tells_before_it_came
// Misconception: the simulator may be told of an addition while what is to be added is still on its way.
// Replaces: all_reduce_pipelined
// Killed by: Part4Pipelined.hides_the_adding
// Diagnosis: adds_unseen

void all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  Ring ring(data);
  const auto m = static_cast<int>(std::max<std::int64_t>(1, (longest(ring) + segment - 1) / segment));
  const int turns = 2 * (ring.n - 1) * m;
  const auto part = [&](int step, int turn) { return ring.chunk(ring.rank - step).chunk(m)[at(turn % m)]; };
  const std::int64_t most = (longest(ring) + m - 1) / m;
  Tensor inbox = dist::empty({most}, data.dtype()), other = dist::zeros_like(inbox);
  for (int turn = 0; turn < turns; ++turn) {
    Tensor mine = part(turn / m + 2, turn);
    const bool sums = turn < turns / 2;
    Tensor arriving = sums ? inbox.narrow(0, mine.numel()) : mine;
    Work arrival = dist::irecv(arriving, ring.before);
    Work leaving = dist::isend(part(turn / m + 1, turn), ring.next);
    if (sums) add(other, other);
    arrival.wait();
    leaving.wait();
    if (sums) mine.add_(arriving);
  }
}

//// tells_half_of_it_later
// Misconception: a rank may have told the simulator of half of its additions when it sends their sums, and
// tell of the others where the ring has nothing to add.
// Replaces: all_reduce_pipelined
// Killed by: Part4Pipelined.hides_the_adding
// Diagnosis: adds_unseen

void all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  Ring ring(data);
  const auto m = static_cast<int>(std::max<std::int64_t>(1, (longest(ring) + segment - 1) / segment));
  const int turns = 2 * (ring.n - 1) * m;
  const auto part = [&](int step, int turn) { return ring.chunk(ring.rank - step).chunk(m)[at(turn % m)]; };
  const std::int64_t most = (longest(ring) + m - 1) / m;
  Tensor inbox = dist::empty({most}, data.dtype()), other = dist::zeros_like(inbox);
  for (int turn = 0; turn < turns; ++turn) {
    Tensor mine = part(turn / m + 2, turn);
    const bool sums = turn < turns / 2;
    Tensor arriving = sums ? inbox.narrow(0, mine.numel()) : mine;
    Work arrival = dist::irecv(arriving, ring.before);
    Work leaving = dist::isend(part(turn / m + 1, turn), ring.next);
    if (!sums || turn % 2 == 1) add(other, other);
    arrival.wait();
    leaving.wait();
    if (sums) mine.add_(arriving);
  }
}

//// tells_of_other_additions
// Misconception: the additions that the simulator is told of need not be those that are made, so they can be
// told where the ring has nothing to add.
// Replaces: all_reduce_pipelined
// Killed by: Part4Pipelined.hides_the_adding
// Diagnosis: adds_unseen

void all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  Ring ring(data);
  const auto m = static_cast<int>(std::max<std::int64_t>(1, (longest(ring) + segment - 1) / segment));
  const int turns = 2 * (ring.n - 1) * m;
  const auto part = [&](int step, int turn) { return ring.chunk(ring.rank - step).chunk(m)[at(turn % m)]; };
  const std::int64_t most = (longest(ring) + m - 1) / m;
  Tensor inbox = dist::empty({most}, data.dtype());
  for (int turn = 0; turn < turns; ++turn) {
    Tensor mine = part(turn / m + 2, turn);
    const bool sums = turn < turns / 2;
    Tensor arriving = sums ? inbox.narrow(0, mine.numel()) : mine;
    Work arrival = dist::irecv(arriving, ring.before);
    Work leaving = dist::isend(part(turn / m + 1, turn), ring.next);
    if (!sums) add(inbox, inbox);
    arrival.wait();
    leaving.wait();
    if (sums) mine.add_(arriving);
  }
}

//// waits_for_each_segment
// Misconception: segments alone make a pipeline, so each one is received, added and sent in turn.
// Replaces: all_reduce_pipelined
// Killed by: Part4Pipelined.hides_the_adding
// Diagnosis: waits_for_each_segment

void all_reduce_pipelined(Tensor& data, std::int64_t segment) {
  Ring ring(data);
  const auto m = static_cast<int>(std::max<std::int64_t>(1, (longest(ring) + segment - 1) / segment));
  const int turns = 2 * (ring.n - 1) * m;
  const auto part = [&](int step, int turn) { return ring.chunk(ring.rank - step).chunk(m)[at(turn % m)]; };
  const Tensor inbox = dist::empty({(longest(ring) + m - 1) / m}, data.dtype());
  for (int turn = 0; turn < turns; ++turn) {
    Tensor mine = part(turn / m + 2, turn), arriving = mine;
    if (turn < turns / 2) arriving = inbox.narrow(0, mine.numel());
    Work arrival = dist::irecv(arriving, ring.before);
    dist::send(part(turn / m + 1, turn), ring.next);
    arrival.wait();
    if (turn < turns / 2) add(mine, arriving);
  }
}
