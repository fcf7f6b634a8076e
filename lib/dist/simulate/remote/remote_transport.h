// The endpoint and the transports of a rank whose simulation runs in another process.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "dist/core/tasking.h"
#include "dist/transport/endpoint.h"

namespace dist::sim {

class RemoteTransport final : public Transport {
 public:
  // `endpoint` is its number in the simulation. `gpus_per_node` 0: all ranks share a node.
  RemoteTransport(std::uint32_t endpoint, const TransportOptions& options, int global_rank,
                  int gpus_per_node);
  ~RemoteTransport() override;

  int rank() const override { return rank_; }
  int size() const override { return members_.size(); }
  int node_of(int rank) const override { return gpus_per_node_ == 0 ? 0 : members_[rank] / gpus_per_node_; }
  Request isend(TensorView data, int dst) override;
  Request irecv(TensorView data, int src) override;
  Scratch scratch(const TensorView& like, std::int64_t count) override;

 private:
  int wait(std::uint64_t id) override;
  bool test(std::uint64_t id) override;
  void cancel(std::uint64_t id) noexcept override;
  void free_scratch(TensorView view) noexcept override;

  const Members members_;
  const int rank_, gpus_per_node_;
  std::uint64_t number_ = 0;                       // its number in the simulation
  std::map<std::uint64_t, TensorView> receiving_;  // by request
};

class RemoteEndpoint final : public Endpoint {
 public:
  RemoteEndpoint(int rank, int world_size, int gpus_per_node);

  int rank() const override { return rank_; }
  int world_size() const override { return world_size_; }
  std::unique_ptr<Transport> open(TransportOptions options) override;
  void progress(Timeout patience) override;
  void interrupt() override;
  void abort(const std::string& reason) override;
  void close(const std::string& reason) noexcept override;
  bool moves_alone() const override { return true; }
  std::string link_kind(int) const override { return "simulated"; }
  std::uint32_t number() const { return number_; }  // at the simulation

 private:
  const int rank_, world_size_, gpus_per_node_;
  std::uint32_t number_;
};

}  // namespace dist::sim
