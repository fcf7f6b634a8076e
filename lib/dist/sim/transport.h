// The simulator's Transport: the same algorithms, on virtual ranks.
#pragma once

#include <cstdint>

#include "dist/sim/scheduler.h"
#include "dist/transport/endpoint.h"
#include "dist/transport/transport.h"

namespace dist::sim {

// One operation of the running rank.
class SimTransport final : public Transport {
 public:
  SimTransport(Scheduler& scheduler, Members members, int group_rank, const Channel& channel, SendMode mode);

  int rank() const override { return rank_; }
  int size() const override { return members_.size(); }
  Request isend(TensorView data, int dst) override;
  Request irecv(TensorView data, int src) override;
  Scratch scratch(const TensorView& like, std::int64_t count) override;

 private:
  int wait(std::uint64_t id) override;
  bool test(std::uint64_t id) override;
  void cancel(std::uint64_t id) noexcept override;
  void free_scratch(TensorView view) noexcept override;
  Network::Post post(const TensorView& data, int peer) const;
  [[noreturn]] void raise(RequestId id);

  Scheduler& scheduler_;
  Members members_;
  Channel channel_;
  SendMode mode_;
  int rank_, global_rank_;
};

}  // namespace dist::sim
