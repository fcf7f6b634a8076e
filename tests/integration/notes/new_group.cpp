// Two halves sum their ranks, and then every rank learns both sums by a maximum: a rank that was not in a
// half puts in 0. (Right for sums that are not negative; otherwise the absent one starts at minus infinity.)
#include "notes.h"

namespace {

std::vector<int> ranks_from(int first, int last) {
  std::vector<int> ranks;
  for (int rank = first; rank < last; ++rank) ranks.push_back(rank);
  return ranks;
}

void program(int rank, int world_size) {
  const auto lower = ranks_from(0, world_size / 2), upper = ranks_from(world_size / 2, world_size);
  const auto lower_half = dist::new_group(lower);  // every rank makes both groups, a member or not
  const auto upper_half = dist::new_group(upper);

  auto lower_sum = dist::zeros({1}), upper_sum = dist::zeros({1});
  auto value = dist::full({1}, rank);
  if (lower_half.is_member()) {
    dist::all_reduce(value, dist::ReduceOp::sum, {.group = lower_half});
    lower_sum = value.clone();
  } else {
    dist::all_reduce(value, dist::ReduceOp::sum, {.group = upper_half});
    upper_sum = value.clone();
  }
  notes::say("rank {} knows {} and {}", rank, notes::show(lower_sum), notes::show(upper_sum));

  dist::all_reduce(lower_sum, dist::ReduceOp::max);
  dist::all_reduce(upper_sum, dist::ReduceOp::max);
  notes::say("rank {} knows {} and {}, shared", rank, notes::show(lower_sum), notes::show(upper_sum));
  if (rank == 0) {
    notes::say("ranks {} sum to {}", fmt::join(lower, ", "), notes::show(lower_sum));
    notes::say("ranks {} sum to {}", fmt::join(upper, ", "), notes::show(upper_sum));
  }
}

}  // namespace

int main() { return notes::run(4, program); }
