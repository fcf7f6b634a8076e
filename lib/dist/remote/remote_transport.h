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
  RemoteTransport(std::uint32_t endpoint, const TransportOptions& options, int global_rank);
  ~RemoteTransport() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Request isend(TensorView data, int dst) override;
  Request irecv(TensorView data, int src) override;
  Scratch scratch(const TensorView& like, std::int64_t count) override;

 private:
  int wait(std::uint64_t id) override;
  bool test(std::uint64_t id) override;
  void cancel(std::uint64_t id) noexcept override;
  void free_scratch(TensorView view) noexcept override;

  const int rank_, size_;
  std::uint64_t number_ = 0;                       // at the simulation
  std::map<std::uint64_t, TensorView> receiving_;  // by request
};

class RemoteEndpoint final : public Endpoint {
 public:
  RemoteEndpoint(int rank, int world_size);

  int rank() const override { return rank_; }
  int world_size() const override { return world_size_; }
  std::unique_ptr<Transport> open(TransportOptions options) override;
  void progress(Timeout patience) override;
  void interrupt() override;
  void abort(const std::string& reason) override;
  void close(const std::string& reason) noexcept override;
  bool moves_alone() const override { return true; }
  std::string link_kind(int) const override { return "simulated"; }

 private:
  const int rank_, world_size_;
  std::uint32_t number_;
};

}  // namespace dist::sim
