// Wrong answers to lab 15, in the order of its parts: tests/README.md says how they are written.

#include <algorithm>
#include <vector>

#include "dist/core/fail.h"

#include "ddp_buckets.h"

//// closes_before_the_limit
// Misconception: the limit is a maximum, so a bucket is closed before it would exceed it.
// Replaces: fill_buckets
// Killed by: Part1Fill.any_sizes
// Diagnosis: closes_before_the_limit

std::vector<std::vector<std::size_t>> fill_buckets(const std::vector<Size>& sizes,
                                                   const std::vector<std::size_t>& limits) {
  std::vector<std::vector<std::size_t>> buckets;
  std::vector<Open> open_buckets;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Open& open = open_of(sizes[i].dtype, open_buckets);
    const Open with{open.dtype, {}, open.bytes + sizes[i].bytes - 1, open.closed};
    if (!open.members.empty() && is_full(with, limits)) {
      buckets.push_back(open.members);
      open = {open.dtype, {}, 0, open.closed + 1};
    }
    open.members.push_back(i);
    open.bytes += sizes[i].bytes;
  }
  for (const Open& open : open_buckets)
    if (!open.members.empty()) buckets.push_back(open.members);
  std::ranges::sort(buckets, {}, [](const auto& members) { return members.front(); });
  return buckets;
}

//// closes_only_above_the_limit
// Misconception: a bucket with exactly its limit still has room.
// Replaces: fill_buckets
// Killed by: Part1Fill.any_sizes
// Diagnosis: closes_only_above_the_limit

std::vector<std::vector<std::size_t>> fill_buckets(const std::vector<Size>& sizes,
                                                   const std::vector<std::size_t>& limits) {
  std::vector<std::vector<std::size_t>> buckets;
  std::vector<Open> open_buckets;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Open& open = open_of(sizes[i].dtype, open_buckets);
    open.members.push_back(i);
    open.bytes += sizes[i].bytes;
    const Open less{open.dtype, {}, open.bytes - 1, open.closed};
    if (!is_full(less, limits)) continue;
    buckets.push_back(open.members);
    open = {open.dtype, {}, 0, open.closed + 1};
  }
  for (const Open& open : open_buckets)
    if (!open.members.empty()) buckets.push_back(open.members);
  std::ranges::sort(buckets, {}, [](const auto& members) { return members.front(); });
  return buckets;
}

//// counts_buckets_of_all_dtypes
// Misconception: the first limit is for the first bucket, and there is only one first bucket, whatever the
// dtypes.
// Replaces: fill_buckets
// Killed by: Part1Fill.a_bucket_has_one_dtype
// Diagnosis: counts_buckets_of_all_dtypes

std::vector<std::vector<std::size_t>> fill_buckets(const std::vector<Size>& sizes,
                                                   const std::vector<std::size_t>& limits) {
  std::vector<std::vector<std::size_t>> buckets;
  std::vector<Open> open_buckets;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Open& open = open_of(sizes[i].dtype, open_buckets);
    open.members.push_back(i);
    open.bytes += sizes[i].bytes;
    open.closed = buckets.size();
    if (!is_full(open, limits)) continue;
    buckets.push_back(open.members);
    open = {open.dtype, {}, 0, 0};
  }
  for (const Open& open : open_buckets)
    if (!open.members.empty()) buckets.push_back(open.members);
  std::ranges::sort(buckets, {}, [](const auto& members) { return members.front(); });
  return buckets;
}

//// forgets_the_last_partial_bucket
// Misconception: a bucket is sent when it is full. The gradients at the end that never fill one are then
// never sent.
// Replaces: fill_buckets
// Killed by: Part1Fill.the_last_partial_bucket
// Diagnosis: forgets_the_last_partial_bucket

std::vector<std::vector<std::size_t>> fill_buckets(const std::vector<Size>& sizes,
                                                   const std::vector<std::size_t>& limits) {
  std::vector<std::vector<std::size_t>> buckets;
  std::vector<Open> open_buckets;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Open& open = open_of(sizes[i].dtype, open_buckets);
    open.members.push_back(i);
    open.bytes += sizes[i].bytes;
    if (!is_full(open, limits)) continue;
    buckets.push_back(open.members);
    open = {open.dtype, {}, 0, open.closed + 1};
  }
  std::ranges::sort(buckets, {}, [](const auto& members) { return members.front(); });
  return buckets;
}

//// in_order_of_closing
// Misconception: the bucket that is full first is the first one.
// Replaces: fill_buckets
// Killed by: Part1Fill.a_bucket_has_one_dtype
// Diagnosis: in_order_of_closing

std::vector<std::vector<std::size_t>> fill_buckets(const std::vector<Size>& sizes,
                                                   const std::vector<std::size_t>& limits) {
  std::vector<std::vector<std::size_t>> buckets;
  std::vector<Open> open_buckets;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Open& open = open_of(sizes[i].dtype, open_buckets);
    open.members.push_back(i);
    open.bytes += sizes[i].bytes;
    if (!is_full(open, limits)) continue;
    buckets.push_back(open.members);
    open = {open.dtype, {}, 0, open.closed + 1};
  }
  for (const Open& open : open_buckets)
    if (!open.members.empty()) buckets.push_back(open.members);
  return buckets;
}

//// limits_run_out
// Misconception: each bucket has a limit, and after the end of the list nothing is limited.
// Replaces: fill_buckets
// Killed by: Part1Fill.pytorchs_own_buckets
// Diagnosis: limits_run_out

std::vector<std::vector<std::size_t>> fill_buckets(const std::vector<Size>& sizes,
                                                   const std::vector<std::size_t>& limits) {
  std::vector<std::vector<std::size_t>> buckets;
  std::vector<Open> open_buckets;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Open& open = open_of(sizes[i].dtype, open_buckets);
    open.members.push_back(i);
    open.bytes += sizes[i].bytes;
    if (open.closed >= limits.size() || !is_full(open, limits)) continue;
    buckets.push_back(open.members);
    open = {open.dtype, {}, 0, open.closed + 1};
  }
  for (const Open& open : open_buckets)
    if (!open.members.empty()) buckets.push_back(open.members);
  std::ranges::sort(buckets, {}, [](const auto& members) { return members.front(); });
  return buckets;
}

//// mixes_dtypes
// Misconception: only bytes count, so gradients of several dtypes may share a bucket.
// Replaces: fill_buckets
// Killed by: Part1Fill.a_bucket_has_one_dtype
// Diagnosis: mixes_dtypes

std::vector<std::vector<std::size_t>> fill_buckets(const std::vector<Size>& sizes,
                                                   const std::vector<std::size_t>& limits) {
  std::vector<std::vector<std::size_t>> buckets;
  std::vector<Open> open_buckets;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Open& open = open_of(dist::DType::f32, open_buckets);
    open.members.push_back(i);
    open.bytes += sizes[i].bytes;
    if (!is_full(open, limits)) continue;
    buckets.push_back(open.members);
    open = {open.dtype, {}, 0, open.closed + 1};
  }
  for (const Open& open : open_buckets)
    if (!open.members.empty()) buckets.push_back(open.members);
  std::ranges::sort(buckets, {}, [](const auto& members) { return members.front(); });
  return buckets;
}

//// zero_is_no_limit
// Misconception: a limit of 0 means that there is none. (Every bucket holds at least 0 bytes, so it is closed
// with its first gradient.)
// Replaces: fill_buckets
// Killed by: Part1Fill.one_limit_or_none
// Diagnosis: none

std::vector<std::vector<std::size_t>> fill_buckets(const std::vector<Size>& sizes,
                                                   const std::vector<std::size_t>& limits) {
  std::vector<std::vector<std::size_t>> buckets;
  std::vector<Open> open_buckets;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Open& open = open_of(sizes[i].dtype, open_buckets);
    open.members.push_back(i);
    open.bytes += sizes[i].bytes;
    if (limits.empty() || limits[std::min(open.closed, limits.size() - 1)] == 0) continue;
    if (!is_full(open, limits)) continue;
    buckets.push_back(open.members);
    open = {open.dtype, {}, 0, open.closed + 1};
  }
  for (const Open& open : open_buckets)
    if (!open.members.empty()) buckets.push_back(open.members);
  std::ranges::sort(buckets, {}, [](const auto& members) { return members.front(); });
  return buckets;
}

//// copies_in_place_of_views
// Misconception: a bucket is filled by copying the gradients into it.
// Replaces: make_reducer
// Killed by: Part2Reducer.gradients_lie_in_their_buckets
// Diagnosis: copies_in_place_of_views

// The gradients stay in their old memory; averages would have to be copied back.
Tensor copied_together(const std::vector<std::size_t>& members, std::vector<Tensor>& gradients) {
  std::vector<Tensor> copies = gradients;
  return move_together(members, copies);
}

Reducer make_reducer(std::vector<Tensor>& gradients, const std::vector<std::size_t>& limits) {
  std::vector<Size> sizes;
  for (auto gradient = gradients.rbegin(); gradient != gradients.rend(); ++gradient)
    sizes.push_back({gradient->nbytes(), gradient->dtype()});
  Reducer reducer;
  reducer.bucket_of.resize(gradients.size());
  for (auto members : fill_buckets(sizes, limits)) {
    for (std::size_t& i : members) {
      i = gradients.size() - 1 - i;
      reducer.bucket_of[i] = reducer.buckets.size();
    }
    reducer.buckets.push_back({members, copied_together(members, gradients)});
  }
  return reducer;
}

//// counts_from_the_beginning
// Misconception: a new bucket waits for all of its members.
// Replaces: make_reducer
// Killed by: Part2Reducer.the_last_gradient_first
// Diagnosis: none

Reducer make_reducer(std::vector<Tensor>& gradients, const std::vector<std::size_t>& limits) {
  Reducer reducer = right_make_reducer(gradients, limits);
  for (Bucket& bucket : reducer.buckets) bucket.pending = bucket.members.size();
  return reducer;
}

//// elements_lost
// Misconception: a gradient is zero when training begins, and so is new memory.
// Replaces: make_reducer
// Killed by: Part2Reducer.shapes_and_elements_stay
// Diagnosis: elements_lost

Reducer make_reducer(std::vector<Tensor>& gradients, const std::vector<std::size_t>& limits) {
  std::vector<Size> sizes;
  for (auto gradient = gradients.rbegin(); gradient != gradients.rend(); ++gradient)
    sizes.push_back({gradient->nbytes(), gradient->dtype()});
  Reducer reducer;
  reducer.bucket_of.resize(gradients.size());
  for (auto members : fill_buckets(sizes, limits)) {
    for (std::size_t& i : members) {
      i = gradients.size() - 1 - i;
      reducer.bucket_of[i] = reducer.buckets.size();
    }
    reducer.buckets.push_back({members, move_together(members, gradients)});
  }
  for (Bucket& bucket : reducer.buckets) bucket.memory.zero_();
  return reducer;
}

//// fills_forward_and_turns_the_list
// Misconception: reversing the list of buckets is the same as reversing the gradients. (The limits are then
// not reversed: the small first bucket is launched last. PyTorch does this if find_unused_parameters is set,
// because then it learns no order.)
// Replaces: make_reducer
// Killed by: Part2Reducer.the_last_gradient_first
// Diagnosis: fills_forward_and_turns_the_list

Reducer make_reducer(std::vector<Tensor>& gradients, const std::vector<std::size_t>& limits) {
  std::vector<Size> sizes;
  for (const Tensor& gradient : gradients) sizes.push_back({gradient.nbytes(), gradient.dtype()});
  Reducer reducer;
  reducer.bucket_of.resize(gradients.size());
  auto turned = fill_buckets(sizes, limits);
  std::ranges::reverse(turned);
  for (auto members : turned) {
    for (std::size_t& i : members) {
      reducer.bucket_of[i] = reducer.buckets.size();
    }
    reducer.buckets.push_back({members, move_together(members, gradients)});
  }
  return reducer;
}

//// first_gradient_first
// Misconception: the first bucket has the first parameters.
// Replaces: make_reducer
// Killed by: Part2Reducer.the_last_gradient_first
// Diagnosis: first_gradient_first

Reducer make_reducer(std::vector<Tensor>& gradients, const std::vector<std::size_t>& limits) {
  std::vector<Size> sizes;
  for (const Tensor& gradient : gradients) sizes.push_back({gradient.nbytes(), gradient.dtype()});
  Reducer reducer;
  reducer.bucket_of.resize(gradients.size());
  for (auto members : fill_buckets(sizes, limits)) {
    for (std::size_t& i : members) {
      reducer.bucket_of[i] = reducer.buckets.size();
    }
    reducer.buckets.push_back({members, move_together(members, gradients)});
  }
  return reducer;
}

//// only_matrices_keep_their_shape
// Misconception: only a matrix has a shape to be restored; anything else is a vector. (A number has no axis.)
// Replaces: make_reducer
// Killed by: Part2Reducer.shapes_and_elements_stay
// Diagnosis: shape_lost

Reducer make_reducer(std::vector<Tensor>& gradients, const std::vector<std::size_t>& limits) {
  Reducer reducer = right_make_reducer(gradients, limits);
  for (Tensor& gradient : gradients)
    if (gradient.dim() < 2) gradient = gradient.view({-1});
  return reducer;
}

//// shape_lost
// Misconception: a gradient is a run of numbers, and its shape does not matter.
// Replaces: make_reducer
// Killed by: Part2Reducer.shapes_and_elements_stay
// Diagnosis: shape_lost

Reducer make_reducer(std::vector<Tensor>& gradients, const std::vector<std::size_t>& limits) {
  std::vector<Size> sizes;
  for (auto gradient = gradients.rbegin(); gradient != gradients.rend(); ++gradient)
    sizes.push_back({gradient->nbytes(), gradient->dtype()});
  Reducer reducer;
  reducer.bucket_of.resize(gradients.size());
  for (auto members : fill_buckets(sizes, limits)) {
    for (std::size_t& i : members) {
      i = gradients.size() - 1 - i;
      reducer.bucket_of[i] = reducer.buckets.size();
    }
    for (const std::size_t i : members) gradients[i] = gradients[i].view({-1});
    reducer.buckets.push_back({members, move_together(members, gradients)});
  }
  return reducer;
}

//// a_message_for_each_gradient
// Misconception: a bucket only decides when its gradients are sent; each of them is still a message of its
// own.
// Replaces: ready
// Killed by: Part3Ready.one_all_reduce_a_bucket
// Diagnosis: an_all_reduce_for_each_gradient

void ready(Reducer& reducer, std::size_t i) {
  if (!reducer.syncs) return;
  --reducer.buckets[reducer.bucket_of[i]].pending;
  while (reducer.launched < reducer.buckets.size() && reducer.buckets[reducer.launched].pending == 0) {
    const Tensor& memory = reducer.buckets[reducer.launched].memory;
    const auto shares =
        memory.chunk(static_cast<std::int64_t>(reducer.buckets[reducer.launched++].members.size()));
    for (Tensor share : shares) dist::all_reduce(share, dist::ReduceOp::avg);
  }
}

//// counts_go_on
// Misconception: the buckets are the same in every backward, so the gradients do not have to be counted
// again.
// Replaces: start
// Killed by: Part3Ready.every_backward_averages
// Diagnosis: never_launched

void start(Reducer& reducer) {
  if (reducer.launched > 0) return;
  for (Bucket& bucket : reducer.buckets) bucket.pending = bucket.members.size();
}

//// launches_at_the_end
// Misconception: averaging begins when all gradients are ready.
// Replaces: ready
// Killed by: Part3Ready.backward_goes_on_meanwhile
// Diagnosis: launches_at_the_end

void ready(Reducer& reducer, std::size_t i) {
  if (!reducer.syncs) return;
  --reducer.buckets[reducer.bucket_of[i]].pending;
  for (const Bucket& bucket : reducer.buckets)
    if (bucket.pending > 0) return;
  for (Bucket& bucket : reducer.buckets)
    bucket.work = dist::all_reduce(bucket.memory, dist::ReduceOp::avg, {.async_op = true});
  reducer.launched = reducer.buckets.size();
}

//// launches_at_the_first_gradient
// Misconception: a bucket is launched with its first gradient, and the others are added later.
// Replaces: ready
// Killed by: Part3Ready.every_backward_averages
// Diagnosis: launches_before_all_are_there

void ready(Reducer& reducer, std::size_t i) {
  if (!reducer.syncs) return;
  Bucket& bucket = reducer.buckets[reducer.bucket_of[i]];
  if (bucket.pending-- != bucket.members.size()) return;
  bucket.work = dist::all_reduce(bucket.memory, dist::ReduceOp::avg, {.async_op = true});
  ++reducer.launched;
}

//// launches_in_ready_order
// Misconception: a bucket is launched as soon as it is full: the sooner, the better.
// Replaces: ready
// Killed by: Part3Ready.same_order_on_all_ranks
// Diagnosis: launches_in_ready_order

void ready(Reducer& reducer, std::size_t i) {
  if (!reducer.syncs) return;
  Bucket& bucket = reducer.buckets[reducer.bucket_of[i]];
  if (--bucket.pending > 0) return;
  bucket.work = dist::all_reduce(bucket.memory, dist::ReduceOp::avg, {.async_op = true});
  ++reducer.launched;
}

//// one_bucket_a_gradient
// Misconception: one gradient completes at most one bucket, so at most one is launched. (A bucket that was
// full before may have waited for it.)
// Replaces: ready
// Killed by: Part3Ready.same_order_on_all_ranks
// Diagnosis: not_all_launch_it

void ready(Reducer& reducer, std::size_t i) {
  if (!reducer.syncs) return;
  --reducer.buckets[reducer.bucket_of[i]].pending;
  if (reducer.launched == reducer.buckets.size() || reducer.buckets[reducer.launched].pending > 0) return;
  Bucket& bucket = reducer.buckets[reducer.launched++];
  bucket.work = dist::all_reduce(bucket.memory, dist::ReduceOp::avg, {.async_op = true});
}

//// only_finished_buckets_start_anew
// Misconception: a bucket that has started is counted to its end, so only finished ones start anew.
// Replaces: start
// Killed by: Part3Ready.every_backward_averages
// Diagnosis: goes_on_with_a_failed_backward

void start(Reducer& reducer) {
  for (Bucket& bucket : reducer.buckets)
    if (bucket.pending == 0) bucket.pending = bucket.members.size();
  reducer.launched = 0;
}

//// sums_without_averaging
// Misconception: the sum over the ranks, which all_reduce returns, is the gradient.
// Replaces: ready
// Killed by: Part3Ready.every_backward_averages
// Diagnosis: sums_without_averaging

void ready(Reducer& reducer, std::size_t i) {
  if (!reducer.syncs) return;
  --reducer.buckets[reducer.bucket_of[i]].pending;
  while (reducer.launched < reducer.buckets.size() && reducer.buckets[reducer.launched].pending == 0) {
    Bucket& bucket = reducer.buckets[reducer.launched++];
    bucket.work = dist::all_reduce(bucket.memory, dist::ReduceOp::sum, {.async_op = true});
  }
}

//// waits_inside_the_hook
// Misconception: a full bucket is averaged before backward continues.
// Replaces: ready
// Killed by: Part3Ready.backward_goes_on_meanwhile
// Diagnosis: waits_inside_the_hook

void ready(Reducer& reducer, std::size_t i) {
  if (!reducer.syncs) return;
  --reducer.buckets[reducer.bucket_of[i]].pending;
  while (reducer.launched < reducer.buckets.size() && reducer.buckets[reducer.launched].pending == 0)
    dist::all_reduce(reducer.buckets[reducer.launched++].memory, dist::ReduceOp::avg);
}

//// divides_twice
// Misconception: every rank divides the result of the all_reduce by n. (AVG has done so already.)
// Replaces: finish
// Killed by: Part4Finish.waits_for_all
// Diagnosis: divides_twice

void finish(Reducer& reducer) {
  if (!reducer.syncs) return;
  for (std::size_t i = 0; i < reducer.launched; ++i) {
    reducer.buckets[i].work.wait();
    reducer.buckets[i].memory.div_(dist::get_world_size());
  }
  if (reducer.launched < reducer.buckets.size())
    dist::fail(dist::Errc::invalid_argument, "bucket {} was not launched", reducer.launched);
}

//// only_empty_buckets_are_missing
// Misconception: a bucket that has received a gradient will be launched; only a bucket without any gradient
// is missing.
// Replaces: finish
// Killed by: Part4Finish.names_what_is_missing
// Diagnosis: says_nothing_of_missing_buckets

void finish(Reducer& reducer) {
  if (!reducer.syncs) return;
  for (std::size_t i = 0; i < reducer.launched; ++i) reducer.buckets[i].work.wait();
  if (reducer.launched == reducer.buckets.size()) return;
  const auto& next = reducer.buckets[reducer.launched];
  if (next.pending == next.members.size())
    dist::fail(dist::Errc::invalid_argument, "bucket {} is empty", reducer.launched);
}

//// says_nothing_of_missing_buckets
// Misconception: finish() waits for the launched buckets, and it has nothing else to do.
// Replaces: finish
// Killed by: Part4Finish.names_what_is_missing
// Diagnosis: says_nothing_of_missing_buckets

void finish(Reducer& reducer) {
  if (!reducer.syncs) return;
  for (std::size_t i = 0; i < reducer.launched; ++i) reducer.buckets[i].work.wait();
}

//// the_last_bucket_is_never_missing
// Misconception: the last bucket is launched when all others are.
// Replaces: finish
// Killed by: Part4Finish.names_what_is_missing
// Diagnosis: says_nothing_of_missing_buckets

void finish(Reducer& reducer) {
  try {
    right_finish(reducer);
  } catch (const dist::Error&) {
    if (reducer.launched + 1 < reducer.buckets.size()) throw;
  }
}

//// throws_before_it_waits
// Misconception: where a bucket is missing the step has failed, and nothing else matters.
// Replaces: finish
// Killed by: Part4Finish.names_what_is_missing
// Diagnosis: forgets_a_wait

void finish(Reducer& reducer) {
  if (reducer.syncs && reducer.launched < reducer.buckets.size())
    dist::fail(dist::Errc::invalid_argument, "bucket {} was not launched", reducer.launched);
  right_finish(reducer);
}

//// waits_for_the_last_only
// Misconception: buckets are averaged in order, so all of them are done when the last one is.
// Replaces: finish
// Killed by: Part4Finish.waits_for_all
// Diagnosis: forgets_a_wait

void finish(Reducer& reducer) {
  if (!reducer.syncs) return;
  if (reducer.launched > 0) reducer.buckets[reducer.launched - 1].work.wait();
  if (reducer.launched < reducer.buckets.size())
    dist::fail(dist::Errc::invalid_argument, "bucket {} was not launched", reducer.launched);
}

//// catches_the_librarys_errors
// Misconception: an error is a dist::Error. (backward() is the caller's, and may throw anything.)
// Replaces: accumulate
// Killed by: Part5Accumulate.sums_of_small_batches
// Diagnosis: silent_after_an_error

void accumulate(Reducer& reducer, int count, const std::function<void(int batch)>& backward) {
  try {
    for (int batch = 0; batch < count; ++batch) {
      reducer.syncs = batch + 1 == count;
      start(reducer);
      backward(batch);
      finish(reducer);
    }
  } catch (const dist::Error&) {
    reducer.syncs = true;
    throw;
  }
}

//// clears_the_gradients
// Misconception: a training step begins with gradients of zero.
// Replaces: accumulate
// Killed by: Part5Accumulate.sums_of_small_batches
// Diagnosis: none

void accumulate(Reducer& reducer, int count, const std::function<void(int batch)>& backward) {
  for (Bucket& bucket : reducer.buckets) bucket.memory.zero_();
  right_accumulate(reducer, count, backward);
}

//// last_batch_first
// Misconception: the batch that sends may as well be the first one that runs.
// Replaces: accumulate
// Killed by: Part5Accumulate.sums_of_small_batches
// Diagnosis: none

void accumulate(Reducer& reducer, int count, const std::function<void(int batch)>& backward) {
  right_accumulate(reducer, count, [&](int batch) { backward(count - 1 - batch); });
}

//// misses_what_is_silent
// Misconception: every backward launches every bucket, so finish() reports the missing buckets of a backward
// that sends nothing.
// Replaces: finish, accumulate
// Killed by: Part5Accumulate.sums_of_small_batches
// Diagnosis: misses_what_is_silent

void finish(Reducer& reducer) {
  for (std::size_t i = 0; i < reducer.launched; ++i) reducer.buckets[i].work.wait();
  if (reducer.launched < reducer.buckets.size())
    dist::fail(dist::Errc::invalid_argument, "bucket {} was not launched", reducer.launched);
}

void accumulate(Reducer& reducer, int count, const std::function<void(int batch)>& backward) {
  for (int batch = 0; batch < count; ++batch) {
    reducer.syncs = batch + 1 == count;
    start(reducer);
    backward(batch);
    finish(reducer);
  }
}

//// reduces_on_every_batch
// Misconception: every backward ends with averages, and averages may be added up. (They may, and the numbers
// are right, but every batch is sent.)
// Replaces: accumulate
// Killed by: Part5Accumulate.only_the_last_one_sends
// Diagnosis: reduces_on_every_batch

void accumulate(Reducer& reducer, int count, const std::function<void(int batch)>& backward) {
  for (int batch = 0; batch < count; ++batch) {
    start(reducer);
    backward(batch);
    finish(reducer);
  }
}

//// restores_what_it_was
// Misconception: syncs belongs to the caller, so afterwards it is what it was before, and the last batch
// sends if it was true.
// Replaces: accumulate
// Killed by: Part5Accumulate.sums_of_small_batches
// Diagnosis: stays_silent

void accumulate(Reducer& reducer, int count, const std::function<void(int batch)>& backward) {
  const bool before = reducer.syncs;
  for (int batch = 0; batch < count; ++batch) {
    reducer.syncs = before && batch + 1 == count;
    start(reducer);
    backward(batch);
    finish(reducer);
  }
  reducer.syncs = before;
}

//// silent_after_an_error
// Misconception: the last batch sets syncs to true. (An error may end the loop before.)
// Replaces: accumulate
// Killed by: Part5Accumulate.sums_of_small_batches
// Diagnosis: silent_after_an_error

void accumulate(Reducer& reducer, int count, const std::function<void(int batch)>& backward) {
  for (int batch = 0; batch < count; ++batch) {
    reducer.syncs = batch + 1 == count;
    start(reducer);
    backward(batch);
    finish(reducer);
  }
}

//// stays_silent
// Misconception: syncs is set to false before the batches and stays so, and each rank averages its own
// gradients.
// Replaces: accumulate
// Killed by: Part5Accumulate.sums_of_small_batches
// Diagnosis: stays_silent

void accumulate(Reducer& reducer, int count, const std::function<void(int batch)>& backward) {
  for (int batch = 0; batch < count; ++batch) {
    reducer.syncs = batch + 1 == count;
    start(reducer);
    backward(batch);
    finish(reducer);
  }
  reducer.syncs = false;
}

//// swallows_the_error
// Misconception: what is wrong with a batch is not the concern of the caller: the step ends there.
// Replaces: accumulate
// Killed by: Part5Accumulate.sums_of_small_batches
// Diagnosis: none

void accumulate(Reducer& reducer, int count, const std::function<void(int batch)>& backward) {
  for (int batch = 0; batch < count; ++batch) {
    reducer.syncs = batch + 1 == count;
    start(reducer);
    try {
      backward(batch);
    } catch (...) {
      reducer.syncs = true;
      return;
    }
    finish(reducer);
  }
}

//// tells_it_in_its_own_words
// Misconception: what the caller needs of an error is its text.
// Replaces: accumulate
// Killed by: Part5Accumulate.sums_of_small_batches
// Diagnosis: another_error

void accumulate(Reducer& reducer, int count, const std::function<void(int batch)>& backward) {
  try {
    for (int batch = 0; batch < count; ++batch) {
      reducer.syncs = batch + 1 == count;
      start(reducer);
      backward(batch);
      finish(reducer);
    }
  } catch (const std::exception& error) {
    reducer.syncs = true;
    dist::fail(dist::Errc::internal, "backward has failed: {}", error.what());
  }
}
