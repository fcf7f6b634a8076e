// next() goes on to the next step, of() finds another rank's elements of it; fill() copies this rank's own
// elements into a bounce buffer before the others use them, take_back() out of it after they wrote them.
#include "dist/direct/bounce_steps.h"

#include <algorithm>
#include <cstring>

#include "dist/core/kernels.h"

namespace dist {

namespace {

constexpr std::size_t line = 64;

}  // namespace

TensorView share_of(const TensorView& all, int rank, int n) {
  const auto per_line = static_cast<std::int64_t>(line / size_of(all.dtype));
  const std::int64_t lines = (all.count + per_line - 1) / per_line;
  const auto begin = [&](int r) { return std::min(all.count, chunk_begin(lines, r, n) * per_line); };
  return all.slice(begin(rank), begin(rank + 1) - begin(rank));
}

BounceSteps::BounceSteps(Round& round, const BouncePlan& plan)
    : round_(round),
      plan_(plan),
      room_(direct::bounce_bytes / static_cast<std::size_t>(plan.parts) / line * line) {
  if (!plan.in_steps) return;
  const auto most = static_cast<std::int64_t>(room_ / size_of(round.dtype()));
  steps_ = std::max<std::int64_t>(1, (plan.longest + most - 1) / most);
  fills_ = !plan.mine.empty() && round.is_bounced(round.rank());
}

bool BounceSteps::next() {
  if (!plan_.in_steps) return ++step_ == 0;
  if (step_ >= 0) round_.tell_worked(static_cast<std::uint64_t>(step_ + 1));
  if (fills_ && step_ + 1 < steps_) fill(step_ + 1);
  if (fills_ && step_ >= 0 && plan_.written) take_back(step_);
  return ++step_ < steps_;
}

TensorView BounceSteps::slice(const TensorView& part, std::int64_t step) const {
  if (!plan_.in_steps) return part;
  const auto most = static_cast<std::int64_t>(room_ / size_of(part.dtype));
  const std::int64_t first = std::min(part.count, step * most);
  return part.slice(first, std::min(most, part.count - first));
}

std::byte* BounceSteps::place(std::byte* buffers, std::int64_t step, int part) const {
  const std::size_t buffer = static_cast<std::size_t>(step) % direct::bounce_count;
  return buffers + buffer * direct::bounce_bytes + static_cast<std::size_t>(part) * room_;
}

TensorView BounceSteps::of(int rank, std::int64_t count, int part) {
  const TensorView theirs = round_.of(rank, count, part);
  TensorView now = slice(theirs);
  if (!round_.is_bounced(rank)) {
    if (!plan_.by_shares) round_.prefault(rank, now);
    return now;
  }
  now.data = place(theirs.data, step_, part);
  if (now.count > 0) round_.await_filled(rank, static_cast<std::uint64_t>(step_ + 1));
  return now;
}

// Calls copy(piece, there) for each piece of this rank's own memory and its place in the buffer.
template <class Copy>
void BounceSteps::for_each_piece(std::int64_t step, const Copy& copy) {
  for (std::size_t i = 0; i < plan_.mine.size(); ++i) {
    if (plan_.parts > 1 && i == static_cast<std::size_t>(round_.rank())) continue;
    const TensorView piece = slice(plan_.mine[i], step);
    TensorView there = piece;
    there.data = place(round_.bounce_buffers(), step, static_cast<int>(i));
    if (!plan_.by_shares) {
      copy(piece, there);
      continue;
    }
    const TensorView share = share_of(piece, round_.rank(), round_.size());
    const std::int64_t before = elements_between(piece, share), after = before + share.count;
    copy(piece.slice(0, before), there.slice(0, before));
    copy(piece.slice(after, piece.count - after), there.slice(after, piece.count - after));
  }
}

// Uses memcpy, which does not read what it overwrites: the buffer was last read by other ranks, and is in
// their caches. copy() would fetch it from there, line by line (256 KiB on 2 ranks: half as fast).
void BounceSteps::fill(std::int64_t step) {
  const auto filled = static_cast<std::uint64_t>(step) + 1;
  if (filled > direct::bounce_count) round_.await_worked(filled - direct::bounce_count);
  for_each_piece(step, [](const TensorView& piece, const TensorView& there) {
    if (piece.count > 0) std::memcpy(there.data, piece.data, piece.bytes());
  });
  round_.tell_filled(filled);
}

void BounceSteps::take_back(std::int64_t step) {
  round_.await_worked(static_cast<std::uint64_t>(step) + 1);
  for_each_piece(step, [](const TensorView& piece, const TensorView& there) { copy(piece, there); });
}

}  // namespace dist
