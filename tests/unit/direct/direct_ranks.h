// Ranks as threads that map each other's memory: tensors', and no other.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dist/core/fail.h"
#include "dist/core/tensor.h"
#include "dist/direct/algorithms.h"
#include "dist/transport/opcode.h"

#include "collective_case.h"
#include "endpoints.h"

namespace dist::test {

inline DirectFunction direct_named(OpKind kind, std::string_view name = "direct") {
  return direct_function(find_algorithm(kind, name));
}

inline const DirectFunction direct_all_gather = direct_named(OpKind::all_gather);
inline const DirectFunction direct_broadcast = direct_named(OpKind::broadcast);
inline const DirectFunction direct_gather = direct_named(OpKind::gather);
inline const DirectFunction direct_reduce = direct_named(OpKind::reduce);
inline const DirectFunction direct_scatter = direct_named(OpKind::scatter);
inline const DirectFunction one_shot_all_reduce = direct_named(OpKind::all_reduce, "one_shot");
inline const DirectFunction two_shot_all_reduce = direct_named(OpKind::all_reduce, "two_shot");

inline constexpr std::uint64_t setup_tag = std::uint64_t{1} << 61;

// One rank's part in a group that works without messages.
class DirectRank final : CallLabel {
 public:
  explicit DirectRank(Endpoint& endpoint, std::uint32_t context = 1)
      : endpoint_(endpoint), context_(context) {
    TransportOptions agree = options();
    agree.channel.tag = setup_tag;
    peers_ = connect_direct(endpoint, std::move(agree));
    if (!peers_) fail(Errc::internal, "the ranks do not map each other's memory");
    peers_->act_as_process();
  }
  int rank() const { return peers_->rank(); }
  int size() const { return peers_->size(); }
  PeerMemory& peers() { return *peers_; }
  void set_timeout(Timeout timeout) { timeout_ = timeout; }

  DirectCall call(OpKind kind, DType dtype, std::uint32_t terms = 0) {
    ++sequence_;
    running_ = kind;
    return {*peers_, {opcode_of(kind, dtype, terms)}, *this};
  }
  void run(const CollectiveCase& c) {
    const DirectCall now = call(c.algorithm->collective, c.dtype, static_cast<std::uint32_t>(c.root));
    run_case(rank(), c, [&](const CollectiveArgs& args) {
      direct_named(c.algorithm->collective, c.algorithm->name)(now, args);
    });
  }
  void all_reduce(Tensor& data, DirectFunction algorithm) {
    CollectiveArgs args;
    args.out = data.flat();
    algorithm(call(OpKind::all_reduce, data.dtype()), args);
  }
  void barrier() { direct_named(OpKind::barrier)(call(OpKind::barrier, DType::u8), {}); }

 private:
  TransportOptions options() const override {
    TransportOptions options;
    options.members = Members::everybody(endpoint_.world_size());
    options.channel = {context_, sequence_, opcode_of(running_, DType::f32), false};
    options.label = {"direct_" + std::string(name(running_)), sequence_, {4, DType::f32}, {}};
    options.deadline = Deadline::after(timeout_);
    options.bytes = 16;
    return options;
  }

  Endpoint& endpoint_;
  std::uint32_t context_;
  std::uint64_t sequence_ = 0;
  OpKind running_ = OpKind::barrier;
  Timeout timeout_ = std::chrono::seconds(20);
  std::unique_ptr<PeerMemory> peers_;
};

inline void run_direct_ranks(int n, const std::function<void(DirectRank&)>& fn) {
  run_endpoints(n, "shm", [&](Endpoint& endpoint) {
    DirectRank rank(endpoint);
    fn(rank);
  });
}

inline std::vector<AlgorithmEntry> direct_entries() {
  std::vector<AlgorithmEntry> found;
  for (const AlgorithmEntry& entry : algorithms())
    if (entry.direct) found.push_back(entry);
  return found;
}

// The sizes of each rank; uneven where the collective takes that.
inline std::vector<std::int64_t> counts_for(const AlgorithmEntry& algorithm, int n, std::int64_t elements) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(n), elements);
  if (takes_uneven_counts(algorithm))
    for (int r = 0; r < n; ++r) counts[static_cast<std::size_t>(r)] = elements * (r % 3) / 2;
  return counts;
}

}  // namespace dist::test
