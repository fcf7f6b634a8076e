// What the bodies of the direct algorithms (on_rounds.h) are made of: a round that is abandoned after an
// error, what is published and how, copies in pairs, shares, and steps through buffers. `Call`: like
// DirectCall (algorithms.h); its Round and BounceSteps: like round.h and bounce_steps.h.
#pragma once

#include <algorithm>
#include <utility>

#include "dist/collectives/algorithms.h"
#include "dist/core/kernels.h"
#include "dist/core/view_list.h"
#include "dist/direct/bounce_steps.h"

namespace dist::on_rounds {

// Used like BounceSteps (bounce_steps.h) where there are none: one step, with all of the data.
template <class Round>
class OneStep {
 public:
  OneStep(Round& round, const BouncePlan&) : OneStep(round) {}
  explicit OneStep(Round& round) : round_(round) {}
  bool next() { return std::exchange(is_first_, false); }
  static const TensorView& slice(const TensorView& part) { return part; }
  TensorView of(int rank, std::int64_t count, int part = 0) { return round_.of(rank, count, part); }

 private:
  Round& round_;
  bool is_first_ = true;
};

namespace detail {

// Runs work(round). Where that fails, this rank's part of the round fails for the other ranks, too.
template <class Call, class Work>
void in_round(const Call& call, const Work& work) {
  typename Call::Round round(call.peers, call.terms, call.label);
  try {
    work(round);
  } catch (...) {
    round.give_up();
    throw;
  }
}

// Publishes the parts as a copy when they are small, otherwise in place.
template <class Round>
void publish(Round& round, std::span<const TensorView> parts, int to = Round::everybody, bool helps = false) {
  if (round.is_short(total_bytes(parts), parts.size()))
    round.publish_copy(parts);
  else
    round.publish_in_place(parts, to, helps);
}

inline std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

// Whether a part of a root's list is copied in place by the rank that it belongs to. `parts`: how many parts
// of this size the list has, when it is published as a whole.
template <class Round>
bool is_paired(const Round& round, const TensorView& part, std::size_t parts = 1) {
  return Round::in_pairs && part.bytes() >= direct::paired_bytes &&
         !round.is_short(parts * part.bytes(), parts);
}

template <class Round>
bool has_paired(const Round& round, std::span<const TensorView> list) {
  return std::ranges::any_of(list, [&](const TensorView& part) { return is_paired(round, part); });
}

inline bool is_in_place(std::span<const TensorView> list, int root, const TensorView& own) {
  return list[index(root)].data == own.data;
}

// Copies between part r of the root's list and rank r's data, in place: rank r copies, and a root that helps
// takes a share of the work. copy_pair(roots, theirs) copies in one direction or the other.
template <class Round, class CopyPair>
void copy_in_pairs(Round& round, int root, std::span<const TensorView> list, const TensorView& own,
                   const CopyPair& copy_pair) {
  const int n = round.size();
  const auto roots_share = [&](const TensorView& part) {
    return round.helps(root) ? share_of(part, n - 1, n) : part.slice(part.count, 0);
  };
  if (round.rank() != root) {
    const TensorView roots = round.of(root, own.count, round.rank());
    const std::int64_t count =
        own.count - (round.published_memory(round.rank()) ? roots_share(own).count : 0);
    round.prefault(root, roots.slice(0, count));
    copy_pair(roots.slice(0, count), own.slice(0, count));
    return round.finish();
  }
  copy_pair(list[index(root)], own);
  for (int r = 0; r < n; ++r) {
    if (r == root || round.published_nothing(r)) continue;
    const TensorView &part = list[index(r)], theirs = round.of(r, part.count);
    if (round.is_bounced(r)) continue;  // no other rank reaches its memory
    const TensorView mine = round.published_memory(r) ? roots_share(part) : part;  // a copy must be read
    const TensorView piece = theirs.slice(elements_between(part, mine), mine.count);
    round.prefault(r, piece);
    copy_pair(mine, piece);
  }
  round.finish();
}

// For an all_gather of large parts: exposes the places for all parts, and then this rank's own part.
template <class Round>
void publish_places_and_part(Round& round, const CollectiveArgs& args) {
  ViewList all(args.outs.size() + 1);
  for (std::size_t i = 0; i < args.outs.size(); ++i) all.set(i, args.outs[i]);
  all.set(args.outs.size(), args.in);
  round.publish_in_place(all);
}

// Each rank writes its part to the places that all ranks have exposed for it.
template <class Round>
void bring_to_all(Round& round, const CollectiveArgs& args) {
  ViewList places(index(round.size()));
  for (int i = 0; i < round.size(); ++i) {  // not all to the same rank at the same time
    const int r = mod(round.rank() + i, round.size());
    const bool is_own = r == round.rank();
    places.set(index(i), is_own ? args.outs[index(r)] : round.of(r, args.in.count, round.rank()));
    if (!is_own) round.prefault(r, places[index(i)]);
  }
  copy_to_all(places, args.in);
  round.finish();
}

// Gets every rank's contribution as it was published; this rank's own in place.
template <class Round>
void get_contributions(Round& round, const TensorView& own, ViewList& ins) {
  for (int r = 0; r < round.size(); ++r) {
    ins.set(index(r), r == round.rank() ? own : round.of(r, own.count));
    if (r != round.rank()) round.check_algorithm(r, true);
  }
}

// Calls work(views) on every rank's data in this rank's share of the work (empty for a rank that does not
// work), in steps if necessary. All ranks have exposed data of equal size to the workers.
template <class Call, class Work>
void in_shares(typename Call::Round& round, const TensorView& data, bool written, const Work& work) {
  typename Call::Steps steps(round, {.mine = {&data, 1},
                                     .longest = data.count,
                                     .in_steps = round.any_bounced(),
                                     .by_shares = true,
                                     .written = written});
  ViewList views(index(round.size()));
  while (steps.next()) {
    const TensorView mine = steps.slice(data);
    const TensorView share =
        round.works() ? share_of(mine, round.worker(), round.worker_count()) : mine.slice(0, 0);
    for (int r = 0; r < round.size(); ++r) {
      const TensorView whole = r == round.rank() ? mine : steps.of(r, data.count);
      if (r != round.rank()) round.check_algorithm(r, false);
      views.set(index(r), whole.slice(elements_between(mine, share), share.count));
      round.prefault(r, views[index(r)]);
    }
    work(views);
  }
  round.finish();
}

// Calls work(steps), which reads what the ranks publish: in the steps of make_plan(), or at once where no
// rank publishes it `in_place`.
template <class Call, class MakePlan, class Work>
void in_steps(typename Call::Round& round, bool in_place, const MakePlan& make_plan, const Work& work) {
  if (in_place) {
    typename Call::Steps steps(round, make_plan());
    while (steps.next()) work(steps);
  } else {
    OneStep<typename Call::Round> all(round);
    work(all);
  }
  round.finish();
}

inline std::int64_t longest(std::span<const TensorView> views) {
  std::int64_t most = 0;
  for (const TensorView& view : views) most = std::max(most, view.count);
  return most;
}

}  // namespace detail

}  // namespace dist::on_rounds
