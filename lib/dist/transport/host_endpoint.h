// HostEndpoint, and the Transport of one operation on it, over what moves a rank's messages: net::Engine, or
// plain::Plain.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "dist/transport/endpoint.h"
#include "dist/transport/op.h"
#include "dist/transport/scratch_cache.h"

namespace dist::net {

// `options` as this rank carries them out. Error{invalid_argument}: this rank is not a member, or a member
// does not belong to this job.
Op op_for(int rank, int world_size, TransportOptions options);
// The global rank of the group rank `peer`, which this rank sends to or receives from; any_rank in a
// receive stays. Error{invalid_argument}: there is no such rank; Error{unsupported}: the data is not on the
// CPU.
int global_peer(int rank, const Op& op, bool is_send, const TensorView& data, int peer);

template <class Engine>
class HostTransport final : public Transport {
 public:
  // Both must outlive this object. Throws the same errors as op_for().
  HostTransport(Engine& engine, ScratchCache& cache, int world_size, TransportOptions options)
      : engine_(engine), cache_(cache), op_(op_for(engine.rank(), world_size, std::move(options))) {
    engine_.open(op_);
  }
  ~HostTransport() override { engine_.close(op_); }
  HostTransport(const HostTransport&) = delete;
  HostTransport& operator=(const HostTransport&) = delete;

  int rank() const override { return op_.group_rank; }
  int size() const override { return op_.options.members.size(); }
  int node_of(int rank) const override { return engine_.node_of(op_.options.members[rank]); }
  Request isend(TensorView data, int dst) override {
    return {this, engine_.send(op_, data, global_peer(engine_.rank(), op_, true, data, dst))};
  }
  Request irecv(TensorView data, int src) override {
    return {this, engine_.receive(op_, data, global_peer(engine_.rank(), op_, false, data, src))};
  }
  using Transport::scratch;
  Scratch scratch(const TensorView& like, std::int64_t count) override {
    TensorView view{nullptr, count, like.dtype, cpu};
    view.data = cache_.take(view.bytes());
    return {this, view};
  }

 private:
  int wait(std::uint64_t id) override { return op_.options.members.group_rank_of(engine_.wait(id)); }
  bool test(std::uint64_t id) override { return engine_.test(id); }
  bool is_short(std::uint64_t id) const override { return engine_.is_short(id); }
  void cancel(std::uint64_t id) noexcept override { engine_.cancel(id); }
  void free_scratch(TensorView view) noexcept override { cache_.give(view.data, view.bytes()); }

  Engine& engine_;
  ScratchCache& cache_;
  Op op_;
};

}  // namespace dist::net

namespace dist {

template <class Engine>
class HostEndpoint : public Endpoint {
 public:
  HostEndpoint(std::shared_ptr<Engine> engine, int world_size)
      : engine_(std::move(engine)), world_size_(world_size) {}

  int rank() const override { return engine_->rank(); }
  int world_size() const final { return world_size_; }
  std::unique_ptr<Transport> open(TransportOptions options) override {
    return std::make_unique<net::HostTransport<Engine>>(*engine_, scratch_, world_size_, std::move(options));
  }
  void progress(Timeout patience) final { engine_->progress(patience); }
  void interrupt() final { engine_->interrupt(); }
  void abort(const std::string& reason) final { engine_->abort(reason); }
  void close(const std::string& reason) noexcept final { engine_->leave(reason); }

 protected:
  const std::shared_ptr<Engine> engine_;
  net::ScratchCache scratch_;
  const int world_size_;
};

}  // namespace dist
