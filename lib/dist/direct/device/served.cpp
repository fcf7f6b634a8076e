// A function per collective says which parts go where: first what this rank shows (show), then, for each rank
// that the worker serves, from which parts of which ranks its outputs are made. WorkList collects that and
// launches it.
#include "dist/direct/device/served.h"

#include <algorithm>
#include <array>
#include <vector>

#include "dist/core/device.h"

namespace dist {

namespace {

using on_rounds::detail::in_round;
using Listed = DeviceRound::Listed;

// What the worker does, as parts of one launch.
class WorkList {
 public:
  explicit WorkList(const DeviceRound& round) : works_(round.works()) {}

  // Begins a part; then its outputs, and then its inputs are added.
  void begin() { parts_.push_back({views_.size(), 0, 0}); }
  void add_out(const TensorView& view) { add(view, parts_.back().outs); }
  void add_in(const TensorView& view) { add(view, parts_.back().ins); }

  // What stays in place is not copied.
  void copy() {
    for (Part& part : parts_)
      if (part.outs == 1 && part.ins == 1 && views_[part.first].data == views_[part.first + 1].data)
        part.outs = 0;
    launch([](DeviceApi& api, Device device, std::span<const PartViews> list) {
      api.copy_parts(device, current_stream(device), list);
    });
  }
  void reduce(ReduceOp op) {
    launch([&](DeviceApi& api, Device device, std::span<const PartViews> list) {
      api.reduce_parts(device, current_stream(device), list, op);
    });
  }

 private:
  struct Part {
    std::size_t first, outs, ins;  // positions: the outputs, then the inputs
  };
  void add(const TensorView& view, std::size_t& count) {
    views_.push_back(view);
    ++count;
  }
  template <class Launch>
  void launch(const Launch& launch) {
    if (!works_) return;
    std::vector<PartViews> list;
    for (const Part& part : parts_) {
      const std::span<const TensorView> views = std::span(views_).subspan(part.first);
      if (part.outs > 0 && views[0].count > 0)
        list.push_back({.outs = views.first(part.outs), .ins = views.subspan(part.outs, part.ins)});
    }
    if (list.empty()) return;
    const Device device = list[0].outs[0].device;
    launch(device_api(device.type), device, list);
  }

  const bool works_;
  std::vector<TensorView> views_;
  std::vector<Part> parts_;
};

// Shows the workers these views, in this order.
void show(DeviceRound& round, std::span<const TensorView> first, std::span<const TensorView> second) {
  std::vector<TensorView> all(first.begin(), first.end());
  all.insert(all.end(), second.begin(), second.end());
  round.publish_list(all);
}

// Calls work(r) for this rank, whose sizes it checks, and for every other rank whose data it moves.
template <class Work>
void for_each_served(const DeviceRound& round, const Work& work) {
  for (int r = 0; r < round.size(); ++r)
    if (r == round.rank() || round.serves(r)) work(r);
}

void move(DeviceRound& round, WorkList& list, const Listed& to, const Listed& from) {
  const TensorView out = round.listed(to), in = round.listed(from);
  round.check_sizes(to.rank, out, from.rank, in);
  list.begin();
  list.add_out(out);
  list.add_in(in);
}

void scatter(const DeviceCall& call, const CollectiveArgs& args) {
  in_round(call, [&](DeviceRound& round) {
    const int n = round.size(), root = args.root;
    show(round, args.ins, {&args.out, 1});
    WorkList list(round);
    for_each_served(round, [&](int r) {
      const int shown = r == root ? n + 1 : 1;
      move(round, list, {r, shown, shown - 1}, {root, n + 1, r});
    });
    list.copy();
    round.finish();
  });
}

void gather(const DeviceCall& call, const CollectiveArgs& args) {
  in_round(call, [&](DeviceRound& round) {
    const int n = round.size(), root = args.root;
    show(round, {&args.in, 1}, args.outs);
    WorkList list(round);
    const bool moves = round.rank() == root || round.serves(root);
    for (int r = 0; moves && r < n; ++r)
      move(round, list, {root, n + 1, 1 + r}, {r, r == root ? n + 1 : 1, 0});
    list.copy();
    round.finish();
  });
}

// Each input is read once, however many of the ranks are served.
void all_gather(const DeviceCall& call, const CollectiveArgs& args) {
  in_round(call, [&](DeviceRound& round) {
    const int n = round.size();
    show(round, {&args.in, 1}, args.outs);
    WorkList list(round);
    for (int i = 0; i < n; ++i) {
      const TensorView in = round.listed({i, n + 1, 0});
      list.begin();
      for_each_served(round, [&](int r) {
        const TensorView out = round.listed({r, n + 1, 1 + i});
        round.check_sizes(r, out, i, in);
        if (out.data != in.data) list.add_out(out);
      });
      list.add_in(in);
    }
    list.copy();
    round.finish();
  });
}

void reduce_scatter(const DeviceCall& call, const CollectiveArgs& args) {
  in_round(call, [&](DeviceRound& round) {
    const int n = round.size();
    show(round, args.ins, {&args.out, 1});
    WorkList list(round);
    for_each_served(round, [&](int r) {
      const TensorView out = round.listed({r, n + 1, n});
      list.begin();
      list.add_out(out);
      for (int i = 0; i < n; ++i) {
        const TensorView in = round.listed({i, n + 1, r});
        round.check_sizes(r, out, i, in);
        list.add_in(in);
      }
    });
    list.reduce(args.op);
    round.finish();
  });
}

void all_to_all(const DeviceCall& call, const CollectiveArgs& args) {
  in_round(call, [&](DeviceRound& round) {
    const int n = round.size();
    show(round, args.ins, args.outs);
    WorkList list(round);
    for_each_served(round, [&](int r) {
      for (int i = 0; i < n; ++i) move(round, list, {r, 2 * n, n + i}, {i, 2 * n, r});
    });
    list.copy();
    round.finish();
  });
}

constexpr std::array served{
    DeviceAlgorithm{OpKind::scatter, "direct", scatter},
    DeviceAlgorithm{OpKind::gather, "direct", gather},
    DeviceAlgorithm{OpKind::all_gather, "direct", all_gather},
    DeviceAlgorithm{OpKind::reduce_scatter, "direct", reduce_scatter},
    DeviceAlgorithm{OpKind::all_to_all, "direct", all_to_all},
};

// The most parts that a rank shows.
int shown_by(OpKind collective, int ranks) {
  return collective == OpKind::all_to_all ? 2 * ranks : ranks + 1;
}

}  // namespace

const DeviceAlgorithm* served_algorithm(OpKind collective, int ranks) {
  const auto found = std::ranges::find(served, collective, &DeviceAlgorithm::collective);
  if (found == served.end() || !DeviceRound::can_list(shown_by(collective, ranks))) return nullptr;
  return &*found;
}

}  // namespace dist
