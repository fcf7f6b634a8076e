// The bodies of direct.h: written on rounds, wherever the memory is that the ranks show each other.
// direct.cpp makes them for the host's, backend/device_algorithms.cpp for a device's. `Call`: as DirectCall;
// its Round: as that of transport/peer_memory.h.
#pragma once

#include <algorithm>

#include "dist/collectives/collective_args.h"
#include "dist/core/kernels.h"
#include "dist/core/view_list.h"

namespace dist::on_rounds {

namespace detail {

// Rank `rank`'s share of the work on `all`: whole cache lines, so that no two ranks write to one.
inline TensorView share_of(const TensorView& all, int rank, int n) {
  const auto per_line = static_cast<std::int64_t>(64 / size_of(all.dtype));
  const std::int64_t lines = (all.count + per_line - 1) / per_line;
  const auto begin = [&](int r) { return std::min(all.count, chunk_begin(lines, r, n) * per_line); };
  return all.slice(begin(rank), begin(rank + 1) - begin(rank));
}

// The part of every rank's data that corresponds to `share` of `whole`.
inline TensorView same_part(const TensorView& theirs, const TensorView& whole, const TensorView& share) {
  const std::int64_t first = (share.data - whole.data) / static_cast<std::ptrdiff_t>(size_of(whole.dtype));
  return theirs.slice(first, share.count);
}

// As a copy when it fits, otherwise in place.
template <class Round>
void show_or_expose(Round& round, std::span<const TensorView> parts) {
  if (Round::fits(total_bytes(parts), parts.size()))
    round.show(parts);
  else
    round.expose(parts);
}

inline std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

// Every rank's contribution as it is shown; this rank's own where it lies.
template <class Round>
void get_contributions(Round& round, const TensorView& own, ViewList& ins) {
  for (int r = 0; r < round.size(); ++r) ins.set(index(r), r == round.rank() ? own : round.of(r, own.count));
}

// Each rank's part of the work on data of equal size that all ranks expose.
template <class Round>
void get_shares(Round& round, const TensorView& data, ViewList& views) {
  const TensorView share = share_of(data, round.rank(), round.size());
  for (int r = 0; r < round.size(); ++r) views.set(index(r), same_part(round.of(r, data.count), data, share));
}

}  // namespace detail

template <class Call>
void one_shot_all_reduce(const Call& call, const CollectiveArgs& args) {
  using namespace detail;
  constexpr std::int64_t most =
      Call::Round::shown_bytes / sizeof(std::int64_t);  // elements of the largest dtype
  std::int64_t first = 0;
  do {  // once even for no elements: the ranks wait for each other
    const TensorView piece = args.out.slice(first, std::min(most, args.out.count - first));
    typename Call::Round round(call.peers, call.terms, call.label);
    round.show(piece);
    ViewList ins(index(round.size()));
    get_contributions(round, piece, ins);
    reduce_many({&piece, 1}, ins, args.op);
    first += most;
  } while (first < args.out.count);
}

template <class Call>
void two_shot_all_reduce(const Call& call, const CollectiveArgs& args) {
  using namespace detail;
  typename Call::Round round(call.peers, call.terms, call.label);
  round.expose(args.out);
  ViewList views(index(round.size()));
  get_shares(round, args.out, views);
  reduce_many(views, views, args.op);
  round.finish();
}

template <class Call>
void direct_broadcast(const Call& call, const CollectiveArgs& args) {
  using namespace detail;
  typename Call::Round round(call.peers, call.terms, call.label);
  const bool is_root = round.rank() == args.root;
  if (Call::Round::fits(args.out.bytes())) {
    if (is_root) return round.show(args.out);
    round.attend();
    return copy(args.out, round.of(args.root, args.out.count));
  }
  round.expose(args.out);
  ViewList views(index(round.size()));
  get_shares(round, args.out, views);
  for (int r = 0; r < round.size(); ++r)
    if (r != args.root) copy(views[index(r)], views[index(args.root)]);
  round.finish();
}

template <class Call>
void direct_reduce(const Call& call, const CollectiveArgs& args) {
  using namespace detail;
  typename Call::Round round(call.peers, call.terms, call.label);
  const bool is_root = round.rank() == args.root;
  if (Call::Round::fits(args.out.bytes())) {
    if (!is_root) return round.show(args.out);
    round.attend();
    ViewList ins(index(round.size()));
    get_contributions(round, args.out, ins);
    return reduce_many({&args.out, 1}, ins, args.op);
  }
  round.expose(args.out);
  ViewList views(index(round.size()));
  get_shares(round, args.out, views);
  reduce_many({&views[index(args.root)], 1}, views, args.op);
  round.finish();
}

template <class Call>
void direct_scatter(const Call& call, const CollectiveArgs& args) {
  using namespace detail;
  typename Call::Round round(call.peers, call.terms, call.label);
  if (round.rank() == args.root) {
    show_or_expose(round, args.ins);
    copy(args.out, args.ins[index(args.root)]);
  } else {
    round.attend();
    copy(args.out, round.of(args.root, args.out.count, round.rank()));
  }
  round.finish();
}

template <class Call>
void direct_gather(const Call& call, const CollectiveArgs& args) {
  using namespace detail;
  typename Call::Round round(call.peers, call.terms, call.label);
  if (round.rank() != args.root) {
    show_or_expose(round, {&args.in, 1});
    return round.finish(args.root);
  }
  round.attend();
  for (int r = 0; r < round.size(); ++r) {
    const TensorView& out = args.outs[index(r)];
    copy(out, r == args.root ? args.in : round.of(r, out.count));
  }
}

template <class Call>
void direct_all_gather(const Call& call, const CollectiveArgs& args) {
  using namespace detail;
  typename Call::Round round(call.peers, call.terms, call.label);
  show_or_expose(round, {&args.in, 1});
  for (int i = 0; i < round.size(); ++i) {  // not all from the same rank at the same time
    const int r = mod(round.rank() + i, round.size());
    const TensorView& out = args.outs[index(r)];
    copy(out, r == round.rank() ? args.in : round.of(r, out.count));
  }
  round.finish();
}

template <class Call>
void direct_reduce_scatter(const Call& call, const CollectiveArgs& args) {
  using namespace detail;
  typename Call::Round round(call.peers, call.terms, call.label);
  show_or_expose(round, args.ins);
  ViewList ins(index(round.size()));
  for (int r = 0; r < round.size(); ++r)
    ins.set(index(r), r == round.rank() ? args.ins[index(r)] : round.of(r, args.out.count, round.rank()));
  reduce_many({&args.out, 1}, ins, args.op);
  round.finish();
}

template <class Call>
void direct_all_to_all(const Call& call, const CollectiveArgs& args) {
  using namespace detail;
  typename Call::Round round(call.peers, call.terms, call.label);
  show_or_expose(round, args.ins);
  for (int i = 0; i < round.size(); ++i) {
    const int r = mod(round.rank() + i, round.size());
    const TensorView& out = args.outs[index(r)];
    copy(out, r == round.rank() ? args.ins[index(r)] : round.of(r, out.count, round.rank()));
  }
  round.finish();
}

template <class Call>
void direct_barrier(const Call& call, const CollectiveArgs&) {
  using namespace detail;
  typename Call::Round round(call.peers, call.terms, call.label);
  round.attend();
  for (int r = 0; r < round.size(); ++r) round.meet(r);
}

}  // namespace dist::on_rounds
