// The bodies of the direct algorithms, written on rounds, for any kind of memory that ranks publish.
// algorithms.cpp instantiates them for host memory, backend/device_algorithms.cpp for device memory. `Call`:
// like DirectCall.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "dist/core/op_kind.h"
#include "dist/direct/round_steps.h"

namespace dist::on_rounds {

template <class Call>
void one_shot_all_reduce(const Call& call, const CollectiveArgs& args) {
  using namespace detail;
  const auto reduce_piece = [&](const TensorView& piece) {
    in_round(call, [&](auto& round) {
      round.publish_copy(piece);
      ViewList ins(index(round.size()));
      get_contributions(round, piece, ins);
      reduce_many({&piece, 1}, ins, args.op);
    });
  };
  // One round even for no elements, because the ranks wait for each other.
  if (Call::Round::fits(args.out.bytes())) return reduce_piece(args.out);
  const auto most = static_cast<std::int64_t>(Call::Round::room_bytes / size_of(args.out.dtype));
  for (std::int64_t first = 0; first < args.out.count; first += most)
    reduce_piece(args.out.slice(first, std::min(most, args.out.count - first)));
}

template <class Call>
void two_shot_all_reduce(const Call& call, const CollectiveArgs& args) {
  using namespace detail;
  in_round(call, [&](auto& round) {
    round.publish_in_place(args.out, round.workers);
    in_shares<Call>(round, args.out, true,
                    [&](const ViewList& views) { reduce_many(views, views, args.op); });
  });
}

template <class Call>
void direct_broadcast(const Call& call, const CollectiveArgs& args) {
  using namespace detail;
  in_round(call, [&](auto& round) {
    const bool is_root = round.rank() == args.root;
    if (round.is_short(args.out.bytes())) {
      if (is_root) return round.publish_copy(args.out);
      round.publish_nothing();
      return copy(args.out, round.of(args.root, args.out.count));
    }
    round.publish_in_place(args.out, round.workers);
    if (!round.any_bounced())
      return in_shares<Call>(round, args.out, false, [&](const ViewList& views) {
        ViewList others(index(round.size()) - 1);
        for (int r = 0; r < round.size(); ++r)
          if (r != args.root) others.set(index(r > args.root ? r - 1 : r), views[index(r)]);
        copy_to_all(others, views[index(args.root)]);
      });
    // A share copied to a buffer would be copied twice: so each rank reads all of the data.
    typename Call::Steps steps(round, {.mine = {&args.out, is_root ? 1u : 0u},
                                       .longest = args.out.count,
                                       .in_steps = round.is_bounced(args.root)});
    while (steps.next())
      if (!is_root) copy(steps.slice(args.out), steps.of(args.root, args.out.count));
    round.finish();
  });
}

template <class Call>
void direct_reduce(const Call& call, const CollectiveArgs& args) {
  using namespace detail;
  in_round(call, [&](auto& round) {
    const bool is_root = round.rank() == args.root;
    if (round.is_short_for_root(args.out.bytes())) {
      if (!is_root) return round.publish_copy(args.out);
      round.publish_nothing();
      ViewList ins(index(round.size()));
      get_contributions(round, args.out, ins);
      return reduce_many({&args.out, 1}, ins, args.op);
    }
    round.publish_in_place(args.out, round.workers);
    in_shares<Call>(round, args.out, is_root, [&](const ViewList& views) {
      reduce_many({&views[index(args.root)], 1}, views, args.op);
    });
  });
}

template <class Call>
void direct_scatter(const Call& call, const CollectiveArgs& args) {
  using namespace detail;
  in_round(call, [&](auto& round) {
    const bool is_root = round.rank() == args.root;
    if (is_root)
      publish(round, args.ins, Call::Round::everybody, is_in_place(args.ins, args.root, args.out));
    else if (is_paired(round, args.out, index(round.size())) && round.maps({&args.out, 1}))
      round.publish_in_place(args.out, args.root);
    else
      round.publish_nothing();
    if constexpr (Call::Round::in_pairs)
      if (round.published_memory(args.root))
        return copy_in_pairs(round, args.root, args.ins, args.out,
                             [](const TensorView& roots, const TensorView& theirs) { copy(theirs, roots); });
    const auto plan = [&] {
      return BouncePlan{.mine = args.ins,
                        .parts = round.size(),
                        .longest = std::max(longest(args.ins), args.out.count),
                        .in_steps = round.is_bounced(args.root)};
    };
    const bool in_place = round.is_in_place(args.root, args.out.count, round.rank());
    in_steps<Call>(round, in_place, plan, [&](auto& steps) {
      copy(steps.slice(args.out), is_root ? steps.slice(args.ins[index(args.root)])
                                          : steps.of(args.root, args.out.count, round.rank()));
    });
  });
}

template <class Call>
void direct_gather(const Call& call, const CollectiveArgs& args) {
  using namespace detail;
  in_round(call, [&](auto& round) {
    const bool is_root = round.rank() == args.root;
    if (!is_root)
      publish(round, {&args.in, 1}, args.root);
    else if (has_paired(round, args.outs) && round.maps(args.outs))
      round.publish_in_place(args.outs, Call::Round::everybody, is_in_place(args.outs, args.root, args.in));
    else
      round.publish_nothing();
    if constexpr (Call::Round::in_pairs)
      // A rank whose part the root cannot read as a copy writes it to the root, whatever its size.
      if ((is_root || round.is_in_place(round.rank())) && round.published_memory(args.root))
        return copy_in_pairs(round, args.root, args.outs, args.in,
                             [](const TensorView& roots, const TensorView& theirs) { copy(roots, theirs); });
    const auto plan = [&] {
      return BouncePlan{.mine = {&args.in, is_root ? 0u : 1u},
                        .longest = is_root ? longest(args.outs) : args.in.count,
                        .in_steps = is_root ? round.any_bounced() : round.is_bounced(round.rank())};
    };
    const bool in_place = is_root ? round.any_in_place(args.in.count) : round.is_in_place(round.rank());
    in_steps<Call>(round, in_place, plan, [&](auto& steps) {
      for (int r = 0; is_root && r < round.size(); ++r) {
        const TensorView& out = args.outs[index(r)];
        copy(steps.slice(out), r == args.root ? steps.slice(args.in) : steps.of(r, out.count));
      }
    });
  });
}

template <class Call>
void direct_all_gather(const Call& call, const CollectiveArgs& args) {
  using namespace detail;
  in_round(call, [&](auto& round) {
    const int n = round.size();
    if (is_paired(round, args.in) && n < direct::most_parts && round.maps(args.outs) &&
        round.maps({&args.in, 1}))
      publish_places_and_part(round, args);
    else
      publish(round, {&args.in, 1});
    const bool in_place = round.any_in_place(args.in.count);
    if constexpr (Call::Round::in_pairs)
      if (in_place && round.all_published_lists()) return bring_to_all(round, args);
    const auto plan = [&] {
      return BouncePlan{
          .mine = {&args.in, 1}, .longest = longest(args.outs), .in_steps = round.any_bounced()};
    };
    in_steps<Call>(round, in_place, plan, [&](auto& steps) {
      for (int i = 0; i < n; ++i) {  // not all from the same rank at the same time
        const int r = mod(round.rank() + i, n);
        const TensorView& out = args.outs[index(r)];
        const auto theirs = [&] { return steps.of(r, out.count, round.published_list(r) ? n : 0); };
        copy(steps.slice(out), r == round.rank() ? steps.slice(args.in) : theirs());
      }
    });
  });
}

template <class Call>
void direct_reduce_scatter(const Call& call, const CollectiveArgs& args) {
  using namespace detail;
  in_round(call, [&](auto& round) {
    publish(round, args.ins);
    const auto plan = [&] {
      return BouncePlan{.mine = args.ins,
                        .parts = round.size(),
                        .longest = longest(args.ins),
                        .in_steps = round.any_bounced()};
    };
    ViewList ins(index(round.size()));
    const bool in_place = round.any_in_place(args.out.count, round.rank());
    in_steps<Call>(round, in_place, plan, [&](auto& steps) {
      for (int r = 0; r < round.size(); ++r)
        ins.set(index(r), r == round.rank() ? steps.slice(args.ins[index(r)])
                                            : steps.of(r, args.out.count, round.rank()));
      const TensorView out = steps.slice(args.out);
      reduce_many({&out, 1}, ins, args.op);
    });
  });
}

template <class Call>
void direct_all_to_all(const Call& call, const CollectiveArgs& args) {
  using namespace detail;
  in_round(call, [&](auto& round) {
    publish(round, args.ins);
    const auto plan = [&] {
      return BouncePlan{.mine = args.ins,
                        .parts = round.size(),
                        .longest = std::max(longest(args.ins), longest(args.outs)),
                        .in_steps = round.any_bounced()};
    };
    const bool in_place = round.any_in_place(args.outs[0].count, round.rank());
    in_steps<Call>(round, in_place, plan, [&](auto& steps) {
      for (int i = 0; i < round.size(); ++i) {
        const int r = mod(round.rank() + i, round.size());
        const TensorView& out = args.outs[index(r)];
        copy(steps.slice(out),
             r == round.rank() ? steps.slice(args.ins[index(r)]) : steps.of(r, out.count, round.rank()));
      }
    });
  });
}

template <class Call>
void direct_barrier(const Call& call, const CollectiveArgs&) {
  using namespace detail;
  in_round(call, [&](auto& round) {
    round.publish_nothing();
    for (int r = 0; r < round.size(); ++r) round.wait_for(r);
  });
}

// A body, by the collective and the name of its entry in collectives/algorithms.h.
template <class Call>
struct Body {
  OpKind collective;
  std::string_view name;
  void (*run)(const Call& call, const CollectiveArgs& args);
};

template <class Call>
inline constexpr std::array bodies{
    Body<Call>{OpKind::broadcast, "direct", direct_broadcast},
    Body<Call>{OpKind::reduce, "direct", direct_reduce},
    Body<Call>{OpKind::all_reduce, "one_shot", one_shot_all_reduce},
    Body<Call>{OpKind::all_reduce, "two_shot", two_shot_all_reduce},
    Body<Call>{OpKind::scatter, "direct", direct_scatter},
    Body<Call>{OpKind::gather, "direct", direct_gather},
    Body<Call>{OpKind::all_gather, "direct", direct_all_gather},
    Body<Call>{OpKind::reduce_scatter, "direct", direct_reduce_scatter},
    Body<Call>{OpKind::all_to_all, "direct", direct_all_to_all},
    Body<Call>{OpKind::barrier, "direct", direct_barrier},
};

// Null: there is none of this name.
template <class Call>
const Body<Call>* find_body(OpKind collective, std::string_view name) {
  const auto found = std::ranges::find_if(
      bodies<Call>, [&](const Body<Call>& b) { return b.collective == collective && b.name == name; });
  return found == bodies<Call>.end() ? nullptr : &*found;
}

}  // namespace dist::on_rounds
