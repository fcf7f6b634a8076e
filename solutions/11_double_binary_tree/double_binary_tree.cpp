// Lab 11, the solution. NOTES.md explains it.
#include "double_binary_tree.h"

#include <algorithm>
#include <utility>

namespace lab {

using dist::Tensor, dist::Work;

Place first_tree(int rank, int n) {
  Place place;
  if (rank == 0) {
    int child = 1;
    while (2 * child < n) child *= 2;
    if (n > 1) place.children.push_back(child);
    return place;
  }
  const int bit = rank & -rank, without = rank ^ bit, above = without | (2 * bit);
  place.parent = above < n ? above : without;
  int half = bit / 2;
  if (half > 0) place.children.push_back(rank - half);
  while (half > 0 && rank + half >= n) half /= 2;
  if (half > 0) place.children.push_back(rank + half);
  return place;
}

Place second_tree(int rank, int n) {
  const bool mirrored = n % 2 == 0;
  const auto rank_at = [&](int place) { return mirrored ? n - 1 - place : (place + 1) % n; };
  Place place = first_tree(mirrored ? n - 1 - rank : (rank + n - 1) % n, n);
  if (place.parent >= 0) place.parent = rank_at(place.parent);
  for (int& child : place.children) child = rank_at(child);
  return place;
}

namespace {

using Segments = std::vector<Tensor>;

Segments segments_of(const Tensor& half, std::int64_t segment) {
  Segments parts;
  for (std::int64_t start = 0; start < half.numel(); start += segment)
    parts.push_back(half.narrow(start, std::min(segment, half.numel() - start)));
  return parts;
}

// The segment that the hop carries in this turn; null if there is none.
Tensor* segment_at(std::array<Segments, 2>& halves, const Hop& hop, int turn) {
  Segments& parts = halves[static_cast<std::size_t>(hop.tree)];
  const int s = turn - hop.delay;
  return s >= 0 && s < static_cast<int>(parts.size()) ? &parts[static_cast<std::size_t>(s)] : nullptr;
}

// Additions that are still to be done: this rank's segment, and the partial sum that has arrived.
using Sums = std::vector<std::pair<Tensor*, Tensor>>;

// Runs one phase. While its messages are under way, adds what arrived in the phase before.
void run_phase(const Phase& phase, int turn, std::array<Segments, 2>& halves, Sums& came) {
  std::vector<Work> under_way;
  Sums coming;
  for (const Hop& hop : phase.receives) {
    Tensor* const mine = segment_at(halves, hop, turn);
    if (mine == nullptr) continue;
    Tensor arriving = hop.up ? dist::empty_like(*mine) : *mine;
    under_way.push_back(dist::irecv(arriving, hop.peer));
    if (hop.up) coming.emplace_back(mine, arriving);
  }
  for (const Hop& hop : phase.sends) {
    if (const Tensor* mine = segment_at(halves, hop, turn)) under_way.push_back(dist::isend(*mine, hop.peer));
  }
  for (auto& [mine, theirs] : came) add(*mine, theirs);
  for (Work& work : under_way) work.wait();
  came = std::move(coming);
}

}  // namespace

void double_tree_all_reduce(Tensor& data, std::int64_t segment) {
  const int rank = dist::get_rank(), n = dist::get_world_size();
  std::array<Segments, 2> halves;
  for (const std::size_t tree : {0, 1}) halves[tree] = segments_of(data.chunk(2)[tree], segment);
  int turns = static_cast<int>(std::max(halves[0].size(), halves[1].size()));
  for (int reached = 1; reached < n; reached *= 2) turns += 2;  // 2 ceil(log2 n)
  Sums came;
  const auto phases = timetable(rank, n);
  for (int turn = 0; turn < turns; ++turn) {
    for (const Phase& phase : phases) run_phase(phase, turn, halves, came);
  }
}

}  // namespace lab
