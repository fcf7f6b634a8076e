// Lab 15, the solution. NOTES.md explains it.
#include "ddp_buckets.h"

#include <algorithm>

#include "dist/core/fail.h"

namespace lab {

using dist::Tensor;

namespace {

// The open bucket of one dtype.
struct Open {
  dist::DType dtype;
  std::vector<std::size_t> members;
  std::size_t bytes = 0;
  std::size_t closed = 0;  // the number of closed buckets of this dtype
};

Open& open_of(dist::DType dtype, std::vector<Open>& open_buckets) {
  for (Open& open : open_buckets)
    if (open.dtype == dtype) return open;
  return open_buckets.emplace_back(Open{dtype, {}});
}

bool is_full(const Open& open, const std::vector<std::size_t>& limits) {
  return !limits.empty() && open.bytes >= limits[std::min(open.closed, limits.size() - 1)];
}

// Moves the members into one piece of memory. Each gradient becomes a view of it.
Tensor move_together(const std::vector<std::size_t>& members, std::vector<Tensor>& gradients) {
  std::int64_t count = 0;
  for (const std::size_t i : members) count += gradients[i].numel();
  Tensor memory = dist::empty({count}, gradients[members.front()].dtype());
  std::int64_t at = 0;
  for (const std::size_t i : members) {
    Tensor place = memory.narrow(at, gradients[i].numel()).view(gradients[i].shape());
    place.copy_(gradients[i]);
    gradients[i] = place;
    at += place.numel();
  }
  return memory;
}

}  // namespace

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
  std::ranges::sort(buckets, {}, [](const auto& members) { return members.front(); });
  return buckets;
}

Reducer make_reducer(std::vector<Tensor>& gradients, const std::vector<std::size_t>& limits) {
  std::vector<Size> sizes;  // the last gradient first
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
  return reducer;
}

void start(Reducer& reducer) {
  for (Bucket& bucket : reducer.buckets) bucket.pending = bucket.members.size();
  reducer.launched = 0;
}

void ready(Reducer& reducer, std::size_t i) {
  if (!reducer.syncs) return;
  --reducer.buckets[reducer.bucket_of[i]].pending;
  while (reducer.launched < reducer.buckets.size() && reducer.buckets[reducer.launched].pending == 0) {
    Bucket& bucket = reducer.buckets[reducer.launched++];
    bucket.work = dist::all_reduce(bucket.memory, dist::ReduceOp::avg, {.async_op = true});
  }
}

void finish(Reducer& reducer) {
  if (!reducer.syncs) return;
  for (std::size_t i = 0; i < reducer.launched; ++i) reducer.buckets[i].work.wait();
  if (reducer.launched < reducer.buckets.size())
    dist::fail(dist::Errc::invalid_argument,
               "backward is over, and bucket {} still waits for {} of its {} gradients", reducer.launched,
               reducer.buckets[reducer.launched].pending, reducer.buckets[reducer.launched].members.size());
}

void accumulate(Reducer& reducer, int count, const std::function<void(int batch)>& backward) {
  struct SyncsAgain {  // also when backward throws
    Reducer& reducer;
    ~SyncsAgain() { reducer.syncs = true; }
  } const syncs_again{reducer};
  for (int batch = 0; batch < count; ++batch) {
    reducer.syncs = batch + 1 == count;
    start(reducer);
    backward(batch);
    finish(reducer);
  }
}

}  // namespace lab
