// The bodies of the direct algorithms, written on rounds, wherever the memory is that the ranks publish.
// algorithms.cpp instantiates them for host memory, backend/device_algorithms.cpp for device memory. `Call`:
// like DirectCall.
#pragma once

#include "dist/direct/round_steps.h"

namespace dist::on_rounds {

template <class Call>
void one_shot_all_reduce(const Call& call, const CollectiveArgs& args) {
  using namespace detail;
  const auto reduce_piece = [&](const TensorView& piece) {
    in_round(call, [&](auto& round) {
      round.show(piece);
      ViewList ins(index(round.size()));
      get_contributions(round, piece, ins);
      reduce_many({&piece, 1}, ins, args.op);
    });
  };
  // One round even for no elements, because the ranks wait for each other.
  if (Call::Round::fits(args.out.bytes())) return reduce_piece(args.out);
  const auto most = static_cast<std::int64_t>(Call::Round::shown_bytes / size_of(args.out.dtype));
  for (std::int64_t first = 0; first < args.out.count; first += most)
    reduce_piece(args.out.slice(first, std::min(most, args.out.count - first)));
}

template <class Call>
void two_shot_all_reduce(const Call& call, const CollectiveArgs& args) {
  using namespace detail;
  in_round(call, [&](auto& round) {
    round.expose(args.out, round.workers);
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
      if (is_root) return round.show(args.out);
      round.attend();
      return copy(args.out, round.of(args.root, args.out.count));
    }
    round.expose(args.out, round.workers);
    if (!round.any_in_windows())
      return in_shares<Call>(round, args.out, false, [&](const ViewList& views) {
        ViewList others(index(round.size()) - 1);
        for (int r = 0; r < round.size(); ++r)
          if (r != args.root) others.set(index(r > args.root ? r - 1 : r), views[index(r)]);
        copy_to_all(others, views[index(args.root)]);
      });
    // A share copied to a window would be copied twice: so each rank reads all of the data.
    typename Call::Windows windows(round, {.mine = {&args.out, is_root ? 1u : 0u},
                                           .longest = args.out.count,
                                           .in_steps = round.in_windows(args.root)});
    while (windows.next())
      if (!is_root) copy(windows.slice(args.out), windows.of(args.root, args.out.count));
    round.finish();
  });
}

template <class Call>
void direct_reduce(const Call& call, const CollectiveArgs& args) {
  using namespace detail;
  in_round(call, [&](auto& round) {
    const bool is_root = round.rank() == args.root;
    if (round.is_short_for_root(args.out.bytes())) {
      if (!is_root) return round.show(args.out);
      round.attend();
      ViewList ins(index(round.size()));
      get_contributions(round, args.out, ins);
      return reduce_many({&args.out, 1}, ins, args.op);
    }
    round.expose(args.out, round.workers);
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
      show_or_expose(round, args.ins, Call::Round::everybody, is_in_place(args.ins, args.root, args.out));
    else if (is_paired(round, args.out, index(round.size())) && round.maps({&args.out, 1}))
      round.expose(args.out, args.root);
    else
      round.attend();
    if constexpr (Call::Round::in_pairs)
      if (round.exposes(args.root))
        return copy_in_pairs(round, args.root, args.ins, args.out,
                             [](const TensorView& roots, const TensorView& theirs) { copy(theirs, roots); });
    const auto plan = [&] {
      return WindowPlan{.mine = args.ins,
                        .parts = round.size(),
                        .longest = std::max(longest(args.ins), args.out.count),
                        .in_steps = round.in_windows(args.root)};
    };
    const bool in_place = round.is_in_place(args.root, args.out.count, round.rank());
    in_steps<Call>(round, in_place, plan, [&](auto& windows) {
      copy(windows.slice(args.out), is_root ? windows.slice(args.ins[index(args.root)])
                                            : windows.of(args.root, args.out.count, round.rank()));
    });
  });
}

template <class Call>
void direct_gather(const Call& call, const CollectiveArgs& args) {
  using namespace detail;
  in_round(call, [&](auto& round) {
    const bool is_root = round.rank() == args.root;
    if (!is_root)
      show_or_expose(round, {&args.in, 1}, args.root);
    else if (has_paired(round, args.outs) && round.maps(args.outs))
      round.expose(args.outs, Call::Round::everybody, is_in_place(args.outs, args.root, args.in));
    else
      round.attend();
    if constexpr (Call::Round::in_pairs)
      // A rank whose part the root cannot read as a copy writes it to the root, whatever its size.
      if ((is_root || round.is_in_place(round.rank())) && round.exposes(args.root))
        return copy_in_pairs(round, args.root, args.outs, args.in,
                             [](const TensorView& roots, const TensorView& theirs) { copy(roots, theirs); });
    const auto plan = [&] {
      return WindowPlan{.mine = {&args.in, is_root ? 0u : 1u},
                        .longest = is_root ? longest(args.outs) : args.in.count,
                        .in_steps = is_root ? round.any_in_windows() : round.in_windows(round.rank())};
    };
    const bool in_place = is_root ? round.any_in_place(args.in.count) : round.is_in_place(round.rank());
    in_steps<Call>(round, in_place, plan, [&](auto& windows) {
      for (int r = 0; is_root && r < round.size(); ++r) {
        const TensorView& out = args.outs[index(r)];
        copy(windows.slice(out), r == args.root ? windows.slice(args.in) : windows.of(r, out.count));
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
      expose_places_and_part(round, args);
    else
      show_or_expose(round, {&args.in, 1});
    const bool in_place = round.any_in_place(args.in.count);
    if constexpr (Call::Round::in_pairs)
      if (in_place && round.all_expose_lists()) return bring_to_all(round, args);
    const auto plan = [&] {
      return WindowPlan{
          .mine = {&args.in, 1}, .longest = longest(args.outs), .in_steps = round.any_in_windows()};
    };
    in_steps<Call>(round, in_place, plan, [&](auto& windows) {
      for (int i = 0; i < n; ++i) {  // not all from the same rank at the same time
        const int r = mod(round.rank() + i, n);
        const TensorView& out = args.outs[index(r)];
        const auto theirs = [&] { return windows.of(r, out.count, round.exposes_list(r) ? n : 0); };
        copy(windows.slice(out), r == round.rank() ? windows.slice(args.in) : theirs());
      }
    });
  });
}

template <class Call>
void direct_reduce_scatter(const Call& call, const CollectiveArgs& args) {
  using namespace detail;
  in_round(call, [&](auto& round) {
    show_or_expose(round, args.ins);
    const auto plan = [&] {
      return WindowPlan{.mine = args.ins,
                        .parts = round.size(),
                        .longest = longest(args.ins),
                        .in_steps = round.any_in_windows()};
    };
    ViewList ins(index(round.size()));
    const bool in_place = round.any_in_place(args.out.count, round.rank());
    in_steps<Call>(round, in_place, plan, [&](auto& windows) {
      for (int r = 0; r < round.size(); ++r)
        ins.set(index(r), r == round.rank() ? windows.slice(args.ins[index(r)])
                                            : windows.of(r, args.out.count, round.rank()));
      const TensorView out = windows.slice(args.out);
      reduce_many({&out, 1}, ins, args.op);
    });
  });
}

template <class Call>
void direct_all_to_all(const Call& call, const CollectiveArgs& args) {
  using namespace detail;
  in_round(call, [&](auto& round) {
    show_or_expose(round, args.ins);
    const auto plan = [&] {
      return WindowPlan{.mine = args.ins,
                        .parts = round.size(),
                        .longest = std::max(longest(args.ins), longest(args.outs)),
                        .in_steps = round.any_in_windows()};
    };
    const bool in_place = round.any_in_place(args.outs[0].count, round.rank());
    in_steps<Call>(round, in_place, plan, [&](auto& windows) {
      for (int i = 0; i < round.size(); ++i) {
        const int r = mod(round.rank() + i, round.size());
        const TensorView& out = args.outs[index(r)];
        copy(windows.slice(out),
             r == round.rank() ? windows.slice(args.ins[index(r)]) : windows.of(r, out.count, round.rank()));
      }
    });
  });
}

template <class Call>
void direct_barrier(const Call& call, const CollectiveArgs&) {
  using namespace detail;
  in_round(call, [&](auto& round) {
    round.attend();
    for (int r = 0; r < round.size(); ++r) round.meet(r);
  });
}

}  // namespace dist::on_rounds
