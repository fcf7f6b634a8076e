// Lab 07, the solution. NOTES.md explains it.
#include "all_gather_all_reduce.h"

#include "dist/core/fail.h"

namespace lab {

using dist::DType, dist::Tensor;

// The ring: in step s a rank sends the chunk that it received in step s - 1, beginning with its own chunk.
void all_gather(Tensor& all, const Tensor& mine) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  const int next = (rank + 1) % n, before = (rank + n - 1) % n;
  const auto part = [&, k = mine.numel()](int owner) { return all.narrow((owner + n) % n * k, k); };

  Tensor own = part(rank);
  if (own.raw() != mine.raw()) own.copy_(mine);
  for (int step = 0; step < n - 1; ++step) {
    Tensor leaving = part(rank - step), arriving = part(rank - step - 1);
    auto arrival = dist::irecv(arriving, before);
    dist::send(leaving, next);
    arrival.wait();
  }
}

namespace {

// In the binomial tree with root 0, the parent of rank r is r without its lowest set bit. Returns that bit;
// for rank 0, the smallest power of two that is at least n.
int lowest_bit(int rank, int n) {
  int bit = 1;
  while (bit < n && (rank & bit) == 0) bit *= 2;
  return bit;
}

// Partial sums go up. The smallest subtree comes first, because it is ready first.
void reduce_to_0(Tensor& data) {
  const int rank = dist::get_rank(), n = dist::get_world_size(), bit = lowest_bit(rank, n);
  Tensor received = dist::empty_like(data);
  for (int distance = 1; distance < bit && rank + distance < n; distance *= 2) {
    dist::recv(received, rank + distance);
    data.add_(received);
  }
  if (rank != 0) dist::send(data, rank - bit);
}

// The result goes down the same tree. The largest subtree comes first, because it has the most to do.
void broadcast_from_0(Tensor& data) {
  const int rank = dist::get_rank(), n = dist::get_world_size(), bit = lowest_bit(rank, n);
  if (rank != 0) dist::recv(data, rank - bit);
  for (int distance = bit / 2; distance > 0; distance /= 2) {
    if (rank + distance < n) dist::send(data, rank + distance);
  }
}

}  // namespace

void all_reduce_sum(Tensor& data) {
  reduce_to_0(data);
  broadcast_from_0(data);
}

void all_reduce_avg(Tensor& data) {
  if (!dist::is_floating_point(data.dtype())) {
    dist::fail(dist::Errc::invalid_argument,
               "rank {}: the mean of {} elements is in general not an integer; use f32", dist::get_rank(),
               dist::name(data.dtype()));
  }
  all_reduce_sum(data);
  data.div_(dist::get_world_size());
}

double global_accuracy(std::int64_t correct, std::int64_t seen) {
  Tensor counts = dist::tensor({correct, seen});
  all_reduce_sum(counts);
  const auto totals = counts.to_vector<double>();
  if (totals[1] == 0) {
    dist::fail(dist::Errc::invalid_argument, "rank {}: none of the {} ranks has seen a sample",
               dist::get_rank(), dist::get_world_size());
  }
  return totals[0] / totals[1];
}

}  // namespace lab
