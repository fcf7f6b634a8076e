// SwitchTree: sums inside a node, at its leader; then sum_in_switches(), which books each segment's way up
// and down on the network's ports and waits until all leaders have arrived; then the result back inside. A
// lost rank ends it for all.
#include "dist/sim/switch_tree.h"

#include <algorithm>

#include "dist/core/counted.h"
#include "dist/core/cpu_kernels.h"
#include "dist/core/deadline.h"
#include "dist/core/fail.h"
#include "dist/core/kernels.h"
#include "dist/core/tasking.h"

namespace dist::sim {
namespace {

std::int64_t segments_of(const TensorView& data) {
  const std::int64_t each = switch_segment_bytes / static_cast<std::int64_t>(size_of(data.dtype));
  return std::max<std::int64_t>(1, (data.count + each - 1) / each);
}

std::uint64_t segment_bytes(const TensorView& data, std::int64_t i) {
  const std::int64_t left = static_cast<std::int64_t>(data.bytes()) - i * switch_segment_bytes;
  return static_cast<std::uint64_t>(std::min(left, switch_segment_bytes));
}

}  // namespace

int switch_levels(int nodes, int radix) {
  if (nodes == 1) return 0;
  int levels = 1;
  for (std::int64_t most = radix; most < nodes; most = most * radix / 2) {
    if (radix < 4)
      fail(Errc::invalid_argument, "switches with {} join at most {}", counted(radix, "port"),
           counted(radix, "node"));
    ++levels;
  }
  return levels;
}

void check_switches(const Topology& topology) {
  if (topology.switch_radix == 0)
    fail(Errc::invalid_argument, "sharp: no switch of topology {} can add (it has no switch_radix)",
         topology.name);
}

// What the leaders have sent up so far.
struct SwitchTree::Sums final : WaitReason {
  Sums(int node_size, int nodes, std::int64_t segments)
      : each(node_size),
        came(static_cast<std::size_t>(nodes)),
        left(nodes),
        at_top(static_cast<std::size_t>(segments)) {}

  std::string doing() const override { return "a sum in the switches"; }
  CallSite where() const override { return {}; }
  std::vector<int> waits_for() const override {
    std::vector<int> leaders;
    for (std::size_t node = 0; node < came.size(); ++node) {
      if (!came[node]) leaders.push_back(static_cast<int>(node) * each);
    }
    return leaders;
  }

  int each;
  std::vector<bool> came;    // [node]
  int left;                  // nodes that have not come yet
  std::vector<Time> at_top;  // [segment]: when its last part is there
  std::vector<std::byte> total;
  WaitList complete;
};

SwitchTree::SwitchTree(Scheduler& scheduler) : scheduler_(scheduler) {
  const Topology& topology = scheduler.network().topology();
  const int ranks = scheduler.network().ranks();
  node_size_ = topology.gpus_per_node > 0 ? topology.gpus_per_node : ranks;
  nodes_ = (ranks + node_size_ - 1) / node_size_;
  check_switches(topology);
  way_ = switch_levels(nodes_, topology.switch_radix) * topology.cost_between().latency / 2;
}

SwitchTree::~SwitchTree() = default;

void SwitchTree::all_reduce(Transport& net, TensorView data, ReduceOp op) {
  const int leader = net.rank() / node_size_ * node_size_, end = std::min(leader + node_size_, net.size());
  if (net.rank() != leader) {
    net.isend(data, leader).wait();
    net.irecv(data, leader).wait();
    return;
  }
  if (end - leader > 1) {
    const Scratch inbox = net.scratch(data);
    for (int rank = leader + 1; rank < end; ++rank) {
      net.irecv(inbox.all(), rank).wait();
      reduce(data, inbox.all(), op);
    }
  }
  if (nodes_ > 1) sum_in_switches(data, op);
  std::vector<Request> puts;
  for (int rank = leader + 1; rank < end; ++rank) puts.push_back(net.isend(data, rank));
  for (Request& put : puts) put.wait();
}

void SwitchTree::sum_in_switches(TensorView data, ReduceOp op) {
  Network& network = scheduler_.network();
  const int rank = scheduler_.rank();
  const std::int64_t segments = segments_of(data);
  if (!sums_) sums_ = std::make_shared<Sums>(node_size_, nodes_, segments);
  const std::shared_ptr<Sums> sums = sums_;
  if (sums->at_top.size() != static_cast<std::size_t>(segments))
    fail(Errc::mismatch, "rank {}: sharp: the ranks' data differ in size", rank);
  refuse_lost(never);
  for (std::int64_t i = 0; i < segments; ++i) {
    Time& at_top = sums->at_top[static_cast<std::size_t>(i)];
    at_top = std::max(at_top, network.send_up(rank, segment_bytes(data, i), scheduler_.clock()) + way_);
  }
  if (data.data && sums->total.empty()) {
    sums->total.assign(data.data, data.data + data.bytes());
  } else if (data.data) {
    cpu_kernels::reduce({sums->total.data(), data.count, data.dtype, cpu}, data, op);  // takes no rank's time
  }
  sums->came[static_cast<std::size_t>(rank / node_size_)] = true;
  if (--sums->left == 0) {
    sums_.reset();
    scheduler_.notify_all(sums->complete);
  }
  while (sums->left > 0) {
    scheduler_.wait(sums->complete, Deadline::never(), sums.get());
    if (sums->left > 0) refuse_lost(never);
  }
  Time arrived = 0;
  for (std::int64_t i = 0; i < segments; ++i)
    arrived =
        network.receive_down(rank, segment_bytes(data, i), sums->at_top[static_cast<std::size_t>(i)]) + way_;
  scheduler_.compute(arrived - scheduler_.clock());
  refuse_lost(arrived);
  if (data.data && data.count > 0) std::copy(sums->total.begin(), sums->total.end(), data.data);
}

void SwitchTree::refuse_lost(Time now) const {
  const auto& lost = scheduler_.lost();
  if (lost.empty() || lost.front().at >= now) return;
  fail(Errc::peer_failed, "rank {}: sharp #0: rank {} {}", scheduler_.rank(), lost.front().rank,
       lost.front().how());
}

}  // namespace dist::sim
