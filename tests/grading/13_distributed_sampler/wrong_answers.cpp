// Wrong answers to lab 13, in the order of its parts: tests/README.md says how they are written.
// A class needs its other name declared: RightSampler, RightStream.

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "dist/dist.h"

#include "distributed_sampler.h"

namespace lab {

class RightSampler {
 public:
  explicit RightSampler(const SamplerOptions& options, std::int64_t epoch = 0)
      : options_(options), epoch_(epoch) {}
  std::int64_t size() const;
  std::vector<std::int64_t> indices() const;
  void set_epoch(std::int64_t epoch);

 private:
  SamplerOptions options_;
  std::int64_t epoch_;
};

class RightStream {
 public:
  RightStream(Stream& stream, const Reader& reader) : stream_(stream), reader_(reader) {}
  std::optional<std::int64_t> next();

 private:
  Stream& stream_;
  Reader reader_;
  std::int64_t rounds_ = 0;
};

}  // namespace lab

//// any_place_for_any_element
// Misconception: a shuffle that swaps every element with any other is the most random one. (Not all orders
// are equally likely.)
// Replaces: randperm
// Killed by: Part1Shuffle.pytorchs_own_order
// Diagnosis: naive_shuffle

std::vector<std::int64_t> randperm(std::int64_t n, std::uint64_t seed) {
  auto order = in_order(n);
  std::mt19937 generator(static_cast<std::mt19937::result_type>(seed));
  for (auto& element : order) std::swap(element, order[generator() % order.size()]);
  return order;
}

//// no_element_stays
// Misconception: an element must be swapped with another one, never with itself.
// Replaces: randperm
// Killed by: Part1Shuffle.any_size_and_seed
// Diagnosis: no_element_stays

std::vector<std::int64_t> randperm(std::int64_t n, std::uint64_t seed) {
  auto order = in_order(n);
  std::mt19937 generator(static_cast<std::mt19937::result_type>(seed));
  for (std::size_t i = 0; i + 1 < order.size(); ++i)
    std::swap(order[i], order[i + 1 + generator() % (order.size() - i - 1)]);
  return order;
}

//// std_shuffle
// Misconception: one seed gives one order. This is true within one implementation of std::shuffle.
// Replaces: randperm
// Killed by: Part1Shuffle.pytorchs_own_order
// Diagnosis: std_shuffle

std::vector<std::int64_t> randperm(std::int64_t n, std::uint64_t seed) {
  auto order = in_order(n);
  std::mt19937 generator(static_cast<std::mt19937::result_type>(seed));
  std::shuffle(order.begin(), order.end(), generator);
  return order;
}

//// consecutive_blocks
// Misconception: a rank's part is a block, so the first rank takes the first samples.
// Replaces: DistributedSampler kept as RightSampler
// Killed by: Part2Shares.divides_evenly
// Diagnosis: consecutive_blocks

std::int64_t DistributedSampler::size() const { return RightSampler(options_).size(); }

std::vector<std::int64_t> DistributedSampler::indices() const {
  std::vector<std::int64_t> list;
  SamplerOptions of = options_;
  for (std::int64_t i = 0; i < size() * options_.num_replicas; ++i) {
    of.rank = static_cast<int>(i % of.num_replicas);
    list.push_back(RightSampler(of, epoch_).indices()[static_cast<std::size_t>(i / of.num_replicas)]);
  }
  const auto first = list.begin() + options_.rank * size();
  return {first, first + size()};
}

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

//// drop_last_ignored
// Misconception: drop_last is about batches, not about ranks.
// Replaces: DistributedSampler kept as RightSampler
// Killed by: Part2Shares.drops_the_last
// Diagnosis: drop_last_the_wrong_way

std::int64_t DistributedSampler::size() const {
  return (options_.dataset_size + options_.num_replicas - 1) / options_.num_replicas;
}

std::vector<std::int64_t> DistributedSampler::indices() const {
  SamplerOptions padded = options_;
  padded.drop_last = false;
  return RightSampler(padded, epoch_).indices();
}

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

//// padded_only_in_size
// Misconception: size() is the same on all ranks, so all ranks agree. (What counts is how many samples
// indices() returns.)
// Replaces: DistributedSampler kept as RightSampler
// Killed by: Part2Shares.pads_from_the_beginning
// Diagnosis: padding_forgotten

std::int64_t DistributedSampler::size() const { return RightSampler(options_).size(); }

std::vector<std::int64_t> DistributedSampler::indices() const {
  auto mine = RightSampler(options_, epoch_).indices();
  const auto n = options_.num_replicas;
  const auto last = options_.rank + (std::ssize(mine) - 1) * n;
  if (last >= options_.dataset_size && !mine.empty()) mine.pop_back();
  return mine;
}

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

//// padding_forgotten
// Misconception: every rank takes every n-th sample as far as there are samples, and a rank with one less has
// less work.
// Replaces: DistributedSampler kept as RightSampler
// Killed by: Part2Shares.same_length_on_all_ranks
// Diagnosis: ranks_disagree_on_length

std::int64_t DistributedSampler::size() const {
  if (options_.drop_last) return RightSampler(options_).size();
  const auto n = options_.num_replicas;
  return options_.dataset_size / n + (options_.rank < options_.dataset_size % n ? 1 : 0);
}

std::vector<std::int64_t> DistributedSampler::indices() const {
  auto mine = RightSampler(options_, epoch_).indices();
  mine.resize(static_cast<std::size_t>(size()));
  return mine;
}

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

//// pads_once
// Misconception: fewer than n samples are missing, so the beginning of the list has enough of them. (This is
// true only if there are n samples.)
// Replaces: DistributedSampler kept as RightSampler
// Killed by: Part2Shares.pads_more_than_once
// Diagnosis: pads_once

std::int64_t DistributedSampler::size() const { return RightSampler(options_).size(); }

std::vector<std::int64_t> DistributedSampler::indices() const {
  auto mine = RightSampler(options_, epoch_).indices();
  const auto n = options_.num_replicas;
  std::erase_if(mine, [&, place = std::int64_t{options_.rank} - n](std::int64_t) mutable {
    return (place += n) >= 2 * options_.dataset_size;
  });
  return mine;
}

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

//// pads_with_the_last
// Misconception: the missing samples are replaced by the last one.
// Replaces: DistributedSampler kept as RightSampler
// Killed by: Part2Shares.pads_from_the_beginning
// Diagnosis: pads_with_the_last

std::int64_t DistributedSampler::size() const { return RightSampler(options_).size(); }

std::vector<std::int64_t> DistributedSampler::indices() const {
  auto mine = RightSampler(options_, epoch_).indices();
  if (mine.empty()) return mine;
  const auto last_place = options_.rank + (std::ssize(mine) - 1) * options_.num_replicas;
  auto whole = options_;
  whole.num_replicas = 1;
  whole.rank = 0;
  if (last_place >= options_.dataset_size) mine.back() = RightSampler(whole, epoch_).indices().back();
  return mine;
}

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

//// sizes_in_32_bits
// Misconception: no data set has more samples than an int can count.
// Replaces: DistributedSampler kept as RightSampler
// Killed by: Part2Shares.divides_evenly
// Diagnosis: size_of_a_large_dataset

std::int64_t DistributedSampler::size() const {
  const int samples = static_cast<int>(options_.dataset_size), n = options_.num_replicas;
  return options_.drop_last || samples % n == 0 ? samples / n : samples / n + 1;
}

std::vector<std::int64_t> DistributedSampler::indices() const {
  return RightSampler(options_, epoch_).indices();
}

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

//// sizes_in_f32
// Misconception: float is precise enough for a number of samples.
// Replaces: DistributedSampler kept as RightSampler
// Killed by: Part2Shares.divides_evenly
// Diagnosis: size_of_a_large_dataset

#include <cmath>
#include SOLUTION

std::int64_t DistributedSampler::size() const {
  const float each = static_cast<float>(options_.dataset_size) / static_cast<float>(options_.num_replicas);
  return static_cast<std::int64_t>(options_.drop_last ? std::floor(each) : std::ceil(each));
}

std::vector<std::int64_t> DistributedSampler::indices() const {
  return RightSampler(options_, epoch_).indices();
}

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

//// sizes_in_f64
// Misconception: double is precise enough for a number of samples.
// Replaces: DistributedSampler kept as RightSampler
// Killed by: Part2Shares.divides_evenly
// Diagnosis: size_of_a_large_dataset

#include <cmath>
#include SOLUTION

std::int64_t DistributedSampler::size() const {
  const double each = static_cast<double>(options_.dataset_size) / static_cast<double>(options_.num_replicas);
  return static_cast<std::int64_t>(options_.drop_last ? std::floor(each) : std::ceil(each));
}

std::vector<std::int64_t> DistributedSampler::indices() const {
  return RightSampler(options_, epoch_).indices();
}

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

//// begins_with_epoch_1
// Misconception: epochs are counted from 1, so epoch 0 has no order of its own.
// Replaces: DistributedSampler kept as RightSampler
// Killed by: Part3Epochs.secret_sizes
// Diagnosis: none

std::int64_t DistributedSampler::size() const { return RightSampler(options_).size(); }

std::vector<std::int64_t> DistributedSampler::indices() const {
  return RightSampler(options_, std::max<std::int64_t>(epoch_, 1)).indices();
}

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

//// drops_before_shuffling
// Misconception: it makes no difference whether samples are left out before or after the shuffle.
// Replaces: DistributedSampler kept as RightSampler
// Killed by: Part3Epochs.pytorchs_own_indices
// Diagnosis: drops_before_shuffling

std::int64_t DistributedSampler::size() const { return RightSampler(options_).size(); }

std::vector<std::int64_t> DistributedSampler::indices() const {
  SamplerOptions cut = options_;
  if (cut.drop_last) cut.dataset_size -= cut.dataset_size % cut.num_replicas;
  return RightSampler(cut, epoch_).indices();
}

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

//// rank_in_the_epochs_seed
// Misconception: random numbers must differ between ranks. (The shuffle must not.)
// Replaces: DistributedSampler kept as RightSampler
// Killed by: Part3Epochs.another_order_each_epoch
// Diagnosis: a_shuffle_of_its_own

std::int64_t DistributedSampler::size() const { return RightSampler(options_).size(); }

std::vector<std::int64_t> DistributedSampler::indices() const {
  SamplerOptions own = options_;
  own.seed += static_cast<std::uint64_t>(options_.rank);
  return RightSampler(own, epoch_).indices();
}

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

//// same_order_each_epoch
// Misconception: with shuffle = true, every epoch has its own order by itself.
// Replaces: DistributedSampler kept as RightSampler
// Killed by: Part3Epochs.another_order_each_epoch
// Diagnosis: epoch_ignored

std::int64_t DistributedSampler::size() const { return RightSampler(options_).size(); }

std::vector<std::int64_t> DistributedSampler::indices() const { return RightSampler(options_).indices(); }

void DistributedSampler::set_epoch(std::int64_t epoch) { epoch_ = epoch; }

//// count_and_count
// Misconception: a rank takes every n-th sample and a worker every w-th, so a rank's worker takes each sample
// that both rules choose.
// Replaces: ShardedStream kept as RightStream
// Killed by: Part4Stream.workers_and_ranks_with_a_common_divisor
// Diagnosis: starved_workers

std::optional<std::int64_t> ShardedStream::next() {
  while (const auto sample = stream_.next()) {
    const auto count = rounds_++;
    if (count % reader_.ranks == reader_.rank && count % reader_.workers == reader_.worker) return sample;
  }
  return std::nullopt;
}

//// counts_from_one
// Misconception: it does not matter whether counting begins at 0 or 1. (It does not, but the two conditions
// still exclude each other.)
// Replaces: ShardedStream kept as RightStream
// Killed by: Part4Stream.workers_and_ranks_with_a_common_divisor
// Diagnosis: starved_workers

std::optional<std::int64_t> ShardedStream::next() {
  while (const auto sample = stream_.next()) {
    const auto count = rounds_++;
    if ((count + 1) % reader_.ranks == reader_.rank && (count + 1) % reader_.workers == reader_.worker)
      return sample;
  }
  return std::nullopt;
}

//// number_as_place
// Misconception: a sample's number is its place in the stream, as in a data set.
// Replaces: ShardedStream kept as RightStream
// Killed by: Part4Stream.every_sample_once
// Diagnosis: none

std::optional<std::int64_t> ShardedStream::next() {
  for (;;) {
    std::optional<std::int64_t> mine;
    for (int i = 0; i < reader_.ranks; ++i) {
      const auto sample = stream_.next();
      if (!sample) return std::nullopt;
      if (*sample % reader_.ranks == reader_.rank) mine = sample;
    }
    if (rounds_++ % reader_.workers == reader_.worker) return mine;
  }
}

//// ranks_ignored
// Misconception: a loader that divides its samples among workers divides them among ranks, too.
// Replaces: ShardedStream kept as RightStream
// Killed by: Part4Stream.every_sample_once
// Diagnosis: ranks_ignored

std::optional<std::int64_t> ShardedStream::next() {
  while (const auto sample = stream_.next()) {
    const auto count = rounds_++;
    if (count % reader_.workers == reader_.worker) return sample;
  }
  return std::nullopt;
}

//// reads_a_turn_ahead
// Misconception: a reader may read as far as it likes, if it keeps what it has read.
// Replaces: ShardedStream kept as RightStream
// Killed by: Part4Stream.without_end
// Diagnosis: reads_ahead

#include <deque>
#include <map>
#include SOLUTION

std::optional<std::int64_t> ShardedStream::next() {
  static std::map<const ShardedStream*, std::deque<std::int64_t>> kept;
  auto& mine = kept[this];
  while (mine.size() < 3) {
    std::vector<std::int64_t> round;
    while (std::ssize(round) < reader_.ranks) {
      const auto sample = stream_.next();
      if (!sample) break;
      round.push_back(*sample);
    }
    if (std::ssize(round) < reader_.ranks) break;
    if (rounds_++ % reader_.workers == reader_.worker)
      mine.push_back(round[static_cast<std::size_t>(reader_.rank)]);
  }
  if (mine.empty()) return std::nullopt;
  const auto sample = mine.front();
  mine.pop_front();
  return sample;
}

//// the_rest_is_taken_too
// Misconception: one sample more or less makes no difference in a long stream.
// Replaces: ShardedStream kept as RightStream
// Killed by: Part4Stream.ranks_agree_on_the_end
// Diagnosis: the_rest_of_the_stream

std::optional<std::int64_t> ShardedStream::next() {
  while (const auto sample = stream_.next()) {
    const auto count = rounds_++;
    if (count % reader_.ranks == reader_.rank && count / reader_.ranks % reader_.workers == reader_.worker)
      return sample;
  }
  return std::nullopt;
}

//// whole_turns_only
// Misconception: a round is over when every reader has had a sample.
// Replaces: ShardedStream kept as RightStream
// Killed by: Part4Stream.ranks_agree_on_the_end
// Diagnosis: drops_too_much

std::optional<std::int64_t> ShardedStream::next() {
  std::optional<std::int64_t> mine;
  for (std::int64_t i = 0; i < std::int64_t{reader_.ranks} * reader_.workers; ++i) {
    const auto sample = stream_.next();
    if (!sample) return std::nullopt;
    if (i % reader_.ranks == reader_.rank && i / reader_.ranks == reader_.worker) mine = sample;
  }
  return mine;
}

//// workers_before_ranks
// Misconception: the ranks * workers readers are numbered as processes are, rank by rank.
// Replaces: ShardedStream kept as RightStream
// Killed by: Part4Stream.ranks_agree_on_the_end
// Diagnosis: workers_before_ranks

std::optional<std::int64_t> ShardedStream::next() {
  while (const auto sample = stream_.next()) {
    const auto count = rounds_++;
    if (count % (std::int64_t{reader_.ranks} * reader_.workers) ==
        std::int64_t{reader_.rank} * reader_.workers + reader_.worker)
      return sample;
  }
  return std::nullopt;
}

//// workers_ignored
// Misconception: the stream is divided by rank, and the loader divides the samples among its workers by
// itself.
// Replaces: ShardedStream kept as RightStream
// Killed by: Part4Stream.every_sample_once
// Diagnosis: workers_ignored

std::optional<std::int64_t> ShardedStream::next() {
  while (const auto sample = stream_.next()) {
    const auto count = rounds_++;
    if (count % reader_.ranks == reader_.rank) return sample;
  }
  return std::nullopt;
}

//// zero_is_no_sample
// Misconception: a reader that has not met its sample of a round yet can note this as sample 0.
// Replaces: ShardedStream kept as RightStream
// Killed by: Part4Stream.every_sample_once
// Diagnosis: none

std::optional<std::int64_t> ShardedStream::next() {
  for (;;) {
    std::int64_t mine = 0;
    for (int rank = 0; rank < reader_.ranks; ++rank) {
      const auto sample = stream_.next();
      if (!sample) return std::nullopt;
      if (rank == reader_.rank) mine = *sample;
    }
    if (rounds_++ % reader_.workers == reader_.worker && mine != 0) return mine;
  }
}

//// counts_first
// Misconception: every rank counts its batches first, and one all_reduce finds the smallest number. (All
// batches would have to fit into memory.)
// Replaces: run_epoch
// Killed by: Part5Together.one_small_all_reduce_a_step
// Diagnosis: takes_all_batches_first

std::int64_t run_epoch(const std::function<std::optional<std::int64_t>()>& next,
                       const std::function<void(std::int64_t)>& step) {
  std::vector<std::int64_t> batches;
  while (const auto batch = next()) batches.push_back(*batch);
  auto steps = dist::full({1}, static_cast<double>(batches.size()), dist::DType::i64);
  dist::all_reduce(steps, dist::ReduceOp::min);
  for (std::int64_t i = 0; i < steps.item<std::int64_t>(); ++i) step(batches[static_cast<std::size_t>(i)]);
  return steps.item<std::int64_t>();
}

//// goes_on_with_the_longest
// Misconception: as long as one rank has a batch there is something to learn.
// Replaces: run_epoch
// Killed by: Part5Together.all_stop_after_the_same_step
// Diagnosis: goes_on_with_the_longest

std::int64_t run_epoch(const std::function<std::optional<std::int64_t>()>& next,
                       const std::function<void(std::int64_t)>& step) {
  for (std::int64_t steps = 0;; ++steps) {
    const auto batch = next();
    auto somebody_has_one = dist::full({1}, batch ? 1 : 0, dist::DType::i64);
    dist::all_reduce(somebody_has_one, dist::ReduceOp::max);
    if (somebody_has_one.item<std::int64_t>() == 0) return steps;
    step(batch.value_or(0));
  }
}

//// leaves_without_a_word
// Misconception: a rank without a batch does not have to take part any more.
// Replaces: run_epoch
// Killed by: Part5Together.all_stop_after_the_same_step
// Diagnosis: leaves_without_a_word

std::int64_t run_epoch(const std::function<std::optional<std::int64_t>()>& next,
                       const std::function<void(std::int64_t)>& step) {
  std::int64_t steps = 0;
  while (const auto batch = next()) {
    auto all_have_one = dist::ones({1}, dist::DType::i64);
    dist::all_reduce(all_have_one, dist::ReduceOp::min);
    if (all_have_one.item<std::int64_t>() == 0) break;
    step(*batch);
    ++steps;
  }
  return steps;
}

//// minus_one_is_no_batch
// Misconception: no batch has the number -1, so -1 can stand for "no more batches".
// Replaces: run_epoch
// Killed by: Part5Together.all_stop_after_the_same_step
// Diagnosis: a_batch_that_is_taken_for_none

std::int64_t run_epoch(const std::function<std::optional<std::int64_t>()>& next,
                       const std::function<void(std::int64_t)>& step) {
  for (std::int64_t steps = 0;; ++steps) {
    const std::int64_t batch = next().value_or(-1);
    auto all_have_one = dist::full({1}, batch != -1 ? 1 : 0, dist::DType::i64);
    dist::all_reduce(all_have_one, dist::ReduceOp::min);
    if (all_have_one.item<std::int64_t>() == 0) return steps;
    step(batch);
  }
}

//// stops_alone
// Misconception: an epoch is over when this rank's batches are used up.
// Replaces: run_epoch
// Killed by: Part5Together.all_stop_after_the_same_step
// Diagnosis: stops_alone

std::int64_t run_epoch(const std::function<std::optional<std::int64_t>()>& next,
                       const std::function<void(std::int64_t)>& step) {
  std::int64_t steps = 0;
  while (const auto batch = next()) {
    step(*batch);
    ++steps;
  }
  return steps;
}

//// the_least_number_is_no_batch
// Misconception: no batch has the least of all numbers, so that can stand for "no more batches".
// Replaces: run_epoch
// Killed by: Part5Together.all_stop_after_the_same_step
// Diagnosis: a_batch_that_is_taken_for_none

#include <limits>
#include SOLUTION

std::int64_t run_epoch(const std::function<std::optional<std::int64_t>()>& next,
                       const std::function<void(std::int64_t)>& step) {
  constexpr auto none = std::numeric_limits<std::int64_t>::min();
  const auto without_the_least = [&]() -> std::optional<std::int64_t> {
    const std::int64_t batch = next().value_or(none);
    return batch == none ? std::nullopt : std::optional(batch);
  };
  return right_run_epoch(without_the_least, step);
}

//// two_small_all_reduces
// Misconception: one all_reduce tells whether all ranks have a batch, and another one whether any has.
// Replaces: run_epoch
// Killed by: Part5Together.one_small_all_reduce_a_step
// Diagnosis: none

std::int64_t run_epoch(const std::function<std::optional<std::int64_t>()>& next,
                       const std::function<void(std::int64_t)>& step) {
  for (std::int64_t steps = 0;; ++steps) {
    const auto batch = next();
    auto least = dist::full({1}, batch ? 1 : 0, dist::DType::i64), most = least.clone();
    dist::all_reduce(least, dist::ReduceOp::min);
    dist::all_reduce(most, dist::ReduceOp::max);
    if (least.item<std::int64_t>() == 0) return steps;
    step(*batch);
  }
}

//// zero_is_no_batch
// Misconception: no batch has the number 0, so 0 can stand for "no more batches".
// Replaces: run_epoch
// Killed by: Part5Together.all_stop_after_the_same_step
// Diagnosis: a_batch_that_is_taken_for_none

std::int64_t run_epoch(const std::function<std::optional<std::int64_t>()>& next,
                       const std::function<void(std::int64_t)>& step) {
  for (std::int64_t steps = 0;; ++steps) {
    const std::int64_t batch = next().value_or(0);
    auto all_have_one = dist::full({1}, batch != 0 ? 1 : 0, dist::DType::i64);
    dist::all_reduce(all_have_one, dist::ReduceOp::min);
    if (all_have_one.item<std::int64_t>() == 0) return steps;
    step(batch);
  }
}
