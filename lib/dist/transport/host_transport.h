// The Transport of one operation, over a rank's Engine.
#pragma once

#include "dist/transport/engine.h"
#include "dist/transport/scratch_cache.h"
#include "dist/transport/transport.h"

namespace dist::net {

class HostTransport final : public Transport {
 public:
  // Both must outlive it. Error{invalid_argument}: this rank is no member, or a member is not of this job.
  HostTransport(Engine& engine, ScratchCache& cache, int world_size, TransportOptions options);
  ~HostTransport() override;
  HostTransport(const HostTransport&) = delete;
  HostTransport& operator=(const HostTransport&) = delete;

  int rank() const override { return op_.group_rank; }
  int size() const override { return op_.options.members.size(); }
  int node_of(int rank) const override { return engine_.node_of(op_.options.members[rank]); }
  Request isend(TensorView data, int dst) override;
  Request irecv(TensorView data, int src) override;
  using Transport::scratch;
  Scratch scratch(const TensorView& like, std::int64_t count) override;
  std::optional<TensorView> peer_view(int peer, const TensorView& theirs) override;

 private:
  int wait(std::uint64_t id) override;
  bool test(std::uint64_t id) override { return engine_.test(id); }
  bool is_short(std::uint64_t id) const override { return engine_.is_short(id); }
  void cancel(std::uint64_t id) noexcept override { engine_.cancel(id); }
  void free_scratch(TensorView view) noexcept override { cache_.give(view.data, view.bytes()); }

  Engine& engine_;
  ScratchCache& cache_;
  Op op_;
};

// See Endpoint::carry.
int carry(Engine& engine, int world_size, const Message& message, const MessageTerms& terms,
          const CallLabel& label);

// See Endpoint::map_peers.
std::unique_ptr<PeerMemory> map_peers(Engine& engine, Transport& net, const TransportOptions& options);

}  // namespace dist::net
