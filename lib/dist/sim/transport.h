// The simulator's Transport: the same algorithms, on virtual ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dist/sim/scheduler.h"
#include "dist/transport/endpoint.h"
#include "dist/transport/transport.h"

namespace dist::sim {

// One operation of the running rank. Members are shared: with 24,576 ranks a copy each would be gigabytes.
class SimTransport final : public Transport {
 public:
  struct Group {
    std::vector<int> members;  // global rank of each group rank; empty: 0, 1, 2, ...
    int size = 0;
  };
  SimTransport(Scheduler& scheduler, std::shared_ptr<const Group> group, int group_rank,
               const Channel& channel, SendMode mode);

  int rank() const override { return rank_; }
  int size() const override { return group_->size; }
  Request isend(TensorView data, int dst) override;
  Request irecv(TensorView data, int src) override;
  Scratch scratch(const TensorView& like, std::int64_t count) override;

 private:
  int wait(std::uint64_t id) override;
  bool test(std::uint64_t id) override;
  void cancel(std::uint64_t id) noexcept override;
  void free_scratch(TensorView view) noexcept override;
  int global(int group_rank) const {
    return group_->members.empty() ? group_rank : group_->members[static_cast<std::size_t>(group_rank)];
  }
  int group_rank_of(int global) const;
  Network::Post post(const TensorView& data, int peer) const;
  [[noreturn]] void raise(RequestId id);

  Scheduler& scheduler_;
  std::shared_ptr<const Group> group_;
  Channel channel_;
  SendMode mode_;
  int rank_, global_rank_;
};

}  // namespace dist::sim
