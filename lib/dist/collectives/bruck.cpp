#include "dist/collectives/bruck.h"

#include <algorithm>

#include "dist/collectives/chunks.h"
#include "dist/collectives/halving.h"
#include "dist/collectives/trees.h"
#include "dist/core/fail.h"
#include "dist/core/kernels.h"

namespace dist {
namespace {

// The views' elements one behind the other, from view `first` on and round.
class Packed {
 public:
  Packed(Transport& net, std::span<const TensorView> views, int first)
      : views_(views), first_(first), memory_(net.scratch(largest(views), begin(size()))) {}

  int size() const { return static_cast<int>(views_.size()); }
  TensorView range(int first, int last) const {
    const std::int64_t lo = begin(first);
    return memory_.all().slice(lo, begin(last) - lo);
  }
  // Between place i and its view, for all places.
  void copy_in() const {
    for_each([](const TensorView& place, const TensorView& view) { copy(place, view); });
  }
  void copy_out() const {
    for_each([](const TensorView& place, const TensorView& view) { copy(view, place); });
  }

 private:
  const TensorView& view(int place) const {
    return views_[static_cast<std::size_t>(mod(first_ + place, size()))];
  }
  // Summed up when asked for, as n offsets on each of n ranks would fill the memory of a simulation.
  std::int64_t begin(int place) const {
    std::int64_t sum = 0;
    for (int i = 0; i < place; ++i) sum += view(i).count;
    return sum;
  }
  template <class Visit>
  void for_each(const Visit& visit) const {
    std::int64_t at = 0;
    for (int place = 0; place < size(); ++place) {
      visit(memory_.all().slice(at, view(place).count), view(place));
      at += view(place).count;
    }
  }

  std::span<const TensorView> views_;
  int first_;
  Scratch memory_;
};

void refuse_uneven(const Transport& net, std::span<const TensorView> views, std::int64_t count) {
  for (std::size_t i = 0; i < views.size(); ++i)
    if (views[i].count != count)
      fail(Errc::invalid_argument,
           "rank {}: bruck_all_to_all needs equal counts, but its share of rank {} has {} elements and that "
           "of "
           "rank 0 {}; use algorithm \"pairwise\" for uneven shares",
           net.rank(), i, views[i].count, count);
}

}  // namespace

void bruck_all_gather(Transport& net, TensorView in, std::span<const TensorView> outs) {
  const int n = net.size(), rank = net.rank();
  const Packed packed(net, outs, rank);  // place i: rank + i's
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

// A share waits at the place of its distance, rank after rank: in round k those with bit k in their distance
// move on by 2^k, to the same place there.
void bruck_all_to_all(Transport& net, std::span<const TensorView> ins, std::span<const TensorView> outs) {
  const int n = net.size(), rank = net.rank();
  const std::int64_t count = ins[0].count;
  refuse_uneven(net, ins, count);
  refuse_uneven(net, outs, count);
  const Packed places(net, ins, rank);
  places.copy_in();
  const std::int64_t most = count * (n / 2);
  const Scratch leaving = net.scratch(ins[0], most), arriving = net.scratch(ins[0], most);
  for (int distance = 1; distance < n; distance *= 2) {
    std::int64_t elements = 0;
    for (int place = distance; place < n; ++place) {
      if ((place & distance) == 0) continue;
      copy(leaving.all().slice(elements, count), places.range(place, place + 1));
      elements += count;
    }
    send_recv(net, leaving.all().slice(0, elements), mod(rank + distance, n),
              arriving.all().slice(0, elements), mod(rank - distance, n));
    for (int place = n - 1; place >= distance; --place) {
      if ((place & distance) == 0) continue;
      elements -= count;
      copy(places.range(place, place + 1), arriving.all().slice(elements, count));
    }
  }
  for (int place = 0; place < n; ++place)  // it came from `place` ranks before
    copy(outs[static_cast<std::size_t>(mod(rank - place, n))], places.range(place, place + 1));
}

}  // namespace dist
