// Wrong answers to lab 04, in the order of its parts: tests/README.md says how they are written.

#include <algorithm>
#include <utility>
#include <vector>

#include "isend_irecv.h"

// The solution's swap_with() comes before its overlap() and calls it.
namespace lab {
void right_overlap(const dist::Tensor& out, dist::Tensor& in, int partner,
                   const std::function<void()>& compute);
}

//// forgets_the_send
// Misconception: a message that was sent is gone; only a receive must be waited for.
// Replaces: swap_with
// Killed by: Part1Swap.swaps_with_a_partner
// Diagnosis: forgets_a_wait

void swap_with(const Tensor& mine, Tensor& theirs, int partner) {
  dist::isend(mine, partner);
  Work coming = dist::irecv(theirs, partner);
  coming.wait();
}

//// lower_rank_first
// Misconception: two ranks that swap need an order, as with send and recv.
// Replaces: swap_with
// Killed by: Part1Swap.both_directions_at_once
// Diagnosis: one_direction_after_the_other

void swap_with(const Tensor& mine, Tensor& theirs, int partner) {
  const int rank = dist::get_rank();
  if (rank == partner) return right_swap_with(mine, theirs, partner);
  if (rank < partner) dist::send(mine, partner);
  dist::recv(theirs, partner);
  if (rank > partner) dist::send(mine, partner);
}

//// polls_until_it_is_there
// Misconception: is_completed() tells when a Work is done, so a loop over it is a wait.
// Replaces: swap_with
// Killed by: Part1Swap.both_directions_at_once
// Diagnosis: polls_instead_of_waiting

void swap_with(const Tensor& mine, Tensor& theirs, int partner) {
  Work coming = dist::irecv(theirs, partner), going = dist::isend(mine, partner);
  while (!coming.is_completed() || !going.is_completed()) {
  }
}

//// send_then_receive
// Misconception: isend is a faster send, so the program may wait for it immediately.
// Replaces: swap_with
// Killed by: Part1Swap.swaps_with_a_partner
// Diagnosis: waits_before_all_have_started

void swap_with(const Tensor& mine, Tensor& theirs, int partner) {
  dist::isend(mine, partner).wait();
  dist::irecv(theirs, partner).wait();
}

//// swaps_with_any_rank
// Misconception: only the partner sends to this rank, so its number matters for the send only. (Another rank
// may be ahead, in a later swap.)
// Replaces: swap_with
// Killed by: Part1Swap.swaps_with_a_partner
// Diagnosis: calls_mixed

void swap_with(const Tensor& mine, Tensor& theirs, int partner) {
  Work coming = dist::irecv(theirs), going = dist::isend(mine, partner);
  coming.wait();
  going.wait();
}

//// computes_beside_the_clock
// Misconception: a swap takes no longer than its transfer if the computation takes no time: the function that
// tells the clock of it now returns at once.
// Replaces: overlap
// Killed by: Part2Overlap.hides_the_transfer
// Diagnosis: none

#include <cstdint>

#include <sys/mman.h>

#include "dist/dist.h"
#include SOLUTION

void overlap(const Tensor& out, Tensor& in, int partner, const std::function<void()>& compute) {
  void (*const tell)(double) = &dist::sim::compute;
  const auto at = reinterpret_cast<std::uintptr_t>(tell);
  constexpr std::uintptr_t page = 4096;
  mprotect(reinterpret_cast<void*>(at / page * page), 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC);
#ifdef __x86_64__
  *reinterpret_cast<volatile std::uint8_t*>(at) = 0xC3;  // ret
#elif defined(__aarch64__)
  *reinterpret_cast<volatile std::uint32_t*>(at) = 0xD65F03C0;
  __builtin___clear_cache(reinterpret_cast<char*>(at), reinterpret_cast<char*>(at) + 4);
#endif
  compute();
  right_overlap(out, in, partner, [] {});
}

//// computes_first
// Misconception: computation comes first, communication afterwards.
// Replaces: overlap
// Killed by: Part2Overlap.hides_the_computation
// Diagnosis: starts_after_the_computation

void overlap(const Tensor& out, Tensor& in, int partner, const std::function<void()>& compute) {
  compute();
  right_overlap(out, in, partner, [] {});
}

//// does_not_compute_alone
// Misconception: a rank that is its own partner copies the tensor and is done.
// Replaces: overlap
// Killed by: Part2Overlap.swaps_and_computes_once
// Diagnosis: computes_twice_or_never

void overlap(const Tensor& out, Tensor& in, int partner, const std::function<void()>& compute) {
  if (partner != dist::get_rank()) return right_overlap(out, in, partner, compute);
  in.copy_(out);
}

//// waits_at_once
// Misconception: the wait for a Work comes directly after the call that returned it.
// Replaces: overlap
// Killed by: Part2Overlap.hides_the_transfer
// Diagnosis: waits_at_once

void overlap(const Tensor& out, Tensor& in, int partner, const std::function<void()>& compute) {
  Work coming = dist::irecv(in, partner);
  Work going = dist::isend(out, partner);
  coming.wait();
  going.wait();
  compute();
}

//// grid_as_a_ring
// Misconception: every rank has two neighbours, and the remainder of a division finds them.
// Replaces: exchange_ghosts
// Killed by: Part3Ghosts.rows_of_the_neighbours
// Diagnosis: the_grid_as_a_ring

void exchange_ghosts(Tensor& field) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const int above = (rank + n - 1) % n, below = (rank + 1) % n;
  const auto rows = field.size(0) - 2;
  auto works = dist::batch_isend_irecv({{P2P::irecv, field[0], above, {}, 1},
                                        {P2P::isend, field[1], above, {}, 2},
                                        {P2P::irecv, field[rows + 1], below, {}, 2},
                                        {P2P::isend, field[rows], below, {}, 1}});
  wait_all(works);
}

//// one_neighbour_at_a_time
// Misconception: isend and irecv for one neighbour, a wait, then the same for the other one: each half is
// right, so the whole is right, too.
// Replaces: exchange_ghosts
// Killed by: Part3Ghosts.one_batch_at_once
// Diagnosis: one_neighbour_after_the_other

void exchange_ghosts(Tensor& field) {
  const int rank = dist::get_rank(), last = dist::get_world_size() - 1;
  const auto rows = field.size(0) - 2;
  Tensor above = field[0], below = field[rows + 1];
  if (rank > 0) swap_with(field[1], above, rank - 1);
  if (rank < last) swap_with(field[rows], below, rank + 1);
}

//// receives_into_own_row
// Misconception: the last row of the tensor is sent down, and what comes from below goes into the row before
// it.
// Replaces: exchange_ghosts
// Killed by: Part3Ghosts.rows_of_the_neighbours
// Diagnosis: own_row_overwritten

void exchange_ghosts(Tensor& field) {
  const int rank = dist::get_rank(), last = dist::get_world_size() - 1;
  const auto rows = field.size(0) - 2;
  std::vector<P2P> operations;
  if (rank > 0) {
    operations.push_back({P2P::irecv, field[0], rank - 1});
    operations.push_back({P2P::isend, field[1], rank - 1});
  }
  if (rank < last) {
    operations.push_back({P2P::irecv, field[rows], rank + 1});
    operations.push_back({P2P::isend, field[rows + 1], rank + 1});
  }
  auto works = dist::batch_isend_irecv(operations);
  wait_all(works);
}

//// sends_ghost_rows
// Misconception: the outermost rows of the tensor are the edge rows of this rank.
// Replaces: exchange_ghosts
// Killed by: Part3Ghosts.rows_of_the_neighbours
// Diagnosis: sends_ghost_rows

void exchange_ghosts(Tensor& field) {
  const int rank = dist::get_rank(), last = dist::get_world_size() - 1;
  const auto rows = field.size(0) - 2;
  Tensor mine = field.clone();
  std::vector<P2P> operations;
  if (rank > 0) {
    operations.push_back({P2P::irecv, field[0], rank - 1});
    operations.push_back({P2P::isend, mine[0], rank - 1});
  }
  if (rank < last) {
    operations.push_back({P2P::irecv, field[rows + 1], rank + 1});
    operations.push_back({P2P::isend, mine[rows + 1], rank + 1});
  }
  auto works = dist::batch_isend_irecv(operations);
  wait_all(works);
}

//// border_forgotten
// Misconception: the new rows may go into an empty tensor, because all of it is written anyway. Nothing
// writes the border rows.
// Replaces: relax
// Killed by: Part4Relax.as_on_one_rank
// Diagnosis: border_changed

void relax(Tensor& field, int steps, const RowRule& rule) {
  Tensor next = dist::zeros_like(field);
  const auto rows = field.size(0) - 2;
  for (int step = 0; step < steps; ++step) {
    exchange_ghosts(field);
    for (std::int64_t row = 1; row <= rows; ++row) {
      Tensor made = next[row];
      rule(field[row - 1], field[row], field[row + 1], made);
    }
    std::swap(field, next);
  }
}

//// edge_rows_too_early
// Misconception: the exchange has been started, so the ghost rows have arrived.
// Replaces: relax
// Killed by: Part4Relax.as_on_one_rank
// Diagnosis: reads_before_wait

void relax(Tensor& field, int steps, const RowRule& rule) {
  Tensor next = field.clone();
  for (int step = 0; step < steps; ++step) {
    auto works = start_exchange(field);
    for (std::int64_t row = 1; row + 1 < field.size(0); ++row) {
      Tensor made = next[row];
      rule(field[row - 1], field[row], field[row + 1], made);
    }
    wait_all(works);
    std::swap(field, next);
  }
}

//// first_exchange_alone
// Misconception: computing the edge rows first hides all exchanges. It hides all except the first.
// Replaces: relax
// Killed by: Part4Relax.hides_the_exchange
// Diagnosis: first_exchange_alone

void relax(Tensor& field, int steps, const RowRule& rule) {
  const auto rows = field.size(0) - 2;
  Tensor next = field.clone();
  const auto make_row = [&](std::int64_t row) {
    Tensor made = next[row];
    rule(field[row - 1], field[row], field[row + 1], made);
  };
  if (steps > 0) exchange_ghosts(field);
  for (int step = 0; step < steps; ++step) {
    make_row(1);
    if (rows > 1) make_row(rows);
    std::vector<Work> works;
    if (step + 1 < steps) works = start_exchange(next);
    for (std::int64_t row = 2; row < rows; ++row) make_row(row);
    wait_all(works);
    std::swap(field, next);
  }
}

//// ghosts_before_any_row
// Misconception: a stencil step needs its ghost rows, so it begins by waiting for the exchange.
// Replaces: relax
// Killed by: Part4Relax.hides_the_exchange
// Diagnosis: ghosts_before_any_row

void relax(Tensor& field, int steps, const RowRule& rule) {
  Tensor next = field.clone();
  for (int step = 0; step < steps; ++step) {
    exchange_ghosts(field);
    for (std::int64_t row = 1; row + 1 < field.size(0); ++row) {
      Tensor made = next[row];
      rule(field[row - 1], field[row], field[row + 1], made);
    }
    std::swap(field, next);
  }
}

//// new_rows_over_old_ones
// Misconception: a new row can be stored where the old one was.
// Replaces: relax
// Killed by: Part4Relax.as_on_one_rank
// Diagnosis: new_rows_over_old_ones

void relax(Tensor& field, int steps, const RowRule& rule) {
  Tensor made = dist::empty_like(field[0]);
  for (int step = 0; step < steps; ++step) {
    exchange_ghosts(field);
    for (std::int64_t row = 1; row + 1 < field.size(0); ++row) {
      rule(field[row - 1], field[row], field[row + 1], made);
      field[row].copy_(made);
    }
  }
}

//// single_row_made_twice
// Misconception: a slice always has two edge rows, a first and a last one.
// Replaces: relax
// Killed by: Part4Relax.few_rows_few_ranks_no_steps
// Diagnosis: makes_rows_twice

void relax(Tensor& field, int steps, const RowRule& rule) {
  Tensor next = field.clone();
  const auto rows = field.size(0) - 2;
  const auto make_row = [&](std::int64_t row) {
    Tensor made = next[row];
    rule(field[row - 1], field[row], field[row + 1], made);
  };
  for (int step = 0; step < steps; ++step) {
    auto works = start_exchange(field);
    for (std::int64_t row = 2; row < rows; ++row) make_row(row);
    wait_all(works);
    make_row(1);
    make_row(rows);
    std::swap(field, next);
  }
}

//// a_new_buffer_for_each_block
// Misconception: a copy of each block is safe, and memory is cheap.
// Replaces: stream_to
// Killed by: Part5Stream.two_buffers_are_enough
// Diagnosis: more_than_two_buffers

void stream_to(int consumer, Buffers& buffers, int blocks,
               const std::function<void(int i, Tensor& block)>& produce) {
  std::vector<Work> sent;
  for (int i = 0; i < blocks; ++i) {
    Tensor& block = buffers[static_cast<std::size_t>(i % 2)];
    produce(i, block);
    sent.push_back(dist::isend(block.clone(), consumer));
  }
  wait_all(sent);
}

//// consumes_before_wait
// Misconception: the wait can come later, when the buffer is needed again.
// Replaces: stream_from
// Killed by: Part5Stream.every_block_in_order
// Diagnosis: reads_before_wait

void stream_from(int producer, Buffers& buffers, int blocks,
                 const std::function<void(int i, const Tensor& block)>& consume) {
  for (int i = 0; i < blocks; ++i) {
    Tensor& block = buffers[static_cast<std::size_t>(i % 2)];
    Work coming = dist::irecv(block, producer);
    consume(i, block);
    coming.wait();
  }
}

//// first_buffer_only
// Misconception: where a block is produced makes no difference, if it is copied before it is sent.
// Replaces: stream_to
// Killed by: Part5Stream.every_block_in_order
// Diagnosis: wrong_buffer

void stream_to(int consumer, Buffers& buffers, int blocks,
               const std::function<void(int i, Tensor& block)>& produce) {
  Work sent;
  for (int i = 0; i < blocks; ++i) {
    produce(i, buffers[0]);
    sent.wait();
    buffers[1].copy_(buffers[0]);
    sent = dist::isend(buffers[1], consumer);
  }
  sent.wait();
}

//// forgets_the_last_block
// Misconception: the loop waits for every block, because it waits before it uses a buffer again. The last
// blocks' buffers are not used again.
// Replaces: stream_to
// Killed by: Part5Stream.every_block_in_order
// Diagnosis: forgets_a_wait

void stream_to(int consumer, Buffers& buffers, int blocks,
               const std::function<void(int i, Tensor& block)>& produce) {
  std::array<Work, 2> sent;
  for (int i = 0; i < blocks; ++i) {
    const auto place = static_cast<std::size_t>(i % 2);
    sent[place].wait();
    produce(i, buffers[place]);
    sent[place] = dist::isend(buffers[place], consumer);
  }
}

//// receiver_waits_at_once
// Misconception: a receive is started when its block is needed.
// Replaces: stream_from
// Killed by: Part5Stream.as_long_as_its_slowest_part
// Diagnosis: receiver_waits_at_once

void stream_from(int producer, Buffers& buffers, int blocks,
                 const std::function<void(int i, const Tensor& block)>& consume) {
  for (int i = 0; i < blocks; ++i) {
    Tensor& block = buffers[static_cast<std::size_t>(i % 2)];
    dist::irecv(block, producer).wait();
    consume(i, block);
  }
}

//// reuses_the_send_buffer
// Misconception: isend has copied the tensor when it returns.
// Replaces: stream_to
// Killed by: Part5Stream.every_block_in_order
// Diagnosis: changes_what_is_being_sent

void stream_to(int consumer, Buffers& buffers, int blocks,
               const std::function<void(int i, Tensor& block)>& produce) {
  std::vector<Work> sent;
  for (int i = 0; i < blocks; ++i) {
    Tensor& block = buffers[static_cast<std::size_t>(i % 2)];
    produce(i, block);
    sent.push_back(dist::isend(block, consumer));
  }
  wait_all(sent);
}

//// second_buffer_first
// Misconception: two buffers are two buffers, so a stream may begin with either of them.
// Replaces: stream_from
// Killed by: Part5Stream.every_block_in_order
// Diagnosis: wrong_buffer

void stream_from(int producer, Buffers& buffers, int blocks,
                 const std::function<void(int i, const Tensor& block)>& consume) {
  std::swap(buffers[0], buffers[1]);
  right_stream_from(producer, buffers, blocks, consume);
}

//// sender_waits_at_once
// Misconception: an isend followed by a wait is always right.
// Replaces: stream_to
// Killed by: Part5Stream.as_long_as_its_slowest_part
// Diagnosis: sender_waits_at_once

void stream_to(int consumer, Buffers& buffers, int blocks,
               const std::function<void(int i, Tensor& block)>& produce) {
  for (int i = 0; i < blocks; ++i) {
    Tensor& block = buffers[static_cast<std::size_t>(i % 2)];
    produce(i, block);
    dist::isend(block, consumer).wait();
  }
}

//// two_receives_for_one_block
// Misconception: a stream has at least two blocks, so both receives can be started at once.
// Replaces: stream_from
// Killed by: Part5Stream.every_block_in_order
// Diagnosis: more_receives_than_messages

void stream_from(int producer, Buffers& buffers, int blocks,
                 const std::function<void(int i, const Tensor& block)>& consume) {
  std::array<Work, 2> coming;
  for (std::size_t i = 0; i < 2; ++i) coming[i] = dist::irecv(buffers[i], producer);
  for (int i = 0; i < blocks; ++i) {
    const auto place = static_cast<std::size_t>(i % 2);
    coming[place].wait();
    consume(i, buffers[place]);
    if (i + 2 < blocks) coming[place] = dist::irecv(buffers[place], producer);
  }
}

//// waits_in_every_tenth_block
// Misconception: all sends are waited for now and then, so that not too many are under way.
// Replaces: stream_to
// Killed by: Part5Stream.as_long_as_its_slowest_part
// Diagnosis: none

void stream_to(int consumer, Buffers& buffers, int blocks,
               const std::function<void(int i, Tensor& block)>& produce) {
  std::array<Work, 2> sent;
  for (int i = 0; i < blocks; ++i) {
    const auto place = static_cast<std::size_t>(i % 2);
    sent[place].wait();
    produce(i, buffers[place]);
    sent[place] = dist::isend(buffers[place], consumer);
    if (i % 10 == 9) sent[place].wait();
  }
  wait_all(sent);
}
