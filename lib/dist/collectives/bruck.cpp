// Bruck's all_gather and all_to_all, and all_gather by recursive doubling. Packed puts the views' elements
// into one run of scratch memory, so that what travels in a round is one or two runs; the checks and the
// index arithmetic follow it.
#include "dist/collectives/bruck.h"

#include <algorithm>

#include "dist/collectives/chunks.h"
#include "dist/collectives/halving.h"
#include "dist/collectives/trees.h"
#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/kernels.h"

namespace dist {
namespace {

// The views' elements in one run of memory, starting with view `first` and wrapping around.
class Packed {
 public:
  Packed(Transport& net, std::span<const TensorView> views, int first)
      : views_(views), first_(first), memory_(net.scratch(largest(views), begin(size()))) {}

  int size() const { return static_cast<int>(views_.size()); }
  TensorView range(int first, int last) const {
    const std::int64_t lo = begin(first);
    return memory_.all().slice(lo, begin(last) - lo);
  }
  void copy_out() const {
    std::int64_t at = 0;
    for (int place = 0; place < size(); ++place) {
      copy(view(place), memory_.all().slice(at, view(place).count));
      at += view(place).count;
    }
  }

 private:
  const TensorView& view(int place) const {
    return views_[static_cast<std::size_t>(mod(first_ + place, size()))];
  }
  // Summed up when asked for, because n offsets on each of n ranks would fill the memory of a simulation.
  std::int64_t begin(int place) const {
    std::int64_t sum = 0;
    for (int i = 0; i < place; ++i) sum += view(i).count;
    return sum;
  }
  std::span<const TensorView> views_;
  int first_;
  Scratch memory_;
};

template <class Visit>
void for_each_place_with(int bit, int n, const Visit& visit) {
  for (int i = bit; i < n; ++i)
    if ((i & bit) != 0) visit(i);
}

void refuse_uneven(std::span<const TensorView> views, std::int64_t count) {
  for (std::size_t i = 0; i < views.size(); ++i)
    if (views[i].count != count)
      fail(Errc::invalid_argument,
           "bruck_all_to_all needs equal counts, but the part of member {} of the group has {} and that of "
           "member 0 {}; use algorithm \"pairwise\" for uneven parts",
           i, counted(views[i].count, "element"), count);
}

}  // namespace

void bruck_all_gather(Transport& net, TensorView in, std::span<const TensorView> outs) {
  const int n = net.size(), rank = net.rank();
  const Packed packed(net, outs, rank);  // place i: the data of rank + i
  copy(packed.range(0, 1), in);
  for (int have = 1; have < n; have *= 2) {
    const int more = std::min(have, n - have);
    send_recv(net, packed.range(0, more), mod(rank - have, n), packed.range(have, have + more),
              mod(rank + have, n));
  }
  packed.copy_out();
}

void recursive_doubling_all_gather(Transport& net, TensorView in, std::span<const TensorView> outs) {
  const int n = net.size(), rank = net.rank();
  if (floor_pow2(n) != n) return bruck_all_gather(net, in, outs);
  const Packed packed(net, outs, 0);
  copy(packed.range(rank, rank + 1), in);
  Halving(net, 0).all_gather([&](int first, int last) { return packed.range(first, last); });
  packed.copy_out();
}

// A part waits at the position of its distance and moves from rank to rank: in round k, those with bit k in
// their distance move on by 2^k ranks, to the same position on the next rank.
void bruck_all_to_all(Transport& net, std::span<const TensorView> ins, std::span<const TensorView> outs) {
  const int n = net.size(), rank = net.rank();
  const std::int64_t count = ins[0].count;
  refuse_uneven(ins, count);
  refuse_uneven(outs, count);
  const Scratch all = net.scratch(ins[0], count * n);
  const auto place = [&](int i) { return all.all().slice(i * count, count); };
  for (int i = 0; i < n; ++i) copy(place(i), ins[static_cast<std::size_t>(mod(rank + i, n))]);
  const std::int64_t most = count * (n / 2);
  const Scratch leaving = net.scratch(ins[0], most), arriving = net.scratch(ins[0], most);
  for (int distance = 1; distance < n; distance *= 2) {
    std::int64_t moved = 0;
    for_each_place_with(distance, n, [&](int i) {
      copy(leaving.all().slice(moved, count), place(i));
      moved += count;
    });
    send_recv(net, leaving.all().slice(0, moved), mod(rank + distance, n), arriving.all().slice(0, moved),
              mod(rank - distance, n));
    moved = 0;
    for_each_place_with(distance, n, [&](int i) {
      copy(place(i), arriving.all().slice(moved, count));
      moved += count;
    });
  }
  for (int i = 0; i < n; ++i)  // this part came from the rank i places before
    copy(outs[static_cast<std::size_t>(mod(rank - i, n))], place(i));
}

}  // namespace dist
