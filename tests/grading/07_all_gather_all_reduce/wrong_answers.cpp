// Wrong answers to lab 07, in the order of its parts: tests/README.md says how they are written.

#include <algorithm>
#include <vector>

#include "dist/core/fail.h"

#include "all_gather_all_reduce.h"

//// clears_the_output
// Misconception: the output is cleared first. (`mine` may be a part of it.)
// Replaces: all_gather
// Killed by: Part1AllGather.in_place
// Diagnosis: input_changed

void all_gather(Tensor& all, const Tensor& mine) {
  all.zero_();
  right_all_gather(all, mine);
}

//// even_and_odd_take_turns
// Misconception: even ranks send first and odd ranks receive first, and no time is lost by it.
// Replaces: all_gather
// Killed by: Part1AllGather.n_minus_1_rounds
// Diagnosis: sends_and_receives_in_turns

void all_gather(Tensor& all, const Tensor& mine) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const auto part = [&, k = mine.numel()](int owner) { return all.narrow((owner + n) % n * k, k); };
  Tensor own = part(rank);
  if (own.raw() != mine.raw()) own.copy_(mine);
  for (int step = 0; step < n - 1; ++step) {
    Tensor leaving = part(rank - step), arriving = part(rank - step - 1);
    const int next = (rank + 1) % n, before = (rank + n - 1) % n;
    if (rank % 2 == 0) dist::send(leaving, next);
    dist::recv(arriving, before);
    if (rank % 2 == 1) dist::send(leaving, next);
  }
}

//// everybody_sends_first
// Misconception: a rank may send first and receive afterwards, because the message is gone when send returns.
// Replaces: all_gather
// Killed by: Part1AllGather.small_rings
// Diagnosis: everybody_sends_first

void all_gather(Tensor& all, const Tensor& mine) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const auto part = [&, k = mine.numel()](int owner) { return all.narrow((owner + n) % n * k, k); };
  Tensor own = part(rank);
  if (own.raw() != mine.raw()) own.copy_(mine);
  for (int step = 0; step < n - 1; ++step) {
    Tensor leaving = part(rank - step), arriving = part(rank - step - 1);
    dist::send(leaving, (rank + 1) % n);
    dist::recv(arriving, (rank + n - 1) % n);
  }
}

//// everybody_to_everybody
// Misconception: every rank needs the data of every other rank, so every rank sends to every other rank.
// Replaces: all_gather
// Killed by: Part1AllGather.neighbours_only
// Diagnosis: everybody_to_everybody

void all_gather(Tensor& all, const Tensor& mine) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const auto part = [&, k = mine.numel()](int owner) { return all.narrow(owner * k, k); };
  Tensor own = part(rank);
  if (own.raw() != mine.raw()) own.copy_(mine);
  for (int step = 1; step < n; ++step) {
    const int to = (rank + step) % n, from = (rank + n - step) % n;
    Tensor arriving = part(from);
    auto arrival = dist::irecv(arriving, from);
    dist::send(own, to);
    arrival.wait();
  }
}

//// gather_and_broadcast
// Misconception: all_gather is a gather to rank 0 and a broadcast. (The result is right.)
// Replaces: all_gather
// Killed by: Part1AllGather.neighbours_only
// Diagnosis: gather_and_broadcast

void all_gather(Tensor& all, const Tensor& mine) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const auto k = mine.numel();
  Tensor own = all.narrow(rank * k, k);
  if (own.raw() != mine.raw()) own.copy_(mine);
  if (rank != 0) dist::send(own, 0);
  for (int other = 1; rank == 0 && other < n; ++other) {
    Tensor part = all.narrow(other * k, k);
    dist::recv(part, other);
  }
  if (rank != 0) dist::recv(all, 0);
  for (int other = 1; rank == 0 && other < n; ++other) dist::send(all, other);
}

//// gathers_as_f32
// Misconception: every number is an f32.
// Replaces: all_gather
// Killed by: Part1AllGather.any_dtype
// Diagnosis: none

void all_gather(Tensor& all, const Tensor& mine) {
  Tensor rounded = all.to(dist::DType::f32);
  right_all_gather(rounded, mine.to(dist::DType::f32));
  all.copy_(rounded.to(all.dtype()));
}

//// gathers_from_any_rank
// Misconception: in a ring only the rank before sends to a rank, so its number does not matter. (Another
// function of the program may follow.)
// Replaces: all_gather
// Killed by: Part1AllGather.any_number_of_ranks
// Diagnosis: takes_any_message

void all_gather(Tensor& all, const Tensor& mine) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const auto part = [&, k = mine.numel()](int owner) { return all.narrow((owner + n) % n * k, k); };
  Tensor own = part(rank);
  if (own.raw() != mine.raw()) own.copy_(mine);
  for (int step = 0; step < n - 1; ++step) {
    Tensor leaving = part(rank - step), arriving = part(rank - step - 1);
    auto arrival = dist::irecv(arriving);
    dist::send(leaving, (rank + 1) % n);
    arrival.wait();
  }
}

//// one_step_short
// Misconception: the last step would bring my own chunk back, so it can be left out. (Step n would do so, not
// step n - 1.)
// Replaces: all_gather
// Killed by: Part1AllGather.small_rings
// Diagnosis: one_step_short

void all_gather(Tensor& all, const Tensor& mine) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const auto part = [&, k = mine.numel()](int owner) { return all.narrow((owner + n) % n * k, k); };
  Tensor own = part(rank);
  if (own.raw() != mine.raw()) own.copy_(mine);
  for (int step = 0; step < n - 1; ++step) {
    Tensor leaving = part(rank - step), arriving = part(rank - step - 1);
    if (step == n - 2) break;
    auto arrival = dist::irecv(arriving, (rank + n - 1) % n);
    dist::send(leaving, (rank + 1) % n);
    arrival.wait();
  }
}

//// order_rotated
// Misconception: the first chunk of the output is mine, and the others follow in the order in which they
// arrive.
// Replaces: all_gather
// Killed by: Part1AllGather.small_rings
// Diagnosis: order_rotated

void all_gather(Tensor& all, const Tensor& mine) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const auto k = mine.numel();
  Tensor first = all.narrow(0, k);
  first.copy_(mine.clone());
  for (int step = 0; step < n - 1; ++step) {
    Tensor leaving = all.narrow(step * k, k), arriving = all.narrow((step + 1) * k, k);
    auto arrival = dist::irecv(arriving, (rank + n - 1) % n);
    dist::send(leaving, (rank + 1) % n);
    arrival.wait();
  }
}

//// own_part_missing
// Misconception: my own chunk reaches me through the ring, like all other chunks.
// Replaces: all_gather
// Killed by: Part1AllGather.small_rings
// Diagnosis: own_part_missing

void all_gather(Tensor& all, const Tensor& mine) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const auto part = [&, k = mine.numel()](int owner) { return all.narrow((owner + n) % n * k, k); };
  for (int step = 0; step < n - 1; ++step) {
    Tensor leaving = step == 0 ? mine : part(rank - step), arriving = part(rank - step - 1);
    auto arrival = dist::irecv(arriving, (rank + n - 1) % n);
    dist::send(leaving, (rank + 1) % n);
    arrival.wait();
  }
}

//// passes_its_own_on
// Misconception: every rank needs my chunk, so I send it in every step.
// Replaces: all_gather
// Killed by: Part1AllGather.small_rings
// Diagnosis: passes_its_own_on

void all_gather(Tensor& all, const Tensor& mine) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const auto part = [&, k = mine.numel()](int owner) { return all.narrow((owner + n) % n * k, k); };
  Tensor own = part(rank);
  if (own.raw() != mine.raw()) own.copy_(mine);
  for (int step = 0; step < n - 1; ++step) {
    Tensor leaving = part(rank - step), arriving = part(rank - step - 1);
    leaving = part(rank);
    auto arrival = dist::irecv(arriving, (rank + n - 1) % n);
    dist::send(leaving, (rank + 1) % n);
    arrival.wait();
  }
}

//// passes_on_all_of_it
// Misconception: sending the whole output around the ring is safe, because nothing can be forgotten.
// Replaces: all_gather
// Killed by: Part1AllGather.neighbours_only
// Diagnosis: sends_all_of_it

void all_gather(Tensor& all, const Tensor& mine) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const auto k = mine.numel();
  Tensor own = all.narrow(rank * k, k);
  if (own.raw() != mine.raw()) own.copy_(mine);
  Tensor received = dist::empty_like(all);
  for (int step = 0; step < n - 1; ++step) {
    auto arrival = dist::irecv(received, (rank + n - 1) % n);
    dist::send(all, (rank + 1) % n);
    arrival.wait();
    const int owner = (rank - step - 1 + n) % n;
    Tensor part = all.narrow(owner * k, k);
    part.copy_(received.narrow(owner * k, k));
  }
}

//// a_new_tensor
// Misconception: the tensor is an output, so the function may assign a new one to it. But it is a handle to
// memory that others hold, too.
// Replaces: all_reduce_sum
// Killed by: Part2AllReduce.powers_of_two
// Diagnosis: not_in_place

void all_reduce_sum(Tensor& data) {
  Tensor sum = data.clone();
  right_all_reduce_sum(sum);
  data = sum;
}

//// each_rank_sums_for_itself
// Misconception: a sum does not depend on the order, so every rank adds what it receives, beginning with its
// own numbers.
// Replaces: all_reduce_sum
// Killed by: Part2AllReduce.same_bits_on_all_ranks
// Diagnosis: each_rank_sums_in_its_own_order

void all_reduce_sum(Tensor& data) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  Tensor passing = data.clone(), received = dist::empty_like(data);
  for (int step = 0; step < n - 1; ++step) {
    auto arrival = dist::irecv(received, (rank + n - 1) % n);
    dist::send(passing, (rank + 1) % n);
    arrival.wait();
    data.add_(received);
    passing.copy_(received);
  }
}

//// f64_through_f32
// Misconception: a tensor holds f32. The last digits of an f64 are lost on the way.
// Replaces: all_reduce_sum
// Killed by: Part2AllReduce.any_number_of_ranks
// Diagnosis: f64_through_f32

void all_reduce_sum(Tensor& data) {
  if (data.dtype() != dist::DType::f64) return right_all_reduce_sum(data);
  Tensor sum = data.to(dist::DType::f32);
  right_all_reduce_sum(sum);
  data.copy_(sum);
}

//// flat_for_a_tree
// Misconception: rank 0 collects from every rank and then sends to every rank.
// Replaces: all_reduce_sum
// Killed by: Part2AllReduce.up_and_down_a_tree
// Diagnosis: flat_for_a_tree

void all_reduce_sum(Tensor& data) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  Tensor received = dist::empty_like(data);
  if (rank != 0) dist::send(data, 0);
  for (int other = 1; rank == 0 && other < n; ++other) {
    dist::recv(received, other);
    data.add_(received);
  }
  broadcast_from_0(data);
}

//// gathers_everything_to_sum
// Misconception: every rank receives all numbers and adds them up in the order of the ranks. (The result is
// right.)
// Replaces: all_reduce_sum
// Killed by: Part2AllReduce.up_and_down_a_tree
// Diagnosis: gathers_everything_to_sum

void all_reduce_sum(Tensor& data) {
  const auto n = dist::get_world_size();
  const auto k = data.numel();
  Tensor all = dist::empty({n * k}, data.dtype());
  all_gather(all, data);
  data.zero_();
  for (int rank = 0; rank < n; ++rank) data.add_(all.narrow(rank * k, k));
}

//// ranks_behind_the_power_of_two
// Misconception: a tree has 2^k ranks, so log2 n may be rounded down.
// Replaces: all_reduce_sum
// Killed by: Part2AllReduce.any_number_of_ranks
// Diagnosis: power_of_two_assumed

void all_reduce_sum(Tensor& data) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  int size = 1;
  while (size * 2 <= n) size *= 2;
  Tensor received = dist::empty_like(data);
  const int bit = lowest_bit(rank, size);
  for (int distance = 1; rank < size && distance < bit; distance *= 2) {
    dist::recv(received, rank + distance);
    data.add_(received);
  }
  if (rank != 0 && rank < size) dist::send(data, rank - bit);
  broadcast_from_0(data);
}

//// result_on_rank_0_only
// Misconception: an all_reduce is finished when the reduce is finished.
// Replaces: all_reduce_sum
// Killed by: Part2AllReduce.powers_of_two
// Diagnosis: result_on_rank_0_only

void all_reduce_sum(Tensor& data) { reduce_to_0(data); }

//// sums_integers_in_float
// Misconception: everything may be summed as f64, which is exact enough for all numbers.
// Replaces: all_reduce_sum
// Killed by: Part2AllReduce.integers_stay_integers
// Diagnosis: sums_integers_in_float

void all_reduce_sum(Tensor& data) {
  Tensor sum = data.to(dist::DType::f64);
  right_all_reduce_sum(sum);
  data.copy_(sum);
}

//// sums_what_comes
// Misconception: a sum does not depend on the order, so a rank adds what comes, from any rank.
// Replaces: all_reduce_sum
// Killed by: Part2AllReduce.any_number_of_ranks
// Diagnosis: takes_any_message

void all_reduce_sum(Tensor& data) {
  const int rank = dist::get_rank(), n = dist::get_world_size(), bit = lowest_bit(rank, n);
  Tensor received = dist::empty_like(data);
  for (int distance = 1; distance < bit && rank + distance < n; distance *= 2) {
    dist::recv(received);
    data.add_(received);
  }
  if (rank != 0) dist::send(data, rank - bit);
  broadcast_from_0(data);
}

//// alone_it_divides_by_one
// Misconception: a rank that is alone has its mean already, whatever the dtype is.
// Replaces: all_reduce_avg
// Killed by: Part3Average.integers_are_refused
// Diagnosis: not_refused

void all_reduce_avg(Tensor& data) {
  if (dist::get_world_size() > 1) right_all_reduce_avg(data);
}

//// averages_in_another_order
// Misconception: every rank gathers all numbers and averages them, beginning with its own.
// Replaces: all_reduce_avg
// Killed by: Part3Average.same_bits_on_all_ranks
// Diagnosis: each_rank_sums_in_its_own_order

void all_reduce_avg(Tensor& data) {
  if (!dist::is_floating_point(data.dtype())) return right_all_reduce_avg(data);
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const auto k = data.numel();
  Tensor all = dist::empty({n * k}, data.dtype());
  all_gather(all, data);
  for (int i = 1; i < n; ++i) data.add_(all.narrow((rank + i) % n * k, k));
  data.div_(n);
}

//// divides_on_rank_0_only
// Misconception: rank 0 makes the sum, so only rank 0 divides. (Dividing after the broadcast is too late.)
// Replaces: all_reduce_avg
// Killed by: Part3Average.means
// Diagnosis: divides_on_rank_0_only

void all_reduce_avg(Tensor& data) {
  if (!dist::is_floating_point(data.dtype())) return right_all_reduce_avg(data);
  all_reduce_sum(data);
  if (dist::get_rank() == 0) data.div_(dist::get_world_size());
}

//// divides_twice
// Misconception: every rank divides its own numbers by n, and at the end the sum is divided by n.
// Replaces: all_reduce_avg
// Killed by: Part3Average.means
// Diagnosis: divides_twice

void all_reduce_avg(Tensor& data) {
  if (dist::is_floating_point(data.dtype())) data.div_(dist::get_world_size());
  right_all_reduce_avg(data);
}

//// means_of_integers
// Misconception: the mean of integers is an integer, rounded.
// Replaces: all_reduce_avg
// Killed by: Part3Average.integers_are_refused
// Diagnosis: not_refused

void all_reduce_avg(Tensor& data) {
  if (dist::is_floating_point(data.dtype())) return right_all_reduce_avg(data);
  Tensor mean = data.to(dist::DType::f64);
  right_all_reduce_avg(mean);
  data.copy_(mean);
}

//// nothing_has_no_dtype
// Misconception: without elements there is nothing to average, and nothing to refuse.
// Replaces: all_reduce_avg
// Killed by: Part3Average.integers_are_refused
// Diagnosis: not_refused

void all_reduce_avg(Tensor& data) {
  if (data.numel() > 0) right_all_reduce_avg(data);
}

//// refuses_too_late
// Misconception: the division will report an error for integers by itself. (By then the sum was computed for
// nothing, and the data has changed.)
// Replaces: all_reduce_avg
// Killed by: Part3Average.integers_are_refused
// Diagnosis: refuses_too_late

void all_reduce_avg(Tensor& data) {
  all_reduce_sum(data);
  data.div_(dist::get_world_size());
}

//// alone_it_has_seen_something
// Misconception: a rank that is alone knows the counts of all ranks, and divides them.
// Replaces: global_accuracy
// Killed by: Part4Accuracy.no_samples_at_all
// Diagnosis: not_refused

double global_accuracy(std::int64_t correct, std::int64_t seen) {
  if (dist::get_world_size() == 1) return static_cast<double>(correct) / static_cast<double>(seen);
  return right_global_accuracy(correct, seen);
}

//// an_all_reduce_for_each
// Misconception: two sums need two all_reduces.
// Replaces: global_accuracy
// Killed by: Part4Accuracy.one_all_reduce
// Diagnosis: an_all_reduce_for_each

double global_accuracy(std::int64_t correct, std::int64_t seen) {
  Tensor right = dist::tensor({correct}), all = dist::tensor({seen});
  all_reduce_sum(right);
  all_reduce_sum(all);
  if (all.item<std::int64_t>() == 0) return right_global_accuracy(correct, seen);
  return right.item<double>() / all.item<double>();
}

//// averages_of_averages
// Misconception: the overall accuracy is the mean of the ranks' accuracies.
// Replaces: global_accuracy
// Killed by: Part4Accuracy.uneven_shards
// Diagnosis: averages_of_averages

double global_accuracy(std::int64_t correct, std::int64_t seen) {
  const double own = seen > 0 ? static_cast<double>(correct) / static_cast<double>(seen) : 0;
  Tensor mean = dist::tensor({own});
  all_reduce_avg(mean);
  return mean.item<double>();
}

//// counts_in_float
// Misconception: counts may be summed as f32, like everything else here. Beyond 2^24 they lose their last
// digits.
// Replaces: global_accuracy
// Killed by: Part4Accuracy.many_samples
// Diagnosis: sums_integers_in_float

double global_accuracy(std::int64_t correct, std::int64_t seen) {
  Tensor counts = dist::tensor({static_cast<float>(correct), static_cast<float>(seen)});
  all_reduce_sum(counts);
  const auto totals = counts.to_vector<double>();
  if (totals[1] == 0) return right_global_accuracy(correct, seen);
  return totals[0] / totals[1];
}

//// integer_division
// Misconception: the counts are integers, and so is their quotient.
// Replaces: global_accuracy
// Killed by: Part4Accuracy.uneven_shards
// Diagnosis: integer_division

double global_accuracy(std::int64_t correct, std::int64_t seen) {
  Tensor counts = dist::tensor({correct, seen});
  all_reduce_sum(counts);
  const auto totals = counts.to_vector<std::int64_t>();
  if (totals[1] == 0) return right_global_accuracy(correct, seen);
  return static_cast<double>(totals[0] / totals[1]);
}

//// leaves_when_it_has_seen_nothing
// Misconception: a rank without samples has nothing to contribute and does not have to wait.
// Replaces: global_accuracy
// Killed by: Part4Accuracy.a_rank_without_samples
// Diagnosis: leaves_when_it_has_seen_nothing

double global_accuracy(std::int64_t correct, std::int64_t seen) {
  if (seen == 0) return 0;
  return right_global_accuracy(correct, seen);
}

//// refuses_none_right
// Misconception: an accuracy of zero means that there were no samples.
// Replaces: global_accuracy
// Killed by: Part4Accuracy.no_samples_at_all
// Diagnosis: refuses_none_right

double global_accuracy(std::int64_t correct, std::int64_t seen) {
  const double share = right_global_accuracy(correct, seen);
  if (share == 0) dist::fail(dist::Errc::invalid_argument, "nothing to divide");
  return share;
}

//// zero_by_zero
// Misconception: a division never fails, and the caller will see the NaN.
// Replaces: global_accuracy
// Killed by: Part4Accuracy.no_samples_at_all
// Diagnosis: not_refused

double global_accuracy(std::int64_t correct, std::int64_t seen) {
  Tensor counts = dist::tensor({correct, seen});
  all_reduce_sum(counts);
  const auto totals = counts.to_vector<double>();
  return totals[0] / totals[1];
}
